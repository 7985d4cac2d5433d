// One node: what it offers, what its pods have taken, and what keeps pods away. Also stands for a node that pods are
// bound to but that has not been seen (`present` false). Changed only by cluster-state.ts.

import type { JsonObject } from '../../../api/json-value.ts';
import { asList, asObject, asText, asTextMap } from '../../../api/object-fields.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { type ResourceAmounts, readAmounts, sameAmounts } from '../pods/resource-amounts.ts';
import { HostPortClaims } from './host-ports.ts';

export interface Taint {
  readonly key: string;
  readonly value: string;
  /** NoSchedule, NoExecute or PreferNoSchedule. */
  readonly effect: string;
}

/** What can happen in the cluster that lets a pod fit which did not; a set is the sum of its members. */
export const ClusterEvent = {
  nodeAdded: 1,
  nodeAllocatable: 2,
  nodeLabels: 4,
  /** Taints, or `spec.unschedulable` switched off. */
  nodeTaints: 8,
  /** A pod left its node, finished there, or was not bound after all. */
  podRemoved: 16,
  /** A pod was bound, or has other labels than before. */
  podAdded: 32,
  nodeRemoved: 64,
  /** Every event: for what no plugin can say more about. */
  any: 127,
} as const;

const NO_LABELS: ReadonlyMap<string, string> = new Map();

export class NodeInfo {
  readonly name: string;
  /** The node object exists. Pods are placed on present nodes only. */
  present = false;
  labels: ReadonlyMap<string, string> = NO_LABELS;
  /** NoSchedule and NoExecute: keep pods away. */
  hardTaints: readonly Taint[] = [];
  /** PreferNoSchedule: a node for when no better is left. */
  softTaints: readonly Taint[] = [];
  unschedulable = false;
  allocatable: ResourceAmounts = readAmounts(undefined);

  /** Those counted in, by key. */
  readonly pods = new Map<string, PodInfo>();
  requestedMilliCpu = 0;
  requestedMemoryBytes = 0;
  requestedEphemeralStorageBytes = 0;
  readonly requestedScalars = new Map<string, number>();
  scoredMilliCpu = 0;
  scoredMemoryBytes = 0;
  /** Made for the first pod with a host port. */
  hostPorts: HostPortClaims | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get podCount(): number {
    return this.pods.size;
  }

  /** Takes over a core/v1 Node. Answers which ClusterEvents that means; 0 when pods are no better off. */
  update(object: JsonObject): number {
    const spec = asObject(object.spec);
    const labels = asTextMap(asObject(object.metadata).labels);
    const taints = asList(spec.taints).map(taintOf);
    const hardTaints = taints.filter((taint) => taint.effect === 'NoSchedule' || taint.effect === 'NoExecute');
    const softTaints = taints.filter((taint) => taint.effect === 'PreferNoSchedule');
    const unschedulable = spec.unschedulable === true;
    const allocatable = readAmounts(asObject(object.status).allocatable);

    let events = 0;
    if (!this.present) events |= ClusterEvent.any;
    if (!sameAmounts(allocatable, this.allocatable)) events |= ClusterEvent.nodeAllocatable;
    if (!sameLabels(labels, this.labels)) events |= ClusterEvent.nodeLabels;
    if (!sameTaints(hardTaints, this.hardTaints)) events |= ClusterEvent.nodeTaints;
    if (this.unschedulable && !unschedulable) events |= ClusterEvent.nodeTaints;

    this.present = true;
    this.labels = labels;
    this.hardTaints = hardTaints;
    this.softTaints = softTaints;
    this.unschedulable = unschedulable;
    this.allocatable = allocatable;
    return events;
  }

  /** The node object exists no more; the pods stay counted. */
  leave(): void {
    this.present = false;
    this.labels = NO_LABELS;
    this.hardTaints = [];
    this.softTaints = [];
    this.unschedulable = false;
  }

  /** A node of the same kind and with the same pods, to try changes on. */
  copy(): NodeInfo {
    const copy = new NodeInfo(this.name);
    const { present, labels, hardTaints, softTaints, unschedulable, allocatable } = this;
    Object.assign(copy, { present, labels, hardTaints, softTaints, unschedulable, allocatable });
    for (const pod of this.pods.values()) copy.addPod(pod);
    return copy;
  }

  /** Counts a pod in that is not. */
  addPod(pod: PodInfo): void {
    this.pods.set(pod.key, pod);
    this.count(pod, 1);
    for (const claim of pod.hostPorts) {
      this.hostPorts ??= new HostPortClaims();
      this.hostPorts.add(claim);
    }
  }

  /** Counts a pod out that was counted in. */
  removePod(pod: PodInfo): void {
    this.pods.delete(pod.key);
    this.count(pod, -1);
    for (const claim of pod.hostPorts) this.hostPorts?.remove(claim);
  }

  private count(pod: PodInfo, sign: 1 | -1): void {
    const { request } = pod;
    this.requestedMilliCpu += sign * request.milliCpu;
    this.requestedMemoryBytes += sign * request.memoryBytes;
    this.requestedEphemeralStorageBytes += sign * request.ephemeralStorageBytes;
    this.scoredMilliCpu += sign * pod.scoredMilliCpu;
    this.scoredMemoryBytes += sign * pod.scoredMemoryBytes;
    if (request.scalars.size === 0) return;
    for (const [name, amount] of request.scalars) {
      const left = (this.requestedScalars.get(name) ?? 0) + sign * amount;
      if (left === 0) this.requestedScalars.delete(name);
      else this.requestedScalars.set(name, left);
    }
  }
}

function taintOf(value: unknown): Taint {
  const taint = asObject(value);
  return { key: asText(taint.key), value: asText(taint.value), effect: asText(taint.effect) };
}

function sameLabels(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    if (b.get(key) !== value) return false;
  }
  return true;
}

function sameTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  return (
    a.length === b.length &&
    a.every((taint, at) => {
      const other = b[at]!;
      return taint.key === other.key && taint.value === other.value && taint.effect === other.effect;
    })
  );
}
