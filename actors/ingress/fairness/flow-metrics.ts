// What API priority and fairness tells of itself under Kubernetes 1.21's names. Names of schemas and levels are operators'; so
// many are told apart, and the rest are counted together, so that making and deleting them does not make series for ever.
import type { LevelSpec } from '../../../api/flow-control/configuration.ts';
import type { HistogramSeries, Labels, Metrics, Series } from '../../../runtime/metrics/metrics.ts';
import type { Refusal } from './queue-set.ts';
import { LevelSamples } from './sampled-count.ts';

const PREFIX = 'apiserver_flowcontrol_';
const LENGTH_BUCKETS = [0, 10, 25, 50, 100, 250, 500, 1000];
const SECONDS_BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const PAIRS_MAX = 1000;
const OTHERS = 'other';

/** The series of one schema's requests at one level. */
export class FlowSeries {
  readonly dispatched: Series;
  readonly executionSeconds: HistogramSeries;
  readonly queueLength: HistogramSeries;
  readonly #metrics: Metrics;
  readonly #labels: Labels;
  readonly #waits: Readonly<Record<'true' | 'false', HistogramSeries>>;
  /** Requests that wait and that run now. */
  waiting = 0;
  running = 0;

  constructor(metrics: Metrics, level: string, schema: string) {
    this.#metrics = metrics;
    const labels = { priority_level: level, flow_schema: schema };
    this.#labels = labels;
    const wait = (execute: string): HistogramSeries =>
      metrics.histogram(
        `${PREFIX}request_wait_duration_seconds`,
        'How long requests waited in their queues.',
        SECONDS_BUCKETS,
        { ...labels, execute },
      );
    this.#waits = { true: wait('true'), false: wait('false') };
    this.dispatched = metrics.counter(`${PREFIX}dispatched_requests_total`, 'Requests that were let through.', labels);
    this.executionSeconds = metrics.histogram(
      `${PREFIX}request_execution_seconds`,
      'How long requests were worked on.',
      SECONDS_BUCKETS,
      labels,
    );
    this.queueLength = metrics.histogram(
      `${PREFIX}request_queue_length_after_enqueue`,
      'How long queues were, as each request saw that had just entered one.',
      LENGTH_BUCKETS,
      labels,
    );
  }

  waited(ms: number, isExecuted: boolean): void {
    this.#waits[isExecuted ? 'true' : 'false'].observe(ms / 1000);
  }

  refused(reason: Refusal): void {
    this.#metrics
      .counter(`${PREFIX}rejected_requests_total`, 'Requests that were refused.', { ...this.#labels, reason })
      .add(1);
  }

  /** Writes what is cheaper to read than to keep. */
  gauge(): void {
    const { waiting, running } = this;
    this.#metrics.gauge(`${PREFIX}current_inqueue_requests`, 'Requests that wait.', this.#labels).set(waiting);
    this.#metrics.gauge(`${PREFIX}current_executing_requests`, 'Requests worked on.', this.#labels).set(running);
  }
}

export class FlowMetrics {
  readonly #metrics: Metrics;
  readonly #pairs = new Map<string, FlowSeries>();
  readonly #levels = new Set<string>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.beforeReading(() => {
      for (const series of this.#pairs.values()) series.gauge();
    });
  }

  of(level: string, schema: string): FlowSeries {
    const isRoom = this.#pairs.size < PAIRS_MAX;
    const key = `${level}/${schema}`;
    const known = this.#pairs.get(key);
    if (known !== undefined) return known;
    const series = isRoom
      ? new FlowSeries(this.#metrics, level, schema)
      : (this.#pairs.get(`${OTHERS}/${OTHERS}`) ?? new FlowSeries(this.#metrics, OTHERS, OTHERS));
    this.#pairs.set(isRoom ? key : `${OTHERS}/${OTHERS}`, series);
    return series;
  }

  /** How many requests of a level run and wait, as its samples tell; undefined where there are too many levels. */
  samples(level: LevelSpec, limit: number, nowMs: number): LevelSamples | undefined {
    return this.#isTold(level.name) ? new LevelSamples(this.#metrics, level, limit, nowMs) : undefined;
  }

  /** The seats of a level. Every thread knows the same limit. */
  limit(level: string, limit: number): void {
    if (!this.#isTold(level)) return;
    this.#metrics
      .gauge(
        `${PREFIX}request_concurrency_limit`,
        'Requests of a level that are worked on at a time, at most.',
        { priority_level: level },
        'max',
      )
      .set(limit);
  }

  #isTold(level: string): boolean {
    if (!this.#levels.has(level) && this.#levels.size >= PAIRS_MAX) return false;
    this.#levels.add(level);
    return true;
  }
}
