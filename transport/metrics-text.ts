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

/** Values that are written between two looks at what else there is to do: some ten milliseconds of work. */
const SLICE_VALUES = 1000;
/** Of a text of one family: its help and its type. */
const HEADER = /^.*\n.*\n?/;

/** The text of all readings together. Series with the same name and labels become one: the sum, or as their gauge says. */
export async function renderMetrics(readings: readonly MetricsReading[]): Promise<string> {
  let text = '';
  for await (const piece of metricsPieces(readings)) text += piece;
  return text;
}

/**
 * The same in pieces, between which others can be served: requests are counted by resource, and a thousand custom types make a
 * hundred thousand values. A piece may be empty: there was work, and nothing to show yet.
 */
export async function* metricsPieces(readings: readonly MetricsReading[]): AsyncGenerator<string> {
  const all = readings.flat();
  const isSummary = ({ kind }: FamilyReading): boolean => kind === 'summary';
  const ordered = [...all.filter((one) => !isSummary(one)), ...all.filter(isSummary)];
  let [text, gap, values] = ['', '', 0];
  for (const family of grouped(ordered, ({ name }) => name)) {
    const first = family[0]!;
    const alike = yield* alikeSeries(family);
    const valuesEach = (first.bucketsUpTo ?? first.quantiles ?? []).length + 1;
    const step = Math.ceil(SLICE_VALUES / valuesEach);
    text += gap;
    gap = '\n';
    for (let from = 0; from === 0 || from < alike.length; from += step) {
      const slice = alike.slice(from, from + step);
      const written = await textOf(first, slice);
      text += from === 0 ? written : written.replace(HEADER, '');
      values += slice.length * valuesEach;
      if (values < SLICE_VALUES) continue;
      yield text;
      [text, values] = ['', 0];
    }
  }
  yield text;
}

/** The series of one family in all readings, those with the same labels together. */
function* alikeSeries(family: readonly FamilyReading[]): Generator<string, readonly (readonly SeriesReading[])[]> {
  const groups = new Map<string, SeriesReading[]>();
  for (const { series } of family)
    for (const [index, one] of series.entries()) {
      const key = JSON.stringify(Object.entries(one.labels).toSorted());
      const known = groups.get(key);
      if (known === undefined) groups.set(key, [one]);
      else known.push(one);
      if (index % SLICE_VALUES === SLICE_VALUES - 1) yield '';
    }
  return [...groups.values()];
}

/** A family with some of its series, as lines. */
async function textOf(family: FamilyReading, alike: readonly (readonly SeriesReading[])[]): Promise<string> {
  const shown =
    family.kind === 'summary' ? promSummary(family, alike) : promFamily({ ...family, series: alike.flat() });
  const text = await promClient.AggregatorRegistry.aggregate([[shown]]).metrics();
  // prom-client spells it so that strict readers of the format choke on it.
  return text.replaceAll(/ Nan$/gm, ' NaN');
}

/** Quantiles do not add up, so they are found in what all threads counted. */
function promSummary(
  { name, help, quantiles = [] }: FamilyReading,
  alike: readonly (readonly SeriesReading[])[],
): object {
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
