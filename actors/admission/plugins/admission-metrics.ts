// What /metrics says of admission plugins, each by itself and a phase of them together, under the original's names, labels,
// buckets and quantiles. Owns the order in which the plugins of a phase are called, since each call is timed.
import type { Clock } from '../../../runtime/environment.ts';
import type { HistogramSeries, Labels, Metrics, SummarySeries } from '../../../runtime/metrics/metrics.ts';
import type { Soon } from '../../../runtime/soon.ts';
import type { Attributes, Operation, PluginCall } from '../attributes.ts';

const PLUGIN_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
/** Those of the original's summaries, and for how long an observation counts for them. */
const STEP_SUMMARY = { quantiles: [0.5, 0.9, 0.99], ageMs: 5 * 60 * 60 * 1000 };
const PREFIX = 'apiserver_admission_';

/** As the original calls the two phases. */
export type AdmissionType = 'admit' | 'validate';

/** A plugin's part in a phase. */
export interface NamedCall {
  readonly name: string;
  readonly call: PluginCall;
}

/** Takes how long a call took that has ended just now. */
type Observe = (tookMs: number, nowMs: number) => void;

interface Outcomes {
  readonly passed: Observe;
  readonly refused: Observe;
}

export class AdmissionMetrics {
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  readonly #summaries = new Set<SummarySeries>();

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
    metrics.beforeReading(() => {
      const nowMs = clock.monotonicMs();
      for (const summary of this.#summaries) summary.turn(nowMs);
    });
  }

  /** The plugins of a phase in the order they run, in one call: each is timed, and all of them together. */
  phase(type: AdmissionType, operation: Operation, plugins: readonly NamedCall[]): PluginCall {
    const timed = plugins.map(({ name, call }) => ({ call, outcomes: this.#ofPlugin(name, type, operation) }));
    return new TimedPhase(timed, this.#ofStep(type, operation), this.#clock).call;
  }

  #ofPlugin(name: string, type: AdmissionType, operation: Operation): Outcomes {
    const labels = { name, type, operation: operation.toUpperCase() };
    return outcomesOf((rejected) => {
      const series = this.#histogram('controller', 'How long each admission plugin took.', { ...labels, rejected });
      return (tookMs) => series.observe(tookMs / 1000);
    });
  }

  #ofStep(type: AdmissionType, operation: Operation): Outcomes {
    const help = 'How long all admission plugins together took.';
    const labels = { type, operation: operation.toUpperCase() };
    return outcomesOf((rejected) => {
      const series = this.#histogram('step', help, { ...labels, rejected });
      const name = `${PREFIX}step_admission_duration_seconds_summary`;
      const summary = this.#metrics.summary(name, help, STEP_SUMMARY, { ...labels, rejected });
      this.#summaries.add(summary);
      return (tookMs, nowMs) => {
        series.observe(tookMs / 1000);
        summary.observe(tookMs / 1000, nowMs);
      };
    });
  }

  #histogram(of: 'controller' | 'step', help: string, labels: Labels): HistogramSeries {
    return this.#metrics.histogram(`${PREFIX}${of}_admission_duration_seconds`, help, PLUGIN_SECONDS, labels);
  }
}

/** Series of refusals are made when there is one: most plugins never refuse anything. */
function outcomesOf(observing: (rejected: 'true' | 'false') => Observe): Outcomes {
  return { passed: observing('false'), refused: (tookMs, nowMs) => observing('true')(tookMs, nowMs) };
}

interface TimedCall {
  readonly call: PluginCall;
  readonly outcomes: Outcomes;
}

/** One plugin begins when the one before it has ended: the clock is read once for both. */
class TimedPhase {
  readonly #plugins: readonly TimedCall[];
  readonly #all: Outcomes;
  readonly #clock: Clock;

  constructor(plugins: readonly TimedCall[], all: Outcomes, clock: Clock) {
    this.#plugins = plugins;
    this.#all = all;
    this.#clock = clock;
  }

  readonly call: PluginCall = (attributes) => {
    const beganMs = this.#clock.monotonicMs();
    return this.#run(attributes, 0, beganMs, beganMs);
  };

  /** @param sinceMs when the plugin before the first has ended. */
  #run(attributes: Attributes, first: number, beganMs: number, sinceMs: number): Soon<void> {
    let endedMs = sinceMs;
    for (let index = first; index < this.#plugins.length; index++) {
      const { call, outcomes } = this.#plugins[index]!;
      let waiting: Soon<void>;
      try {
        waiting = call(attributes);
      } catch (error) {
        this.#refused(outcomes, beganMs, endedMs);
        throw error;
      }
      if (waiting instanceof Promise) return this.#resume(waiting, attributes, index, beganMs, endedMs);
      endedMs = this.#passed(outcomes, endedMs);
    }
    this.#all.passed(endedMs - beganMs, endedMs);
  }

  async #resume(
    waiting: Promise<void>,
    attributes: Attributes,
    index: number,
    beganMs: number,
    sinceMs: number,
  ): Promise<void> {
    const { outcomes } = this.#plugins[index]!;
    try {
      await waiting;
    } catch (error) {
      this.#refused(outcomes, beganMs, sinceMs);
      throw error;
    }
    return this.#run(attributes, index + 1, beganMs, this.#passed(outcomes, sinceMs));
  }

  /** Answers when it has ended. */
  #passed({ passed }: Outcomes, sinceMs: number): number {
    const nowMs = this.#clock.monotonicMs();
    passed(nowMs - sinceMs, nowMs);
    return nowMs;
  }

  #refused({ refused }: Outcomes, beganMs: number, sinceMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    refused(nowMs - sinceMs, nowMs);
    this.#all.refused(nowMs - beganMs, nowMs);
  }
}
