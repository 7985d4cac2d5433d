// How large the heap of this thread may get: who decides how much to hold at a time goes by it.
import { getHeapStatistics } from 'node:v8';

/** In bytes. The process ends when the heap of one of its threads is full. */
export function heapLimitBytes(): number {
  return getHeapStatistics().heap_size_limit;
}
