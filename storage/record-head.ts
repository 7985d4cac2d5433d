// What can be told of an object from its record's bytes without parsing it: the encoder (api/codec/stored-object.ts)
// writes metadata in a fixed order around the resourceVersion slot. Nothing here decides what an object says beyond that.
import { REVISION_SLOT_BYTES } from '../api/codec/stored-object.ts';
import { revisionOffset, type Slab, valueLength, valueStart } from './slab-record.ts';

const QUOTE = 0x22;
const UID_OPENING = '"uid":';
const AFTER_UID = '","resourceVersion":';
const DELETION_MARK = '"deletionTimestamp"';
/** Bytes after the slot within which deletionTimestamp begins: only generation and creationTimestamp come before it. */
const DELETION_MARK_WINDOW_BYTES = 128;

/** metadata.uid, which stands right before the slot; empty when the object has none. */
export function recordUid(slab: Slab, offset: number): string {
  const { bytes } = slab;
  const start = valueStart(slab, offset);
  const end = start + revisionOffset(slab, offset) - AFTER_UID.length;
  let at = end;
  // Uids are made by the server: no quote is among their characters.
  while (at > start && bytes[at - 1] !== QUOTE) at--;
  const opening = at - 1 - UID_OPENING.length;
  if (opening < start || bytes.toString('latin1', opening, at - 1) !== UID_OPENING) return '';
  return bytes.toString('latin1', at, end);
}

/** False: the object's deletion was certainly not asked for. True: it was, unless a label looks like it. */
export function mayBeTerminating(slab: Slab, offset: number): boolean {
  const start = valueStart(slab, offset);
  const from = start + revisionOffset(slab, offset) + REVISION_SLOT_BYTES;
  const to = Math.min(from + DELETION_MARK_WINDOW_BYTES, start + valueLength(slab, offset));
  return slab.bytes.toString('latin1', from, to).includes(DELETION_MARK);
}

/** False: no member after the slot has this name, at any depth. `quotedName` is the name in its quotes, as ASCII. */
export function mayHaveMember(slab: Slab, offset: number, quotedName: Buffer): boolean {
  const start = valueStart(slab, offset);
  const from = start + revisionOffset(slab, offset) + REVISION_SLOT_BYTES;
  return slab.bytes.subarray(from, start + valueLength(slab, offset)).indexOf(quotedName) >= 0;
}
