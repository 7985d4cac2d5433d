// A whole number among the parameters of a request, as Go reads it; clients compare the words that one is refused with.
import { badRequest, quote } from './status/failures.ts';
import { StatusError } from './status/status.ts';

const MAX = 2n ** 63n - 1n;
/** So many digits say a number that a double holds exactly. */
const PLAIN = /^-?\d{1,15}$/;
const NUMBER = /^[+-]?0*\d{1,19}$/;
const DIGITS = /^[+-]?\d+$/;

/** The number of a text; beyond 2^53 it is rounded. Throws StatusError 400. */
export function int64Parameter(text: string): number {
  if (PLAIN.test(text)) return Number(text);
  if (NUMBER.test(text)) {
    const number = BigInt(text.startsWith('+') ? text.slice(1) : text);
    if (number <= MAX && number >= -MAX - 1n) return Number(number);
  }
  throw notInt64(text, DIGITS.test(text) ? 'value out of range' : 'invalid syntax');
}

function notInt64(text: string, problem: string): StatusError {
  return new StatusError(badRequest(`strconv.ParseInt: parsing ${quote(text)}: ${problem}`));
}
