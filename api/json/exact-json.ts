// JSON whose integers keep every digit: one of int64 that a double would round becomes a bigint, all other numbers stay doubles,
// as in Kubernetes, which reads a number as int64 where it is one and as float64 otherwise. `runtime/exact-integers.ts` writes
// bigints. Who computes with numbers meets them in custom objects and in free-form members only: the decoder of built-in types
// makes doubles of them. Pure.

const ZERO = 0x30;
const NINE = 0x39;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const EXPONENT = 0x65;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
/** Of 2^53, the first integer whose neighbour no double is. */
const DIGITS_MIN = 16;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const WITH_EXPONENT = /e/i;
/** A number of JSON that is written as an integer of so many digits. */
const LONG_INTEGER = /^-?\d{16,19}$/;

/**
 * The value of a JSON text (RFC 8259), integers of int64 exactly. A text without a long number costs a look at every 16th
 * character more than JSON.parse. Throws SyntaxError.
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongNumber(text) ? new ExactIntegers(text, value).restored() : value;
}

/** The integer that an unquoted text of decimal digits means; undefined where a double is as good. */
export function exactInteger(digits: string): bigint | undefined {
  if (!LONG_INTEGER.test(digits)) return undefined;
  const exact = BigInt(digits);
  if (exact < INT64_MIN || exact > INT64_MAX) return undefined;
  return Number.isSafeInteger(Number(digits)) ? undefined : exact;
}

/** A number as the double nearest to it; anything else as it is. */
export function asDouble(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** True for numbers that are integers: a double beyond 2^53 was written with a fraction or an exponent, or is no int64. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

/** Whether a text has sixteen digits in a row, as all have that `parseExact` reads otherwise than JSON.parse: one is at a place that sixteen divides. */
export function hasLongNumber(text: string): boolean {
  for (let at = DIGITS_MIN - 1; at < text.length; at += DIGITS_MIN) {
    if (isDigit(text.charCodeAt(at)) && digitsAround(text, at) >= DIGITS_MIN) return true;
  }
  return false;
}

function digitsAround(text: string, at: number): number {
  let [from, to] = [at, at + 1];
  while (from > 0 && isDigit(text.charCodeAt(from - 1))) from--;
  while (to < text.length && isDigit(text.charCodeAt(to))) to++;
  return to - from;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** An object or a list around the place that a scan has come to. */
interface Around {
  readonly isList: boolean;
  /** The index of the element, or where the member's name begins. */
  at: number;
  /** Behind the name. */
  end: number;
  /** The value that it is, once it was asked for. */
  value: unknown;
}

/** Goes through a text that parses and puts the integers that doubles have rounded into its value, which it changes. */
class ExactIntegers {
  readonly #text: string;
  readonly #around: Around[];
  #at = 0;

  constructor(text: string, value: unknown) {
    this.#text = text;
    // As if it were the only element of a list.
    this.#around = [{ isList: true, at: 0, end: 0, value: [value] }];
  }

  restored(): unknown {
    const text = this.#text;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) this.#passString();
      else if (isDigit(code)) this.#passNumber();
      else if (code === COMMA) this.#around[this.#around.length - 1]!.at++;
      else if (code === OPENING_BRACE || code === OPENING_BRACKET)
        this.#around.push({ isList: code === OPENING_BRACKET, at: 0, end: 0, value: undefined });
      else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) this.#around.pop();
    }
    return (this.#around[0]!.value as readonly unknown[])[0];
  }

  /** Stops at the quote that ends a string. One that is a value is taken for a name as well, until the next name comes. */
  #passString(): void {
    const text = this.#text;
    const around = this.#around[this.#around.length - 1]!;
    const start = this.#at;
    let at = start + 1;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
    this.#at = at;
    if (around.isList) return;
    around.at = start;
    around.end = at + 1;
  }

  /** Stops at the last character of a number. */
  #passNumber(): void {
    const text = this.#text;
    const start = text.charCodeAt(this.#at - 1) === MINUS ? this.#at - 1 : this.#at;
    while (isOfNumber(text.charCodeAt(this.#at + 1))) this.#at++;
    const end = this.#at + 1;
    const literal = text.slice(start, end);
    if (literal.length < DIGITS_MIN && !WITH_EXPONENT.test(literal)) return;
    const nearest = Number(literal);
    if (Math.abs(nearest) <= Number.MAX_SAFE_INTEGER) return;
    const holder = this.#valueOf(this.#around.length - 1) as Record<string, unknown> | undefined;
    const name = this.#nameIn(this.#around.length - 1);
    if (holder === undefined || !Object.hasOwn(holder, name)) return;
    // Of members of one name the last counts, which may be another number that is nearest to the same double.
    if (asDouble(holder[name]) === nearest) holder[name] = exactInteger(literal) ?? nearest;
  }

  #nameIn(level: number): string {
    const { isList, at, end } = this.#around[level]!;
    return isList ? String(at) : (JSON.parse(this.#text.slice(at, end)) as string);
  }

  /** The object or list of a level; undefined where another member of the name has taken its place. */
  #valueOf(level: number): object | undefined {
    let known = level;
    while (this.#around[known]!.value === undefined) known--;
    for (; known < level; known++) {
      const name = this.#nameIn(known);
      const holder = this.#around[known]!.value as Record<string, unknown>;
      const value = Object.hasOwn(holder, name) ? holder[name] : undefined;
      this.#around[known + 1]!.value = typeof value === 'object' && value !== null ? value : NOTHING;
    }
    const { value } = this.#around[level]!;
    return value === NOTHING ? undefined : (value as object);
  }
}

/** In place of what is not there any more. */
const NOTHING = Object.freeze({});

/** Whether a character can follow a digit of a number of JSON. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === DOT || code === MINUS || code === PLUS || (code | 0x20) === EXPONENT;
}
