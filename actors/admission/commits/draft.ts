// A change of one key as it will be committed: an object, or a record of the server's own, becomes text and attributes, or a
// removal. What a draft expects of its key is the store's to check.
import type { EncodedTexts } from '../../../api/codec/encoded-texts.ts';
import { type EncodedObject, encodeStored, encodeWithRest } from '../../../api/codec/stored-object.ts';
import { parseExact } from '../../../api/json/exact-json.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf, type ObjectMeta } from '../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { selectableValues } from '../../../api/selectors/selectable-values.ts';
import { OBJECT_BYTES_MAX, tooLarge } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { objectKey } from '../../../storage/object-key.ts';
import type { Guard } from '../../store/protocol.ts';
import { keyOf } from '../stored/store-reader.ts';
import type { StoredObject } from '../stored/stored-object.ts';

/** What a key is to hold; its bytes are not yet in a payload. */
export interface Put {
  readonly text: string;
  /** Its length as UTF-8. */
  readonly bytes: number;
  readonly revisionOffset: number;
  readonly itemOffset: number;
  readonly attributes: string;
  /** Of the schema that the object has been brought into, or of what completed it. */
  readonly schemaGeneration: number;
}

/** A put or a removal to be committed. All are of one shape: each write goes by some. */
export interface Draft {
  readonly key: string;
  readonly expect: number;
  /** Undefined: the key is removed. */
  readonly put: Put | undefined;
  /** What commits with it or not at all, in this order after it. */
  readonly also: readonly Draft[];
  /** Keys that must be as they were read for it to be committed. */
  readonly guards: readonly Guard[];
  /** What is put is removed again under the next revision. */
  readonly isLast: boolean;
  /** Holds only if the first draft that is committed in the same message does. */
  readonly isBehindFirst: boolean;
}

export const NO_DRAFTS: readonly Draft[] = Object.freeze([]);
export const NO_GUARDS: readonly Guard[] = Object.freeze([]);

function plainDraft(key: string, expect: number, put: Put | undefined): Draft {
  return { key, expect, put, also: NO_DRAFTS, guards: NO_GUARDS, isLast: false, isBehindFirst: false };
}

type Members = Readonly<Record<string, unknown>>;

type Encodable = JsonObject & { readonly metadata: Record<string, unknown> };

/** Of everything that no definition's schema is about, and that may lack what completes it. */
const BUILT_IN = 1;

function generationOf({ custom }: KnownType, completedBy = BUILT_IN): number {
  return custom === undefined ? completedBy : custom.definition.generation;
}

/** How an object came to be what it is. */
export interface Made {
  /** Of a built-in kind: what completed it (`Completion.generation`). Absent: nothing that is known. */
  readonly completedBy?: number;
  /** JSON for the managedFields of an object that has none. */
  readonly managedFieldsText?: string;
  /** What is encoded of it already. */
  readonly texts?: EncodedTexts | undefined;
}

const JUST_SO: Made = {};

/** The encoded form of an object in its stored version, to be written if its key is as expected. */
export function draftPut(type: KnownType, object: JsonObject, expect: number, made: Made = JUST_SO): Draft {
  const { storageApiVersion, kind } = type;
  const { managedFieldsText, texts, completedBy } = made;
  const encoded = encodeStored(object as Encodable, storageApiVersion, kind, managedFieldsText, texts);
  const generation = generationOf(type, completedBy);
  return draftOf(type, metadataOf(object), expect, putOf(encoded, selectedBy(type, object), generation));
}

/** The same of what an update makes of a stored object, whose text is taken for what is the same. */
export function draftUpdate(type: KnownType, object: JsonObject, stored: StoredObject, made: Made): Draft {
  const { place } = stored;
  const rest = made.texts === undefined ? stored.restFor(object) : undefined;
  if (rest === undefined) return draftPut(type, object, place.revision, made);
  const of = { place, schemaGeneration: generationOf(type, made.completedBy) };
  return draftWithRest(type, metadataOf(object), of, { rest, attributes: selectedBy(type, object) });
}

/** The same of an object that has been changed as it was stored: it is of the schema that it was of, and as complete. */
export function draftPutAsStored(
  type: KnownType,
  object: JsonObject,
  { place, schemaGeneration }: Pick<StoredObject, 'place' | 'schemaGeneration'>,
): Draft {
  const draft = draftPut(type, object, place.revision);
  return plainDraft(draft.key, draft.expect, { ...draft.put!, schemaGeneration });
}

