// Decompression of Snappy blocks, as LevelDB's tables hold them. Bounded: what a damaged block claims is not believed.
import { readVarint } from './varint.ts';

/** A block holds one entry at least, and an entry a whole batch of events. */
const BLOCK_BYTES_MAX = 256 * 1024 * 1024;

/** The bytes a compressed block stands for; undefined when it is none. */
export function uncompress(source: Buffer): Buffer | undefined {
  const [length, start] = readVarint(source, 0);
  // Nothing compresses better than a copy of 64 bytes in 3.
  if (!(length <= Math.min(BLOCK_BYTES_MAX, source.length * 64))) return undefined;
  const target = Buffer.allocUnsafe(length);
  let end = 0;
  let at = start;
  while (at < source.length) {
    const tag = source[at++]!;
    if ((tag & 3) === 0) {
      const [bytes, from] = literal(source, at, tag >>> 2);
      if (from + bytes > source.length || end + bytes > length) return undefined;
      source.copy(target, end, from, from + bytes);
      at = from + bytes;
      end += bytes;
      continue;
    }
    const { bytes, distance, next } = copyOf(source, at, tag);
    if (next > source.length || distance === 0 || distance > end || end + bytes > length) return undefined;
    // Byte by byte: a copy may overlap what it makes.
    for (let left = bytes; left > 0; left--, end++) target[end] = target[end - distance]!;
    at = next;
  }
  return end === length ? target : undefined;
}

/** Length of a literal, and where its bytes begin. */
function literal(source: Buffer, at: number, code: number): [bytes: number, from: number] {
  if (code < 60) return [code + 1, at];
  const width = code - 59;
  if (at + width > source.length) return [Number.POSITIVE_INFINITY, at];
  return [source.readUIntLE(at, width) + 1, at + width];
}

function copyOf(source: Buffer, at: number, tag: number): { bytes: number; distance: number; next: number } {
  const byte = (offset: number): number => source[at + offset] ?? 0;
  switch (tag & 3) {
    case 1:
      return { bytes: ((tag >>> 2) & 7) + 4, distance: ((tag & 0xe0) << 3) | byte(0), next: at + 1 };
    case 2:
      return { bytes: (tag >>> 2) + 1, distance: byte(0) | (byte(1) << 8), next: at + 2 };
    default: {
      const distance = (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> 0;
      return { bytes: (tag >>> 2) + 1, distance, next: at + 4 };
    }
  }
}
