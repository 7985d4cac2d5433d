// What /metrics says of conversions by webhooks. Name, labels and buckets follow the field's, so that existing dashboards read them.
// Each pair of versions makes series of its own, so definitions are bounded.
import type { Metrics } from '../../../runtime/metrics/metrics.ts';

/** From a millisecond, doubled each time. */
const SECONDS = Array.from({ length: 15 }, (_, power) => 2 ** power / 1000);
/** Definitions with series of their own; what is more is counted under one name. */
const NAMES_MAX = 500;
const OTHER_NAMES = 'other';

/** One review, as it is told apart. */
export interface ReviewedConversion {
  /** Of the definition. */
  readonly name: string;
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly succeeded: boolean;
}

export class ConversionMetrics {
  readonly #metrics: Metrics;
  readonly #names = new Set<string>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  reviewed({ name, fromVersion, toVersion, succeeded }: ReviewedConversion, milliseconds: number): void {
    const labels = {
      crd_name: this.#bounded(name),
      from_version: fromVersion,
      succeeded: String(succeeded),
      to_version: toVersion,
    };
    this.#metrics
      .histogram(
        'apiserver_crd_webhook_conversion_duration_seconds',
        'How long webhooks of definitions took to convert objects.',
        SECONDS,
        labels,
      )
      .observe(milliseconds / 1000);
  }

  #bounded(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= NAMES_MAX) return OTHER_NAMES;
    this.#names.add(name);
    return name;
  }
}
