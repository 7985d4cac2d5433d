// The scheduler's series. Names, labels and buckets follow the field's, so that existing dashboards read them.
import type { HistogramSeries, Metrics, Series } from '../../../runtime/metrics/metrics.ts';
import { INCOMING_REASONS, type QueueName } from '../core/queue.ts';
import type { SchedulingCore } from '../core/scheduling-core.ts';

/** How an attempt to schedule a pod ended. */
export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

/** The series of one profile. */
export interface ProfileMetrics {
  /** An attempt has ended so, that many seconds after it began: with the binding where there is one. */
  readonly attempted: (result: AttemptResult, seconds: number) => void;
}

export interface SchedulerMetrics {
  readonly profile: (schedulerName: string) => ProfileMetrics;
  /** How long it took to find a node. */
  readonly algorithmSeconds: HistogramSeries;
  /** From the end of the decision to the binding's answer. */
  readonly bindingSeconds: HistogramSeries;
  /** Pods with a node whose binding has not ended: each waits, is prepared, or is written. */
  readonly bindingsOpen: Series;
  /** From the pod's first sight without a node to its binding, by how many attempts it took. */
  readonly podSeconds: (attempts: number) => HistogramSeries;
  readonly podAttempts: HistogramSeries;
  readonly batchBindings: HistogramSeries;
  readonly preemptionAttempts: Series;
  readonly preemptionVictims: HistogramSeries;
  readonly permitWaitSeconds: (result: 'Success' | 'Unschedulable') => HistogramSeries;
  readonly eventsDropped: Series;
  readonly eventsFailed: Series;
  readonly statusWritesDropped: Series;
  readonly statusWritesFailed: Series;
}

/** Upper bounds of buckets, each so many times the one before. */
export const growing = (first: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => Number((first * factor ** at).toPrecision(6)));

const doubling = (first: number, count: number): readonly number[] => growing(first, 2, count);

const SECONDS = doubling(0.001, 15);
const POD_SECONDS = doubling(0.01, 20);
const ATTEMPTS = doubling(1, 5);
const BATCH_SIZES = doubling(1, 9);
const VICTIMS = Array.from({ length: 10 }, (_, at) => 5 * (at + 1));
const QUEUES: readonly QueueName[] = ['active', 'backoff', 'unschedulable'];
/** More attempts than this are counted together. */
const ATTEMPTS_TOLD_APART = 15;

/** Registers the series. What the core counts itself is read from it before each reading. */
export function schedulerMetrics(metrics: Metrics, core: SchedulingCore): SchedulerMetrics {
  coreSeries(metrics, core);
  const writes = (kind: string, result: string) =>
    metrics.counter('scheduler_best_effort_writes_total', 'Events and conditions that were not written.', {
      kind,
      result,
    });
  const seconds = (name: string, help: string, labels = {}) => metrics.histogram(name, help, SECONDS, labels);
  const permit = (result: string) =>
    seconds('scheduler_permit_wait_duration_seconds', 'How long pods waited for their permit.', { result });
  const permits = { Success: permit('Success'), Unschedulable: permit('Unschedulable') };
  return {
    profile: remembered((profile: string) => profileMetrics(metrics, profile)),
    algorithmSeconds: seconds(
      'scheduler_scheduling_algorithm_duration_seconds',
      'How long it took to find a node, where there was one.',
    ),
    bindingSeconds: seconds('scheduler_binding_duration_seconds', 'From a decision to the answer to its binding.'),
    bindingsOpen: metrics.gauge(
      'scheduler_scheduler_goroutines',
      'Work under way beside the decisions, by what it is.',
      {
        work: 'binding',
      },
    ),
    podSeconds: podSeconds(metrics),
    podAttempts: metrics.histogram(
      'scheduler_pod_scheduling_attempts',
      'Attempts until a pod was bound.',
      ATTEMPTS,
      {},
    ),
    batchBindings: metrics.histogram('scheduler_binding_batch_size', 'Bindings sent together.', BATCH_SIZES, {}),
    preemptionAttempts: metrics.counter(
      'scheduler_preemption_attempts_total',
      'Times that room was looked for by evicting others.',
      {},
    ),
    preemptionVictims: metrics.histogram(
      'scheduler_preemption_victims',
      'Pods that had to leave to make room.',
      VICTIMS,
      {},
    ),
    permitWaitSeconds: (result) => permits[result],
    eventsDropped: writes('event', 'dropped'),
    eventsFailed: writes('event', 'failed'),
    statusWritesDropped: writes('condition', 'dropped'),
    statusWritesFailed: writes('condition', 'failed'),
  };
}

function profileMetrics(metrics: Metrics, profile: string): ProfileMetrics {
  const series = (result: AttemptResult) => {
    const labels = { profile, result };
    const help = 'How long attempts took, those that placed a pod to its binding.';
    return {
      attempts: metrics.counter('scheduler_schedule_attempts_total', 'Attempts to schedule pods, by result.', labels),
      e2eSeconds: metrics.histogram('scheduler_e2e_scheduling_duration_seconds', help, SECONDS, labels),
    };
  };
  const ended = { scheduled: series('scheduled'), unschedulable: series('unschedulable'), error: series('error') };
  return {
    attempted(result, seconds) {
      ended[result].attempts.add(1);
      ended[result].e2eSeconds.observe(seconds);
    },
  };
}

function podSeconds(metrics: Metrics): (attempts: number) => HistogramSeries {
  const of = remembered((attempts: string) =>
    metrics.histogram(
      'scheduler_pod_scheduling_duration_seconds',
      'From the first sight of a pod to its binding.',
      POD_SECONDS,
      { attempts },
    ),
  );
  return (attempts) => of(attempts >= ATTEMPTS_TOLD_APART ? `${ATTEMPTS_TOLD_APART}+` : String(attempts));
}

/** Makes each value when it is first asked for. */
export function remembered<Key extends string, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

function coreSeries(metrics: Metrics, core: SchedulingCore): void {
  const pending = QUEUES.map((queue) => ({
    queue,
    series: metrics.gauge('scheduler_pending_pods', 'Pods that need a node, by queue.', { queue }),
  }));
  const cached = (type: string) =>
    metrics.gauge('scheduler_scheduler_cache_size', 'Nodes, placed pods and assumed pods known.', { type });
  const cache = { nodes: cached('nodes'), placed: cached('pods'), assumed: cached('assumed_pods') };
  const incoming = QUEUES.flatMap((queue) =>
    INCOMING_REASONS.map((event) => ({
      queue,
      event,
      series: metrics.counter('scheduler_queue_incoming_pods_total', 'Pods that came into a queue, and why.', {
        event,
        queue,
      }),
    })),
  );
  metrics.beforeReading(() => {
    const counts = core.counts();
    for (const { queue, series } of pending) series.set(counts[queue]);
    cache.nodes.set(counts.nodes);
    cache.placed.set(counts.placed);
    cache.assumed.set(counts.assumed);
    for (const { queue, event, series } of incoming) series.set(core.incoming(queue, event));
  });
}
