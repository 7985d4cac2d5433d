// What /metrics says of encryption at rest, under the names of Kubernetes 1.21. A data key counts as made when the service has
// wrapped it.
import type { HistogramSeries, Metrics, Series } from '../../../runtime/metrics/metrics.ts';
import type { EncryptionMeasures, TransformationType } from '../../../storage/encryption/encryption-measures.ts';

/** Twice as long each, from five microseconds on. */
const BUCKETS = Array.from({ length: 14 }, (_, index) => 5e-6 * 2 ** index);

export class EncryptionMetrics implements EncryptionMeasures {
  readonly #metrics: Metrics;
  readonly #seconds: Readonly<Record<TransformationType, HistogramSeries>>;
  readonly #operations = new Map<string, Series>();
  readonly #keySeconds: HistogramSeries;
  readonly #keyFailures: Series;
  readonly #misses: Series;
  readonly #kept: Series;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    const seconds = (type: TransformationType): HistogramSeries =>
      metrics.histogram(
        'apiserver_storage_transformation_duration_seconds',
        'How long values took to be encrypted and decrypted.',
        BUCKETS,
        { transformation_type: type },
      );
    this.#seconds = { to_storage: seconds('to_storage'), from_storage: seconds('from_storage') };
    this.#keySeconds = metrics.histogram(
      'apiserver_storage_data_key_generation_duration_seconds',
      'How long data keys took to be made.',
      BUCKETS,
    );
    this.#keyFailures = metrics.counter(
      'apiserver_storage_data_key_generation_failures_total',
      'Data keys that could not be made.',
    );
    this.#misses = metrics.counter(
      'apiserver_storage_envelope_transformation_cache_misses_total',
      'Values whose data key had to be unwrapped.',
    );
    this.#kept = metrics.gauge(
      'apiserver_envelope_encryption_dek_cache_fill_percent',
      'The part, up to 1, that is kept of the data keys that may be.',
    );
  }

  transformed(type: TransformationType, shown: string, ms: number | undefined): void {
    if (ms !== undefined) this.#seconds[type].observe(ms / 1000);
    const status = ms === undefined ? 'Unknown' : 'OK';
    const key = `${type} ${status} ${shown}`;
    let series = this.#operations.get(key);
    if (series === undefined) {
      series = this.#metrics.counter(
        'apiserver_storage_transformation_operations_total',
        'Values that were encrypted and decrypted, by provider and outcome.',
        { transformation_type: type, transformer_prefix: shown, status },
      );
      this.#operations.set(key, series);
    }
    series.add(1);
  }

  dataKeyMade(ms: number | undefined): void {
    if (ms === undefined) this.#keyFailures.add(1);
    else this.#keySeconds.observe(ms / 1000);
  }

  dataKeyMissed(): void {
    this.#misses.add(1);
  }

  dataKeysKept(part: number): void {
    this.#kept.set(part);
  }
}
