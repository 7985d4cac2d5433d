// What /metrics says of the store.
import type { HistogramSeries, Metrics, Series } from '../../runtime/metrics/metrics.ts';

export interface StoreFigures {
  readonly revision: number;
  readonly objects: number;
  readonly historyEvents: number;
  readonly slabBytes: number;
  readonly slabLiveBytes: number;
  readonly subscribers: number;
  /** 0 or 1. */
  readonly writable: number;
}

const GAUGES: readonly (readonly [figure: keyof StoreFigures, name: string, help: string])[] = [
  ['revision', 'orch_store_revision', 'The revision last committed.'],
  ['objects', 'orch_store_objects', 'Objects stored.'],
  ['historyEvents', 'orch_store_history_events', 'Events in the history window.'],
  ['slabBytes', 'orch_store_slab_bytes', 'Shared memory held by slabs.'],
  ['slabLiveBytes', 'orch_store_slab_live_bytes', 'Bytes of records current or in the history window.'],
  ['subscribers', 'orch_store_subscribers', 'Actors that follow the store.'],
  ['writable', 'orch_store_writable', '1 while writes are stored, 0 since the disk refused one.'],
];

const BATCH_SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export class StoreMetrics {
  readonly #commits: Series;
  readonly #batchSizes: HistogramSeries;

  /** `figures` is asked before each reading. */
  constructor(metrics: Metrics, figures: () => StoreFigures) {
    this.#commits = metrics.counter('orch_store_commits_total', 'Durable commit batches.');
    this.#batchSizes = metrics.histogram(
      'orch_store_batch_transactions',
      'Transactions in one commit batch.',
      BATCH_SIZE_BUCKETS,
    );
    const gauges = GAUGES.map(([figure, name, help]) => [figure, metrics.gauge(name, help)] as const);
    metrics.beforeReading(() => {
      const now = figures();
      for (const [figure, gauge] of gauges) gauge.set(now[figure]);
    });
  }

  /** A batch of so many transactions became durable. */
  committed(transactions: number): void {
    this.#commits.add(1);
    this.#batchSizes.observe(transactions);
  }
}
