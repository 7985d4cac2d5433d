// What /metrics says of admission plugins, each by itself and a phase of them together, under the original's names, labels,
// buckets and quantiles. A call that is timed costs two looks at the clock.
import type { Clock } from '../../../runtime/environment.ts';
import type { HistogramSeries, Labels, Metrics, SummarySeries } from '../../../runtime/metrics.ts';
import type { Operation, PluginCall } from '../attributes.ts';

const PLUGIN_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
/** Those of the original's summaries, and for how long an observation counts for them. */
const STEP_SUMMARY = { quantiles: [0.5, 0.9, 0.99], ageMs: 5 * 60 * 60 * 1000 };
const PREFIX = 'apiserver_admission_';

/** As the original calls the two phases. */
export type AdmissionType = 'admit' | 'validate';

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

  /** The call of one plugin, timed. */
  plugin(name: string, type: AdmissionType, operation: Operation, call: PluginCall): PluginCall {
    const help = 'How long each admission plugin took.';
    const labels = { name, type, operation: operation.toUpperCase() };
    return this.#timed(call, (rejected) => {
      const series = this.#histogram('controller', help, { ...labels, rejected });
      return (tookMs) => series.observe(tookMs / 1000);
    });
  }

  /** All plugins of a phase in one call, timed. */
  step(type: AdmissionType, operation: Operation, call: PluginCall): PluginCall {
    const help = 'How long all admission plugins together took.';
    const labels = { type, operation: operation.toUpperCase() };
    return this.#timed(call, (rejected) => {
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

  #timed(call: PluginCall, observing: (rejected: 'true' | 'false') => Observe): PluginCall {
    // Of a refusal only when there is one: most never are.
    const outcomes: Outcomes = {
      passed: observing('false'),
      refused: (tookMs, nowMs) => observing('true')(tookMs, nowMs),
    };
    const clock = this.#clock;
    return (attributes) => {
      const beganMs = clock.monotonicMs();
      let waiting: ReturnType<PluginCall>;
      try {
        waiting = call(attributes);
      } catch (error) {
        tell(outcomes.refused, clock, beganMs);
        throw error;
      }
      if (waiting !== undefined) return observed(waiting, outcomes, clock, beganMs);
      tell(outcomes.passed, clock, beganMs);
      return undefined;
    };
  }
}

async function observed(waiting: Promise<void>, outcomes: Outcomes, clock: Clock, beganMs: number): Promise<void> {
  try {
    await waiting;
  } catch (error) {
    tell(outcomes.refused, clock, beganMs);
    throw error;
  }
  tell(outcomes.passed, clock, beganMs);
}

function tell(observe: Observe, clock: Clock, beganMs: number): void {
  const nowMs = clock.monotonicMs();
  observe(nowMs - beganMs, nowMs);
}
