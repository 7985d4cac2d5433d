// The scheduler's pure core: what is known of the cluster, which pods need a node, and the decision for the next of
// them. No I/O, no clock, no timers; both adapters (the actor, and later the HTTP one) feed it the same calls.
// Invariant: a pod of ours is in the queue or placed (assumed or bound), never both.

import type { JsonObject } from '../../../api/json-value.ts';
import type { Random } from '../../../runtime/environment.ts';
import type { BindingOutcome } from '../../admission/protocol.ts';
import type { Profile, Status } from '../framework/framework.ts';
import { type PodInfo, podKey, readPod } from '../pods/pod-info.ts';
import { ClusterState, type PlacedPod } from './cluster-state.ts';
import { type Choice, NodeChooser } from './node-choice.ts';
import { ClusterEvent, type NodeInfo } from './node-info.ts';
import type { ZoneOf } from './node-order.ts';
import { Nominations } from './nominations.ts';
import { QUEUE_DEFAULTS, type QueuedPod, type QueueName, type QueueOptions, SchedulingQueue } from './queue.ts';

export interface CoreOptions {
  /** Pods whose spec.schedulerName is another one are left alone; they still count on their nodes. */
  readonly schedulerName: string;
  readonly profile: Profile;
  readonly random: Random;
  readonly zoneOf: ZoneOf;
  /** Stop looking for nodes when this share of them is feasible; 0 adapts to the size of the cluster. */
  readonly percentageOfNodesToScore?: number;
  /** How long an assumed pod waits for its binding to show in the events. */
  readonly assumedMaxMs?: number;
  readonly queue?: QueueOptions;
}

const ASSUMED_MAX_MS = 30_000;
/** Pods that are looked at one by one for whether another pod waits for them; more may help anyone. */
const ADDED_MAX = 64;

/** What was decided about one pod. */
export type Decision =
  /** Bind it; its resources are taken already. Report the outcome with `settleBinding`. */
  | { readonly kind: 'bind'; readonly queued: QueuedPod; readonly pod: PodInfo; readonly node: string }
  /** Nothing fits, or (`error`) a plugin could not decide. It is back in the queue. */
  | {
      readonly kind: 'unschedulable' | 'error';
      readonly queued: QueuedPod;
      readonly pod: PodInfo;
      readonly message: string;
    };

/** How a binding ended; `unanswered` means that it may have been carried out. */
export type BindingEnd = BindingOutcome | { readonly bound: false; readonly reason: 'unanswered' };

export interface CoreCounts extends Readonly<Record<QueueName, number>> {
  readonly assumed: number;
  readonly placed: number;
  readonly nodes: number;
}

export class SchedulingCore {
  readonly cluster: ClusterState;
  private readonly options: CoreOptions;
  private readonly assumedMaxMs: number;
  private readonly queue: SchedulingQueue;
  private readonly chooser: NodeChooser;
  private readonly nominations = new Nominations();
  /** The pods placed since then, up to one more than ADDED_MAX. */
  private readonly added: PodInfo[] = [];
  /** ClusterEvents since the last `advance`: one pass over the unschedulable pods serves them all. */
  private events = 0;
  /** While a new list is read: what it held so far. */
  private listed: { readonly pods: Set<string>; readonly nodes: Set<string> } | undefined;

  constructor(options: CoreOptions) {
    this.options = options;
    this.assumedMaxMs = options.assumedMaxMs ?? ASSUMED_MAX_MS;
    this.cluster = new ClusterState(options.zoneOf);
    this.queue = new SchedulingQueue(options.queue ?? QUEUE_DEFAULTS);
    this.chooser = new NodeChooser(options.random, options.percentageOfNodesToScore ?? 0);
  }

  /** Nodes looked at since the start: the measure of work for bounding a turn. */
  get nodesExamined(): number {
    return this.chooser.nodesExamined;
  }

  counts(): CoreCounts {
    const { placedCount, assumedCount, nodes } = this.cluster;
    return { ...this.queue.counts(), assumed: assumedCount, placed: placedCount, nodes: nodes.length };
  }

  /** The newest state of a pod that waits in the queue; undefined when it does not. */
  queuedPod(key: string, uid: string): PodInfo | undefined {
    const pod = this.queue.get(key)?.pod;
    return pod?.uid === uid ? pod : undefined;
  }

  /** A pod exists in this state now. */
  setPod(object: JsonObject, nowMs: number): void {
    const pod = readPod(object);
    this.listed?.pods.add(pod.key);
    if (pod.nodeName !== '') this.setBoundPod(pod);
    else this.setUnboundPod(pod, nowMs);
  }

  /** A pod exists no more. */
  removePod(namespace: string, name: string): void {
    this.dropPod(podKey(namespace, name));
  }

  /** A node exists in this state now. */
  setNode(name: string, object: JsonObject): void {
    this.listed?.nodes.add(name);
    this.events |= this.cluster.setNode(name, object);
  }

  /** A node exists no more. */
  removeNode(name: string): void {
    this.events |= this.cluster.removeNode(name);
  }

  /** Begins a complete list of pods and nodes, given by `setPod` and `setNode`. Queue and assumptions stay. */
  beginList(): void {
    this.listed = { pods: new Set(), nodes: new Set() };
  }

  /** Ends the list: what it did not hold exists no more. */
  endList(): void {
    const listed = this.listed;
    if (listed === undefined) return;
    this.listed = undefined;
    for (const key of [...this.queue.keys(), ...this.cluster.placedKeys()]) {
      if (!listed.pods.has(key)) this.dropPod(key);
    }
    for (const name of this.cluster.presentNodeNames()) {
      if (!listed.nodes.has(name)) this.removeNode(name);
    }
  }

