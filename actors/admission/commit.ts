// The last steps of a write: an object becomes bytes, the bytes a transaction, and the store's answer a reply.
import { encodeStored } from '../../api/codec/stored-object.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { selectableValues } from '../../api/selectors/selectable-values.ts';
import { packAttributes } from '../../storage/attributes.ts';
import { objectKey } from '../../storage/object-key.ts';
import type { Guard, Operation, Transaction, TransactionResult } from '../store/protocol.ts';
import { keyOf, type WriteContext } from './write-context.ts';

/** Bytes carry the generation of the schema that made them; built-in types have one. */
const SCHEMA_GENERATION = 1;

/** A put or a delete to be committed; the bytes of a put are not yet in a payload. */
export type Draft = (
  | {
      readonly key: string;
      readonly expect: number;
      readonly text: string;
      readonly bytes: number;
      readonly revisionOffset: number;
      readonly itemOffset: number;
      readonly attributes: string;
    }
  | { readonly key: string; readonly expect: number; readonly delete: true }
) & {
  /** What commits with it or not at all, in this order after it. */
  readonly also?: readonly Draft[];
};

/**
 * The encoded form of an object in its stored version, to be written if its key is as expected. `managedFieldsText` is JSON for the
 * managedFields of an object that has none.
 */
export function draftPut(type: KnownType, object: JsonObject, expect: number, managedFieldsText = ''): Draft {
  const metadata = metadataOf(object);
  const key = keyOf(type, metadata.namespace ?? '', metadata.name ?? '');
  const { text, revisionOffset, itemOffset } = encodeStored(
    object as JsonObject & { metadata: Record<string, unknown> },
    type.storageApiVersion,
    type.kind,
    managedFieldsText,
  );
  const attributes = packAttributes(metadata.labels, selectableValues(object, type.storedFields));
  return { key, expect, text, bytes: Buffer.byteLength(text), revisionOffset, itemOffset, attributes };
}

/** The removal of an object, if its key is as expected. */
export function draftDelete(type: KnownType, namespace: string, name: string, expect: number): Draft {
  return { key: keyOf(type, namespace, name), expect, delete: true };
}

/** A record of the server's own, which is no object of the API. */
export function draftRecord(
  storageKey: string,
  name: string,
  record: JsonObject & { readonly metadata: Readonly<Record<string, unknown>> },
  expect: number,
): Draft {
  const { text, revisionOffset, itemOffset } = encodeStored(record, 'internal/v1', 'Record');
  const key = objectKey(storageKey, '', name);
  return { key, expect, text, bytes: Buffer.byteLength(text), revisionOffset, itemOffset, attributes: '' };
}

/** The removal of a record of the server's own. */
export function draftRemoval(storageKey: string, name: string, expect: number): Draft {
  return { key: objectKey(storageKey, '', name), expect, delete: true };
}

/** A draft that commits together with others. */
export function withAlso(draft: Draft, also: readonly Draft[]): Draft {
  return also.length === 0 ? draft : { ...draft, also };
}

/** Commits drafts, each its own transaction, in one message. Results in the same order. */
export async function commitEach(
  write: WriteContext,
  drafts: readonly Draft[],
  guards?: readonly Guard[],
): Promise<readonly TransactionResult[]> {
  let total = 0;
  for (const draft of drafts) {
    total += bytesOf(draft);
    for (const other of draft.also ?? NO_DRAFTS) total += bytesOf(other);
  }
  const payload = Buffer.allocUnsafe(total);
  let at = 0;
  const operationOf = (draft: Draft): Operation => {
    const { key, expect } = draft;
    if ('delete' in draft) return { key, expect, delete: true };
    const { text, bytes, revisionOffset, itemOffset, attributes } = draft;
    payload.write(text, at, bytes, 'utf8');
    const valueOffset = at;
    at += bytes;
    return {
      key,
      expect,
      valueOffset,
      valueLength: bytes,
      revisionOffset,
      itemOffset,
      attributes,
      schemaGeneration: SCHEMA_GENERATION,
    };
  };
  const transactions = drafts.map((draft): Transaction => {
    const operations = [operationOf(draft)];
    for (const other of draft.also ?? NO_DRAFTS) operations.push(operationOf(other));
    return guards === undefined ? { operations } : { operations, guards };
  });
  const { results } = await write.store.ask(
    { type: 'commit', transactions, payload },
    { deadlineMs: write.requestTimeoutMs },
  );
  return results;
}

const NO_DRAFTS: readonly Draft[] = [];

function bytesOf(draft: Draft): number {
  return 'delete' in draft ? 0 : draft.bytes;
}

/** Commits one draft. */
export async function commitOne(
  write: WriteContext,
  draft: Draft,
  guards?: readonly Guard[],
): Promise<TransactionResult> {
  const [result] = await commitEach(write, [draft], guards);
  return result!;
}
