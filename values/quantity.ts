// Quantities: amounts of cpu, memory and other resources, such as `100m`, `1Gi`, `1e3`. Exact: a quantity is a whole
// number of billionths (nano units) as a BigInt; what is finer is rounded away from zero when it is read. The scheduler's
// hot readings, toMilli and toWhole, answer plain numbers and take a shortcut for plain texts.

/** How a quantity was written, and is written again. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  /** Billionths of the unit. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** A text that is no quantity. The message is fit for a field error's detail. */
export class QuantityError extends Error {
  constructor(text: string) {
    const shown = text.length > 64 ? `${text.slice(0, 64)}…` : text;
    super(`not a quantity: ${JSON.stringify(shown)}; expected a number with one of the suffixes ${SUFFIXES_SHOWN}`);
    this.name = 'QuantityError';
  }
}

const SUFFIXES_SHOWN = 'n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, or e and an exponent';

interface Suffix {
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

function decimal(exponent: number): Suffix {
  return { nano: 10n ** BigInt(exponent + 9), format: 'DecimalSI' };
}

function binary(power: number): Suffix {
  return { nano: 1024n ** BigInt(power) * NANO, format: 'BinarySI' };
}

const NANO = 1_000_000_000n;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const SUFFIXES: ReadonlyMap<string, Suffix> = new Map([
  ...DECIMAL_SUFFIXES.map((name, index) => [name, decimal(index * 3 - 9)] as const),
  ...BINARY_SUFFIXES.slice(1).map((name, index) => [name, binary(index + 1)] as const),
]);

/** Larger amounts become this one: the largest signed number of 64 bits, in whole units. */
const NANO_MAX = (2n ** 63n - 1n) * NANO;
/** Characters of a text that are looked at; no amount needs more. */
const TEXT_LENGTH_MAX = 128;
const SYNTAX = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([eE])([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/**
 * The quantity a text or a JSON number stands for. Amounts beyond 64 bits become the largest there is, as in the API this
 * one follows. Throws QuantityError for anything else.
 */
export function parseQuantity(value: string | number): Quantity {
  const text = typeof value === 'number' ? String(value) : value;
  const match = text.length > TEXT_LENGTH_MAX ? null : SYNTAX.exec(text);
  if (match === null) throw new QuantityError(text);
  const [, sign, whole = '', fraction = '', hasExponent, exponent = '', suffix = ''] = match;
  const digits = whole + fraction;
  if (digits === '') throw new QuantityError(text);
  const mantissa = BigInt(digits);
  const { nano: factor, format } = hasExponent === undefined ? SUFFIXES.get(suffix)! : EXPONENT_BASE;
  const shift = (hasExponent === undefined ? 0 : clampExponent(exponent)) - fraction.length;
  const nano = scaled(mantissa * factor, shift);
  const capped = nano > NANO_MAX ? NANO_MAX : nano;
  return { nano: sign === '-' ? -capped : capped, format };
}

const EXPONENT_BASE: Suffix = { nano: NANO, format: 'DecimalExponent' };

/** Exponents beyond this make the amount the largest, or the smallest, there is; powers of ten stay small. */
const EXPONENT_MAX = 512;

function clampExponent(text: string): number {
  const exponent = Number(text);
  return Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, exponent));
}

/** `amount` times ten to the power of `exponent`; a remainder counts as one more. `amount` is not negative. */
function scaled(amount: bigint, exponent: number): bigint {
  if (exponent >= 0) return amount * 10n ** BigInt(exponent);
  return dividedUp(amount, 10n ** BigInt(-exponent));
}

/** Rounds away from zero. */
function dividedUp(amount: bigint, divisor: bigint): bigint {
  if (amount < 0n) return -dividedUp(-amount, divisor);
  return (amount + divisor - 1n) / divisor;
}

/** True when the value is a quantity. */
export function isQuantity(value: unknown): value is string | number {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  try {
    parseQuantity(value);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

/** Below 0 when `left` is less than `right`, 0 when they are the same amount, above 0 when it is more. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  return left.nano < right.nano ? -1 : left.nano > right.nano ? 1 : 0;
}

/** The plain texts, which are nearly all: digits, and one of the common suffixes. */
const PLAIN = /^([0-9]{1,6})(m|k|M|G|Ki|Mi|Gi)?$/;
const PLAIN_FACTORS: Readonly<Record<string, number>> = {
  k: 1000,
  M: 1000 ** 2,
  G: 1000 ** 3,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/**
 * Thousandths of the unit, rounded up: how cpu is counted. A number is exact up to 2^53; beyond, it is the nearest.
 * Throws QuantityError.
 */
export function toMilli(value: string | number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value * 1000)) return value * 1000;
  const plain = PLAIN.exec(String(value));
  if (plain !== null) {
    const suffix = plain[2];
    if (suffix === undefined) return Number(plain[1]) * 1000;
    if (suffix === 'm') return Number(plain[1]);
  }
  return Number(ceiling(parseQuantity(value).nano, 1_000_000n));
}

/** Whole units, rounded up: how bytes, pods and devices are counted. Exactness and errors as for `toMilli`. */
export function toWhole(value: string | number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const plain = PLAIN.exec(String(value));
  if (plain !== null) {
    const suffix = plain[2];
    if (suffix === undefined) return Number(plain[1]);
    if (suffix !== 'm') return Number(plain[1]) * PLAIN_FACTORS[suffix]!;
  }
  return Number(ceiling(parseQuantity(value).nano, NANO));
}

/** Rounds towards more. */
function ceiling(amount: bigint, divisor: bigint): bigint {
  return amount >= 0n ? (amount + divisor - 1n) / divisor : amount / divisor;
}

/**
 * The canonical text of a quantity: the largest suffix that leaves a whole number. Binary ones that are below 1024 or no
 * whole number are written in decimal. Two quantities of one format are the same amount exactly when their texts are.
 */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  const isBinary = format === 'BinarySI' && nano % NANO === 0n && (nano >= 1024n * NANO || nano <= -1024n * NANO);
  if (isBinary) return withLargestSuffix(nano / NANO, 1024n, BINARY_SUFFIXES);
  if (format !== 'DecimalExponent') return withLargestSuffix(nano, 1000n, DECIMAL_SUFFIXES);
  const { mantissa, steps } = reduced(nano, 1000n, Number.MAX_SAFE_INTEGER);
  const exponent = steps * 3 - 9;
  return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
}

/** The canonical text of a text or JSON number. Throws QuantityError. */
export function canonicalQuantity(value: string | number): string {
  return formatQuantity(parseQuantity(value));
}

function withLargestSuffix(amount: bigint, base: bigint, suffixes: readonly string[]): string {
  const { mantissa, steps } = reduced(amount, base, suffixes.length - 1);
  return `${mantissa}${suffixes[steps]}`;
}

/** `amount` as `mantissa` times `base` to the power of `steps`, with as many steps as divide it. `amount` is not 0. */
function reduced(
  amount: bigint,
  base: bigint,
  stepsMax: number,
): { readonly mantissa: bigint; readonly steps: number } {
  let mantissa = amount;
  let steps = 0;
  while (steps < stepsMax && mantissa % base === 0n) {
    mantissa /= base;
    steps++;
  }
  return { mantissa, steps };
}
