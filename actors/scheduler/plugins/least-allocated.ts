// NodeResourcesLeastAllocated: prefers nodes with the larger free share of cpu and memory, so that load spreads.
import { SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';

export const leastAllocated: ScorePlugin = {
  name: 'NodeResourcesLeastAllocated',
  prepareScore({ scoredMilliCpu, scoredMemoryBytes }) {
    return {
      normalize: 'none',
      score({ allocatable, scoredMilliCpu: usedCpu, scoredMemoryBytes: usedMemory }) {
        const cpu = freeShare(allocatable.milliCpu, usedCpu + scoredMilliCpu);
        const memory = freeShare(allocatable.memoryBytes, usedMemory + scoredMemoryBytes);
        return Math.floor((cpu + memory) / 2);
      },
    };
  },
};

function freeShare(capacity: number, requested: number): number {
  if (capacity === 0 || requested > capacity) return 0;
  return Math.floor(((capacity - requested) * SCORE_MAX) / capacity);
}
