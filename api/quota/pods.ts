// What a pod counts for in a quota: itself, and what its containers ask for while it is alive. Pure.
import type { Dialect } from '../../config/dialect.ts';
import type { Quantity } from '../../values/quantity.ts';
import type { JsonObject } from '../json-value.ts';
import { asTimeMs, partAt, partsAt, setNumberAt, textAt } from '../object-fields.ts';
import { isExtendedResource } from '../validation/kinds/resource-amounts.ts';
import { type Amounts, amountsOf, largerOf, NO_AMOUNTS, pieces, sumOf } from './amounts.ts';

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'] as const;
const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';

const COUNTED: ReadonlySet<string> = new Set([
  'pods',
  'count/pods',
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
]);

/** What every container has to say once a quota limits it. */
const TO_BE_SAID: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);

/** Whether a name in a quota is one of a pod's. */
export function isOfPods(name: string, dialect: Dialect): boolean {
  if (COUNTED.has(name) || name.startsWith(HUGE_PAGES) || name.startsWith(REQUESTS + HUGE_PAGES)) return true;
  return name.startsWith(REQUESTS) && isExtendedResource(name.slice(REQUESTS.length), dialect);
}

/** When a pod that is being deleted counts no more, though its node has not let go of it; undefined: it is not deleted. */
export function countsUntilMs(pod: JsonObject): number | undefined {
  const metadata = partAt(pod, 'metadata');
  const graceSeconds = setNumberAt(metadata, 'deletionGracePeriodSeconds');
  const deletedAtMs = asTimeMs(metadata.deletionTimestamp);
  return graceSeconds === undefined || deletedAtMs === undefined ? undefined : deletedAtMs + graceSeconds * 1000;
}

/** False once it has ended, or should have. */
function isAlive(pod: JsonObject, nowMs: number): boolean {
  if (['Failed', 'Succeeded'].includes(textAt(partAt(pod, 'status'), 'phase'))) return false;
  const untilMs = countsUntilMs(pod);
  return untilMs === undefined || nowMs <= untilMs;
}

export function podUsage(pod: JsonObject, dialect: Dialect, nowMs: number): Amounts {
  const itself = { 'count/pods': pieces(1) };
  if (!isAlive(pod, nowMs)) return itself;
  const spec = partAt(pod, 'spec');
  const total = (of: 'requests' | 'limits'): Amounts => {
    const amounts = (list: string): Amounts[] =>
      partsAt(spec, list).map((container) => amountsOf(partAt(partAt(container, 'resources'), of)));
    // Containers run beside each other, after the initial ones have run one by one.
    const running = amounts('initContainers').reduce(largerOf, amounts('containers').reduce(sumOf, NO_AMOUNTS));
    return sumOf(running, amountsOf(partAt(spec, 'overhead')));
  };
  return { ...itself, ...computeUsage(total('requests'), total('limits'), dialect) };
}

function computeUsage(requests: Amounts, limits: Amounts, dialect: Dialect): Amounts {
  const usage: Record<string, Quantity> = { pods: pieces(1) };
  for (const name of COMPUTE) {
    const limit = limits[name];
    if (limit !== undefined) usage[`limits.${name}`] = limit;
  }
  for (const [name, request] of Object.entries(requests)) {
    const isPlain = name.startsWith(HUGE_PAGES) || (COMPUTE as readonly string[]).includes(name);
    if (isPlain) usage[name] = request;
    if (isPlain || isExtendedResource(name, dialect)) usage[REQUESTS + name] = request;
  }
  return usage;
}

/** What some container of a pod leaves open although a quota limits it, in order. */
export function unsaid(pod: JsonObject, limited: readonly string[], dialect: Dialect): readonly string[] {
  const required = limited.filter((name) => TO_BE_SAID.has(name));
  if (required.length === 0) return required;
  const spec = partAt(pod, 'spec');
  const said = [...partsAt(spec, 'containers'), ...partsAt(spec, 'initContainers')].map((container) => {
    const resources = partAt(container, 'resources');
    return computeUsage(amountsOf(partAt(resources, 'requests')), amountsOf(partAt(resources, 'limits')), dialect);
  });
  return required.filter((name) => said.some((usage) => usage[name] === undefined)).sort();
}
