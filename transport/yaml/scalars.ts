// What an unquoted YAML scalar means. The rules are those of the YAML 1.1 parser that Kubernetes clients use: more words
// for true and false than JSON has, octal and hexadecimal numbers, and no dates and no base-60 numbers.
import { exactInteger } from '../../api/json/exact-json.ts';

const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);

const LONGEST_WORD = 5;

const OCTAL = /^[-+]?0[oO]?[0-7]+$/;
const PREFIXED = /^[-+]?0(?:[xX][0-9a-fA-F]+|[bB][01]+)$/;
const DECIMAL = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NOT_IN_JSON = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** Digits of a number; a longer scalar is a string, so that the patterns above are never run on long texts. */
const NUMBER_LENGTH_MAX = 400;

export type Scalar = string | number | bigint | boolean | null;

/** The value of a plain scalar. Throws an Error for infinities and NaN, which JSON does not have. */
export function resolvePlain(text: string): Scalar {
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
  }
  const first = text.charCodeAt(0);
  const mayBeNumber = (first >= 0x2b && first <= 0x39) || first === 0x2e;
  if (!mayBeNumber || text.length > NUMBER_LENGTH_MAX) return text;
  return resolveNumber(text.includes('_') ? text.replaceAll('_', '') : text) ?? text;
}

function resolveNumber(digits: string): number | bigint | undefined {
  if (NOT_IN_JSON.test(digits)) throw new Error(`${digits} is not a number that JSON can hold`);
  if (OCTAL.test(digits)) return signed(digits, (unsigned) => `0o${unsigned.replace(/^0[oO]?/, '0')}`);
  if (PREFIXED.test(digits)) return signed(digits, (unsigned) => unsigned);
  if (!DECIMAL.test(digits)) return undefined;
  const value = Number(digits);
  return Number.isFinite(value) ? (exactInteger(withoutPlus(digits)) ?? value) : undefined;
}

/** An integer of another base, whose digits `spell` writes as the language does. */
function signed(digits: string, spell: (unsigned: string) => string): number | bigint {
  const isNegative = digits.startsWith('-');
  const size = spell(isNegative ? digits.slice(1) : withoutPlus(digits));
  const value = isNegative ? -Number(size) : Number(size);
  if (Number.isSafeInteger(value)) return value;
  return exactInteger(String(isNegative ? -BigInt(size) : BigInt(size))) ?? value;
}

function withoutPlus(digits: string): string {
  return digits.startsWith('+') ? digits.slice(1) : digits;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The text that base64 stands for, which may be broken into lines; undefined of a text that is none. */
export function binaryText(text: string): string | undefined {
  const digits = text.replaceAll(/[\r\n]/g, '');
  return digits.length % 4 === 0 && BASE64.test(digits) ? Buffer.from(digits, 'base64').toString() : undefined;
}
