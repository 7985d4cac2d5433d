// The quality of service of a pod: how much of what its containers may use they have asked for. Pure.
import { nanoOf } from '../../values/quantity.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

type Amounts = Readonly<Record<string, string>>;

interface Resources {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
}

/** The resources that count. */
const COUNTED = ['cpu', 'memory'] as const;
const NO_AMOUNTS: Amounts = {};

/**
 * The class of a pod that has its defaults: Guaranteed where every container has limits for cpu and memory and the pod asks
 * for all of them, BestEffort where no container has either, else Burstable. Amounts of zero do not count.
 */
export function qosClassOf(pod: JsonObject): QosClass {
  const all = resourcesOf(pod);
  let isAny = false;
  let isLimited = true;
  let isSame = true;
  for (const { requests = NO_AMOUNTS, limits = NO_AMOUNTS } of all) {
    for (const name of COUNTED) {
      const request = requests[name] ?? '0';
      const limit = limits[name] ?? '0';
      if (request !== '0' || limit !== '0') isAny = true;
      if (limit === '0') isLimited = false;
      if (request !== limit) isSame = false;
    }
  }
  if (!isAny) return 'BestEffort';
  if (!isLimited) return 'Burstable';
  // Different texts may be the same amount, and one container may make up for another.
  const isGuaranteed = isSame || COUNTED.every((name) => total(all, 'requests', name) === total(all, 'limits', name));
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function resourcesOf({ spec }: JsonObject): readonly Resources[] {
  if (!isJsonObject(spec)) return [];
  const { containers, initContainers } = spec as {
    containers?: readonly JsonObject[];
    initContainers?: readonly JsonObject[];
  };
  const all = initContainers === undefined ? (containers ?? []) : [...(containers ?? []), ...initContainers];
  return all.map(({ resources }) => (resources ?? {}) as Resources);
}

function total(all: readonly Resources[], part: keyof Resources, name: string): bigint {
  let nano = 0n;
  for (const resources of all) nano += nanoOf(resources[part]?.[name] ?? '0');
  return nano;
}
