// The memory of a real thread's heap, as series of its own. What the process holds beside the heaps (shared slabs, sockets,
// native libraries) is the operating system's to tell.
import { getHeapStatistics } from 'node:v8';
import type { Metrics } from './metrics.ts';

/** Declares the series and fills them before each reading. */
export function publishMemoryMetrics(metrics: Metrics, thread: string): void {
  const used = metrics.gauge('orch_thread_heap_bytes', 'Bytes of objects on the heap of a thread.', { thread });
  const limit = metrics.gauge('orch_thread_heap_limit_bytes', 'Bytes that the heap of a thread may grow to.', {
    thread,
  });
  const external = metrics.gauge(
    'orch_thread_external_bytes',
    'Bytes that objects of a thread hold outside its heap.',
    {
      thread,
    },
  );
  metrics.beforeReading(() => {
    const statistics = getHeapStatistics();
    used.set(statistics.used_heap_size);
    limit.set(statistics.heap_size_limit);
    external.set(statistics.external_memory);
  });
}
