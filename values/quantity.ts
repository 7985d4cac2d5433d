// Quantities: amounts of cpu, memory and other resources, such as `100m`, `1Gi`, `1e3`. The one reader of their grammar,
// and the one writer of their canonical text, for the codec, validation and the scheduler alike. Exact: a quantity is a
// whole number of billionths (nano units). Plain numbers only where they lose nothing.
import { keep } from './kept.ts';

/** The family of suffixes a quantity was written with, and is written with again. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  /** Billionths of the unit; what is finer was rounded away from zero. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

const NANO = 1_000_000_000n;
const NANO_IN_MILLI = 1_000_000n;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** A binary quantity is cut to the largest signed number of 64 bits; decimal ones are not. */
const BINARY_NANO_MAX = (2n ** 63n - 1n) * NANO;

/** Bounds on the work that one text can ask for. No real amount comes near; beyond them a text is no quantity. */
const TEXT_LENGTH_MAX = 128;
const EXPONENT_MAX = 300;
/** Exponents below this leave less than a billionth of any text that is short enough. */
const EXPONENT_MIN = -300;
const EXPONENT_BOUND = 2 ** 31;

const SYNTAX = /^([+-]?)(0*)([1-9][0-9]*)?(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+)|([KMGTPE]i)|([numkMGTPE]?))$/;

/** Texts seen lately; real clusters repeat few. Emptied when full, so that no client can grow them. */
const canonicalTexts = new Map<string, string>();
const readTexts = new Map<string, Quantity>();
const CACHED_TEXTS_MAX = 2048;
const CACHED_LENGTH_MAX = 32;

function keepFor<V>(texts: Map<string, V>, text: string, value: V): void {
  if (text.length > CACHED_LENGTH_MAX) return;
  keep(texts, CACHED_TEXTS_MAX, text, value);
}

/** A text taken apart, nothing computed yet: `digits` times ten to `exponent` times 1024 to `binaryPower`. */
interface Scanned {
  readonly isNegative: boolean;
  /** All digits, without the point; never empty. */
  readonly digits: string;
  readonly exponent: number;
  readonly binaryPower: number;
  readonly format: QuantityFormat;
  /** The text counts as canonical as it is, signs, zeros and points included. */
  readonly isKept: boolean;
}

/** Digits that fit 64 bits for sure. Which texts are kept as they are, and which do without digits, depends on it. */
const SHORT_DIGITS_MAX = 18;
const SHORT_BINARY_DIGITS_MAX = 14;
/** Digits that each power of 1024 takes from those. */
const DIGITS_OF_1024 = 3;

function scan(text: string): Scanned | undefined {
  const match = text.length > TEXT_LENGTH_MAX || text === '' ? null : SYNTAX.exec(text);
  if (match === null) return undefined;
  const [, sign, zeros, whole = '0', fraction = '', power, binary, decimal = ''] = match;
  const scanned =
    binary === undefined ? scanDecimal(whole, fraction, power, decimal) : scanBinary(whole, fraction, binary);
  if (scanned === undefined) return undefined;
  const hasDigits = zeros !== '' || match[3] !== undefined || fraction !== '';
  return hasDigits || scanned.isShort ? { ...scanned, isNegative: sign === '-' } : undefined;
}

type Magnitude = Omit<Scanned, 'isNegative'> & { readonly isShort: boolean };

function scanDecimal(
  whole: string,
  fraction: string,
  power: string | undefined,
  suffix: string,
): Magnitude | undefined {
  const suffixExponent = power === undefined ? 3 * DECIMAL_SUFFIXES.indexOf(suffix) - 9 : Number(power);
  if (Math.abs(suffixExponent) >= EXPONENT_BOUND) return undefined;
  const digits = whole + fraction;
  const exponent = suffixExponent - fraction.length;
  const isZero = /^0*$/.test(digits);
  if (exponent > EXPONENT_MAX && !isZero) return undefined;
  const isShort = digits.length <= SHORT_DIGITS_MAX && exponent >= -9;
  return {
    digits,
    exponent: isZero ? 0 : exponent,
    binaryPower: 0,
    format: power === undefined ? 'DecimalSI' : 'DecimalExponent',
    isShort,
    isKept: isShort && exponent % 3 === 0 && !digits.startsWith('0') && !digits.endsWith('000'),
  };
}

function scanBinary(whole: string, fraction: string, suffix: string): Magnitude {
  const binaryPower = BINARY_SUFFIXES.indexOf(suffix);
  const isShort = fraction === '' && whole.length <= SHORT_BINARY_DIGITS_MAX - DIGITS_OF_1024 * binaryPower;
  return {
    digits: whole + fraction,
    exponent: -fraction.length,
    binaryPower,
    format: 'BinarySI',
    isShort,
    isKept: isShort && Number(whole) % 8 !== 0,
  };
}

function amountOf({ isNegative, digits, exponent, binaryPower, format }: Scanned): Quantity {
  const mantissa = BigInt(digits) << BigInt(10 * binaryPower);
  const power = Math.max(exponent, EXPONENT_MIN) + 9;
  const exact = power >= 0 ? mantissa * 10n ** BigInt(power) : ceiling(mantissa, 10n ** BigInt(-power));
  const nano = format === 'BinarySI' && exact > BINARY_NANO_MAX ? BINARY_NANO_MAX : exact;
  return { nano: isNegative ? -nano : nano, format };
}

/** Rounds towards more. */
function ceiling(amount: bigint, divisor: bigint): bigint {
  return amount >= 0n ? (amount + divisor - 1n) / divisor : amount / divisor;
}

