// NodeResourcesBalancedAllocation: prefers nodes whose cpu and memory would be used to a similar share, so that neither
// runs out while the other is idle.
import { SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';
import type { AttachedDisks } from './volume-limits.ts';

/** `disksOf`: where a node's disks are to be balanced too. */
export function balancedAllocation(disksOf?: AttachedDisks): ScorePlugin {
  return {
    name: 'NodeResourcesBalancedAllocation',
    prepareScore(pod, { objects }) {
      const { scoredMilliCpu, scoredMemoryBytes } = pod;
      const disksOn = disksOf?.(pod, objects.volumes);
      return {
        normalize: 'none',
        ...(disksOn === undefined ? { ofNodeAlone: `${scoredMilliCpu} ${scoredMemoryBytes}` } : {}),
        score(node) {
          const { allocatable, scoredMilliCpu: usedCpu, scoredMemoryBytes: usedMemory } = node;
          const cpu = usedShare(allocatable.milliCpu, usedCpu + scoredMilliCpu);
          const memory = usedShare(allocatable.memoryBytes, usedMemory + scoredMemoryBytes);
          if (cpu >= 1 || memory >= 1) return 0;
          const disks = disksOn?.(node);
          if (disks === undefined || disks.free <= 0) return Math.floor((1 - Math.abs(cpu - memory)) * SCORE_MAX);
          return disks.wanted >= disks.free ? 0 : evenness([cpu, memory, disks.wanted / disks.free]);
        },
      };
    },
  };
}

function evenness(shares: readonly number[]): number {
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length;
  return Math.floor((1 - variance) * SCORE_MAX);
}

function usedShare(capacity: number, requested: number): number {
  return capacity === 0 ? 1 : requested / capacity;
}
