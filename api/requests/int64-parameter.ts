// A whole number among the parameters of a request, as Go reads it; clients compare the words that one is refused with.
import { parseInt64 } from '../../values/int64.ts';
import { badRequest, quote } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';

/** So many digits say a number that a double holds exactly. */
const PLAIN = /^-?\d{1,15}$/;
const DIGITS = /^[+-]?\d+$/;

/** The number of a text; beyond 2^53 it is rounded. Throws StatusError 400. */
export function int64Parameter(text: string): number {
  return Number(exactInt64Parameter(text));
}

/** The number of a text with all its digits: a bigint where a double would round it. Throws StatusError 400. */
export function exactInt64Parameter(text: string): number | bigint {
  if (PLAIN.test(text)) return Number(text);
  const number = parseInt64(text);
  if (number === undefined) throw notInt64(text, DIGITS.test(text) ? 'value out of range' : 'invalid syntax');
  const rounded = Number(number);
  return Number.isSafeInteger(rounded) ? rounded : number;
}

function notInt64(text: string, problem: string): StatusError {
  return new StatusError(badRequest(`strconv.ParseInt: parsing ${quote(text)}: ${problem}`));
}
