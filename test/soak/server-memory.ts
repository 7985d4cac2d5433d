// The memory of the server over time, and whether it stays: samples of the resident set, of the heaps and of the slabs, and the
// straight line through the second half of them.
import { processUsage } from '../../bench/process-usage.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { MetricsText } from '../server/metrics-text.ts';

export const FIGURES = ['rss', 'heap', 'slabs'] as const;
export type Figure = (typeof FIGURES)[number];

export interface MemorySample {
  readonly atMs: number;
  /** Bytes. */
  readonly rss: number;
  readonly heap: number;
  readonly slabs: number;
  readonly cpuSeconds: number;
}

/**
 * How much a figure may grow over the second half, as a share of its mean there. A thread that is replaced moves the resident
 * set by some 30 MiB in either direction, and may leave a few slabs of 1 MiB more in the pool.
 */
export const GROWTH_MAX: Readonly<Record<Figure, number>> = { rss: 0.08, heap: 0.1, slabs: 0.1 };

/** Undefined when the server does not answer just now. */
export async function sampleMemory(client: HttpsClient, pid: number): Promise<MemorySample | undefined> {
  const usage = processUsage(pid);
  try {
    const { status, text } = await client.get('/metrics');
    if (status !== 200 || usage === undefined) return undefined;
    const metrics = new MetricsText(text);
    const { rssBytes, cpuSeconds } = usage;
    const heap = metrics.sum('orch_thread_heap_bytes');
    return { atMs: performance.now(), rss: rssBytes, heap, slabs: metrics.sum('orch_store_slab_bytes'), cpuSeconds };
  } catch {
    return undefined;
  }
}

/** The growth of a figure over the second half of the samples, by the least squares, as a share of its mean there. */
export function growthOf(samples: readonly MemorySample[], figure: Figure): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  if (half.length < 2) return 0;
  const meanMs = mean(half.map(({ atMs }) => atMs));
  const meanBytes = mean(half.map((sample) => sample[figure]));
  let products = 0;
  let squares = 0;
  for (const sample of half) {
    products += (sample.atMs - meanMs) * (sample[figure] - meanBytes);
    squares += (sample.atMs - meanMs) ** 2;
  }
  const durationMs = half.at(-1)!.atMs - half[0]!.atMs;
  return squares === 0 || meanBytes === 0 ? 0 : ((products / squares) * durationMs) / meanBytes;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
