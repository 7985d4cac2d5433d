// Counters, gauges and histograms as actors see them. Each thread keeps its own; /metrics merges the readings of all.
// Hot paths hold a series (a bound label set) and touch one number.

/** One counter or gauge with its labels bound. */
export interface Series {
  add(amount: number): void;
  set(value: number): void;
}

/** One histogram with its labels bound. Observations are in the unit that the name ends in. */
export interface HistogramSeries {
  observe(value: number): void;
}

export type Labels = Readonly<Record<string, string>>;

/** The metrics of one thread. Asking twice for the same name and labels gives the same series. */
export interface Metrics {
  counter(name: string, help: string, labels?: Labels): Series;
  /** `merge`: what several threads' values are together, their sum unless said otherwise. */
  gauge(name: string, help: string, labels?: Labels, merge?: GaugeMerge): Series;
  histogram(name: string, help: string, bucketsUpTo: readonly number[], labels?: Labels): HistogramSeries;
  /** Calls `collect` before each reading, for values that are cheaper to read than to keep. */
  beforeReading(collect: () => void): void;
  reading(): MetricsReading;
}

/** What becomes of the values that several threads have of one gauge. */
export type GaugeMerge = 'sum' | 'max';

/** All series of one thread as plain data, so that it can cross threads. */
export type MetricsReading = readonly FamilyReading[];

export interface FamilyReading {
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Gauge only; absent: the sum. */
  readonly merge?: GaugeMerge;
  readonly bucketsUpTo?: readonly number[];
  readonly series: readonly SeriesReading[];
}

export interface SeriesReading {
  readonly labels: Labels;
  /** Counter or gauge value; for a histogram the sum. */
  readonly value: number;
  /** Histogram only: observations per bucket, not cumulative, one more than `bucketsUpTo` (the last is +Inf). */
  readonly counts?: readonly number[];
}
