// The end of LevelDB's own log, for when a batch could not be written to it: what of the batch is there is cut off, so
// that it is not found at the next start, having been refused. Only for a database that is closed.
//
// The log is blocks of 32 KiB; a record is one or more fragments, none of which crosses a block. A fragment:
//   0 u32 checksum   4 u16 length   6 u8 type (1 whole, 2 first, 3 middle, 4 last)   7 bytes
// A whole record is a batch: 0 u64 sequence   8 u32 operations   12 u8 1 (a put)   13 key: varint length, bytes …
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK_BYTES = 32 * 1024;
const FRAGMENT_HEAD_BYTES = 7;
const WHOLE = 1;
const FIRST = 2;
const LAST = 4;
/** Enough of a batch to hold the key of its first operation. */
const OPENING_BYTES_MAX = 4096;
const KEY_OFFSET = 13;
const LOG_FILE = /^\d+\.log$/;

/**
 * Removes from the newest log of the database in `directory` the batch whose first operation puts `firstKey`, and a
 * record that was cut off. What is left is on disk when it returns. Throws what the file system throws.
 */
export function cutFromLog(directory: string, firstKey: string): void {
  const newest = readdirSync(directory)
    .filter((name) => LOG_FILE.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .at(-1);
  if (newest === undefined) return;
  const path = join(directory, newest);
  const end = logEndBefore(readFileSync(path), firstKey);
  const file = openSync(path, 'r+');
  try {
    if (fstatSync(file).size > end) ftruncateSync(file, end);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Where in a log the batch of `firstKey` begins, or a record that is not whole; else where the log ends. */
export function logEndBefore(log: Buffer, firstKey: string): number {
  const key = Buffer.from(firstKey);
  let recordStart = 0;
  let opening: Buffer[] = [];
  let at = 0;
  for (;;) {
    const blockLeft = BLOCK_BYTES - (at % BLOCK_BYTES);
    const isBetween = opening.length === 0;
    if (blockLeft < FRAGMENT_HEAD_BYTES) {
      at += blockLeft;
      continue;
    }
    if (isBetween) recordStart = at;
    if (at >= log.length) return isBetween ? log.length : recordStart;
    const end = fragmentEnd(log, at, blockLeft);
    const type = log[at + 6]!;
    if (end === undefined || isBetween !== (type === WHOLE || type === FIRST)) return recordStart;
    opening.push(log.subarray(at + FRAGMENT_HEAD_BYTES, Math.min(end, at + OPENING_BYTES_MAX)));
    if (type === WHOLE || type === LAST) {
      if (putsFirst(Buffer.concat(opening), key)) return recordStart;
      opening = [];
    }
    at = end;
  }
}

/** Undefined when the fragment is not whole. */
function fragmentEnd(log: Buffer, at: number, blockLeft: number): number | undefined {
  if (at + FRAGMENT_HEAD_BYTES > log.length) return undefined;
  const length = FRAGMENT_HEAD_BYTES + log.readUInt16LE(at + 4);
  const type = log[at + 6]!;
  return length <= blockLeft && at + length <= log.length && type >= WHOLE && type <= LAST ? at + length : undefined;
}

function putsFirst(batch: Buffer, key: Buffer): boolean {
  let at = KEY_OFFSET;
  let length = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = batch[at++] ?? 0;
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  return batch[KEY_OFFSET - 1] === 1 && length === key.length && batch.subarray(at, at + length).equals(key);
}
