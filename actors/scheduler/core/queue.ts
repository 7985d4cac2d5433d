// The pods that need a node, in three places: active (to be tried now), backoff (tried lately, waits out its backoff)
// and unschedulable (no node fits until something in the cluster changes). Pure: time comes in as numbers.

import type { QueueSortPlugin } from '../framework/framework.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { type PodInfo, sameDemands } from '../pods/pod-info.ts';
import { Heap } from './heap.ts';

export interface QueueOptions {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** How long a pod stays unschedulable before it is tried again without a reason. */
  readonly unschedulableMaxMs: number;
}

export const QUEUE_DEFAULTS: QueueOptions = {
  backoffInitialMs: 1_000,
  backoffMaxMs: 10_000,
  unschedulableMaxMs: 60_000,
};

export type QueueName = 'active' | 'backoff' | 'unschedulable';

/** Why pods come into a queue, as the metrics name it: the pod itself, the scheduler, and what happens in the cluster. */
const OWN_REASONS = [
  'PodAdd',
  'PodUpdate',
  'ScheduleAttemptFailure',
  'BackoffComplete',
  'UnschedulableTimeout',
] as const;
/** By bit of ClusterEvent. */
const EVENT_REASONS = [
  'NodeAdd',
  'NodeAllocatableChange',
  'NodeLabelChange',
  'NodeTaintChange',
  'AssignedPodDelete',
  'AssignedPodAdd',
  'NodeDelete',
  'PvAdd',
  'CSINodeAdd',
  'ServiceAdd',
  'NamespaceUpdate',
  'RuntimeClassAdd',
] as const;

export const INCOMING_REASONS = [...OWN_REASONS, ...EVENT_REASONS] as const;
export type IncomingReason = (typeof INCOMING_REASONS)[number];

/** A pod with its history in the queue. Changed by the queue alone. */
export interface QueuedPod {
  pod: PodInfo;
  /** Undefined between `pop` and what follows it. */
  where: QueueName | undefined;
  /** How often it was popped. */
  attempts: number;
  /** When it was first seen without a node. */
  readonly firstQueuedMs: number;
  /** When it last entered the queue: the order among equal priorities, and where its backoff begins. */
  queuedMs: number;
  /** Order of entering, where times are equal. */
  sequence: number;
  /** Backoff only: when it ends. */
  backoffUntilMs: number;
  /** Unschedulable only: the ClusterEvents that could help. */
  helpedBy: number;
  /** Unschedulable only: how many changes the cluster had seen when the attempt failed. */
  changesSeen: number;
  heapIndex: number;
}

export class SchedulingQueue {
  private readonly options: QueueOptions;
  private readonly byKey = new Map<string, QueuedPod>();
  private readonly active: Heap<QueuedPod>;
  private readonly backoff = new Heap<QueuedPod>(readyBefore);
  /** In order of queuedMs, because each enters with the time of its entry. */
  private readonly unschedulable = new Map<string, QueuedPod>();
  private nextSequence = 1;
  /** How many came into which queue for which reason. */
  private readonly came = new Map<string, number>();

  constructor(sort: QueueSortPlugin, options: QueueOptions = QUEUE_DEFAULTS) {
    this.options = options;
    this.active = new Heap<QueuedPod>((a, b) => {
      return sort.before(a, b) || (!sort.before(b, a) && a.sequence < b.sequence);
    });
  }

  get(key: string): QueuedPod | undefined {
    return this.byKey.get(key);
  }

  keys(): IterableIterator<string> {
    return this.byKey.keys();
  }

  counts(): Readonly<Record<QueueName, number>> {
    return { active: this.active.size, backoff: this.backoff.size, unschedulable: this.unschedulable.size };
  }

  /** Pods that came into a queue for a reason since the start. */
  incoming(queue: QueueName, reason: IncomingReason): number {
    return this.came.get(`${queue}/${reason}`) ?? 0;
  }

  /**
   * A pod without a node was created or changed. A new one, or another object under the same name, becomes active. An
   * unschedulable one is tried again if it now demands something else; otherwise only the pod is replaced.
   */
  set(pod: PodInfo, nowMs: number): void {
    const queued = this.byKey.get(pod.key);
    if (queued === undefined || queued.pod.uid !== pod.uid) {
      this.remove(pod.key);
      this.enter(newlyQueued(pod, nowMs), 'active', 'PodAdd', nowMs);
      return;
    }
    const before = queued.pod;
    if (queued.where === 'unschedulable' && !sameDemands(before, pod)) {
      queued.pod = pod;
      this.makeReady(queued, 'PodUpdate', nowMs);
    } else if (queued.where === 'active') {
      this.active.remove(queued);
      queued.pod = pod;
      this.active.push(queued);
    } else {
      queued.pod = pod;
    }
  }

  /** The pod is bound, gone or no longer ours. */
  remove(key: string): void {
    const queued = this.byKey.get(key);
    if (queued === undefined) return;
    this.leave(queued);
    this.byKey.delete(key);
  }

  /** The pod that `pop` would answer. */
  peek(): PodInfo | undefined {
    return this.active.peek()?.pod;
  }

  /** The pod to try next, which counts as an attempt. The caller puts it back with one of the requeue methods. */
  pop(): QueuedPod | undefined {
    const queued = this.active.pop();
    if (queued === undefined) return undefined;
    queued.where = undefined;
    queued.attempts++;
    this.byKey.delete(queued.pod.key);
    return queued;
  }

  /** A popped pod has not been tried after all, and keeps its turn. */
  putBack(queued: QueuedPod): void {
    queued.attempts--;
    queued.where = 'active';
    this.byKey.set(queued.pod.key, queued);
    this.active.push(queued);
  }

