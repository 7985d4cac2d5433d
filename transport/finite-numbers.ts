// Numbers that are out of the range of a double: JSON.parse makes infinities of them, which no JSON can hold. The decoder of built-in
// types takes none; for who takes any number.
import { BodyError } from './body.ts';

/** What every number out of range has in it: an exponent of three digits, or sixteen digits in a row. */
const MAY_BE_OUT_OF_RANGE = /\d(?:[eE]\+?\d{3}|\d{15})/;

/** Throws a BodyError where the value of a body in JSON or YAML holds a number that is out of range. */
export function requireFinite(value: unknown, bytes: Uint8Array): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (MAY_BE_OUT_OF_RANGE.test(text) && holdsInfinity(value))
    throw new BodyError(400, 'the body holds a number that is out of range');
}

function holdsInfinity(value: unknown): boolean {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'number' && !Number.isFinite(next)) return true;
    // One by one: as arguments of one call, the elements of a long list would exhaust the stack.
    if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) waiting.push(member);
  }
  return false;
}
