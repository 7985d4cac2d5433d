// What can be told of an object from its record's bytes without parsing it: the encoder (api/codec/stored-object.ts)
// writes metadata in a fixed order around the resourceVersion slot. Nothing here decides what an object says beyond that.
import { REVISION_SLOT_BYTES } from '../../api/codec/stored-object.ts';
import { holdsAt } from '../forms/holds-at.ts';
import { revisionOffset, type Slab, valueLength, valueStart } from './slab-record.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BLANK = 0x20;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** With this bit set, both kinds of opening brackets are one, and both kinds of closing ones. */
const CASE_BIT = 0x20;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const UUID_LENGTH = 36;
const UID_OPENING = Buffer.from('"uid":"');
const AFTER_UID = '","resourceVersion":';
const DELETION_MARK = Buffer.from('"deletionTimestamp":');
/**
 * Within these bytes the end of a text is looked for byte by byte, then by a call into native code, which is quick over a long one
 * and slow where each next quote is one of the text's own.
 */
const NEAR_BYTES = 64;

/** Where the bytes of metadata.uid end, which stands right before the slot, if there is one. */
export function uidEnd(slab: Slab, offset: number): number {
  return valueStart(slab, offset) + revisionOffset(slab, offset) - AFTER_UID.length;
}

/** Where they begin; `uidEnd` when the object has none. */
export function uidStart(slab: Slab, offset: number): number {
  const { bytes } = slab;
  const start = valueStart(slab, offset);
  const end = uidEnd(slab, offset);
  if (end > bytes.length) return end;
  const usual = end - UUID_LENGTH;
  if (usual - UID_OPENING.length >= start && holdsAt(bytes, usual - UID_OPENING.length, UID_OPENING)) return usual;
  let at = end;
  // Uids are made by the server: no quote is among their characters.
  while (at > start && bytes[at - 1] !== QUOTE) at--;
  const opening = at - UID_OPENING.length;
  return opening < start || !holdsAt(bytes, opening, UID_OPENING) ? end : at;
}

/** metadata.uid; empty when the object has none. */
export function recordUid(slab: Slab, offset: number): string {
  return slab.bytes.toString('latin1', uidStart(slab, offset), uidEnd(slab, offset));
}

const OWNER_REFERENCES = Buffer.from('"ownerReferences":');
const FINALIZERS = Buffer.from('"finalizers":');
/** The last member of metadata. */
const MANAGED_FIELDS = Buffer.from('"managedFields":');

/**
 * False: nobody owns the object, and its deletion waits for no finalizer. Walks over the members of metadata behind the slot, of which
 * most objects have few before managedFields; true as well where anything looks otherwise than the encoder writes it.
 */
export function mayBeTied(slab: Slab, offset: number): boolean {
  const { bytes } = slab;
  const start = valueStart(slab, offset);
  const end = Math.min(start + valueLength(slab, offset), bytes.length);
  let at = start + revisionOffset(slab, offset) + REVISION_SLOT_BYTES;
  let isTerminating = false;
  while (bytes[at] === BLANK) at++;
  while (at < end && bytes[at] === COMMA) {
    const name = at + 1;
    if (holdsAt(bytes, name, OWNER_REFERENCES)) return true;
    if (holdsAt(bytes, name, MANAGED_FIELDS)) return false;
    if (isTerminating && holdsAt(bytes, name, FINALIZERS)) return true;
    // It stands before the finalizers.
    isTerminating ||= holdsAt(bytes, name, DELETION_MARK);
    const value = endOfValue(bytes, name, end);
    if (bytes[value] !== COLON) return true;
    at = endOfValue(bytes, value + 1, end);
  }
  return bytes[at] !== CLOSING_BRACE;
}

/** Where the JSON text of a value ends that begins at a place. */
function endOfValue(bytes: Buffer, from: number, end: number): number {
  let depth = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = endOfText(bytes, at + 1, end);
    else if ((byte | CASE_BIT) === OPENING_BRACE) depth++;
    else if ((byte | CASE_BIT) === CLOSING_BRACE && --depth < 0) return at;
    else if (depth === 0 && (byte === COMMA || byte === COLON)) return at;
    if (depth === 0 && (byte === QUOTE || (byte | CASE_BIT) === CLOSING_BRACE)) return at + 1;
  }
  return end;
}

/** Where the closing quote of a text is; `end` or later where there is none. */
function endOfText(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const near = Math.min(at + NEAR_BYTES, end);
    while (at < near && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (at < near) return at;
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0 || quote >= end) return end;
    let backslashes = 0;
    while (quote - backslashes > at && bytes[quote - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
    at = quote + 1;
  }
  return at;
}

/** False: no member after the slot has this name, at any depth. `quotedName` is the name in its quotes, as ASCII. */
export function mayHaveMember(slab: Slab, offset: number, quotedName: Buffer): boolean {
  const start = valueStart(slab, offset);
  const from = start + revisionOffset(slab, offset) + REVISION_SLOT_BYTES;
  return slab.bytes.subarray(from, start + valueLength(slab, offset)).indexOf(quotedName) >= 0;
}