/** The same of an object of which `metadata`, read apart from the rest, is all that changes, and in that nothing it is selected by. */
export function draftMetadata(type: KnownType, metadata: ObjectMeta, stored: StoredObject): Draft {
  return draftWithRest(type, metadata, stored, { rest: stored.restApart, attributes: stored.attributes });
}

/** What of an object stays as its record has it. */
export interface KeptParts {
  /** Its text, from what follows the members that its metadata is given with. */
  readonly rest: string;
  /** What it is selected by, packed. */
  readonly attributes: string;
}

/** The same where that has been asked for before, or is not all as it was. */
export function draftWithRest(
  type: KnownType,
  metadata: ObjectMeta,
  { place, schemaGeneration }: Pick<StoredObject, 'place' | 'schemaGeneration'>,
  { rest, attributes }: KeptParts,
): Draft {
  const encoded = encodeWithRest(metadata as Members, rest, type.storageApiVersion, type.kind);
  return draftOf(type, metadata, place.revision, putOf(encoded, attributes, schemaGeneration));
}

function draftOf(type: KnownType, { namespace = '', name = '' }: ObjectMeta, expect: number, put: Put): Draft {
  return plainDraft(keyOf(type, namespace, name), expect, put);
}

/** The same without managedFields of what is put; undefined where that has none. */
export function draftWithoutOwners(draft: Draft, { storageApiVersion, kind }: KnownType): Draft | undefined {
  const { put } = draft;
  if (put === undefined) return undefined;
  const object = parseExact(put.text) as Encodable;
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return undefined;
  const encoded = encodeStored({ ...object, metadata }, storageApiVersion, kind);
  return { ...draft, put: putOf(encoded, put.attributes, put.schemaGeneration) };
}

/** By what clients can select the object, packed. */
function selectedBy(type: KnownType, object: JsonObject): string {
  return packAttributes(metadataOf(object).labels, selectableValues(object, type.storedFields));
}

function putOf({ text, revisionOffset, itemOffset }: EncodedObject, attributes: string, schemaGeneration: number): Put {
  return { text, bytes: Buffer.byteLength(text), revisionOffset, itemOffset, attributes, schemaGeneration };
}

/** Throws 413 for an object that is larger than one may be, unless it was as large before. */
export function requireSize({ put }: Draft, storedBytes = 0): void {
  if (put === undefined || put.bytes <= OBJECT_BYTES_MAX || put.bytes <= storedBytes) return;
  throw new StatusError(tooLarge(`the object would be stored as ${put.bytes} bytes, limit is ${OBJECT_BYTES_MAX}`));
}

/** A draft of which what is put is removed again. */
export function draftOfLast({ key, expect, put, also, guards, isBehindFirst }: Draft): Draft {
  return { key, expect, put, also, guards, isLast: true, isBehindFirst };
}

/** The removal of an object, if its key is as expected. */
export function draftDelete(type: KnownType, namespace: string, name: string, expect: number): Draft {
  return plainDraft(keyOf(type, namespace, name), expect, undefined);
}

/** A record of the server's own, which is no object of the API. */
export function draftRecord(
  storageKey: string,
  name: string,
  record: JsonObject & { readonly metadata: Readonly<Record<string, unknown>> },
  expect: number,
): Draft {
  const put = putOf(encodeStored(record, 'internal/v1', 'Record'), '', BUILT_IN);
  return plainDraft(objectKey(storageKey, '', name), expect, put);
}

/** The removal of a record of the server's own. */
export function draftRemoval(storageKey: string, name: string, expect: number): Draft {
  return plainDraft(objectKey(storageKey, '', name), expect, undefined);
}

/** A draft that commits together with others beside those it has, and only under guards. */
export function withAlso(draft: Draft, also: readonly Draft[], guards: readonly Guard[] = NO_GUARDS): Draft {
  if (also.length === 0 && guards.length === 0) return draft;
  const { key, expect, put, isLast, isBehindFirst } = draft;
  const together = draft.also.length === 0 ? also : [...draft.also, ...also];
  return { key, expect, put, also: together, guards, isLast, isBehindFirst };
}
