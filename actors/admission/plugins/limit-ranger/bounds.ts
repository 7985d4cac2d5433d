// The bounds that a LimitRange sets, and whether amounts keep to them. Compares as the original does: in thousandths, and in whole
// units where thousandths would not fit its numbers.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asText, partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { formatQuantity, nanoOf } from '../../../../values/quantity.ts';

/** Amounts by resource. */
export type Amounts = Readonly<Record<string, string>>;
type GrowingAmounts = Record<string, string>;

export interface Bound {
  readonly resource: string;
  readonly text: string;
  readonly nano: bigint;
}

/** One entry of a LimitRange. */
export interface Limits {
  readonly type: string;
  readonly min: readonly Bound[];
  readonly max: readonly Bound[];
  readonly ratio: readonly Bound[];
}

/** A LimitRange, made ready. */
export interface Range {
  readonly limits: readonly Limits[];
  /** What containers get that do not say. */
  readonly defaultRequest: Standard;
  readonly defaultLimit: Standard;
}

/** Amounts with the names of their resources in order. */
export interface Standard {
  readonly amounts: Amounts;
  readonly names: readonly string[];
}

/** What a container asks for. */
export interface Needs {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** What a pod's containers ask for, of which some run beside each other, after the initial ones have run one by one. */
export type PodNeeds = Readonly<
  Record<keyof Needs, { readonly running: readonly Amounts[]; readonly initial: readonly Amounts[] }>
>;

const NANO = 1_000_000_000n;
const MILLI = 1_000_000n;
/** Beyond it a number of thousandths does not fit 64 bits. */
const MILLI_VALUE_MAX = (2n ** 63n - 1n) / 1000n;

export function rangeOf(object: JsonObject): Range {
  const limits: Limits[] = [];
  let defaultRequest: Amounts = {};
  let defaultLimit: Amounts = {};
  for (const limit of partsAt(partAt(object, 'spec'), 'limits')) {
    const type = textAt(limit, 'type');
    limits.push({
      type,
      min: boundsOf(partAt(limit, 'min')),
      max: boundsOf(partAt(limit, 'max')),
      ratio: boundsOf(partAt(limit, 'maxLimitRequestRatio')),
    });
    if (type !== 'Container') continue;
    defaultRequest = { ...defaultRequest, ...(partAt(limit, 'defaultRequest') as Amounts) };
    defaultLimit = { ...defaultLimit, ...(partAt(limit, 'default') as Amounts) };
  }
  return { limits, defaultRequest: standardOf(defaultRequest), defaultLimit: standardOf(defaultLimit) };
}

function standardOf(amounts: Amounts): Standard {
  return { amounts, names: Object.keys(amounts).sort() };
}

function boundsOf(amounts: JsonObject): readonly Bound[] {
  return Object.keys(amounts)
    .sort()
    .map((resource) => ({ resource, text: asText(amounts[resource]), nano: nanoOf(asText(amounts[resource])) }));
}

/** What is wrong with requests and limits of something of the entry's type, one text each. */
export function problemsOf({ type, min, max, ratio }: Limits, requests: Amounts, limits: Amounts): readonly string[] {
  if (min.length === 0 && max.length === 0 && ratio.length === 0) return NO_PROBLEMS;
  if (isWithin({ min, max, ratio }, (resource, of) => knownNano(of === 'requests' ? requests : limits, resource)))
    return NO_PROBLEMS;
  const found = [
    ...min.map((bound) => belowMin(type, bound, requests, limits)),
    ...max.map((bound) => aboveMax(type, bound, requests, limits)),
    ...ratio.map((bound) => aboveRatio(type, bound, requests, limits)),
  ];
  return found.filter((problem) => problem !== '');
}

/**
 * Whether amounts are within the bounds for sure, whatever they are rounded to, which is told without texts and of nearly all. False:
 * `problemsOf` tells.
 */
function isWithin(
  { min, max, ratio }: Omit<Limits, 'type'>,
  amountOf: (resource: string, of: keyof Needs) => bigint | undefined,
): boolean {
  if (ratio.length > 0) return false;
  for (const { resource, nano } of min) {
    const request = amountOf(resource, 'requests');
    if (request === undefined || request < nano) return false;
    const limit = amountOf(resource, 'limits');
    if (limit !== undefined && limit < nano) return false;
  }
  for (const { resource, nano } of max) {
    const limit = amountOf(resource, 'limits');
    if (limit === undefined || limit > nano) return false;
    const request = amountOf(resource, 'requests');
    if (request !== undefined && request > nano) return false;
  }
  return true;
}

/** The same of all containers of a pod together. */
export function isPodWithin(limits: Limits, needs: PodNeeds): boolean {
  const largest = { requests: raised({}, needs.requests.initial), limits: raised({}, needs.limits.initial) };
  return isWithin(limits, (resource, of) => {
    const total = summedNano(needs[of].running, resource);
    const nano = knownNano(largest[of], resource);
    return nano !== undefined && (total === undefined || nano > total) ? nano : total;
  });
}

/** What all containers of a pod name together. */
export function totalOf({ running, initial }: PodNeeds[keyof PodNeeds]): Amounts {
  return raised(sumOf(running), initial);
}

/** Undefined where one of them leaves the resource open. */
function summedNano(all: readonly Amounts[], resource: string): bigint | undefined {
  const unit = resource === 'cpu' ? MILLI : NANO;
  let total: bigint | undefined;
  for (const amounts of all) {
    const nano = knownNano(amounts, resource);
    if (nano === undefined) return undefined;
    total = (total ?? 0n) + roundedUp(nano, unit) * unit;
  }
  return total;
}

function knownNano(amounts: Amounts, resource: string): bigint | undefined {
  const text = amounts[resource];
  return text === undefined ? undefined : nanoOf(text);
}

/** As `problemsOf`, of what has requests only. */
export function requestProblemsOf({ type, min, max }: Limits, requests: Amounts): readonly string[] {
  const found = [
    ...min.map((bound) => belowMin(type, bound, requests, NO_AMOUNTS)),
    ...max.map((bound) => requestAboveMax(type, bound, requests)),
  ];
  return found.filter((problem) => problem !== '');
}

const NO_PROBLEMS: readonly string[] = [];
const NO_AMOUNTS: Amounts = {};

function belowMin(type: string, { resource, text, nano }: Bound, requests: Amounts, limits: Amounts): string {
  const { request, limit, bound } = comparable(requests[resource], limits[resource], nano);
  const minimum = `minimum ${resource} usage per ${type} is ${text}`;
  if (request === undefined) return `${minimum}.  No request is specified`;
  if (request < bound) return `${minimum}, but request is ${requests[resource]}`;
  return limit !== undefined && limit < bound ? `${minimum}, but limit is ${limits[resource]}` : '';
}

function aboveMax(type: string, { resource, text, nano }: Bound, requests: Amounts, limits: Amounts): string {
  const { request, limit, bound } = comparable(requests[resource], limits[resource], nano);
  const maximum = `maximum ${resource} usage per ${type} is ${text}`;
  if (limit === undefined) return `${maximum}.  No limit is specified`;
  if (limit > bound) return `${maximum}, but limit is ${limits[resource]}`;
  return request !== undefined && request > bound ? `${maximum}, but request is ${requests[resource]}` : '';
}

function requestAboveMax(type: string, { resource, text, nano }: Bound, requests: Amounts): string {
  const { request, bound } = comparable(requests[resource], undefined, nano);
  const maximum = `maximum ${resource} usage per ${type} is ${text}`;
  if (request === undefined) return `${maximum}.  No request is specified`;
  return request > bound ? `${maximum}, but request is ${requests[resource]}` : '';
}

function aboveRatio(type: string, { resource, text, nano }: Bound, requests: Amounts, limits: Amounts): string {
  const { request = 0n, limit = 0n } = comparable(requests[resource], limits[resource], nano);
  const most = `${resource} max limit to request ratio per ${type} is ${text}`;
  if (request === 0n) return `${most}, but no request is specified or request is 0`;
  if (limit === 0n) return `${most}, but no limit is specified or limit is 0`;
  const ratio = Number(limit) / Number(request);
  return ratio * 1000 > Number(roundedUp(nano, MILLI)) ? `${most}, but provided ratio is ${ratio.toFixed(6)}` : '';
}

/** The three at one precision. */
function comparable(
  requestText: string | undefined,
  limitText: string | undefined,
  nano: bigint,
): { readonly request: bigint | undefined; readonly limit: bigint | undefined; readonly bound: bigint } {
  const request = requestText === undefined ? undefined : nanoOf(requestText);
  const limit = limitText === undefined ? undefined : nanoOf(limitText);
  const fitsMilli = [request ?? 0n, limit ?? 0n, nano].every((one) => roundedUp(one, NANO) <= MILLI_VALUE_MAX);
  const unit = fitsMilli ? MILLI : NANO;
  return {
    request: request === undefined ? undefined : roundedUp(request, unit),
    limit: limit === undefined ? undefined : roundedUp(limit, unit),
    bound: roundedUp(nano, unit),
  };
}

/** Away from zero. */
function roundedUp(nano: bigint, unit: bigint): bigint {
  const whole = nano / unit;
  if (whole * unit === nano) return whole;
  return nano < 0n ? whole - 1n : whole + 1n;
}

/** The sum of what every one of them names; what one of them leaves open has no sum. */
function sumOf(all: readonly Amounts[]): GrowingAmounts {
  const sum: Record<string, string> = {};
  for (const resource of Object.keys(all[0] ?? {})) {
    const total = summedNano(all, resource);
    if (total !== undefined) sum[resource] = formatQuantity({ nano: total, format: 'DecimalSI' });
  }
  return sum;
}

/** The amounts, with the largest of each resource that one of `all` names where that is more: in place, since there may be thousands of either. */
function raised(amounts: GrowingAmounts, all: readonly Amounts[]): Amounts {
  for (const one of all)
    for (const [resource, amount] of Object.entries(one)) {
      const known = amounts[resource];
      if (known === undefined || nanoOf(amount) > nanoOf(known)) amounts[resource] = amount;
    }
  return amounts;
}
