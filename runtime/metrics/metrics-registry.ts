// The metrics of one thread: plain numbers behind bound series, and the merging of several threads' readings. Knows no
// text format; transport/metrics-text.ts renders.
import type {
  FamilyReading,
  GaugeMerge,
  HistogramSeries,
  Labels,
  Metrics,
  MetricsReading,
  Series,
  SeriesReading,
  SummarySeries,
} from './metrics.ts';
import { RecentCounts, type SummaryShape } from './metrics-quantiles.ts';

class NumberSeries implements Series {
  readonly labels: Labels;
  value = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  add(amount: number): void {
    this.value += amount;
  }

  set(value: number): void {
    this.value = value;
  }

  reading(): SeriesReading {
    return { labels: this.labels, value: this.value };
  }
}

class BucketSeries implements HistogramSeries {
  readonly labels: Labels;
  readonly #upTo: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Labels, upTo: readonly number[]) {
    this.labels = labels;
    this.#upTo = upTo;
    this.#counts = new Array<number>(upTo.length + 1).fill(0);
  }

  observe(value: number, times = 1): void {
    let bucket = 0;
    while (bucket < this.#upTo.length && value > this.#upTo[bucket]!) bucket++;
    this.#counts[bucket]! += times;
    this.#sum += value * times;
  }

  reading(): SeriesReading {
    return { labels: this.labels, value: this.#sum, counts: this.#counts.slice() };
  }
}

class QuantileSeries implements SummarySeries {
  readonly labels: Labels;
  readonly #recent: RecentCounts;
  #sum = 0;
  #count = 0;

  constructor(labels: Labels, shape: SummaryShape) {
    this.labels = labels;
    this.#recent = new RecentCounts(shape);
  }

  observe(value: number, nowMs: number): void {
    this.#recent.observe(value, nowMs);
    this.#sum += value;
    this.#count++;
  }

  turn(nowMs: number): void {
    this.#recent.turn(nowMs);
  }

  reading(): SeriesReading {
    return { labels: this.labels, value: this.#sum, count: this.#count, recent: this.#recent.counts() };
  }
}

type Kind = FamilyReading['kind'];

interface Family {
  readonly name: string;
  readonly help: string;
  readonly kind: Kind;
  readonly bucketsUpTo: readonly number[] | undefined;
  quantiles?: readonly number[];
  merge?: GaugeMerge;
  readonly series: Map<string, NumberSeries | BucketSeries | QuantileSeries>;
}

/** One thread's `Metrics`. Declaring a name again as another kind, or with other buckets, throws. */
export class MetricsRegistry implements Metrics {
  readonly #families = new Map<string, Family>();
  readonly #collectors: (() => void)[] = [];

  counter(name: string, help: string, labels: Labels = {}): Series {
    return this.#number('counter', name, help, labels);
  }

  gauge(name: string, help: string, labels: Labels = {}, merge: GaugeMerge = 'sum'): Series {
    const series = this.#number('gauge', name, help, labels);
    if (merge !== 'sum') this.#families.get(name)!.merge = merge;
    return series;
  }

  histogram(name: string, help: string, bucketsUpTo: readonly number[], labels: Labels = {}): HistogramSeries {
    const family = this.#family('histogram', name, help, bucketsUpTo);
    const key = labelKey(labels);
    const known = family.series.get(key);
    if (known !== undefined) return known as BucketSeries;
    const series = new BucketSeries(labels, family.bucketsUpTo!);
    family.series.set(key, series);
    return series;
  }

  summary(name: string, help: string, shape: SummaryShape, labels: Labels = {}): SummarySeries {
    const family = this.#family('summary', name, help, undefined);
    family.quantiles = shape.quantiles;
    const key = labelKey(labels);
    const known = family.series.get(key);
    if (known !== undefined) return known as QuantileSeries;
    const series = new QuantileSeries(labels, shape);
    family.series.set(key, series);
    return series;
  }

  beforeReading(collect: () => void): void {
    this.#collectors.push(collect);
  }

  reading(): MetricsReading {
    for (const collect of this.#collectors) collect();
    return [...this.#families.values()].map(({ name, help, kind, bucketsUpTo, quantiles, merge, series }) => ({
      name,
      help,
      kind,
      ...(bucketsUpTo && { bucketsUpTo }),
      ...(quantiles && { quantiles }),
      ...(merge && { merge }),
      series: [...series.values()].map((one) => one.reading()),
    }));
  }

  forget(isGone: (labels: Labels, name: string) => boolean): void {
    for (const { name, series } of this.#families.values())
      for (const [key, { labels }] of series) if (isGone(labels, name)) series.delete(key);
  }

  #number(kind: 'counter' | 'gauge', name: string, help: string, labels: Labels): Series {
    const family = this.#family(kind, name, help, undefined);
    const key = labelKey(labels);
    const known = family.series.get(key);
    if (known !== undefined) return known as NumberSeries;
    const series = new NumberSeries(labels);
    family.series.set(key, series);
    return series;
  }

  #family(kind: Kind, name: string, help: string, bucketsUpTo: readonly number[] | undefined): Family {
    const known = this.#families.get(name);
    if (known === undefined) {
      const family: Family = { name, help, kind, bucketsUpTo: bucketsUpTo?.slice(), series: new Map() };
      this.#families.set(name, family);
      return family;
    }
    if (known.kind !== kind || !sameNumbers(known.bucketsUpTo, bucketsUpTo)) {
      throw new Error(`metric ${name} is declared twice, as ${known.kind} and as ${kind}, or with other buckets`);
    }
    return known;
  }
}

function labelKey(labels: Labels): string {
  const names = Object.keys(labels);
  if (names.length > 1) names.sort();
  let key = '';
  for (const name of names) key += `${JSON.stringify(name)}:${JSON.stringify(labels[name])},`;
  return key;
}

function sameNumbers(left: readonly number[] | undefined, right: readonly number[] | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.length === right.length && left.every((value, index) => value === right[index]);
}
