// Counters, gauges, histograms and summaries as actors see them. Each thread keeps its own; /metrics merges the readings of all.
// Hot paths hold a series (a bound label set) and touch one number.
import type { SummaryShape } from './metrics-quantiles.ts';

/** One counter or gauge with its labels bound. */
export interface Series {
  add(amount: number): void;
  set(value: number): void;
}

/** One histogram with its labels bound. Observations are in the unit that the name ends in. */
export interface HistogramSeries {
  /** `times`: how often the value was seen; once when left out. */
  observe(value: number, times?: number): void;
}

/** One summary with its labels bound: sum and number of all observations, and quantiles of the latest. */
export interface SummarySeries {
  observe(value: number, nowMs: number): void;
  /** Forgets what is too old for the quantiles. */
  turn(nowMs: number): void;
}

export type Labels = Readonly<Record<string, string>>;

/** The metrics of one thread. Asking twice for the same name and labels gives the same series. */
export interface Metrics {
  counter(name: string, help: string, labels?: Labels): Series;
  /** `merge`: what several threads' values are together, their sum unless said otherwise. */
  gauge(name: string, help: string, labels?: Labels, merge?: GaugeMerge): Series;
  histogram(name: string, help: string, bucketsUpTo: readonly number[], labels?: Labels): HistogramSeries;
  /** The caller sees to it that the series are turned before they are read. */
  summary(name: string, help: string, shape: SummaryShape, labels?: Labels): SummarySeries;
  /** Calls `collect` before each reading, for values that are cheaper to read than to keep. */
  beforeReading(collect: () => void): void;
  reading(): MetricsReading;
  /** Drops the series with such labels, of a metric of such a name. Who has one of them may go on with it, and nobody reads that. */
  forget(isGone: (labels: Labels, name: string) => boolean): void;
}

/** What becomes of the values that several threads have of one gauge. */
export type GaugeMerge = 'sum' | 'max';

/** All series of one thread as plain data, so that it can cross threads. */
export type MetricsReading = readonly FamilyReading[];

export interface FamilyReading {
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** Gauge only; absent: the sum. */
  readonly merge?: GaugeMerge;
  readonly bucketsUpTo?: readonly number[];
  /** Summary only. */
  readonly quantiles?: readonly number[];
  readonly series: readonly SeriesReading[];
}

export interface SeriesReading {
  readonly labels: Labels;
  /** Counter or gauge value; for a histogram or a summary the sum. */
  readonly value: number;
  /** Histogram only: observations per bucket, not cumulative, one more than `bucketsUpTo` (the last is +Inf). */
  readonly counts?: readonly number[];
  /** Summary only: how many observations there were, and the latest by bucket (metrics-quantiles.ts). */
  readonly count?: number;
  readonly recent?: readonly number[];
}
