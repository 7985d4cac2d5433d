// Scores of a node by how much of it would be taken with the pod: what least, most and requested-to-capacity ratio share.

import { type NodeScorer, SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';

export interface WeightedResource {
  readonly name: string;
  readonly weight: number;
}

export const CPU_AND_MEMORY: readonly WeightedResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/**
 * Writes what a node has of a resource and what of it would be taken, in this order. cpu and memory count containers that ask for nothing as
 * small ones; nothing else does.
 */
export function measure(resource: string, pod: PodInfo): (node: NodeInfo, into: Float64Array) => void {
  const own = wanted(resource, pod);
  switch (resource) {
    case 'cpu':
      return (node, into) => {
        into[0] = node.allocatable.milliCpu;
        into[1] = node.scoredMilliCpu + own;
      };
    case 'memory':
      return (node, into) => {
        into[0] = node.allocatable.memoryBytes;
        into[1] = node.scoredMemoryBytes + own;
      };
    case 'ephemeral-storage':
      return (node, into) => {
        into[0] = node.allocatable.ephemeralStorageBytes;
        into[1] = node.requestedEphemeralStorageBytes + own;
      };
    default:
      return (node, into) => {
        into[0] = node.allocatable.scalars.get(resource) ?? 0;
        into[1] = (node.requestedScalars.get(resource) ?? 0) + own;
      };
  }
}

/** What `measure` counts of the pod itself. */
function wanted(resource: string, { request, scoredMilliCpu, scoredMemoryBytes }: PodInfo): number {
  switch (resource) {
    case 'cpu':
      return scoredMilliCpu;
    case 'memory':
      return scoredMemoryBytes;
    case 'ephemeral-storage':
      return request.ephemeralStorageBytes;
    default:
      return request.scalars.get(resource) ?? 0;
  }
}

/** The mean over resources, by weight, of a score for each. */
function meanOfResources(
  name: string,
  resources: readonly WeightedResource[],
  scoreOf: (requested: number, capacity: number) => number,
): ScorePlugin {
  const weights = resources.reduce((sum, { weight }) => sum + weight, 0);
  return {
    name,
    prepareScore(pod): NodeScorer {
      const measures = resources.map((resource) => ({ read: measure(resource.name, pod), weight: resource.weight }));
      const amounts = new Float64Array(2);
      return {
        normalize: 'none',
        ofNodeAlone: resources.map((resource) => wanted(resource.name, pod)).join(' '),
        score(node) {
          let score = 0;
          for (const { read, weight } of measures) {
            read(node, amounts);
            score += weight * scoreOf(amounts[1]!, amounts[0]!);
          }
          return weights === 0 ? 0 : Math.floor(score / weights);
        },
      };
    },
  };
}

/** NodeResourcesLeastAllocated: prefers nodes with the larger free share, so that load spreads. */
export function leastAllocated(resources: readonly WeightedResource[] = CPU_AND_MEMORY): ScorePlugin {
  return meanOfResources('NodeResourcesLeastAllocated', resources, (requested, capacity) =>
    capacity === 0 || requested > capacity ? 0 : Math.floor(((capacity - requested) * SCORE_MAX) / capacity),
  );
}

/** NodeResourcesMostAllocated: prefers nodes with the smaller free share, so that some stay empty. */
export function mostAllocated(resources: readonly WeightedResource[] = CPU_AND_MEMORY): ScorePlugin {
  return meanOfResources('NodeResourcesMostAllocated', resources, (requested, capacity) =>
    capacity === 0 || requested > capacity ? 0 : Math.floor((requested * SCORE_MAX) / capacity),
  );
}
