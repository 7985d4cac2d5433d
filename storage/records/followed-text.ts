// The text of a record's object as followers of the store parse it: without metadata.managedFields, a third of an object or
// more, which nobody who follows asks about. Relies on the encoder (api/codec/stored-object.ts): metadata is a member of the
// object's first, managedFields the last of metadata, and no blanks stand between members.
import { REVISION_SLOT_BYTES } from '../../api/codec/stored-object.ts';

const OPENING = Buffer.from(',"managedFields":[');
export const OPENING_BYTES = OPENING.length;
/** Of labels and annotations before it. */
const WALKED_BYTES_MAX = 4096;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const CASE_BIT = 0x20;
const LETTER_A = 0x61;
const LETTER_Z = 0x7a;

/**
 * The text of the object at `start`, decoded from UTF-8. `slot` is where its resourceVersion is, counted from there. Whole
 * where there are no managedFields, or where it would take long to tell which they are.
 */
export function followedText(bytes: Buffer, start: number, length: number, slot: number): string {
  const end = start + length;
  const range = managedFieldsRange(bytes, start, length, slot);
  if (range === undefined) return bytes.toString('utf8', start, end);
  return bytes.toString('utf8', start, range.from) + bytes.toString('utf8', range.to, end);
}

/** Where managedFields begin, with the comma before them, and where they are over; undefined as above. */
export function managedFieldsRange(
  bytes: Buffer,
  start: number,
  length: number,
  slot: number,
): { readonly from: number; readonly to: number } | undefined {
  const end = start + length;
  const behind = start + slot + REVISION_SLOT_BYTES;
  const from = behind + bytes.subarray(behind, end).indexOf(OPENING);
  if (!isInMetadata(bytes, behind, from)) return undefined;
  const to = endOfList(bytes, from + OPENING.length, end);
  return to < 0 ? undefined : { from, to };
}

/** Whether metadata, in which `from` is, is still open at `to`: labels and annotations are walked over. */
function isInMetadata(bytes: Buffer, from: number, to: number): boolean {
  if (to < from || to - from > WALKED_BYTES_MAX) return false;
  let depth = 1;
  let inString = false;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPENING_BRACE) depth++;
    else if (byte === CLOSING_BRACE && --depth === 0) return false;
  }
  return depth === 1;
}

/**
 * Where the list that ends metadata is over, or -1. Entries hold no lists, and a bracket in one of their strings is told from
 * the end by what follows: within a string a quote after it would have a backslash, or be the string's end, which no letter
 * follows.
 */
function endOfList(bytes: Buffer, from: number, end: number): number {
  for (
    let at = bytes.indexOf(CLOSING_BRACKET, from);
    at >= 0 && at < end;
    at = bytes.indexOf(CLOSING_BRACKET, at + 1)
  ) {
    if (bytes[at + 1] !== CLOSING_BRACE) continue;
    if (at + 3 === end && bytes[at + 2] === CLOSING_BRACE) return at + 1;
    const isMember = bytes[at + 2] === COMMA && bytes[at + 3] === QUOTE && isLetter(bytes[at + 4]!);
    if (isMember) return at + 1;
  }
  return -1;
}

function isLetter(byte: number): boolean {
  return (byte | CASE_BIT) >= LETTER_A && (byte | CASE_BIT) <= LETTER_Z;
}
