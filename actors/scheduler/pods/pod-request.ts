// What a pod takes of its node: resources and ports. Pure.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asNumber, asObject, asText } from '../../../api/json/object-fields.ts';
import { countOf } from '../../../values/quantity.ts';
import { AmountSum, type ResourceAmounts } from './resource-amounts.ts';

/** A port that a container claims on its node. */
export interface HostPort {
  /** `0.0.0.0` stands for every address of the node. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

export interface PodRequest {
  readonly request: ResourceAmounts;
  /** cpu and memory for scoring, where a container that asks for nothing counts as a small one. */
  readonly scoredMilliCpu: number;
  readonly scoredMemoryBytes: number;
  readonly hostPorts: readonly HostPort[];
}

export const ALL_ADDRESSES = '0.0.0.0';
const SCORED_MILLI_CPU_DEFAULT = 100;
const SCORED_MEMORY_BYTES_DEFAULT = 200 * 1024 * 1024;
const NO_HOST_PORTS: readonly HostPort[] = Object.freeze([]);

/** Of a pod's spec: the sum over containers, or the largest init container where that is more, plus the overhead. */
export function readRequest(spec: JsonObject): PodRequest {
  const containers = asList(spec.containers).map(asObject);
  const initContainers = asList(spec.initContainers).map(asObject);
  const overhead = asObject(spec.overhead);
  const sum = new AmountSum();
  for (const container of containers) sum.add(requestsIn(container));
  for (const container of initContainers) sum.raise(requestsIn(container));
  sum.add(overhead);
  const scored = (resource: 'cpu' | 'memory', scale: 1 | 1000, whenUnset: number) => {
    const amountOf = (container: JsonObject) => countOf(requestsIn(container)[resource], scale) ?? whenUnset;
    let amount = 0;
    for (const container of containers) amount += amountOf(container);
    for (const container of initContainers) amount = Math.max(amount, amountOf(container));
    return amount + (countOf(overhead[resource], scale) ?? 0);
  };
  return {
    request: sum.amounts(),
    scoredMilliCpu: scored('cpu', 1000, SCORED_MILLI_CPU_DEFAULT),
    scoredMemoryBytes: scored('memory', 1, SCORED_MEMORY_BYTES_DEFAULT),
    hostPorts: hostPortsOf(containers),
  };
}

function requestsIn(container: JsonObject): JsonObject {
  return asObject(asObject(container.resources).requests);
}

function hostPortsOf(containers: readonly JsonObject[]): readonly HostPort[] {
  let hostPorts: HostPort[] | undefined;
  for (const container of containers) {
    for (const entry of asList(container.ports)) {
      const port = asNumber(asObject(entry).hostPort);
      if (port <= 0) continue;
      const ip = asText(asObject(entry).hostIP) || ALL_ADDRESSES;
      const protocol = asText(asObject(entry).protocol) || 'TCP';
      hostPorts ??= [];
      hostPorts.push({ ip, protocol, port });
    }
  }
  return hostPorts ?? NO_HOST_PORTS;
}
