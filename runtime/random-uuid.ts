// Random identifiers (RFC 9562, version 4) as flat strings of 36 bytes. Node's own are ropes of a dozen pieces, which cost
// half a kilobyte for as long as one is kept, and the identifier of a watch is kept for an hour.
import { randomFillSync } from 'node:crypto';

const UUID_BYTES = 16;
const POOLED = 256;
const HEX = Buffer.from('0123456789abcdef', 'latin1');
/** Where the digits of each byte stand: the hyphens between them stay. */
const PLACES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);

const pool = new Uint8Array(UUID_BYTES * POOLED);
const text = Buffer.alloc(36, '-');
let used = pool.length;

/** A new one, in lower case. */
export function randomUuid(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const start = used;
  used += UUID_BYTES;
  pool[start + 6] = (pool[start + 6]! & 0x0f) | 0x40;
  pool[start + 8] = (pool[start + 8]! & 0x3f) | 0x80;
  for (let i = 0; i < UUID_BYTES; i++) {
    const byte = pool[start + i]!;
    const at = PLACES[i]!;
    text[at] = HEX[byte >>> 4]!;
    text[at + 1] = HEX[byte & 0x0f]!;
    // What was given out is not left lying about.
    pool[start + i] = 0;
  }
  return text.toString('latin1');
}
