// One object version in shared memory: the layout of a record inside a slab, and how it is written and read. Nothing here
// parses the object; readers copy or send its bytes as they are.
//
// A record begins at a multiple of 8 bytes: twelve little-endian u32 (the H_* indexes), the key, the packed attributes
// and the value, each as UTF-8, a newline (an answer's body is the value and its newline, sent as it lies), then padding.
import { REVISION_SLOT_BYTES } from '../../api/codec/stored-object.ts';
import { holdsAt } from '../forms/holds-at.ts';

const H_LENGTH = 0;
const H_REVISION_LOW = 1;
const H_REVISION_HIGH = 2;
const H_TYPE = 3;
const H_SCHEMA_GENERATION = 4;
const H_KEY_LENGTH = 5;
const H_ATTRIBUTES_LENGTH = 6;
const H_VALUE_LENGTH = 7;
const H_REVISION_OFFSET = 8;
const H_ITEM_OFFSET = 9;
const H_BORN_LOW = 10;
const H_BORN_HIGH = 11;
export const RECORD_HEADER_BYTES = 48;

/** In place of a slab number: there is no record. */
export const NO_SLAB = 0xffffffff;

/** What happened to the object at the record's revision. */
export type RecordType = 1 | 2 | 3;
export const CREATED: RecordType = 1;
export const UPDATED: RecordType = 2;
export const DELETED: RecordType = 3;

/** The type's word holds flags beside it. */
const TYPE_MASK = 0xff;
const STALE_FLAG = 0x100;

const TWO_32 = 4294967296;
const NEWLINE = 0x0a;

/** One mapped slab: the same memory as bytes and as words. */
export interface Slab {
  readonly memory: SharedArrayBuffer;
  readonly bytes: Buffer;
  readonly words: Uint32Array;
}

/** Maps shared memory for reading and writing records. */
export function mapSlab(memory: SharedArrayBuffer): Slab {
  return { memory, bytes: Buffer.from(memory), words: new Uint32Array(memory, 0, memory.byteLength >>> 2) };
}

/** Bytes a record takes, padding included, given the UTF-8 lengths of its parts. */
export function recordBytes(keyBytes: number, attributesBytes: number, valueBytes: number): number {
  return (RECORD_HEADER_BYTES + keyBytes + attributesBytes + valueBytes + 1 + 7) & ~7;
}

export interface RecordFields {
  readonly revision: number;
  /** Revision of the object's creation. */
  readonly bornRevision: number;
  readonly type: RecordType;
  readonly schemaGeneration: number;
  readonly revisionOffset: number;
  readonly itemOffset: number;
}

/** Writes the header and the key and attributes; the caller puts `valueLength` bytes at the returned offset. */
export function writeRecordHead(
  slab: Slab,
  offset: number,
  length: number,
  fields: RecordFields,
  key: string,
  keyBytes: number,
  attributes: string,
  attributesBytes: number,
  valueLength: number,
): number {
  const { words, bytes } = slab;
  const base = offset >>> 2;
  words[base + H_LENGTH] = length;
  words[base + H_REVISION_LOW] = fields.revision % TWO_32;
  words[base + H_REVISION_HIGH] = Math.floor(fields.revision / TWO_32);
  words[base + H_TYPE] = fields.type;
  words[base + H_SCHEMA_GENERATION] = fields.schemaGeneration;
  words[base + H_KEY_LENGTH] = keyBytes;
  words[base + H_ATTRIBUTES_LENGTH] = attributesBytes;
  words[base + H_VALUE_LENGTH] = valueLength;
  words[base + H_REVISION_OFFSET] = fields.revisionOffset;
  words[base + H_ITEM_OFFSET] = fields.itemOffset;
  words[base + H_BORN_LOW] = fields.bornRevision % TWO_32;
  words[base + H_BORN_HIGH] = Math.floor(fields.bornRevision / TWO_32);
  let at = offset + RECORD_HEADER_BYTES;
  bytes.write(key, at, keyBytes, 'utf8');
  at += keyBytes;
  if (attributesBytes > 0) bytes.write(attributes, at, attributesBytes, 'utf8');
  bytes[at + attributesBytes + valueLength] = NEWLINE;
  return at + attributesBytes;
}

