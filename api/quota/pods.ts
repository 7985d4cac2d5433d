// What a pod counts for in a quota: itself, and what its containers ask for while it is alive. Pure.
import type { Dialect } from '../../config/dialect.ts';
import type { Quantity } from '../../values/quantity.ts';
import type { JsonObject } from '../json/json-value.ts';
import { asTimeMs, partAt, partsAt, setNumberAt, textAt } from '../json/object-fields.ts';
import { isExtendedResource } from '../validation/kinds/resource-amounts.ts';
import { type Amounts, addTo, amountsOf, type GrowingAmounts, isAmount, pieces, raiseTo } from './amounts.ts';

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

/** What every container has to say once a quota limits it, and where. */
const TO_BE_SAID: ReadonlyMap<string, readonly ['requests' | 'limits', string]> = new Map([
  ['cpu', ['requests', 'cpu']],
  ['memory', ['requests', 'memory']],
  ['requests.cpu', ['requests', 'cpu']],
  ['requests.memory', ['requests', 'memory']],
  ['limits.cpu', ['limits', 'cpu']],
  ['limits.memory', ['limits', 'memory']],
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
  const usage: Record<string, Quantity> = { 'count/pods': ONE };
  if (!isAlive(pod, nowMs)) return usage;
  usage.pods = ONE;
  const spec = partAt(pod, 'spec');
  const limits = totalOf(spec, 'limits');
  for (const [name, counted] of LIMITS) {
    const limit = limits[name];
    if (limit !== undefined) usage[counted] = limit;
  }
  const requests = totalOf(spec, 'requests');
  for (const name of Object.keys(requests)) {
    const isPlain = name.startsWith(HUGE_PAGES) || (COMPUTE as readonly string[]).includes(name);
    if (isPlain) usage[name] = requests[name]!;
    if (isPlain || isExtendedResource(name, dialect)) usage[REQUESTS + name] = requests[name]!;
  }
  return usage;
}

const ONE = pieces(1);
const LIMITS = COMPUTE.map((name) => [name, `limits.${name}`] as const);

/** Containers run beside each other, after the initial ones have run one by one. */
function totalOf(spec: JsonObject, of: 'requests' | 'limits'): Amounts {
  const total: GrowingAmounts = {};
  for (const container of partsAt(spec, 'containers')) addTo(total, amountsIn(container, of));
  for (const container of partsAt(spec, 'initContainers')) raiseTo(total, amountsIn(container, of));
  if (spec.overhead !== undefined) addTo(total, amountsOf(partAt(spec, 'overhead')));
  return total;
}

function amountsIn(container: JsonObject, of: 'requests' | 'limits'): Amounts {
  return amountsOf(partAt(partAt(container, 'resources'), of));
}

/** What some container of a pod leaves open although a quota limits it, in order. */
export function unsaid(pod: JsonObject, limited: readonly string[]): readonly string[] {
  const spec = partAt(pod, 'spec');
  const open = limited.filter((name) => {
    const path = TO_BE_SAID.get(name);
    return (
      path !== undefined &&
      [CONTAINERS, INIT_CONTAINERS].some((list) => partsAt(spec, list).some((one) => !says(one, path)))
    );
  });
  return open.length < 2 ? open : open.sort();
}

const CONTAINERS = 'containers';
const INIT_CONTAINERS = 'initContainers';

function says(container: JsonObject, [of, resource]: readonly ['requests' | 'limits', string]): boolean {
  return isAmount(partAt(partAt(container, 'resources'), of)[resource]);
}
