// What can be told of an object from its record's bytes without parsing it: the encoder (api/codec/stored-object.ts)
// writes metadata in a fixed order around the resourceVersion slot. Nothing here decides what an object says beyond that.
import { REVISION_SLOT_BYTES } from '../api/codec/stored-object.ts';
import { revisionOffset, type Slab, valueLength, valueStart } from './slab-record.ts';

const QUOTE = 0x22;
const UID_OPENING = Buffer.from('"uid":"');
const AFTER_UID = '","resourceVersion":';
const DELETION_MARK = Buffer.from('"deletionTimestamp"');
/** Bytes after the slot within which deletionTimestamp begins: only generation and creationTimestamp come before it. */
const DELETION_MARK_WINDOW_BYTES = 128;

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
  let at = end;
  // Uids are made by the server: no quote is among their characters.
  while (at > start && bytes[at - 1] !== QUOTE) at--;
  const opening = at - UID_OPENING.length;
  return opening < start || !holds(bytes, opening, UID_OPENING) ? end : at;
}

/** metadata.uid; empty when the object has none. */
export function recordUid(slab: Slab, offset: number): string {
  return slab.bytes.toString('latin1', uidStart(slab, offset), uidEnd(slab, offset));
}

/** False: the object's deletion was certainly not asked for. True: it was, unless a label looks like it. */
export function mayBeTerminating(slab: Slab, offset: number): boolean {
  const { bytes } = slab;
  const start = valueStart(slab, offset);
  const from = start + revisionOffset(slab, offset) + REVISION_SLOT_BYTES;
  const to = Math.min(from + DELETION_MARK_WINDOW_BYTES, start + valueLength(slab, offset)) - DELETION_MARK.length;
  for (let at = from; at <= to; at++) if (bytes[at] === QUOTE && holds(bytes, at, DELETION_MARK)) return true;
  return false;
}

/** A few bytes: a loop costs less than a call of Buffer's. */
function holds(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** False: no member after the slot has this name, at any depth. `quotedName` is the name in its quotes, as ASCII. */
export function mayHaveMember(slab: Slab, offset: number, quotedName: Buffer): boolean {
  const start = valueStart(slab, offset);
  const from = start + revisionOffset(slab, offset) + REVISION_SLOT_BYTES;
  return slab.bytes.subarray(from, start + valueLength(slab, offset)).indexOf(quotedName) >= 0;
}
