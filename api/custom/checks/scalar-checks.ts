// What a schema says of texts and numbers, and of values that are listed: lengths, patterns, formats, bounds, multiples,
// enumerations. Messages are Kubernetes 1.21's.
import { createHash } from 'node:crypto';
import { isInteger } from '../../json/exact-json.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { sortedJson } from '../../json/sorted-json.ts';
import { notListed, supportedText } from '../../status/field-error.ts';
import { shownFloat, shownJson } from '../../status/shown-value.ts';
import { isDecimalMultiple } from './decimal-multiple.ts';
import { EFFORT, spend } from './effort.ts';
import { matches } from './patterns.ts';
import { formatTest } from './text-formats.ts';
import type { ValueReport } from './value-report.ts';

type Check<T> = (value: T, at: ValueReport) => void;

/** The first of the lengths and the pattern that does not hold is told, and the format for itself. Needs `loadPatterns`. */
export function textCheck({ minLength, maxLength, pattern, format }: JsonObject): Check<string> | undefined {
  const isPatterned = typeof pattern === 'string' && pattern !== '';
  const isOfFormat = typeof format === 'string' ? formatTest(format) : undefined;
  const min = typeof minLength === 'number' ? minLength : 0;
  const max = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  if (!isPatterned && isOfFormat === undefined && min <= 0 && max === Number.POSITIVE_INFINITY) return undefined;
  return (text, at) => {
    // Characters are counted only where the number of code units leaves it open.
    if (text.length > max && lengthOf(text) > max) at.invalid(text, `should be at most ${max} chars long`);
    else if (text.length < min * 2 && lengthOf(text) < min) at.invalid(text, `should be at least ${min} chars long`);
    else if (isPatterned) checkPattern(text, pattern, at);
    if (isOfFormat !== undefined && !isOfFormat(text)) {
      at.invalid(text, `must be of type ${String(format)}: ${JSON.stringify(text)}`);
    }
  };
}

function checkPattern(text: string, pattern: string, at: ValueReport): void {
  const isMatch = matches(pattern, text);
  if (isMatch === undefined) at.invalid(text, `should match '${pattern}, but pattern is invalid'`);
  else if (!isMatch) at.invalid(text, `should match '${pattern}'`);
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

interface Bound {
  readonly bound: number;
  readonly shown: string;
}

/** The bound of a value. What integers are compared with is an integer in the original: a fraction is cut off. */
function boundBy(given: unknown): ((value: number | bigint) => Bound) | undefined {
  if (typeof given !== 'number') return undefined;
  const whole = Math.trunc(given);
  const ofIntegers = { bound: whole, shown: String(whole) };
  const ofOthers = { bound: given, shown: shownFloat(given) };
  return (value) => (isInteger(value) ? ofIntegers : ofOthers);
}

export function numberCheck(schema: JsonObject): Check<number | bigint> | undefined {
  const { minimum, maximum, multipleOf } = schema;
  if (typeof minimum !== 'number' && typeof maximum !== 'number' && typeof multipleOf !== 'number') return undefined;
  const excludesMin = schema.exclusiveMinimum === true;
  const excludesMax = schema.exclusiveMaximum === true;
  const least = boundBy(minimum);
  const most = boundBy(maximum);
  return (value, at) => {
    if (typeof multipleOf === 'number') checkMultiple(value, multipleOf, at);
    const min = least?.(value);
    if (min !== undefined && (value < min.bound || (excludesMin && !(value > min.bound))))
      at.invalid(value, `should be greater than ${excludesMin ? '' : 'or equal to '}${min.shown}`);
    const max = most?.(value);
    if (max !== undefined && (value > max.bound || (excludesMax && !(value < max.bound))))
      at.invalid(value, `should be less than ${excludesMax ? '' : 'or equal to '}${max.shown}`);
  };
}

/** The factor of integers is one too, as their bounds are. */
function checkMultiple(value: number | bigint, given: number, at: ValueReport): void {
  const isWhole = isInteger(value) && Math.abs(given) >= 1;
  const factor = isWhole ? Math.trunc(given) : given;
  const shown = isWhole ? String(factor) : shownFloat(factor);
  if (factor < 0) at.factorProblem(factor, shown);
  else if (!isDecimalMultiple(value, factor)) at.invalid(value, `should be a multiple of ${shown}`);
}

/** What errors of one list of values have in common: there may be as many of them as a list has elements. */
interface Said {
  readonly values: string;
  /** The same for lists that say the same, and short. */
  readonly digest: string;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The same for equal values, of which a schema may list as many as a list has elements. */
function textOf(value: object): string {
  const text = sortedJson(value);
  spend(text.length / EFFORT.charactersWritten);
  return text;
}

/** Nothing is none of the listed values, be it listed. */
export function enumCheck({ enum: allowed }: JsonObject): Check<unknown> | undefined {
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined;
  const plain = new Set<unknown>(allowed.filter((one) => typeof one !== 'object'));
  const others = new Set(allowed.filter(isContainer).map(sortedJson));
  const shown = allowed.map((one) => (typeof one === 'string' ? one : sortedJson(one)));
  let said: Said | undefined;
  return (value, at) => {
    if (plain.has(value) || (others.size > 0 && isContainer(value) && others.has(textOf(value)))) return;
    said ??= { values: supportedText(shown), digest: createHash('sha256').update(shown.join()).digest('base64') };
    at.add(notListed(at.place(), shownJson(value), said.values), `${at.place()} is none of ${said.digest}`);
  };
}
