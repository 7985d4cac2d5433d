// Hashes of names for tables in memory. Names are clients': nobody outside can tell which of them fall together, since the
// seed and the multiplier are this process's own. Nothing that is stored or sent depends on them.
import { randomInt } from 'node:crypto';
import { mixedWord } from './mixed-word.ts';

const WORD = 2 ** 32;
const SEED = randomInt(WORD) | 0;
const MULTIPLIER = randomInt(WORD) | 1;

/** Of a name's UTF-8. */
export function nameHash(name: string): number {
  let hash = SEED;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code >= 0x80) return wideHash(name);
    hash = Math.imul(hash ^ code, MULTIPLIER);
  }
  return mixedWord(hash);
}

/** The same of bytes from one offset up to another, or to where they end. */
export function bytesHash(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, bytes.length);
  let hash = SEED;
  for (let at = start; at < last; at++) hash = Math.imul(hash ^ bytes[at]!, MULTIPLIER);
  return mixedWord(hash);
}

function wideHash(name: string): number {
  const bytes = Buffer.from(name);
  return bytesHash(bytes, 0, bytes.length);
}
