// What /metrics says of webhooks. Names, labels and buckets follow the field's, so that existing dashboards read them. Each webhook
// makes its own series, so they are bounded.
import type { HistogramSeries, Metrics } from '../../../../runtime/metrics/metrics.ts';

/** As the field's series call the two kinds. */
export type HookPhase = 'admit' | 'validating';

export type RejectionCause = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

const SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5];
/** Webhooks with series of their own; what is more is counted under one name. */
const NAMES_MAX = 500;
const OTHER_NAMES = 'other';
const CODE_MAX = 600;

type HookLabels = Readonly<Record<'name' | 'type', string>>;

export class HookMetrics {
  readonly #metrics: Metrics;
  readonly #phase: HookPhase;
  readonly #names = new Set<string>();
  /** Of webhooks that have allowed a write, by operation and name: as many as there are names. */
  readonly #passed = new Map<string, HistogramSeries>();

  constructor(metrics: Metrics, phase: HookPhase) {
    this.#metrics = metrics;
    this.#phase = phase;
  }

  called(webhook: string, operation: string, rejected: boolean, milliseconds: number): void {
    const labels = this.#labels(webhook);
    this.#took(labels, operation, rejected).observe(milliseconds / 1000);
  }

  #took(labels: HookLabels, operation: string, rejected: boolean): HistogramSeries {
    const key = `${operation} ${labels.name}`;
    const known = rejected ? undefined : this.#passed.get(key);
    if (known !== undefined) return known;
    const name = 'apiserver_admission_webhook_admission_duration_seconds';
    const all = { ...labels, operation, rejected: String(rejected) };
    const series = this.#metrics.histogram(name, 'How long webhooks took.', SECONDS, all);
    if (!rejected) this.#passed.set(key, series);
    return series;
  }

  rejected(webhook: string, operation: string, cause: RejectionCause, code: number): void {
    const rejection = { error_type: cause, rejection_code: String(Math.min(code, CODE_MAX)) };
    const labels = { ...this.#labels(webhook), operation, ...rejection };
    this.#metrics
      .counter(
        'apiserver_admission_webhook_rejection_count',
        'Writes that webhooks, or their failures, refused.',
        labels,
      )
      .add(1);
  }

  failedOpen(webhook: string): void {
    const help = 'Writes that went on although a webhook could not be asked.';
    this.#metrics.counter('apiserver_admission_webhook_fail_open_count', help, this.#labels(webhook)).add(1);
  }

  #labels(webhook: string): HookLabels {
    if (!this.#names.has(webhook)) {
      if (this.#names.size >= NAMES_MAX) return { name: OTHER_NAMES, type: this.#phase };
      this.#names.add(webhook);
    }
    return { name: webhook, type: this.#phase };
  }
}
