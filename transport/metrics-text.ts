// The Prometheus text format (0.0.4) of metrics snapshots, through prom-client. Import it only where /metrics is answered:
// it brings prom-client along.
import promClient from 'prom-client';
import type { FamilySnapshot, MetricsSnapshot, SeriesSnapshot } from '../runtime/metrics.ts';

export const METRICS_CONTENT_TYPE = promClient.Registry.PROMETHEUS_CONTENT_TYPE;

/** One value of a family, as prom-client's aggregation takes it. */
interface PromValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** The text of all snapshots together. Series with the same name and labels become one: the sum, or as their gauge says. */
export function renderMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return promClient.AggregatorRegistry.aggregate(snapshots.map((snapshot) => snapshot.map(promFamily))).metrics();
}

function promFamily(family: FamilySnapshot): object {
  const { name, help, kind, merge = 'sum' } = family;
  const values =
    kind === 'histogram' ? family.series.flatMap((one) => histogramValues(family, one)) : plainValues(family);
  return { name, help, type: kind, aggregator: merge, values };
}

function plainValues({ series }: FamilySnapshot): readonly PromValue[] {
  return series.map(({ labels, value }) => ({ labels, value }));
}

/** Buckets are cumulative in the text format, and not in a snapshot. */
function histogramValues({ name, bucketsUpTo = [] }: FamilySnapshot, one: SeriesSnapshot): readonly PromValue[] {
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
