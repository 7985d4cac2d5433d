// Integers of 64 bits in decimal, as Go reads them: with a sign or without, leading zeros or none.

const SYNTAX = /^[+-]?0*[0-9]{1,19}$/;
const MAX = 2n ** 63n - 1n;

/** The number of a text; undefined where it is none, or beyond 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  if (!SYNTAX.test(text)) return undefined;
  const number = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return number > MAX || number < -MAX - 1n ? undefined : number;
}
