// A change of one key as it will be committed: an object, or a record of the server's own, becomes text and attributes, or a
// removal. What a draft expects of its key is the store's to check.
import type { EncodedTexts } from '../../api/codec/encoded-texts.ts';
import { encodeStored } from '../../api/codec/stored-object.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { selectableValues } from '../../api/selectors/selectable-values.ts';
import { packAttributes } from '../../storage/attributes.ts';
import { objectKey } from '../../storage/object-key.ts';
import type { Guard } from '../store/protocol.ts';
import { keyOf, type StoredObject } from './store-reader.ts';

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
      /** Of the schema that the object has been brought into. */
      readonly schemaGeneration: number;
    }
  | { readonly key: string; readonly expect: number; readonly delete: true }
) & {
  /** What commits with it or not at all, in this order after it. */
  readonly also?: readonly Draft[];
  /** What is put is removed again under the next revision. */
  readonly isLast?: boolean;
  /** Keys that must be as they were read for it to be committed. */
  readonly guards?: readonly Guard[];
  /** Holds only if the first draft that is committed in the same message does. */
  readonly isBehindFirst?: boolean;
};

/** Of everything that no definition's schema is about. */
const BUILT_IN = 1;

/**
 * The encoded form of an object in its stored version, to be written if its key is as expected. `managedFieldsText` is JSON for the
 * managedFields of an object that has none, `texts` what is encoded of it already.
 */
export function draftPut(
  type: KnownType,
  object: JsonObject,
  expect: number,
  managedFieldsText = '',
  texts?: EncodedTexts,
): Draft {
  const metadata = metadataOf(object);
  const key = keyOf(type, metadata.namespace ?? '', metadata.name ?? '');
  const { text, revisionOffset, itemOffset } = encodeStored(
    object as JsonObject & { metadata: Record<string, unknown> },
    type.storageApiVersion,
    type.kind,
    managedFieldsText,
    texts,
  );
  const attributes = packAttributes(metadata.labels, selectableValues(object, type.storedFields));
  const schemaGeneration = type.custom?.definition.generation ?? BUILT_IN;
  const bytes = Buffer.byteLength(text);
  return { key, expect, text, bytes, revisionOffset, itemOffset, attributes, schemaGeneration };
}

/** The same of an object that only its metadata tells from how it was stored: of a custom kind it is of the schema that it was of. */
export function draftPutAsStored(
  type: KnownType,
  object: JsonObject,
  expect: number,
  { schemaGeneration }: Pick<StoredObject, 'schemaGeneration'>,
): Draft {
  const put = draftPut(type, object, expect);
  return type.custom === undefined ? put : { ...put, schemaGeneration };
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
  const bytes = Buffer.byteLength(text);
  return { key, expect, text, bytes, revisionOffset, itemOffset, attributes: '', schemaGeneration: BUILT_IN };
}

/** The removal of a record of the server's own. */
export function draftRemoval(storageKey: string, name: string, expect: number): Draft {
  return { key: objectKey(storageKey, '', name), expect, delete: true };
}

/** A draft that commits together with others beside those it has, and only under guards. */
export function withAlso(draft: Draft, also: readonly Draft[], guards: readonly Guard[] = NO_GUARDS): Draft {
  if (also.length === 0 && guards.length === 0) return draft;
  return { ...draft, also: draft.also === undefined ? also : [...draft.also, ...also], guards };
}

const NO_GUARDS: readonly Guard[] = [];
