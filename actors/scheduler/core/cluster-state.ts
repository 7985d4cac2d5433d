// Nodes, and the pods that occupy them: bound (the server says so) or assumed (we decided, the binding is under way).
// Pure. Right under any order of events: pods on unseen nodes, nodes removed before their pods, bindings confirmed
// before they are answered.

import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { ClusterObjects } from '../objects/cluster-objects.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { sameAmounts } from '../pods/resource-amounts.ts';
import { TopologyIndex } from '../topology/topology-index.ts';
import { spreadOverZones, type ZoneOf, zoneByLabels } from './node-order.ts';
import type { QueuedPod } from './queue.ts';

/** A pod that occupies a node. */
export interface PlacedPod {
  /** As it was counted in; `assumed.pod` may be newer. */
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  /** Undefined: bound. Else the pod as it stood in the queue, to go back there if the binding fails. */
  readonly assumed: QueuedPod | undefined;
  /** Assumed pods only: when to stop waiting for the binding to show. Written by ClusterState alone. */
  expiresAtMs: number;
}

const NONE_EXPIRED: readonly PlacedPod[] = Object.freeze([]);

export class ClusterState {
  private readonly zoneOf: ZoneOf;
  private readonly nodesByName = new Map<string, NodeInfo>();
  private readonly placedByKey = new Map<string, PlacedPod>();
  /** The assumed among placedByKey. */
  private readonly assumedByKey = new Map<string, PlacedPod>();
  /** Undefined after a node came, went or moved to another zone. */
  private order: readonly NodeInfo[] | undefined;
  /** No assumption expires before this. May be too early, never too late. */
  private earliestExpiryMs = Number.POSITIVE_INFINITY;
  /** Nodes with a PreferNoSchedule taint: while there are none, scoring need not look. */
  private softTaintedNodes = 0;

  private hardTaintedNodes = 0;
  private cordonedNodes = 0;
  private avoidingNodes = 0;
  /** On how many nodes each image is, by each of its names. */
  readonly imageNodes = new Map<string, number>();
  private readonly avoidAnnotation: string;
  private readonly keepsNodes: boolean;
  /** Goes up with every change that a decision could depend on. */
  changes = 0;
  /** What pods can ask about the pods that are placed. */
  readonly topology: TopologyIndex;
  /** Everything else that is known. */
  readonly objects: ClusterObjects;

  /** `keepsNodes`: somebody outside is told of nodes as they are stored. */
  constructor(dialect: Dialect, keepsNodes = false) {
    this.keepsNodes = keepsNodes;
    this.zoneOf = zoneByLabels(dialect);
    this.avoidAnnotation = dialect.spell('scheduler.alpha.@label/preferAvoidPods');
    this.objects = new ClusterObjects(dialect, () => this.topology.namespaceChanged());
    this.topology = new TopologyIndex(() => this.nodes, this.objects.labelsOfNamespace);
  }

  /** The present nodes in the order in which to try them. The same array until the set of nodes changes. */
  get nodes(): readonly NodeInfo[] {
    this.order ??= spreadOverZones(
      [...this.nodesByName.values()].filter((node) => node.present),
      this.zoneOf,
    );
    return this.order;
  }

  get hasSoftTaints(): boolean {
    return this.softTaintedNodes > 0;
  }

  get hasHardTaints(): boolean {
    return this.hardTaintedNodes > 0;
  }

  get hasCordonedNodes(): boolean {
    return this.cordonedNodes > 0;
  }

  get hasAvoidingNodes(): boolean {
    return this.avoidingNodes > 0;
  }

  get placedCount(): number {
    return this.placedByKey.size;
  }

  get assumedCount(): number {
    return this.assumedByKey.size;
  }

  readonly node = (name: string): NodeInfo | undefined => this.nodesByName.get(name);

  placed(key: string): PlacedPod | undefined {
    return this.placedByKey.get(key);
  }

  /** Keys of all placed pods, and names of all present nodes: for dropping what a new list does not hold. */
  placedKeys(): IterableIterator<string> {
    return this.placedByKey.keys();
  }

  presentNodeNames(): string[] {
    return [...this.nodesByName.values()].filter((node) => node.present).map((node) => node.name);
  }

  /** A node came or changed. Answers which ClusterEvents that means. */
  setNode(name: string, object: JsonObject): number {
    const node = this.nodeFor(name);
    const zoneBefore = node.present ? this.zoneOf(node) : undefined;
    this.tally(node, -1);
    const events = node.update(object, this.avoidAnnotation);
    if (this.keepsNodes) node.object = object;
    this.tally(node, 1);
    if (zoneBefore !== this.zoneOf(node)) this.order = undefined;
    if (events !== 0) this.changes++;
    if ((events & (ClusterEvent.nodeAdded | ClusterEvent.nodeLabels)) !== 0) this.topology.nodeChanged(node);
    return events;
  }

  /** A node went. Its pods stay counted until they go too. Answers which ClusterEvents that means. */
  removeNode(name: string): number {
    const node = this.nodesByName.get(name);
    if (node === undefined || !node.present) return 0;
    this.tally(node, -1);
    node.leave();
    this.changes++;
    this.order = undefined;
    this.topology.nodeChanged(node);
    this.dropIfUnused(node);
    return ClusterEvent.nodeRemoved;
  }