/**
 * The quantity a text stands for, read as Kubernetes 1.21 reads it: parts finer than a billionth are rounded away from
 * zero, and a binary quantity is cut to 64 bits.
 *
 * @returns undefined when the text is no quantity. So is one longer than 128 characters or beyond 10^300, which the
 *   original takes, and then computes with for as long as it takes.
 */
export function parseQuantity(text: string): Quantity | undefined {
  const known = readTexts.get(text);
  if (known !== undefined) return known;
  const scanned = scan(text);
  if (scanned === undefined) return undefined;
  const quantity = amountOf(scanned);
  keepFor(readTexts, text, quantity);
  return quantity;
}

/**
 * The amount of a text that is known to be a quantity, in billionths.
 *
 * @throws {TypeError} the text is none: it never went through the codec.
 */
export function nanoOf(text: string): bigint {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new TypeError('not a quantity');
  return quantity.nano;
}

/**
 * Writes a quantity with the largest suffix of its family that leaves a whole number. Binary ones below 1024, or with a
 * fraction, are written in decimal; decimal ones beyond the last suffix with an exponent.
 */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  if (format === 'BinarySI' && nano % NANO === 0n && (nano >= 1024n * NANO || nano <= -1024n * NANO)) {
    const { mantissa, steps } = reduced(nano / NANO, 1024n);
    return `${mantissa}${BINARY_SUFFIXES[steps]}`;
  }
  const { mantissa, steps } = reduced(nano, 1000n);
  const exponent = steps * 3 - 9;
  if (exponent === 0) return String(mantissa);
  const suffix = format === 'DecimalExponent' ? undefined : DECIMAL_SUFFIXES[steps];
  return `${mantissa}${suffix ?? `e${exponent}`}`;
}

/** `amount` as `mantissa` times `base` to the power of `steps`, with as many steps as divide it. `amount` is not 0. */
function reduced(amount: bigint, base: bigint): { readonly mantissa: bigint; readonly steps: number } {
  let mantissa = amount;
  let steps = 0;
  while (mantissa % base === 0n) {
    mantissa /= base;
    steps++;
  }
  return { mantissa, steps };
}

/** One to three digits are canonical with any suffix that cannot reach the bound: nothing can be moved into it. */
const SHORT_CANONICAL = /^[1-9][0-9]{0,2}(?:[numkMGTPE]|[KMGTP]i)?$/;

/** The text a quantity is stored and answered as; undefined when it is none. Its own canonical text is itself. */
export function canonicalQuantity(text: string): string | undefined {
  if (SHORT_CANONICAL.test(text)) return text;
  const known = canonicalTexts.get(text);
  if (known !== undefined) return known;
  const scanned = scan(text);
  if (scanned === undefined) return undefined;
  const canonical = scanned.isKept ? text : formatQuantity(amountOf(scanned));
  keepFor(canonicalTexts, text, canonical);
  return canonical;
}

const MILLI_PRECISE = /^[0-9]+(?:m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;

/** A canonical text rounded away from zero to thousandths, as amounts in a resource list are kept. */
export function roundedToMilli(canonical: string): string {
  if (MILLI_PRECISE.test(canonical)) return canonical;
  const quantity = parseQuantity(canonical);
  if (quantity === undefined) return canonical;
  const rest = quantity.nano % NANO_IN_MILLI;
  if (rest === 0n) return canonical;
  const step = quantity.nano > 0n ? NANO_IN_MILLI : -NANO_IN_MILLI;
  return formatQuantity({ nano: quantity.nano - rest + step, format: quantity.format });
}

/** The plain texts, which are nearly all: digits, and one of the usual suffixes. */
const PLAIN = /^([0-9]{1,15})(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const PLAIN_FACTORS: Readonly<Record<string, number>> = {
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** A plain text times `scale`, rounded up; undefined where a double cannot tell. */
function plainAmount(text: string, scale: 1 | 1000): number | undefined {
  const match = PLAIN.exec(text);
  if (match === null) return undefined;
  const digits = Number(match[1]);
  const suffix = match[2];
  if (suffix === 'm') return scale === 1000 ? digits : Math.ceil(digits / 1000);
  const amount = digits * scale * (suffix === undefined ? 1 : PLAIN_FACTORS[suffix]!);
  return amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
}

/**
 * A quantity times `scale`, rounded up to a whole number: thousandths for cpu, whole units for what is counted in bytes
 * or pieces. Never below zero, and 2^53 - 1 for all that is more.
 *
 * @returns undefined when the value is neither a quantity's text nor a number.
 */
export function countOf(value: unknown, scale: 1 | 1000): number | undefined {
  if (typeof value !== 'string') return typeof value === 'number' ? countOf(String(value), scale) : undefined;
  const plain = plainAmount(value, scale);
  if (plain !== undefined) return plain;
  const quantity = parseQuantity(value);
  if (quantity === undefined) return undefined;
  const count = ceiling(quantity.nano, scale === 1000 ? NANO_IN_MILLI : NANO);
  return count <= 0n ? 0 : count >= Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(count);
}

/**
 * Below 0 when `left` is less than `right`, 0 when they are the same amount however written, above 0 when it is more.
 *
 * @throws {TypeError} one of them is no quantity.
 */
export function compareQuantities(left: string, right: string): number {
  if (left === right) return 0;
  const plainLeft = plainAmount(left, 1000);
  const plainRight = plainAmount(right, 1000);
  if (plainLeft !== undefined && plainRight !== undefined) return plainLeft - plainRight;
  const leftNano = nanoOf(left);
  const rightNano = nanoOf(right);
  return leftNano < rightNano ? -1 : leftNano > rightNano ? 1 : 0;
}
