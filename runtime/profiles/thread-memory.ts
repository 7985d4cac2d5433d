// What the memory of the thread that asks is used for at this moment, by V8's own counts: no walk over objects, so that asking costs
// as little however much there is.
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** In bytes. What is used includes garbage that no collection has found yet. */
export interface HeapSpace {
  readonly name: string;
  readonly used: number;
  /** What the space has of the system. */
  readonly size: number;
}

/** In bytes. */
export interface ThreadMemory {
  readonly thread: string;
  readonly used: number;
  readonly size: number;
  /** From where on the thread ends for want of memory. */
  readonly limit: number;
  /** What objects hold outside the heap: buffers above all. */
  readonly external: number;
  /** What V8 itself holds outside the heap. */
  readonly malloced: number;
  readonly spaces: readonly HeapSpace[];
}

/** Reads the memory of this thread, which is called `thread`. */
export function threadMemory(thread: string): ThreadMemory {
  const heap = getHeapStatistics();
  return {
    thread,
    used: heap.used_heap_size,
    size: heap.total_heap_size,
    limit: heap.heap_size_limit,
    external: heap.external_memory,
    malloced: heap.malloced_memory,
    spaces: getHeapSpaceStatistics().map((space) => ({
      name: space.space_name,
      used: space.space_used_size,
      size: space.space_size,
    })),
  };
}
