// How long requests take in what the original has as filters on their way, under its name. Each is observed where a request goes on,
// by whoever owns the step; one that is refused there is not.
import type { HistogramSeries, Metrics } from '../runtime/metrics/metrics.ts';

export type RequestFilter = 'authentication' | 'impersonation' | 'authorization' | 'audit' | 'priorityandfairness';

const SECONDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5];

/** The times of a filter. */
export function filterSeconds(metrics: Metrics, filter: RequestFilter): HistogramSeries {
  const help = 'How long requests took in a filter that let them go on.';
  return metrics.histogram('apiserver_request_filter_duration_seconds', help, SECONDS, { filter });
}
