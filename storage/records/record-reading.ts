// How readers get at what a record holds: as numbers, copies and parsed objects, and as a view only for the length of a call.
// The bytes lie in shared memory, which the store writes over once the reader's epoch has moved on (storage/shared-state.ts):
// a view that is kept shows another object then. The tidy test holds everybody but the store to this file.
import { crc32 } from 'node:zlib';
import { parseExact } from '../../api/json/exact-json.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { ManagedFieldsEntry } from '../../api/metadata/object-meta.ts';
import { copyBytes } from '../../values/copy-bytes.ts';
import { holdsAt } from '../forms/holds-at.ts';
import { countDecoded, decodeStored } from '../forms/stored-json.ts';
import { liveDigestOf } from './event-log.ts';
import { followedText, managedFieldsRange } from './followed-text.ts';
import { entriesIn, type OwnedObject, ownedObject } from './owned-object.ts';
import {
  bodyView,
  itemOffset,
  recordKeyBytes,
  recordRevision,
  revisionOffset,
  type Slab,
  valueLength,
  valueStart,
  valueView,
} from './slab-record.ts';

/** The object, as it is stored. */
export function decodeRecord(slab: Slab, offset: number): JsonObject {
  return decodeStored(valueView(slab, offset));
}

/** The same for who writes the object again: its field sets are shared with others, and frozen. */
export function decodeOwned(slab: Slab, offset: number): OwnedObject {
  const { bytes } = slab;
  const start = valueStart(slab, offset);
  const owned = ownedObject(bytes, start, valueLength(slab, offset), revisionOffset(slab, offset));
  if (owned === undefined) return { object: decodeRecord(slab, offset), rest: undefined };
  countDecoded();
  return owned;
}

/** An object with nothing but its metadata, and that without managedFields; and where in the value those are, with their comma. */
export interface MetadataApart {
  readonly object: { readonly metadata: JsonObject };
  readonly end: number;
  /** Behind managedFields: at the brace that closes metadata. */
  readonly behind: number;
}

const METADATA = Buffer.from('"metadata":{');

/** Undefined where they cannot be told apart without parsing the object. */
export function metadataApart(slab: Slab, offset: number): MetadataApart | undefined {
  const { bytes } = slab;
  const start = valueStart(slab, offset);
  const at = start + itemOffset(slab, offset);
  const range = managedFieldsRange(bytes, start, valueLength(slab, offset), revisionOffset(slab, offset));
  if (range === undefined || !holdsAt(bytes, at, METADATA)) return undefined;
  const from = at + METADATA.length - 1;
  const metadata = parseExact(`${bytes.toString('utf8', from, range.from)}}`) as JsonObject;
  return { object: { metadata }, end: range.from - start, behind: range.to - start };
}

/** The managedFields of an object whose metadata has been read apart, their field sets as in `decodeOwned`; undefined as there. */
export function entriesApart(
  slab: Slab,
  offset: number,
  { end, behind }: MetadataApart,
): readonly ManagedFieldsEntry[] | undefined {
  const start = valueStart(slab, offset);
  try {
    return entriesIn(slab.bytes, start + end, start + behind);
  } catch {
    // Some text was taken for an end.
    return undefined;
  }
}

/** How many bytes of `body` come before an end that is the value's own from `from` on; -1 where it ends otherwise. */
export function lengthBefore(slab: Slab, offset: number, from: number, body: Uint8Array): number {
  const start = valueStart(slab, offset);
  const length = body.length - (valueLength(slab, offset) - from);
  if (length < 0) return -1;
  const order = slab.bytes.compare(body, length, body.length, start + from, start + valueLength(slab, offset));
  return order === 0 ? length : -1;
}

/** Whether the value holds these bytes from a byte of it on. */
export function holdsText(slab: Slab, offset: number, from: number, text: Uint8Array): boolean {
  const end = from + text.length;
  if (end > valueLength(slab, offset)) return false;
  const start = valueStart(slab, offset);
  return slab.bytes.compare(text, 0, text.length, start + from, start + end) === 0;
}

/** The value's text from a byte of it on. */
export function textFrom(slab: Slab, offset: number, from: number): string {
  const start = valueStart(slab, offset);
  return slab.bytes.toString('utf8', start + from, start + valueLength(slab, offset));
}

/** What `parse` makes of the object's JSON, which is without managedFields where those can be told without parsing. */
export function parseFollowed<T>(slab: Slab, offset: number, parse: (text: string) => T): T {
  const length = valueLength(slab, offset);
  try {
    return parse(followedText(slab.bytes, valueStart(slab, offset), length, revisionOffset(slab, offset)));
  } catch {
    // Entries that hold lists, which nobody should have written: a list inside was taken for the end.
    return parse(valueView(slab, offset).toString('utf8'));
  }
}

/** Copies the value to a place in `target` that has room for it; returns where it ends. */
export function copyValue(slab: Slab, offset: number, target: Buffer, at: number): number {
  const start = valueStart(slab, offset);
  return copyBytes(target, at, slab.bytes.subarray(start, start + valueLength(slab, offset)));
}

/** Copies the value's members after kind and apiVersion, closing brace included: an item of a list behind its `{`. */
export function copyItem(slab: Slab, offset: number, target: Buffer, at: number): number {
  const start = valueStart(slab, offset);
  const [from, to] = [start + itemOffset(slab, offset), start + valueLength(slab, offset)];
  return copyBytes(target, at, slab.bytes.subarray(from, to));
}

/** Bytes that `copyItem` takes. */
export function itemLength(slab: Slab, offset: number): number {
  return valueLength(slab, offset) - itemOffset(slab, offset);
}

/** The value with its closing newline, as memory of the caller's own. */
export function copyOfBody(slab: Slab, offset: number): Buffer {
  const body = bodyView(slab, offset);
  const copy = Buffer.allocUnsafe(body.length);
  copyBytes(copy, 0, body);
  return copy;
}

/** What a record adds to the digest of everything live (storage/live-digest.ts). */
export function recordDigest(slab: Slab, offset: number): number {
  return liveDigestOf(crc32(recordKeyBytes(slab, offset)), recordRevision(slab, offset));
}

/** Under test: what is lent is wiped when it comes back, so that a view that was kept shows it. */
export const lending = { wipes: false };

/**
 * Lends the value with its closing newline to `read`, which is done with it when it returns. Three arguments are passed on, so
 * that a read needs no closure.
 */
export function withBody<A, B, C, T>(
  slab: Slab,
  offset: number,
  read: (body: Buffer, a: A, b: B, c: C) => T,
  a: A,
  b: B,
  c: C,
): T {
  if (!lending.wipes) return read(bodyView(slab, offset), a, b, c);
  const lent = copyOfBody(slab, offset);
  try {
    return read(lent, a, b, c);
  } finally {
    lent.fill(WIPED);
  }
}

const WIPED = '?';
