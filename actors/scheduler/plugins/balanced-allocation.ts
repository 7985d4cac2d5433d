// NodeResourcesBalancedAllocation: prefers nodes whose cpu and memory would be used to a similar share, so that neither
// runs out while the other is idle.
import { SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';

export const balancedAllocation: ScorePlugin = {
  name: 'NodeResourcesBalancedAllocation',
  prepareScore({ scoredMilliCpu, scoredMemoryBytes }) {
    return {
      normalize: 'none',
      score({ allocatable, scoredMilliCpu: usedCpu, scoredMemoryBytes: usedMemory }) {
        const cpu = usedShare(allocatable.milliCpu, usedCpu + scoredMilliCpu);
        const memory = usedShare(allocatable.memoryBytes, usedMemory + scoredMemoryBytes);
        return cpu >= 1 || memory >= 1 ? 0 : Math.floor((1 - Math.abs(cpu - memory)) * SCORE_MAX);
      },
    };
  },
};

function usedShare(capacity: number, requested: number): number {
  return capacity === 0 ? 1 : requested / capacity;
}
