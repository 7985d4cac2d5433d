// Tells users what happened to a pod, as core/v1 Events. Best effort: bounded, never waited for. A failure that repeats
// counts up one event instead of making many, and each pod's failures are written at most every few seconds.
import { newEvent } from '../../../api/event-object.ts';
import { timestampOf } from '../../../api/object-meta.ts';
import type { Clock, Random } from '../../../runtime/environment.ts';
import type { Series } from '../../../runtime/metrics.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { BestEffortWrites } from './best-effort-writes.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { Pace } from './pace.ts';

const REPEAT_INTERVAL_MS = 10_000;
/** Failing pods remembered; the longest silent is forgotten first. */
const SERIES_MAX = 4_096;
const NAME_LENGTH_MAX = 253;
const NANOSECONDS_PER_MS = 1_000_000;
const NOT_FOUND = 404;

/** The event that counts the repetitions of one failure of one pod. */
interface FailureSeries {
  readonly eventName: string;
  readonly message: string;
  count: number;
  /** Monotonic. */
  writtenMs: number;
}

export interface EventRecorderParts {
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly random: Random;
  readonly writes: BestEffortWrites;
  /** How often pods that fit nowhere are written about, all together: there may be very many of them. */
  readonly failurePace: Pace;
  /** Counts what the pace leaves out. */
  readonly dropped: Series;
}

export class EventRecorder {
  private readonly parts: EventRecorderParts;
  /** By the pod's uid, the latest last. */
  private readonly failures = new Map<string, FailureSeries>();

  constructor(parts: EventRecorderParts) {
    this.parts = parts;
  }

  scheduled(pod: PodInfo, node: string): void {
    this.failures.delete(pod.uid);
    this.create(
      pod,
      pod,
      'Normal',
      'Scheduled',
      `Successfully assigned ${pod.key} to ${node}`,
      this.eventName(pod),
      () => {},
    );
  }

  /** A pod had to make room for another. */
  preempted(victim: PodInfo, by: PodInfo, node: string): void {
    const message = `Preempted by ${by.key} on node ${node}`;
    this.create(victim, by, 'Normal', 'Preempted', message, this.eventName(victim), () => {});
  }

  /** Within REPEAT_INTERVAL_MS of the pod's last event, only counted; beyond the pace, left out. */
  failed(pod: PodInfo, message: string): void {
    const nowMs = this.parts.clock.monotonicMs();
    const series = this.failures.get(pod.uid);
    if (series?.message === message) series.count++;
    if (series !== undefined && nowMs - series.writtenMs < REPEAT_INTERVAL_MS) return;
    if (this.parts.failurePace.take() > 0) {
      this.parts.dropped.add(1);
      return;
    }
    if (series?.message === message) this.repeat(pod, series, nowMs);
    else this.begin(pod, message, nowMs);
  }

  private begin(pod: PodInfo, message: string, nowMs: number): void {
    const series = { eventName: this.eventName(pod), message, count: 1, writtenMs: nowMs };
    const forget = () => this.forget(pod.uid, series);
    if (this.create(pod, pod, 'Warning', 'FailedScheduling', message, series.eventName, forget))
      this.keep(pod.uid, series);
  }

  private repeat(pod: PodInfo, series: FailureSeries, nowMs: number): void {
    const { port, clock, writes } = this.parts;
    const lastTimestamp = timestampOf(clock.nowMs());
    const taken = writes.offer(series.eventName, async () => {
      const code = await port.patchEvent(pod.namespace, series.eventName, { count: series.count, lastTimestamp });
      if (code === NOT_FOUND) this.forget(pod.uid, series);
      return succeeded(code);
    });
    if (taken) {
      series.writtenMs = nowMs;
      this.keep(pod.uid, series);
    }
  }

  /** `by`: the pod whose scheduler tells of it. */
  private create(
    pod: PodInfo,
    by: PodInfo,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    eventName: string,
    onFailure: () => void,
  ): boolean {
    const { port, clock, writes } = this.parts;
    const component = by.schedulerName;
    const atMs = clock.nowMs();
    return writes.offer(eventName, async () => {
      const at = timestampOf(atMs);
      const told = { namespace: pod.namespace, name: eventName, involvedObject: reference(pod), type, reason, message };
      const event = { ...newEvent({ ...told, component, at }), reportingComponent: component, reportingInstance: '' };
      const written = await port.createEvent(pod.namespace, event).then(succeeded, () => false);
      if (!written) onFailure();
      return written;
    });
  }

  private keep(uid: string, series: FailureSeries): void {
    this.failures.delete(uid);
    this.failures.set(uid, series);
    if (this.failures.size <= SERIES_MAX) return;
    const [longestSilent] = this.failures.keys();
    if (longestSilent !== undefined) this.failures.delete(longestSilent);
  }

  private forget(uid: string, series: FailureSeries): void {
    if (this.failures.get(uid) === series) this.failures.delete(uid);
  }

  /**
   * `<pod>.<hex>`, cut so that it stays a valid name. The number is the time in nanoseconds, those within the millisecond by
   * chance: a list of a pod's events, which comes by name, tells them in the order in which they happened.
   */
  private eventName(pod: PodInfo): string {
    const { clock, random } = this.parts;
    const withinMs = Math.floor(random.next() * NANOSECONDS_PER_MS);
    const nanoseconds = BigInt(Math.floor(clock.nowMs())) * BigInt(NANOSECONDS_PER_MS) + BigInt(withinMs);
    const unique = nanoseconds.toString(16);
    const prefix = pod.name.slice(0, NAME_LENGTH_MAX - unique.length - 1).replace(/[.-]+$/, '');
    return `${prefix}.${unique}`;
  }
}

function succeeded(code: number): boolean {
  return code < 400;
}

function reference(pod: PodInfo): object {
  const { namespace, name, uid, resourceVersion } = pod;
  return { kind: 'Pod', namespace, name, uid, apiVersion: 'v1', resourceVersion };
}
