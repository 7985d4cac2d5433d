// Amounts by resource, as quotas add and compare them. Pure. A sum keeps the suffixes that its first part was written with.
import { formatQuantity, parseQuantity, type Quantity } from '../../values/quantity.ts';
import { asText } from '../json/object-fields.ts';

export type Amounts = Readonly<Record<string, Quantity>>;

export const NO_AMOUNTS: Amounts = Object.freeze({});
const NANO = 1_000_000_000n;

/** So many pieces. */
export function pieces(count: number): Quantity {
  return { nano: BigInt(count) * NANO, format: 'DecimalSI' };
}

/** The amounts of a stored resource list; what is no quantity is left out. */
export function amountsOf(list: Readonly<Record<string, unknown>>): Amounts {
  let amounts: Record<string, Quantity> | undefined;
  for (const name of Object.keys(list)) {
    const quantity = amountOf(list[name]);
    if (quantity === undefined) continue;
    amounts ??= {};
    amounts[name] = quantity;
  }
  return amounts ?? NO_AMOUNTS;
}

function amountOf(value: unknown): Quantity | undefined {
  return parseQuantity(typeof value === 'number' ? String(value) : asText(value));
}

/** Whether a value is one that `amountsOf` keeps. */
export function isAmount(value: unknown): boolean {
  return amountOf(value) !== undefined;
}

/** What `amountsOf` reads. */
export function textsOf(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

/** Every resource that either of them names. */
export function sumOf(one: Amounts, other: Amounts): Amounts {
  if (one === NO_AMOUNTS) return other;
  if (other === NO_AMOUNTS) return one;
  const sum = { ...one };
  addTo(sum, other);
  return sum;
}

/** Amounts that grow in place: copied with each part, a sum of thousands of resources takes minutes. */
export type GrowingAmounts = Record<string, Quantity>;

export function addTo(sum: GrowingAmounts, amounts: Amounts): void {
  for (const name of Object.keys(amounts)) {
    const amount = amounts[name]!;
    const known = sum[name];
    if (known === undefined || known.nano === 0n) sum[name] = amount;
    else sum[name] = { nano: known.nano + amount.nano, format: known.format };
  }
}

/** Of every resource that either of them names the larger amount. */
export function raiseTo(largest: GrowingAmounts, amounts: Amounts): void {
  for (const name of Object.keys(amounts)) {
    const amount = amounts[name]!;
    const known = largest[name];
    if (known === undefined || amount.nano > known.nano) largest[name] = amount;
  }
}

/** What `next` has more than `before`; resources of which it has no more are left out. */
export function increaseOf(next: Amounts, before: Amounts): Amounts {
  const increase: Record<string, Quantity> = {};
  for (const name of Object.keys(next)) {
    const amount = next[name]!;
    const known = before[name];
    const more = known === undefined ? amount.nano : amount.nano - known.nano;
    if (more > 0n) increase[name] = known === undefined ? amount : { nano: more, format: amount.format };
  }
  return increase;
}

/** Only the resources that are named. */
export function masked(amounts: Amounts, names: Iterable<string>): Amounts {
  const some: Record<string, Quantity> = {};
  for (const name of names) {
    const quantity = amounts[name];
    if (quantity !== undefined) some[name] = quantity;
  }
  return some;
}

/** `cpu=1,memory=1Gi`, in the order of the names. */
export function printed(amounts: Amounts): string {
  return Object.keys(amounts)
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts[name]!)}`)
    .join(',');
}
