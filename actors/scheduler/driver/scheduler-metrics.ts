// The scheduler's series. Names and labels follow the field's, so that existing dashboards read them.
import type { HistogramSeries, Metrics, Series } from '../../../runtime/metrics.ts';
import type { QueueName } from '../core/queue.ts';
import type { CoreCounts, SchedulingCore } from '../core/scheduling-core.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

export interface SchedulerMetrics {
  readonly attempts: Readonly<Record<AttemptResult, Series>>;
  /** From the attempt that placed the pod to its binding. */
  readonly e2eSeconds: HistogramSeries;
  /** From the pod's first sight without a node to its binding. */
  readonly podSeconds: HistogramSeries;
  readonly batchBindings: HistogramSeries;
  readonly eventsDropped: Series;
  readonly eventsFailed: Series;
  readonly statusWritesDropped: Series;
  readonly statusWritesFailed: Series;
}

const SECONDS = [
  0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384,
];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const QUEUES: readonly QueueName[] = ['active', 'backoff', 'unschedulable'];

/** Registers the series. The gauges are read from the core before each snapshot. */
export function schedulerMetrics(metrics: Metrics, profile: string, core: SchedulingCore): SchedulerMetrics {
  const attempts = (result: AttemptResult) =>
    metrics.counter('scheduler_schedule_attempts_total', 'Attempts to schedule pods, by result.', { profile, result });
  const writes = (kind: string, result: string) =>
    metrics.counter('scheduler_best_effort_writes_total', 'Events and conditions that were not written.', {
      kind,
      result,
    });
  gauges(metrics, core);
  return {
    attempts: { scheduled: attempts('scheduled'), unschedulable: attempts('unschedulable'), error: attempts('error') },
    e2eSeconds: metrics.histogram(
      'scheduler_e2e_scheduling_duration_seconds',
      'From the attempt that placed a pod to its binding.',
      SECONDS,
      { profile },
    ),
    podSeconds: metrics.histogram(
      'scheduler_pod_scheduling_duration_seconds',
      'From the first sight of a pod to its binding.',
      SECONDS,
      { profile },
    ),
    batchBindings: metrics.histogram('scheduler_binding_batch_size', 'Bindings sent together.', BATCH_SIZES, {
      profile,
    }),
    eventsDropped: writes('event', 'dropped'),
    eventsFailed: writes('event', 'failed'),
    statusWritesDropped: writes('condition', 'dropped'),
    statusWritesFailed: writes('condition', 'failed'),
  };
}

function gauges(metrics: Metrics, core: SchedulingCore): void {
  const pending = QUEUES.map((queue) => ({
    queue,
    series: metrics.gauge('scheduler_pending_pods', 'Pods that need a node, by queue.', { queue }),
  }));
  const cached: readonly (readonly [keyof CoreCounts, Series])[] = (['nodes', 'placed', 'assumed'] as const).map(
    (type) => [
      type,
      metrics.gauge('scheduler_scheduler_cache_size', 'Nodes, placed pods and assumed pods known.', { type }),
    ],
  );
  metrics.beforeSnapshot(() => {
    const counts = core.counts();
    for (const { queue, series } of pending) series.set(counts[queue]);
    for (const [type, series] of cached) series.set(counts[type]);
  });
}
