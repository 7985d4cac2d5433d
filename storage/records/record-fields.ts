// What a record tells of a field that its type lets clients select by, read where it lies: the attributes (storage/forms/attributes.ts)
// are neither decoded nor unpacked for it.
import { packedField } from '../forms/attributes.ts';
import { RECORD_HEADER_BYTES, recordKeyLength, type Slab, valueStart } from './slab-record.ts';

const NUL = 0x00;
const ZERO = 0x30;

/** A field's text in the form in which `fieldIs` compares it. */
export function fieldText(text: string): Buffer {
  return Buffer.from(packedField(text));
}

/**
 * Whether a field of the object has this text. `index`: of the field among KnownType.storedFields. False as well where the
 * record has no such field.
 */
export function fieldIs(slab: Slab, offset: number, index: number, text: Buffer): boolean {
  const { bytes } = slab;
  const start = offset + RECORD_HEADER_BYTES + recordKeyLength(slab, offset);
  // Lengths that were overwritten are not gone by.
  const end = Math.min(valueStart(slab, offset), bytes.length);
  let at = start;
  let labels = 0;
  while (at < end && bytes[at] !== NUL) labels = labels * 10 + (bytes[at++]! - ZERO);
  let left = 2 * labels + index;
  for (; left > 0 && at < end; left--) {
    at++;
    while (at < end && bytes[at] !== NUL) at++;
  }
  if (at >= end || at + 1 + text.length > end) return false;
  at++;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  const behind = at + text.length;
  return behind === end || bytes[behind] === NUL;
}
