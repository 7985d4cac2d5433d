// What /metrics says of watches under the original's names: how many there are of each kind, how many events they were sent and how
// long those were. An event that many watchers see is framed once and counted for each.
import type { RowType } from '../../../api/table/table.ts';
import type { HistogramSeries, Metrics, Series } from '../../../runtime/metrics/metrics.ts';

const SIZES = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
/** Kinds with series of their own: definitions that come and go must not make them for ever. */
const KINDS_MAX = 1000;
const OTHERS = { group: 'other', version: 'other', kind: 'other' };

/** The series of one kind. */
export class WatchSeries {
  readonly watchers: Series;
  readonly #events: Series;
  readonly #sizes: HistogramSeries;
  /** Of all kinds together. */
  readonly #deliveries: Series;

  constructor(metrics: Metrics, labels: { readonly group: string; readonly version: string; readonly kind: string }) {
    this.#deliveries = metrics.counter('orch_hub_event_deliveries_total', 'Watch events handed to sockets.');
    this.watchers = metrics.gauge('apiserver_registered_watchers', 'Open watches of each kind.', labels);
    this.#events = metrics.counter('apiserver_watch_events_total', 'Watch events handed to clients.', labels);
    this.#sizes = metrics.histogram('apiserver_watch_events_sizes', 'Bytes of watch events.', SIZES, labels);
  }

  /** A chunk of so many events and bytes went to so many watchers. Its events count with the length they have on average. */
  sent(events: number, bytes: number, watchers: number): void {
    if (events === 0) return;
    this.#deliveries.add(events * watchers);
    this.#events.add(events * watchers);
    this.#sizes.observe(bytes / events, events * watchers);
  }
}

export class WatchMetrics {
  /** Chunks of live events that were built. */
  readonly framings: Series;
  readonly #metrics: Metrics;
  readonly #kinds = new Map<string, WatchSeries>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.counter('orch_hub_event_deliveries_total', 'Watch events handed to sockets.');
    this.framings = metrics.counter(
      'orch_hub_framings_total',
      'Chunks of watch events built: one for all cohorts that see the same of a batch.',
    );
  }

  /** The series of the kind that a watch is of. */
  of({ group, version, kind }: RowType): WatchSeries {
    const key = `${group}/${version}/${kind}`;
    let series = this.#kinds.get(key);
    if (series === undefined) {
      const isRoom = this.#kinds.size < KINDS_MAX;
      series = new WatchSeries(this.#metrics, isRoom ? { group, version, kind } : OTHERS);
      if (isRoom) this.#kinds.set(key, series);
    }
    return series;
  }
}
