// Whether a number is a multiple of another as people write them, in decimal: 0.3 is one of 0.1, though their binary forms
// are not. Pure, and exact at every size.

interface Decimal {
  readonly digits: bigint;
  /** Of ten, at most 0. */
  readonly exponent: number;
}

/** No number is a multiple of 0. */
export function isDecimalMultiple(value: number | bigint, factor: number): boolean {
  if (factor === 0 || (typeof value === 'number' && !Number.isFinite(value))) return false;
  if (typeof value === 'number' && Number.isSafeInteger(value) && Number.isSafeInteger(factor))
    return value % factor === 0;
  const left = decimalOf(value);
  const right = decimalOf(factor);
  const exponent = Math.min(left.exponent, right.exponent);
  return scaled(left, exponent) % scaled(right, exponent) === 0n;
}

function decimalOf(value: number | bigint): Decimal {
  if (typeof value === 'bigint') return { digits: value, exponent: 0 };
  const [mantissa = '0', power = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const exponent = Number(power) - fraction.length;
  const digits = BigInt(whole + fraction);
  return exponent > 0 ? { digits: digits * 10n ** BigInt(exponent), exponent: 0 } : { digits, exponent };
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
