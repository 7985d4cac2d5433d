// One node: what it offers, what its pods have taken, and what keeps pods away. Also stands for a node that pods are
// bound to but that has not been seen (`present` false). Changed only by cluster-state.ts.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asNumber, asObject, asText, asTextMap } from '../../../api/json/object-fields.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { type ResourceAmounts, readAmounts, sameAmounts } from '../pods/resource-amounts.ts';
import { HostPortClaims } from './host-ports.ts';
import { NodeAnswers } from './node-answers.ts';

export interface Taint {
  readonly key: string;
  readonly value: string;
  /** NoSchedule, NoExecute or PreferNoSchedule. */
  readonly effect: string;
}

export interface AvoidedController {
  readonly kind: string;
  readonly uid: string;
}

const NO_IMAGES: ReadonlyMap<string, number> = new Map();
const NO_AVOIDED: readonly AvoidedController[] = Object.freeze([]);
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
  /** Bytes by name, for each name an image has. */
  images: ReadonlyMap<string, number> = NO_IMAGES;
  /** Controllers whose pods the node would rather not have. */
  avoids: readonly AvoidedController[] = NO_AVOIDED;

  /** As it was last seen, where somebody outside is told of nodes. */
  object: JsonObject | undefined;

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

  /** What was answered of the node as it stands. */
  readonly answered = new NodeAnswers();

  constructor(name: string) {
    this.name = name;
  }

  /** The pods among them that have volumes, and how many volumes those are. */
  readonly volumePods = new Map<string, PodInfo>();
  volumeUses = 0;

  get podCount(): number {
    return this.pods.size;
  }

  /** Takes over a core/v1 Node; `avoidAnnotation` names the annotation that `avoids` is read from. Answers which ClusterEvents that means; 0 when pods are no better off. */
  update(object: JsonObject, avoidAnnotation: string): number {
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

    this.answered.forget();
    this.present = true;
    this.labels = labels;
    this.hardTaints = hardTaints;
    this.softTaints = softTaints;
    this.unschedulable = unschedulable;
    this.allocatable = allocatable;
    this.images = imagesOf(asObject(object.status).images);
    this.avoids = avoidedBy(asObject(asObject(object.metadata).annotations)[avoidAnnotation]);
    return events;
  }

  /** The node object exists no more; the pods stay counted. */
  leave(): void {
    this.present = false;
    this.labels = NO_LABELS;
    this.hardTaints = [];
    this.softTaints = [];
    this.unschedulable = false;
    this.images = NO_IMAGES;
    this.avoids = NO_AVOIDED;
    this.object = undefined;
  }

  /** A node of the same kind and with the same pods, or with those of them that stay, to try changes on. */
  copy(stays: (pod: PodInfo) => boolean = () => true): NodeInfo {
    const copy = new NodeInfo(this.name);
    const { present, labels, hardTaints, softTaints, unschedulable, allocatable, images, avoids } = this;
    Object.assign(copy, { present, labels, hardTaints, softTaints, unschedulable, allocatable, images, avoids });
    for (const pod of this.pods.values()) if (stays(pod)) copy.addPod(pod);
    return copy;
  }

  /** Counts a pod in that is not. */
  addPod(pod: PodInfo): void {
    this.answered.forget();
    this.pods.set(pod.key, pod);
    this.count(pod, 1);
    for (const claim of pod.hostPorts) {
      this.hostPorts ??= new HostPortClaims();
      this.hostPorts.add(claim);
    }
  }

  /** A pod that is counted in has changed in what it does not count by. */
  renewPod(pod: PodInfo): void {
    this.pods.set(pod.key, pod);
    this.answered.changes++;
  }

  /** Counts a pod out that was counted in. */
  removePod(pod: PodInfo): void {
    this.answered.forget();
    this.pods.delete(pod.key);
    this.count(pod, -1);
    for (const claim of pod.hostPorts) this.hostPorts?.remove(claim);
  }

  private count(pod: PodInfo, sign: 1 | -1): void {
    const { claims, disks, exclusive } = pod.volumes;
    if (claims.length + disks.length + exclusive.length > 0) {
      if (sign > 0) this.volumePods.set(pod.key, pod);
      else this.volumePods.delete(pod.key);
      this.volumeUses += sign * (claims.length + disks.length);
    }
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

function imagesOf(list: unknown): ReadonlyMap<string, number> {
  const images = asList(list);
  if (images.length === 0) return NO_IMAGES;
  const bytes = new Map<string, number>();
  for (const image of images) {
    const { names, sizeBytes } = asObject(image);
    for (const name of asList(names)) bytes.set(asText(name), asNumber(sizeBytes));
  }
  return bytes;
}

/** What cannot be read asks for nothing. */
function avoidedBy(annotation: unknown): readonly AvoidedController[] {
  if (typeof annotation !== 'string') return NO_AVOIDED;
  let list: unknown;
  try {
    list = asObject(JSON.parse(annotation)).preferAvoidPods;
  } catch {
    return NO_AVOIDED;
  }
  return asList(list).map((entry) => {
    const { kind, uid } = asObject(asObject(asObject(entry).podSignature).podController);
    return { kind: asText(kind), uid: asText(uid) };
  });
}
