// The checksum LevelDB's files carry: CRC-32C (Castagnoli), stored "masked" so that a checksum of bytes that hold checksums
// is no weaker. Eight bytes a step: every start checks every table.

const POLYNOMIAL = 0x82f63b78;
const MASK_DELTA = 0xa282ead8;
const STEP = 8;

/** For each of the bytes of a step, by how many come after it: what that byte does to the checksum. */
const TABLES = Array.from({ length: STEP }, () => new Int32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  TABLES[0]![byte] = value;
}
for (let after = 1; after < STEP; after++) {
  for (let byte = 0; byte < 256; byte++) {
    const before = TABLES[after - 1]![byte]!;
    TABLES[after]![byte] = TABLES[0]![before & 0xff]! ^ (before >>> 8);
  }
}
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** The CRC of the bytes from `start` to `end`, going on from `before`: 0, or the CRC of what came first. */
export function crc32c(bytes: Uint8Array, start: number, end: number, before = 0): number {
  let crc = ~before;
  let at = start;
  for (; at + STEP <= end; at += STEP) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      T7[low & 0xff]! ^
      T6[(low >>> 8) & 0xff]! ^
      T5[(low >>> 16) & 0xff]! ^
      T4[low >>> 24]! ^
      T3[bytes[at + 4]!]! ^
      T2[bytes[at + 5]!]! ^
      T1[bytes[at + 6]!]! ^
      T0[bytes[at + 7]!]!;
  }
  for (; at < end; at++) crc = T0[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** How a CRC is written into a file. */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}
