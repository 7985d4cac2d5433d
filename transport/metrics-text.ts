// The Prometheus text format (0.0.4) of metrics readings, through prom-client. Import it only where /metrics is answered:
// it brings prom-client along.
import promClient from 'prom-client';
import type { FamilyReading, Labels, MetricsReading, SeriesReading } from '../runtime/metrics/metrics.ts';
import { quantileOf } from '../runtime/metrics/metrics-quantiles.ts';

export const METRICS_CONTENT_TYPE = promClient.Registry.PROMETHEUS_CONTENT_TYPE;

/** One value of a family, as prom-client's aggregation takes it. */
interface PromValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** The text of all readings together. Series with the same name and labels become one: the sum, or as their gauge says. */
export async function renderMetrics(readings: readonly MetricsReading[]): Promise<string> {
  const isSummary = ({ kind }: FamilyReading): boolean => kind === 'summary';
  const families = readings.map((reading) => reading.filter((one) => !isSummary(one)).map(promFamily));
  const merged = grouped(readings.flat().filter(isSummary), ({ name }) => name).map(promSummary);
  const text = await promClient.AggregatorRegistry.aggregate([...families, merged]).metrics();
  // prom-client spells it so that strict readers of the format choke on it.
  return text.replaceAll(/ Nan$/gm, ' NaN');
}

/** One summary of every thread's readings. Quantiles do not add up, so they are found in what all threads counted. */
function promSummary(of: readonly FamilyReading[]): object {
  const { name, help, quantiles = [] } = of[0]!;
  const labelled = ({ labels }: SeriesReading): string => JSON.stringify(Object.entries(labels).toSorted());
  const alike = grouped(
    of.flatMap(({ series }) => series),
    labelled,
  );
  const values = alike.flatMap((series) => summaryValues(name, quantiles, series));
  return { name, help, type: 'summary', aggregator: 'sum', values };
}

function summaryValues(name: string, quantiles: readonly number[], series: readonly SeriesReading[]): PromValue[] {
  const { labels }: { readonly labels: Labels } = series[0]!;
  const counts: number[] = [];
  for (const { recent = [] } of series)
    for (const [bucket, count] of recent.entries()) counts[bucket] = (counts[bucket] ?? 0) + count;
  const sum = (value: (one: SeriesReading) => number): number => series.reduce((all, one) => all + value(one), 0);
  return [
    ...quantiles.map((quantile) => ({ labels: { ...labels, quantile }, value: quantileOf(quantile, counts) })),
    { metricName: `${name}_sum`, labels, value: sum(({ value }) => value) },
    { metricName: `${name}_count`, labels, value: sum(({ count = 0 }) => count) },
  ];
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return [...groups.values()];
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
