// LevelDB's log format, which its write-ahead logs and its manifest share: blocks of 32 KiB, records in pieces that never
// span a block, each piece with a checksum. Reads everything that is whole, and says what is not.
//
// A piece: 0 u32 masked crc32c of type and bytes  4 u16 length  6 u8 type  7 bytes
import { crc32c, masked } from './crc32c.ts';
import type { FileDamage } from './damage.ts';

const BLOCK_BYTES = 32 * 1024;
const HEADER_BYTES = 7;
const FULL = 1;
const FIRST = 2;
const LAST = 4;

export interface LogContents {
  readonly records: readonly Buffer[];
  readonly damages: readonly FileDamage[];
  /** True when the file ends within a record: what a crash leaves of a write that nobody was told of. */
  readonly isTorn: boolean;
}

/** Reads a log. Past a damaged piece it goes on where the next one should begin, else at the next block. */
export function readLogFile(file: Buffer): LogContents {
  const records: Buffer[] = [];
  const damages: FileDamage[] = [];
  let pieces: Buffer[] = [];
  let isTorn = false;
  let at = 0;
  while (at < file.length) {
    const blockEnd = Math.min(at - (at % BLOCK_BYTES) + BLOCK_BYTES, file.length);
    const isLastBlock = blockEnd === file.length;
    const next = at + HEADER_BYTES + (at + HEADER_BYTES <= blockEnd ? file.readUInt16LE(at + 4) : 0);
    if (next > blockEnd) {
      // Too short for a header: filled up. Else a record cut off, or a length that cannot be.
      if (isLastBlock && blockEnd % BLOCK_BYTES !== 0) isTorn = true;
      else if (at + HEADER_BYTES <= blockEnd) damages.push({ offset: at, what: 'a record has an impossible length' });
      if (at + HEADER_BYTES <= blockEnd) pieces = [];
      at = blockEnd;
      continue;
    }
    if (file.subarray(at, blockEnd).every((byte) => byte === 0)) {
      // Room that a power failure left unwritten.
      isTorn = true;
      at = blockEnd;
      continue;
    }
    const type = file[at + 6]!;
    const piece = file.subarray(at + HEADER_BYTES, next);
    const isSound =
      type >= FULL && type <= LAST && file.readUInt32LE(at) === masked(crc32c(file, at + HEADER_BYTES - 1, next));
    if (!isSound) {
      damages.push({ offset: at, what: 'a record does not match its checksum' });
      pieces = [];
    } else if (type === FULL || type === FIRST || pieces.length > 0) {
      if (type === FULL || type === FIRST) pieces = [];
      pieces.push(piece);
      if (type === FULL || type === LAST) {
        records.push(pieces.length === 1 ? piece : Buffer.concat(pieces));
        pieces = [];
      }
    }
    at = next;
  }
  return { records, damages, isTorn: isTorn || pieces.length > 0 };
}