/** Puts the digits of `revision` into a value's slot: `"123"` and blanks, which JSON allows after a string. */
export function stampRevision(bytes: Buffer, slotOffset: number, revision: number): void {
  let digits = 1;
  for (let rest = revision; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  const end = slotOffset + REVISION_SLOT_BYTES;
  let at = slotOffset + digits + 1;
  for (let blank = at + 1; blank < end; blank++) bytes[blank] = BLANK;
  bytes[at] = QUOTE;
  for (let rest = revision; at > slotOffset + 1; rest = Math.floor(rest / 10)) bytes[--at] = ZERO + (rest % 10);
  bytes[slotOffset] = QUOTE;
}

const BLANK = 0x20;
const QUOTE = 0x22;
const ZERO = 0x30;

/** Turns a copied record into another event of the same object: new type, new revision in head and value. */
export function restampRecord(slab: Slab, offset: number, type: RecordType, revision: number): void {
  const base = offset >>> 2;
  slab.words[base + H_TYPE] = type;
  slab.words[base + H_REVISION_LOW] = revision % TWO_32;
  slab.words[base + H_REVISION_HIGH] = Math.floor(revision / TWO_32);
  stampRevision(slab.bytes, valueStart(slab, offset) + revisionOffset(slab, offset), revision);
}

/** How many bytes the record takes in its slab. */
export function recordLength(slab: Slab, offset: number): number {
  return slab.words[(offset >>> 2) + H_LENGTH]!;
}

/** The revision of the change that the record holds: its resourceVersion. */
export function recordRevision(slab: Slab, offset: number): number {
  const base = offset >>> 2;
  return slab.words[base + H_REVISION_LOW]! + slab.words[base + H_REVISION_HIGH]! * TWO_32;
}

/** The revision at which the object was created. */
export function recordBornRevision(slab: Slab, offset: number): number {
  const base = offset >>> 2;
  return slab.words[base + H_BORN_LOW]! + slab.words[base + H_BORN_HIGH]! * TWO_32;
}

/** What the change that the record holds did to its object. */
export function recordType(slab: Slab, offset: number): RecordType {
  return (slab.words[(offset >>> 2) + H_TYPE]! & TYPE_MASK) as RecordType;
}

/** Notes that the object lies on disk in a form that is not written any more: under an old key, or not encrypted. */
export function markStale(slab: Slab, offset: number): void {
  slab.words[(offset >>> 2) + H_TYPE]! |= STALE_FLAG;
}

/** True for a record that is to be written again even if nothing of the object changes. */
export function isStale(slab: Slab, offset: number): boolean {
  return (slab.words[(offset >>> 2) + H_TYPE]! & STALE_FLAG) !== 0;
}

/** The generation of the definition by which a custom object was written; 0 for others. */
export function recordSchemaGeneration(slab: Slab, offset: number): number {
  return slab.words[(offset >>> 2) + H_SCHEMA_GENERATION]!;
}

/** The key, without its first `skipped` bytes. */
export function recordKey(slab: Slab, offset: number, skipped = 0): string {
  const start = offset + RECORD_HEADER_BYTES;
  return slab.bytes.toString('utf8', start + skipped, start + slab.words[(offset >>> 2) + H_KEY_LENGTH]!);
}

/** True when the key begins with these bytes. */
export function keyBeginsWith(slab: Slab, offset: number, prefix: Uint8Array): boolean {
  if (slab.words[(offset >>> 2) + H_KEY_LENGTH]! < prefix.length) return false;
  return holdsAt(slab.bytes, offset + RECORD_HEADER_BYTES, prefix);
}

/** True when this is the record's key. */
export function hasKey(slab: Slab, offset: number, key: string): boolean {
  return keyEndsWith(slab, offset, 0, key);
}

/** True when this is the record's key without its first `skipped` bytes. */
export function keyEndsWith(slab: Slab, offset: number, skipped: number, end: string): boolean {
  const { bytes } = slab;
  // The UTF-8 of a text that is not ASCII is longer than it.
  if (slab.words[(offset >>> 2) + H_KEY_LENGTH]! - skipped !== end.length)
    return !isAscii(end) && recordKey(slab, offset, skipped) === end;
  const start = offset + RECORD_HEADER_BYTES + skipped;
  for (let i = end.length - 1; i >= 0; i--) {
    const code = end.charCodeAt(i);
    if (code >= 0x80 || code !== bytes[start + i]) return false;
  }
  return true;
}

/** From the end, where keys differ first. What reaches beyond its slab is none: lengths that were overwritten are not gone by. */
export function sameBytes(left: Slab, leftStart: number, right: Slab, rightStart: number, length: number): boolean {
  if (leftStart + length > left.bytes.length || rightStart + length > right.bytes.length) return false;
  for (let i = length - 1; i >= 0; i--) if (left.bytes[leftStart + i] !== right.bytes[rightStart + i]) return false;
  return true;
}

/** Bytes of the key. */
export function recordKeyLength(slab: Slab, offset: number): number {
  return slab.words[(offset >>> 2) + H_KEY_LENGTH]!;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false;
  return true;
}

/** The key's UTF-8, a view of shared memory. */
export function recordKeyBytes(slab: Slab, offset: number): Buffer {
  const start = offset + RECORD_HEADER_BYTES;
  return slab.bytes.subarray(start, start + slab.words[(offset >>> 2) + H_KEY_LENGTH]!);
}

/** The packed labels and field values (storage/forms/attributes.ts). */
export function recordAttributes(slab: Slab, offset: number): string {
  const base = offset >>> 2;
  const length = slab.words[base + H_ATTRIBUTES_LENGTH]!;
  if (length === 0) return '';
  const start = offset + RECORD_HEADER_BYTES + slab.words[base + H_KEY_LENGTH]!;
  return slab.bytes.toString('utf8', start, start + length);
}

/** True when two records have the same attributes, which are read of neither. */
export function sameAttributes(left: Slab, leftOffset: number, right: Slab, rightOffset: number): boolean {
  const [leftBase, rightBase] = [leftOffset >>> 2, rightOffset >>> 2];
  const length = left.words[leftBase + H_ATTRIBUTES_LENGTH]!;
  if (length !== right.words[rightBase + H_ATTRIBUTES_LENGTH]) return false;
  const leftStart = leftOffset + RECORD_HEADER_BYTES + left.words[leftBase + H_KEY_LENGTH]!;
  const rightStart = rightOffset + RECORD_HEADER_BYTES + right.words[rightBase + H_KEY_LENGTH]!;
  return sameBytes(left, leftStart, right, rightStart, length);
}

/** Where the value's bytes begin in the slab. */
export function valueStart(slab: Slab, offset: number): number {
  const base = offset >>> 2;
  return offset + RECORD_HEADER_BYTES + slab.words[base + H_KEY_LENGTH]! + slab.words[base + H_ATTRIBUTES_LENGTH]!;
}

/** How many bytes the object's text takes. */
export function valueLength(slab: Slab, offset: number): number {
  return slab.words[(offset >>> 2) + H_VALUE_LENGTH]!;
}

/** Where in the value the resourceVersion slot begins. */
export function revisionOffset(slab: Slab, offset: number): number {
  return slab.words[(offset >>> 2) + H_REVISION_OFFSET]!;
}

/** Where in the value the first member after kind and apiVersion begins: items of a list start there, after a `{`. */
export function itemOffset(slab: Slab, offset: number): number {
  return slab.words[(offset >>> 2) + H_ITEM_OFFSET]!;
}

/** The value's bytes: a view of shared memory, valid while the record is (see storage/shared-state.ts). */
export function valueView(slab: Slab, offset: number): Buffer {
  const start = valueStart(slab, offset);
  return slab.bytes.subarray(start, start + valueLength(slab, offset));
}

/** The value with its closing newline: a whole JSON answer. */
export function bodyView(slab: Slab, offset: number): Buffer {
  const start = valueStart(slab, offset);
  return slab.bytes.subarray(start, start + valueLength(slab, offset) + 1);
}
