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
  /** Where each record begins. */
  readonly starts: readonly number[];
  readonly damages: readonly FileDamage[];
  /** True when the file ends within a record: what a crash leaves of a write that nobody was told of. */
  readonly isTorn: boolean;
  /** Where a torn record begins, else where the file ends. */
  readonly end: number;
}

/** Reads a log. Past a damaged piece it goes on with the next sound one of the block, else at the next block. */
export function readLogFile(file: Buffer): LogContents {
  return new LogReader(file).read();
}

class LogReader {
  readonly #file: Buffer;
  readonly #records: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #damages: FileDamage[] = [];
  /** Of a record that has begun and not ended. */
  #pieces: Buffer[] = [];
  #piecesStart = 0;
  #isTorn = false;
  #end: number;

  constructor(file: Buffer) {
    this.#file = file;
    this.#end = file.length;
  }

  read(): LogContents {
    const { length } = this.#file;
    for (let at = 0; at < length; ) {
      const blockEnd = Math.min(at - (at % BLOCK_BYTES) + BLOCK_BYTES, length);
      const next = this.#soundEnd(at, blockEnd);
      if (next === undefined) {
        at = this.#skip(at, blockEnd);
      } else {
        this.#add(at, next);
        at = next;
      }
    }
    if (this.#pieces.length > 0) this.#tornAt(this.#piecesStart);
    return {
      records: this.#records,
      starts: this.#starts,
      damages: this.#damages,
      isTorn: this.#isTorn,
      end: this.#end,
    };
  }

  /** Where the piece at `at` ends; undefined when there is no sound one. */
  #soundEnd(at: number, blockEnd: number): number | undefined {
    const file = this.#file;
    const start = at + HEADER_BYTES;
    if (start > blockEnd) return undefined;
    const type = file[start - 1]!;
    const end = start + file.readUInt16LE(at + 4);
    if (type < FULL || type > LAST || end > blockEnd) return undefined;
    return file.readUInt32LE(at) === masked(crc32c(file, start - 1, end)) ? end : undefined;
  }

  /** Says what is wrong with what stands at `at`, and where to go on. */
  #skip(at: number, blockEnd: number): number {
    const isEnd = blockEnd === this.#file.length && blockEnd % BLOCK_BYTES !== 0;
    if (at + HEADER_BYTES > blockEnd) {
      // Too short for a header: a block is filled up, a log that was being written ends.
      if (isEnd) this.#tornAt(at);
      return blockEnd;
    }
    const start = this.#pieces.length > 0 ? this.#piecesStart : at;
    this.#pieces = [];
    let next = at + 1;
    while (next < blockEnd && this.#soundEnd(next, blockEnd) === undefined) next++;
    const isCutOff = isEnd && next === blockEnd && at + HEADER_BYTES + this.#file.readUInt16LE(at + 4) > blockEnd;
    // Room that a power failure left unwritten is all zeros.
    if (isCutOff || this.#file.subarray(at, next).every((byte) => byte === 0)) this.#tornAt(start);
    else this.#damages.push({ offset: at, what: 'a record does not match its checksum' });
    return next;
  }

  #tornAt(start: number): void {
    this.#isTorn = true;
    this.#end = Math.min(this.#end, start);
  }

  #add(at: number, end: number): void {
    const type = this.#file[at + HEADER_BYTES - 1]!;
    const piece = this.#file.subarray(at + HEADER_BYTES, end);
    const begins = type === FULL || type === FIRST;
    // The rest of a record whose beginning is lost.
    if (!begins && this.#pieces.length === 0) return;
    if (begins) {
      this.#pieces = [];
      this.#piecesStart = at;
    }
    this.#pieces.push(piece);
    if (type !== FULL && type !== LAST) return;
    this.#records.push(type === FULL ? piece : Buffer.concat(this.#pieces));
    this.#starts.push(this.#piecesStart);
    // What was torn before it is not the end.
    this.#end = this.#file.length;
    this.#pieces = [];
  }
}