  /** An object of another type came or changed. Answers which ClusterEvents that means. */
  setObject(storageKey: string, namespace: string, name: string, object: JsonObject): number {
    this.changes++;
    return this.objects.set(storageKey, namespace, name, object);
  }

  /** An object of another type went. Answers which ClusterEvents that means. */
  removeObject(storageKey: string, namespace: string, name: string): number {
    this.changes++;
    return this.objects.remove(storageKey, namespace, name);
  }

  private tally(node: NodeInfo, sign: 1 | -1): void {
    if (node.softTaints.length > 0) this.softTaintedNodes += sign;
    if (node.hardTaints.length > 0) this.hardTaintedNodes += sign;
    if (node.unschedulable) this.cordonedNodes += sign;
    if (node.avoids.length > 0) this.avoidingNodes += sign;
    for (const name of node.images.keys()) {
      const count = (this.imageNodes.get(name) ?? 0) + sign;
      if (count === 0) this.imageNodes.delete(name);
      else this.imageNodes.set(name, count);
    }
  }

  /** The server says that the pod is bound. Confirms an assumption, or moves the pod if it is bound elsewhere. */
  setBound(pod: PodInfo): number {
    const before = this.placedByKey.get(pod.key);
    const after: PlacedPod = { pod, node: this.nodeFor(pod.nodeName), assumed: undefined, expiresAtMs: 0 };
    if (before === undefined) {
      this.place(after);
      return ClusterEvent.podAdded;
    }
    const relabeled = before.pod.groupKey !== pod.groupKey;
    if (before.node === after.node && !relabeled && countsTheSame(before.pod, pod)) {
      after.node.renewPod(pod);
      this.placedByKey.set(pod.key, after);
      this.assumedByKey.delete(pod.key);
      return 0;
    }
    this.take(before);
    this.place({ ...after, node: this.nodeFor(pod.nodeName) });
    return before.node === after.node && !relabeled ? 0 : ClusterEvent.podAdded | ClusterEvent.podRemoved;
  }

  /** Occupies the node on the strength of our own decision, until confirmed, forgotten or expired. */
  assume(queued: QueuedPod, node: NodeInfo, expiresAtMs: number): void {
    const placed: PlacedPod = { pod: queued.pod, node, assumed: queued, expiresAtMs };
    this.place(placed);
    this.expireAt(placed, expiresAtMs);
  }

  /** An assumption stands until then, unless something becomes of it before. */
  expireAt(placed: PlacedPod, expiresAtMs: number): void {
    placed.expiresAtMs = expiresAtMs;
    this.earliestExpiryMs = Math.min(this.earliestExpiryMs, expiresAtMs);
  }

  /** Removes whatever the pod occupies. Answers podRemoved when it occupied anything. */
  removePod(key: string): number {
    const placed = this.placedByKey.get(key);
    if (placed === undefined) return 0;
    this.take(placed);
    return ClusterEvent.podRemoved;
  }

  /** Puts back what `removePod` took. */
  restore(placed: PlacedPod): void {
    // A node that is not seen yet is known by its pods alone, and was forgotten with the last of them.
    this.nodesByName.set(placed.node.name, placed.node);
    this.place(placed);
  }

  /** The assumption about this pod, if it still stands. */
  assumption(key: string, uid: string): PlacedPod | undefined {
    const placed = this.assumedByKey.get(key);
    return placed?.pod.uid === uid ? placed : undefined;
  }

  /** Assumptions whose time has passed; the caller removes them. */
  expired(nowMs: number): readonly PlacedPod[] {
    if (nowMs < this.earliestExpiryMs) return NONE_EXPIRED;
    const expired: PlacedPod[] = [];
    this.earliestExpiryMs = Number.POSITIVE_INFINITY;
    for (const placed of this.assumedByKey.values()) {
      if (placed.expiresAtMs <= nowMs) expired.push(placed);
      else this.earliestExpiryMs = Math.min(this.earliestExpiryMs, placed.expiresAtMs);
    }
    return expired;
  }

  /** When to ask `expired` again; undefined while nothing is assumed. */
  nextExpiryMs(): number | undefined {
    return this.assumedByKey.size === 0 ? undefined : this.earliestExpiryMs;
  }

  private place(placed: PlacedPod): void {
    placed.node.addPod(placed.pod);
    this.topology.place(placed.pod, placed.node);
    this.changes++;
    this.placedByKey.set(placed.pod.key, placed);
    if (placed.assumed !== undefined) this.assumedByKey.set(placed.pod.key, placed);
  }

  private take(placed: PlacedPod): void {
    placed.node.removePod(placed.pod);
    this.topology.take(placed.pod, placed.node);
    this.changes++;
    this.placedByKey.delete(placed.pod.key);
    this.assumedByKey.delete(placed.pod.key);
    this.dropIfUnused(placed.node);
  }

  private nodeFor(name: string): NodeInfo {
    const known = this.nodesByName.get(name);
    if (known !== undefined) return known;
    const node = new NodeInfo(name);
    this.nodesByName.set(name, node);
    return node;
  }

  private dropIfUnused(node: NodeInfo): void {
    if (!node.present && node.podCount === 0) this.nodesByName.delete(node.name);
  }
}

/** One object's demands never change; another object under the same name may have others. */
function countsTheSame(a: PodInfo, b: PodInfo): boolean {
  return a.uid === b.uid && sameAmounts(a.request, b.request);
}
