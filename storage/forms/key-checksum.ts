// The CRC-32 of a key's UTF-8, as zlib counts it: keys are short, and a call into native code costs several times what
// counting does.
import { crc32 } from 'node:zlib';

const POLYNOMIAL = 0xedb88320;
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ POLYNOMIAL;
  return rest;
});

/** The CRC-32 of the key's UTF-8, unsigned. */
export function keyChecksum(key: string): number {
  let sum = -1;
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    if (code >= 0x80) return crc32(key);
    sum = TABLE[(sum ^ code) & 0xff]! ^ (sum >>> 8);
  }
  return ~sum >>> 0;
}
