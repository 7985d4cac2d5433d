// Quantities: numbers with a binary (`64Mi`), decimal (`250m`) or exponent (`12e6`) suffix, kept exact. Reads every
// spelling, writes the canonical one. No limits or comparisons of resources here.

export type QuantityFormat = 'binary' | 'decimal' | 'exponent';

export interface Quantity {
  /** The value in billionths: nothing finer is kept. */
  readonly nano: bigint;
  /** The suffix family it was written in, and is written in again. */
  readonly format: QuantityFormat;
}

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const NANO = 10n ** 9n;
const NANO_IN_MILLI = 10n ** 6n;
/** A binary quantity is cut to the largest int64. */
const BINARY_NANO_MAX = (2n ** 63n - 1n) * NANO;
/** Bounds the work that one text can ask for; far beyond any real amount. */
const TEXT_LENGTH_MAX = 128;
const EXPONENT_MAX = 300;

const QUANTITY = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?[0-9]{1,4}))$/;
/** One to three digits are canonical with any suffix that cannot reach the bound: nothing can be moved into it. */
const SHORT_CANONICAL = /^[1-9][0-9]{0,2}(?:[numkMGTPE]|[KMGTP]i)?$/;

function scaled(digits: bigint, exponent: number): bigint {
  if (exponent >= 0) return digits * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (digits + divisor - 1n) / divisor;
}

/**
 * Reads a quantity. Parts finer than a billionth are rounded away from zero.
 *
 * @returns undefined when the text is no quantity, or longer than 128 characters or with an exponent beyond ±300.
 */
export function parseQuantity(text: string): Quantity | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', binary, decimal, exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  let magnitude: bigint;
  let format: QuantityFormat = 'decimal';
  if (binary !== undefined) {
    const factor = 1024n ** BigInt(BINARY_SUFFIXES.indexOf(binary));
    magnitude = scaled(digits * factor, 9 - fraction.length);
    if (magnitude > BINARY_NANO_MAX) magnitude = BINARY_NANO_MAX;
    if (magnitude >= NANO) format = 'binary';
  } else if (exponent !== undefined) {
    const power = Number(exponent);
    if (Math.abs(power) > EXPONENT_MAX) return undefined;
    magnitude = scaled(digits, 9 - fraction.length + power);
    format = 'exponent';
  } else {
    magnitude = scaled(digits, 3 * DECIMAL_SUFFIXES.indexOf(decimal ?? '') - fraction.length);
  }
  return { nano: sign === '-' ? -magnitude : magnitude, format };
}

/** Writes a quantity in canonical form: no fraction, the largest suffix of its family that loses nothing. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  if (format === 'binary' && nano % NANO === 0n) {
    let value = nano / NANO;
    if (value >= 1024n || value <= -1024n) {
      let suffix = 0;
      while (value % 1024n === 0n && suffix + 1 < BINARY_SUFFIXES.length) {
        value /= 1024n;
        suffix += 1;
      }
      return `${value}${BINARY_SUFFIXES[suffix]}`;
    }
  }
  let value = nano;
  let power = -9;
  while (value % 1000n === 0n) {
    value /= 1000n;
    power += 3;
  }
  if (power === 0) return String(value);
  const suffix = format === 'exponent' ? undefined : DECIMAL_SUFFIXES[power / 3 + 3];
  return `${value}${suffix ?? `e${power}`}`;
}

/** Rounds away from zero to thousandths, as amounts in a resource list are kept. */
export function roundedToMilli(quantity: Quantity): Quantity {
  const rest = quantity.nano % NANO_IN_MILLI;
  if (rest === 0n) return quantity;
  const step = quantity.nano > 0n ? NANO_IN_MILLI : -NANO_IN_MILLI;
  return { nano: quantity.nano - rest + step, format: quantity.format };
}

/** Texts seen lately; real clusters repeat few. Emptied when full, so that no client can grow it. */
const canonicalTexts = new Map<string, string>();
const CACHED_TEXTS_MAX = 2048;
const CACHED_LENGTH_MAX = 32;

/** The canonical form of a quantity's text, undefined when it is none. */
export function canonicalQuantity(text: string): string | undefined {
  if (SHORT_CANONICAL.test(text)) return text;
  const known = canonicalTexts.get(text);
  if (known !== undefined) return known;
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  const canonical = formatQuantity(quantity);
  if (text.length <= CACHED_LENGTH_MAX) {
    if (canonicalTexts.size >= CACHED_TEXTS_MAX) canonicalTexts.clear();
    canonicalTexts.set(text, canonical);
  }
  return canonical;
}
