// The series of extension points and of single plug-ins, under the field's names, labels and buckets.
import type { Clock } from '../../../runtime/environment.ts';
import type { HistogramSeries, Metrics } from '../../../runtime/metrics/metrics.ts';
import type { CycleTiming, TimedOutcome, TimedPoint } from '../core/cycle-timing.ts';
import { growing, remembered } from './scheduler-metrics.ts';

/** One cycle of so many has the calls of its plug-ins timed. */
const SAMPLED_CYCLES = 10;

const POINT_SECONDS = growing(0.0001, 2, 12);
const PLUGIN_SECONDS = growing(0.000_01, 1.5, 20);

/** Times a scheduler's cycles by its clock. */
export function extensionTiming(metrics: Metrics, clock: Clock): CycleTiming {
  let cycles = 0;
  const points = seriesOf((profile, point, status) => {
    const labels = { extension_point: point, status, profile };
    const name = 'scheduler_framework_extension_point_duration_seconds';
    return metrics.histogram(name, 'How long all plug-ins of an extension point took.', POINT_SECONDS, labels);
  });
  const plugins = seriesOf((plugin, point, status) => {
    const help = 'How long a plug-in took at an extension point, in some of the cycles.';
    const labels = { plugin, extension_point: point, status };
    return metrics.histogram('scheduler_plugin_execution_duration_seconds', help, PLUGIN_SECONDS, labels);
  });
  const told =
    (series: ReturnType<typeof seriesOf>): CycleTiming['point'] =>
    (of, point, status, beganMs) => {
      const seconds = (clock.monotonicMs() - beganMs) / 1000;
      series(of)(point)(status).observe(seconds);
    };
  return {
    nowMs: () => clock.monotonicMs(),
    isSampled: () => cycles++ % SAMPLED_CYCLES === 0,
    point: told(points),
    plugin: told(plugins),
  };
}

type ByOutcome = (status: TimedOutcome) => HistogramSeries;

/** Each series is made when it is first told of: most outcomes never come. */
function seriesOf(
  make: (of: string, point: TimedPoint, status: TimedOutcome) => HistogramSeries,
): (of: string) => (point: TimedPoint) => ByOutcome {
  return remembered((of: string) =>
    remembered((point: TimedPoint) => remembered((status: TimedOutcome) => make(of, point, status))),
  );
}
