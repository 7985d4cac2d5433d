// Amounts of resources as the scheduler counts them: cpu in thousandths, everything else in whole units, rounded up.
// Plain numbers, because the fit check runs for every pod on every node; amounts above 2^53 - 1 count as that.
import { asObject, type JsonObject } from './object-reading.ts';

/** What a pod asks for, or a node offers. `scalars` holds extended resources and huge pages by name. */
export interface ResourceAmounts {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  /** Pods a node takes; 0 in requests. */
  readonly pods: number;
  readonly scalars: ReadonlyMap<string, number>;
}

const NO_SCALARS: ReadonlyMap<string, number> = new Map();
const QUANTITY = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]{1,3}))?$/;
/** Text longer than this is no quantity that validation lets through. */
const QUANTITY_LENGTH_MAX = 64;

const DECIMAL_EXPONENT: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_SHIFT: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/**
 * A quantity times `scale`, rounded up to a whole number and never below zero. Exact, whatever the notation. Text that
 * is no quantity, and what is neither text nor number, gives undefined.
 */
export function parseAmount(quantity: unknown, scale: 1 | 1000): number | undefined {
  if (typeof quantity === 'number')
    return Number.isFinite(quantity) ? saturate(Math.ceil(quantity * scale)) : undefined;
  if (typeof quantity !== 'string' || quantity.length > QUANTITY_LENGTH_MAX) return undefined;
  const match = QUANTITY.exec(quantity);
  if (match === null) return undefined;
  const whole = match[2] ?? '';
  const fraction = match[3] ?? '';
  const suffix = match[4] ?? '';
  if (whole === '' && fraction === '') return undefined;
  if (match[1] === '-') return 0;
  const exponent = match[5] === undefined ? (DECIMAL_EXPONENT[suffix] ?? 0) : Number(match[5]);
  return (
    quickAmount(whole, fraction, suffix, exponent, scale) ??
    exactAmount(whole + fraction, exponent - fraction.length, suffix, scale)
  );
}

/** The common case, where doubles are exact: whole digits, and a product below 2^53. */
function quickAmount(
  whole: string,
  fraction: string,
  suffix: string,
  exponent: number,
  scale: number,
): number | undefined {
  if (fraction !== '' || whole.length > 15 || exponent > 15 || exponent < -3) return undefined;
  const shift = BINARY_SHIFT[suffix];
  const digits = Number(whole);
  if (exponent < 0) return scale === 1000 ? digits * 10 ** (exponent + 3) : Math.ceil(digits / 10 ** -exponent);
  const amount = digits * scale * (shift === undefined ? 10 ** exponent : 2 ** shift);
  return amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
}

function exactAmount(digits: string, exponent: number, suffix: string, scale: number): number {
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return 0;
  if (significant.length + exponent > 40) return Number.MAX_SAFE_INTEGER;
  if (significant.length + exponent < -40) return 1;
  const numerator = (BigInt(significant) * BigInt(scale)) << BigInt(BINARY_SHIFT[suffix] ?? 0);
  if (exponent >= 0) return saturate(numerator * 10n ** BigInt(exponent));
  const divisor = 10n ** BigInt(-exponent);
  return saturate((numerator + divisor - 1n) / divisor);
}

function saturate(amount: number | bigint): number {
  if (amount >= Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return amount <= 0 ? 0 : Number(amount);
}

/** A ResourceList, such as a node's allocatable. Quantities that cannot be read count as 0. */
export function readAmounts(list: unknown): ResourceAmounts {
  const sum = new AmountSum();
  sum.add(asObject(list));
  return sum.amounts();
}

/** Sums and maxima over ResourceLists, as a pod's request needs them. */
export class AmountSum {
  private milliCpu = 0;
  private memoryBytes = 0;
  private ephemeralStorageBytes = 0;
  private pods = 0;
  private scalars: Map<string, number> | undefined;

  /** Adds each amount of `list`. */
  add(list: JsonObject): void {
    this.merge(list, addUp);
  }

  /** Raises each amount to that of `list` where it is lower. */
  raise(list: JsonObject): void {
    this.merge(list, Math.max);
  }

  /** The sums as they are now. */
  amounts(): ResourceAmounts {
    return {
      milliCpu: this.milliCpu,
      memoryBytes: this.memoryBytes,
      ephemeralStorageBytes: this.ephemeralStorageBytes,
      pods: this.pods,
      scalars: this.scalars ?? NO_SCALARS,
    };
  }

  private merge(list: JsonObject, combine: (sum: number, amount: number) => number): void {
    for (const name of Object.keys(list)) {
      const amount = parseAmount(list[name], name === 'cpu' ? 1000 : 1) ?? 0;
      if (name === 'cpu') this.milliCpu = combine(this.milliCpu, amount);
      else if (name === 'memory') this.memoryBytes = combine(this.memoryBytes, amount);
      else if (name === 'ephemeral-storage') this.ephemeralStorageBytes = combine(this.ephemeralStorageBytes, amount);
      else if (name === 'pods') this.pods = combine(this.pods, amount);
      else {
        this.scalars ??= new Map();
        this.scalars.set(name, combine(this.scalars.get(name) ?? 0, amount));
      }
    }
  }
}

function addUp(sum: number, amount: number): number {
  return saturate(sum + amount);
}

/** True when both hold the same amounts of the same resources. */
export function sameAmounts(a: ResourceAmounts, b: ResourceAmounts): boolean {
  if (a.milliCpu !== b.milliCpu || a.memoryBytes !== b.memoryBytes || a.pods !== b.pods) return false;
  if (a.ephemeralStorageBytes !== b.ephemeralStorageBytes || a.scalars.size !== b.scalars.size) return false;
  for (const [name, amount] of a.scalars) {
    if (b.scalars.get(name) !== amount) return false;
  }
  return true;
}