  /** Does what is due: expires assumptions, ends backoffs, moves the pods that the events since could help. */
  advance(nowMs: number): void {
    for (const placed of this.cluster.expired(nowMs)) this.giveUp(placed, nowMs);
    this.queue.moveOnEvents(this.events, nowMs, (pod) => this.wantsOneOf(pod, this.added));
    this.events = 0;
    this.added.length = 0;
    this.queue.flush(nowMs);
  }

  /** When `advance` next has something to do by itself; undefined when never. */
  nextDueMs(): number | undefined {
    const flushMs = this.queue.nextFlushMs();
    const expiryMs = this.cluster.nextExpiryMs();
    if (flushMs === undefined || expiryMs === undefined) return flushMs ?? expiryMs;
    return Math.min(flushMs, expiryMs);
  }

  /** Decides about the next active pod; undefined when there is none. */
  decide(nowMs: number): Decision | undefined {
    const queued = this.queue.pop();
    if (queued === undefined) return undefined;
    const { pod } = queued;
    const choice = this.chooser.choose(pod, this.options.profile, this.cluster, this.nominations);
    if (choice.node === null) return this.putBack(queued, choice, nowMs);
    this.cluster.assume(queued, choice.node, nowMs + this.assumedMaxMs);
    this.noteAdded(pod, ClusterEvent.podAdded);
    const status = this.reserveAndPermit(pod, choice.node);
    if (status === null) return { kind: 'bind', queued, pod, node: choice.node.name };
    this.cluster.removePod(pod.key);
    const code = status.code === 'error' ? 'error' : 'unschedulable';
    const message = status.reasons.join(', ');
    return this.putBack(queued, { node: null, code, message, helpedBy: status.helpedBy }, nowMs);
  }

  /**
   * A binding that `decide` asked for has ended. Bound: the assumption stands until the event confirms it. Failed: the
   * pod goes to backoff. Gone or taken: the events say, or have said, what became of it.
   */
  settleBinding(pod: PodInfo, end: BindingEnd, nowMs: number): void {
    const placed = this.cluster.assumption(pod.key, pod.uid);
    if (placed === undefined) return;
    if (end.bound || end.reason === 'unanswered') {
      placed.expiresAtMs = nowMs + this.assumedMaxMs;
      return;
    }
    if (end.reason === 'failed') this.giveUp(placed, nowMs);
    else this.forget(placed);
  }

  private setBoundPod(pod: PodInfo): void {
    if (pod.finished) {
      this.dropPod(pod.key);
      return;
    }
    this.queue.remove(pod.key);
    const placed = this.cluster.placed(pod.key);
    if (placed?.assumed !== undefined && placed.node.name !== pod.nodeName) this.forget(placed);
    this.noteAdded(pod, this.cluster.setBound(pod));
  }

  private noteAdded(pod: PodInfo, events: number): void {
    this.events |= events;
    if ((events & ClusterEvent.podAdded) !== 0 && this.added.length <= ADDED_MAX) this.added.push(pod);
  }

  /** True when one of the pods is what this one waits for, or may be. */
  private wantsOneOf(pod: PodInfo, added: readonly PodInfo[]): boolean {
    if (added.length > ADDED_MAX) return true;
    const { topology } = this.cluster;
    return added.some(
      (other) =>
        (other.namespace === pod.namespace && pod.spread.some(({ selector }) => selector.matches(other.labels))) ||
        pod.affinity.required.some((term) => topology.speaksOf(term, other)),
    );
  }

  private setUnboundPod(pod: PodInfo, nowMs: number): void {
    const placed = this.cluster.placed(pod.key);
    if (placed?.assumed !== undefined && placed.pod.uid === pod.uid) {
      placed.assumed.pod = pod;
      return;
    }
    if (placed !== undefined) this.dropPod(pod.key);
    const ours = pod.schedulerName === this.options.schedulerName;
    if (ours && !pod.finished && !pod.deleting) this.queue.set(pod, nowMs);
    else this.queue.remove(pod.key);
  }

  private dropPod(key: string): void {
    this.queue.remove(key);
    const placed = this.cluster.placed(key);
    if (placed !== undefined) this.forget(placed);
  }

  /** Frees what a pod occupies. */
  private forget(placed: PlacedPod): void {
    this.events |= this.cluster.removePod(placed.pod.key);
    if (placed.assumed !== undefined) this.unreserve(placed.pod, placed.node);
  }

  /** Frees what an assumed pod occupies, and lets it try again after its backoff. */
  private giveUp(placed: PlacedPod, nowMs: number): void {
    this.forget(placed);
    const queued = placed.assumed;
    if (queued !== undefined && !queued.pod.deleting && !queued.pod.finished) this.queue.requeueBackoff(queued, nowMs);
  }

  private putBack(queued: QueuedPod, choice: Choice & { node: null }, nowMs: number): Decision {
    const { code: kind, message } = choice;
    if (kind === 'error') this.queue.requeueBackoff(queued, nowMs);
    else this.queue.requeueUnschedulable(queued, choice.helpedBy, nowMs);
    return { kind, queued, pod: queued.pod, message };
  }

  /** Null when every plugin agrees; otherwise nothing is left reserved. */
  private reserveAndPermit(pod: PodInfo, node: NodeInfo): Status | null {
    const { reserves, permits } = this.options.profile;
    let status: Status | null = null;
    for (const plugin of reserves) status ??= plugin.reserve(pod, node);
    for (const plugin of permits) {
      const permit = status ?? plugin.permit(pod, node);
      if (permit !== null && 'code' in permit) status = permit;
    }
    if (status !== null) this.unreserve(pod, node);
    return status;
  }

  private unreserve(pod: PodInfo, node: NodeInfo): void {
    for (const plugin of this.options.profile.reserves) plugin.unreserve(pod, node);
  }
}
