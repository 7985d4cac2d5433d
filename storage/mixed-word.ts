// The end of hashes and digests, which other code begins.

/** All bits of a word mixed, so that each of the result depends on every one: the end of MurmurHash3. Digests on disk are made of it. */
export function mixedWord(word: number): number {
  const half = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const most = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return (most ^ (most >>> 16)) >>> 0;
}
