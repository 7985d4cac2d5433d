// Variable-length numbers, as LevelDB's files hold them: seven bits a byte, the lowest first.

/** The number at `at` and where it ends; one that runs past the end, or past 2^53, is NaN, which no check passes. */
export function readVarint(source: Uint8Array, at: number): [value: number, end: number] {
  let value = 0;
  let scale = 1;
  for (let end = at; end < source.length && end < at + 8; scale *= 128) {
    const byte = source[end++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return [value, end];
  }
  return [Number.NaN, source.length];
}

/** A length and so many bytes; undefined when they are not there. */
export function readBytes(source: Buffer, at: number): [bytes: Buffer, end: number] | undefined {
  const [length, start] = readVarint(source, at);
  if (!(start + length <= source.length)) return undefined;
  return [source.subarray(start, start + length), start + length];
}
