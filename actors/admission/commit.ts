// The last steps of a write: an object becomes bytes, the bytes a transaction, and the store's answer a reply.
import { encodeStored } from '../../api/codec/stored-object.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { selectableValues } from '../../api/selectors/selectable-values.ts';
import { packAttributes } from '../../storage/attributes.ts';
import type { Guard, Operation, Transaction, TransactionResult } from '../store/protocol.ts';
import { keyOf, type WriteContext } from './write-context.ts';

/** Bytes carry the generation of the schema that made them; built-in types have one. */
const SCHEMA_GENERATION = 1;

/** A put or a delete to be committed; the bytes of a put are not yet in a payload. */
export type Draft =
  | {
      readonly key: string;
      readonly expect: number;
      readonly text: string;
      readonly bytes: number;
      readonly revisionOffset: number;
      readonly itemOffset: number;
      readonly attributes: string;
    }
  | { readonly key: string; readonly expect: number; readonly delete: true };

/** The encoded form of an object, to be written if its key is as expected. */
export function draftPut(type: KnownType, object: JsonObject, expect: number): Draft {
  const metadata = metadataOf(object);
  const key = keyOf(type, metadata.namespace ?? '', metadata.name ?? '');
  const { text, revisionOffset, itemOffset } = encodeStored(
    object as JsonObject & { metadata: Record<string, unknown> },
    type.storageApiVersion,
    type.kind,
  );
  const attributes = packAttributes(metadata.labels, selectableValues(object, type.selectableFields));
  return { key, expect, text, bytes: Buffer.byteLength(text), revisionOffset, itemOffset, attributes };
}

/** The removal of an object, if its key is as expected. */
export function draftDelete(type: KnownType, namespace: string, name: string, expect: number): Draft {
  return { key: keyOf(type, namespace, name), expect, delete: true };
}

/** Commits drafts, each its own transaction, in one message. Results in the same order. */
export async function commitEach(
  write: WriteContext,
  drafts: readonly Draft[],
  guards?: readonly Guard[],
): Promise<readonly TransactionResult[]> {
  let total = 0;
  for (const draft of drafts) if (!('delete' in draft)) total += draft.bytes;
  const payload = Buffer.allocUnsafe(total);
  let at = 0;
  const transactions = drafts.map((draft): Transaction => {
    const operations: Operation[] = [];
    if ('delete' in draft) {
      operations.push(draft);
    } else {
      const { key, expect, text, bytes, revisionOffset, itemOffset, attributes } = draft;
      payload.write(text, at, bytes, 'utf8');
      operations.push({
        key,
        expect,
        valueOffset: at,
        valueLength: bytes,
        revisionOffset,
        itemOffset,
        attributes,
        schemaGeneration: SCHEMA_GENERATION,
      });
      at += bytes;
    }
    return guards === undefined ? { operations } : { operations, guards };
  });
  const { results } = await write.store.ask(
    { type: 'commit', transactions, payload },
    { deadlineMs: write.requestTimeoutMs },
  );
  return results;
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
