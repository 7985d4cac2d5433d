// What a work queue tells of itself, under the names that Kubernetes' controllers have for it. Counts and times only; which keys
// there are is the queue's.
import type { ActorContext } from '../../runtime/actor.ts';
import type { Series } from '../../runtime/metrics/metrics.ts';

/** From ten nanoseconds to ten seconds, as the original has them. */
const SECONDS = Array.from({ length: 10 }, (_, at) => Number((1e-8 * 10 ** at).toPrecision(3)));

export class WorkQueueMetrics {
  readonly depth: Series;
  readonly adds: Series;
  readonly retries: Series;
  readonly #nowMs: () => number;
  readonly #queueSeconds: { observe(value: number): void };
  readonly #workSeconds: { observe(value: number): void };
  /** When each key that is worked on was begun. */
  readonly #begunMs = new Map<string, number>();

  constructor({ metrics, clock }: Pick<ActorContext, 'metrics' | 'clock'>, name: string) {
    const labels = { name };
    this.#nowMs = () => clock.monotonicMs();
    this.depth = metrics.gauge('workqueue_depth', 'Keys waiting to be planned.', labels);
    this.adds = metrics.counter('workqueue_adds_total', 'Keys that were handed in.', labels);
    this.retries = metrics.counter('workqueue_retries_total', 'Keys planned again after a failure.', labels);
    const seconds = (what: string, help: string) =>
      metrics.histogram(`workqueue_${what}_duration_seconds`, help, SECONDS, labels);
    this.#queueSeconds = seconds('queue', 'How long keys waited to be planned.');
    this.#workSeconds = seconds('work', 'How long a key took from its plan to the end of its writes.');
    const unfinished = metrics.gauge('workqueue_unfinished_work_seconds', 'Time spent so far on open keys.', labels);
    const longest = metrics.gauge(
      'workqueue_longest_running_processor_seconds',
      'How long the oldest of the open keys has been worked on.',
      labels,
    );
    metrics.beforeReading(() => {
      const ages = [...this.#begunMs.values()].map((begunMs) => (this.#nowMs() - begunMs) / 1000);
      unfinished.set(ages.reduce((total, age) => total + age, 0));
      longest.set(Math.max(0, ...ages));
    });
  }

  /** A key that was due since then is planned now. */
  begin(key: string, dueMs: number): void {
    const nowMs = this.#nowMs();
    this.#queueSeconds.observe((nowMs - dueMs) / 1000);
    this.#begunMs.set(key, nowMs);
  }

  end(key: string): void {
    this.#workSeconds.observe((this.#nowMs() - this.#begunMs.get(key)!) / 1000);
    this.#begunMs.delete(key);
  }
}
