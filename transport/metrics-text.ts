// The Prometheus text format (0.0.4) of metrics readings, through prom-client. Import it only where /metrics is answered:
// it brings prom-client along.
import promClient from 'prom-client';
import type { FamilyReading, MetricsReading, SeriesReading } from '../runtime/metrics.ts';

export const METRICS_CONTENT_TYPE = promClient.Registry.PROMETHEUS_CONTENT_TYPE;

/** One value of a family, as prom-client's aggregation takes it. */
interface PromValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** The text of all readings together. Series with the same name and labels become one: the sum, or as their gauge says. */
export function renderMetrics(readings: readonly MetricsReading[]): Promise<string> {
  return promClient.AggregatorRegistry.aggregate(readings.map((reading) => reading.map(promFamily))).metrics();
}

function promFamily(family: FamilyReading): object {
  const { name, help, kind, merge = 'sum' } = family;
  const values =
    kind === 'histogram' ? family.series.flatMap((one) => histogramValues(family, one)) : plainValues(family);
  return { name, help, type: kind, aggregator: merge, values };
}

function plainValues({ series }: FamilyReading): readonly PromValue[] {
  return series.map(({ labels, value }) => ({ labels, value }));
}

/** Buckets are cumulative in the text format, and not in a reading. */
function histogramValues({ name, bucketsUpTo = [] }: FamilyReading, one: SeriesReading): readonly PromValue[] {
  const { labels, counts = [] } = one;
  let total = 0;
  const buckets = counts.map((count, bucket) => {
    total += count;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bucketsUpTo[bucket] ?? '+Inf' }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: one.value },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
