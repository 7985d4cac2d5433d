// How many requests there were, millisecond by millisecond, as Kubernetes 1.21's pairs of histograms tell: each millisecond adds one
// sample of the number and one of its lowest and highest value in that time, all as parts of a limit. Nothing is done each
// millisecond: what has passed is added, at once, with the first change after it and before the metrics are read.
import type { LevelSpec } from '../../../api/flow-control/configuration.ts';
import type { HistogramSeries, Labels, Metrics } from '../../../runtime/metrics/metrics.ts';
import type { QueueObserver } from './queue-set.ts';

const PREFIX = 'apiserver_flowcontrol_';
/** Of the limit. */
const PARTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

type Phase = 'waiting' | 'executing';

/** The two pairs of 1.21, by what stands before `_request_count_…`. */
type SampledFamily = 'read_vs_write' | 'priority_level';

interface SampledSeries {
  readonly samples: HistogramSeries;
  readonly low: HistogramSeries;
  readonly high: HistogramSeries;
}

export class SampledCount {
  readonly #series: SampledSeries;
  #count = 0;
  #limit: number;
  /** Count over limit: now, and the lowest and highest of this millisecond. */
  #part = 0;
  #low = 0;
  #high = 0;
  #millisecond: number;

  constructor(series: SampledSeries, limit: number, nowMs: number) {
    this.#series = series;
    this.#limit = limit;
    this.#millisecond = Math.floor(nowMs);
  }

  set(count: number, nowMs: number): void {
    if (nowMs >= this.#millisecond + 1) this.settle(nowMs);
    this.#count = count;
    this.#changed();
  }

  setLimit(limit: number, nowMs: number): void {
    this.settle(nowMs);
    this.#limit = limit;
    this.#changed();
  }

  /** Adds the samples of every millisecond that has passed. */
  settle(nowMs: number): void {
    const passed = Math.floor(nowMs) - this.#millisecond;
    if (passed <= 0) return;
    const { samples, low, high } = this.#series;
    const part = this.#part;
    samples.observe(part, passed);
    low.observe(this.#low);
    high.observe(this.#high);
    if (passed > 1) {
      low.observe(part, passed - 1);
      high.observe(part, passed - 1);
    }
    this.#low = part;
    this.#high = part;
    this.#millisecond += passed;
  }

  #changed(): void {
    const part = this.#count / this.#limit;
    this.#part = part;
    if (part < this.#low) this.#low = part;
    else if (part > this.#high) this.#high = part;
  }
}

/** @param labels which requests, beside their phase. `limit`: above 0. */
export function sampledCount(
  metrics: Metrics,
  family: SampledFamily,
  labels: Labels,
  { phase, limit, nowMs }: { readonly phase: Phase; readonly limit: number; readonly nowMs: number },
): SampledCount {
  const name = `${PREFIX}${family}_request_count_`;
  const mark = (of: string): HistogramSeries =>
    metrics.histogram(
      `${name}watermarks`,
      'The fewest and the most requests in each millisecond, as parts of their limit.',
      PARTS,
      { ...labels, phase, mark: of },
    );
  const help = 'How many requests there were in each millisecond, as parts of their limit.';
  const samples = metrics.histogram(`${name}samples`, help, PARTS, { ...labels, phase });
  return new SampledCount({ samples, low: mark('low'), high: mark('high') }, limit, nowMs);
}

/** Those of one priority level: what waits as parts of one queue's length, what runs as parts of the seats. */
export class LevelSamples implements QueueObserver {
  readonly #waiting: SampledCount;
  readonly #executing: SampledCount;

  constructor(metrics: Metrics, level: LevelSpec, limit: number, nowMs: number) {
    const labels = { priority_level: level.name };
    const of = (phase: Phase, phaseLimit: number): SampledCount =>
      sampledCount(metrics, 'priority_level', labels, { phase, limit: phaseLimit, nowMs });
    this.#waiting = of('waiting', waitingLimit(level));
    this.#executing = of('executing', Math.max(1, limit));
  }

  running(count: number, nowMs: number): void {
    this.#executing.set(count, nowMs);
  }

  waiting(count: number, nowMs: number): void {
    this.#waiting.set(count, nowMs);
  }

  setLimits(level: LevelSpec, limit: number, nowMs: number): void {
    this.#waiting.setLimit(waitingLimit(level), nowMs);
    this.#executing.setLimit(Math.max(1, limit), nowMs);
  }

  settle(nowMs: number): void {
    this.#waiting.settle(nowMs);
    this.#executing.settle(nowMs);
  }
}

function waitingLimit({ queuing }: LevelSpec): number {
  return Math.max(1, queuing?.queueLengthLimit ?? 1);
}