  /**
   * Puts back a popped pod that no node fits. It waits for one of the ClusterEvents in `helpedBy`. `changesSeen` counts
   * what had changed in the cluster until then.
   */
  requeueUnschedulable(queued: QueuedPod, helpedBy: number, changesSeen: number, nowMs: number): void {
    queued.helpedBy = helpedBy;
    queued.changesSeen = changesSeen;
    this.enter(queued, 'unschedulable', 'ScheduleAttemptFailure', nowMs);
  }

  /** Puts back a popped pod that failed for a reason of the moment: it is tried again after its backoff. */
  requeueBackoff(queued: QueuedPod, nowMs: number): void {
    queued.backoffUntilMs = nowMs + this.backoffMs(queued.attempts);
    this.enter(queued, 'backoff', 'ScheduleAttemptFailure', nowMs);
  }

  /**
   * Moves the unschedulable pods that one of these ClusterEvents could help. `wanted` is asked about those that nothing
   * but another pod could help.
   */
  moveOnEvents(events: number, nowMs: number, wanted: (pod: PodInfo) => boolean): void {
    if (events === 0) return;
    for (const queued of this.unschedulable.values()) {
      const helping = queued.helpedBy & events;
      if (helping === 0 || (helping === ClusterEvent.podAdded && !wanted(queued.pod))) continue;
      this.makeReady(queued, EVENT_REASONS[31 - Math.clz32(helping & -helping)]!, nowMs);
    }
  }

  /** An unschedulable pod is tried again, whatever it waits for. */
  retry(key: string, nowMs: number): void {
    const queued = this.byKey.get(key);
    if (queued?.where === 'unschedulable') this.makeReady(queued, 'ScheduleAttemptFailure', nowMs);
  }

  /**
   * Makes active whose backoff has ended, and who has been unschedulable for too long. Where nothing has changed in the
   * cluster since the attempt, another would end alike, so the pod goes on waiting.
   */
  flush(nowMs: number, changes: number): void {
    for (let queued = this.backoff.peek(); queued !== undefined; queued = this.backoff.peek()) {
      if (queued.backoffUntilMs > nowMs) break;
      this.move(queued, 'active', 'BackoffComplete');
    }
    for (const queued of this.unschedulable.values()) {
      if (queued.queuedMs + this.options.unschedulableMaxMs > nowMs) break;
      if (queued.changesSeen !== changes || queued.helpedBy === ClusterEvent.any) {
        this.makeReady(queued, 'UnschedulableTimeout', nowMs);
      } else {
        this.unschedulable.delete(queued.pod.key);
        queued.queuedMs = nowMs;
        this.unschedulable.set(queued.pod.key, queued);
      }
    }
  }

  /** When `flush` next has something to do; undefined when never. */
  nextFlushMs(): number | undefined {
    const backoffMs = this.backoff.peek()?.backoffUntilMs;
    const [oldest] = this.unschedulable.values();
    if (oldest === undefined) return backoffMs;
    return Math.min(oldest.queuedMs + this.options.unschedulableMaxMs, backoffMs ?? Number.POSITIVE_INFINITY);
  }

  /** Doubles with each attempt after the first, up to the maximum. */
  private backoffMs(attempts: number): number {
    const doublings = Math.max(0, Math.min(attempts - 1, 30));
    return Math.min(this.options.backoffInitialMs * 2 ** doublings, this.options.backoffMaxMs);
  }

  /** From unschedulable to backoff while its backoff lasts, else to active. */
  private makeReady(queued: QueuedPod, reason: IncomingReason, nowMs: number): void {
    queued.backoffUntilMs = queued.queuedMs + this.backoffMs(queued.attempts);
    this.move(queued, queued.backoffUntilMs > nowMs ? 'backoff' : 'active', reason);
  }

  private enter(queued: QueuedPod, where: QueueName, reason: IncomingReason, nowMs: number): void {
    queued.queuedMs = nowMs;
    queued.sequence = this.nextSequence++;
    this.byKey.set(queued.pod.key, queued);
    this.put(queued, where, reason);
  }

  private move(queued: QueuedPod, where: QueueName, reason: IncomingReason): void {
    this.leave(queued);
    this.put(queued, where, reason);
  }

  private put(queued: QueuedPod, where: QueueName, reason: IncomingReason): void {
    const counted = `${where}/${reason}`;
    this.came.set(counted, (this.came.get(counted) ?? 0) + 1);
    queued.where = where;
    if (where === 'active') this.active.push(queued);
    else if (where === 'backoff') this.backoff.push(queued);
    else this.unschedulable.set(queued.pod.key, queued);
  }

  private leave(queued: QueuedPod): void {
    if (queued.where === 'active') this.active.remove(queued);
    else if (queued.where === 'backoff') this.backoff.remove(queued);
    else this.unschedulable.delete(queued.pod.key);
    queued.where = undefined;
  }
}

function newlyQueued(pod: PodInfo, nowMs: number): QueuedPod {
  return {
    pod,
    where: undefined,
    attempts: 0,
    firstQueuedMs: nowMs,
    queuedMs: nowMs,
    sequence: 0,
    backoffUntilMs: 0,
    helpedBy: ClusterEvent.any,
    changesSeen: 0,
    heapIndex: -1,
  };
}

function readyBefore(a: QueuedPod, b: QueuedPod): boolean {
  return a.backoffUntilMs !== b.backoffUntilMs ? a.backoffUntilMs < b.backoffUntilMs : a.sequence < b.sequence;
}
