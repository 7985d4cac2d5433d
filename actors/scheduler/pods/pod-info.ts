// A pod as the scheduler sees it: read once from the stored object, then never parsed again. Pure; holds no placement
// state (cluster-state.ts) and no queue state (queue.ts).

import { deepEqual } from '../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asNumber, asObject, asText, asTextMap, asTimeMs, partAt } from '../../../api/json/object-fields.ts';
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import { type NodeTerm, readNodeTerm, type WeightedNodeTerm } from './node-terms.ts';
import { type PodRequest, readRequest } from './pod-request.ts';
import {
  NO_AFFINITY,
  NO_SPREAD,
  type PodAffinity,
  readAffinity,
  readSpread,
  type SpreadConstraint,
} from './pod-terms.ts';
import { NO_VOLUMES, type PodVolumes, readVolumes } from './pod-volumes.ts';

/** `operator` empty means Equal; an empty key or effect matches any. */
export interface Toleration {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
}

/** Where a pod may and would rather go. Only kept for pods that still need a node. */
export interface PodConstraints {
  readonly nodeSelector: ReadonlyMap<string, string>;
  /** Any of the terms must match; undefined asks for nothing, an empty list matches no node. */
  readonly requiredNodeTerms: readonly NodeTerm[] | undefined;
  readonly preferredNodeTerms: readonly WeightedNodeTerm[];
  readonly tolerations: readonly Toleration[];
}

/** The controller that made a pod. */
export interface PodOwner {
  /** `<apiVersion>/<kind>`. */
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface PodInfo extends PodRequest {
  /** `<namespace>/<name>`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The resourceVersion of the object this was read from. */
  readonly resourceVersion: string;
  readonly labels: Labels;
  /** Equal for pods of a namespace that no selector of labels tells apart. */
  readonly groupKey: string;
  readonly schedulerName: string;
  readonly priority: number;
  /** Its priority gives it no right to the place of others. */
  readonly neverPreempts: boolean;
  /** The node it was promised room on; empty when none. */
  readonly nominatedNode: string;
  /** When it began to run, in ms since 1970; undefined when it has not. */
  readonly startedMs: number | undefined;
  readonly owner: PodOwner | undefined;
  /** The images of its containers, as written. */
  readonly images: readonly string[];
  readonly volumes: PodVolumes;
  /** Empty while unbound. */
  readonly nodeName: string;
  /** The phase is Succeeded or Failed: it holds no resources any more. */
  readonly finished: boolean;
  /** It has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly constraints: PodConstraints;
  /** Kept for pods that have a node as well: it binds those that come after. */
  readonly affinity: PodAffinity;
  readonly spread: readonly SpreadConstraint[];
  /** Empty: none. */
  readonly runtimeClass: string;
  readonly hasOverhead: boolean;
  /** The object it was read from, where somebody outside is told of pods. */
  readonly object: JsonObject | undefined;
  /** `status.conditions` as stored, for changing one of them. */
  readonly conditions: readonly unknown[];
}

const NO_IMAGES: readonly string[] = Object.freeze([]);
const NO_CONDITIONS: readonly unknown[] = Object.freeze([]);
const NO_CONSTRAINTS: PodConstraints = Object.freeze({
  nodeSelector: new Map<string, string>(),
  requiredNodeTerms: undefined,
  preferredNodeTerms: [],
  tolerations: [],
});

/** The name by which the scheduler knows a pod: `PodInfo.key`. */
export function podKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Reads a core/v1 Pod, and keeps it if asked to. Total: members that are missing or of another type count as absent. */
export function readPod(object: JsonObject, keeps = false): PodInfo {
  const metadata = asObject(object.metadata);
  const spec = asObject(object.spec);
  const status = asObject(object.status);
  const namespace = asText(metadata.namespace);
  const name = asText(metadata.name);
  const nodeName = asText(spec.nodeName);
  const phase = asText(status.phase);
  const unbound = nodeName === '';
  const labels = asObject(metadata.labels) as Labels;
  const deleting = asText(metadata.deletionTimestamp) !== '';
  return {
    key: podKey(namespace, name),
    namespace,
    name,
    uid: asText(metadata.uid),
    resourceVersion: asText(metadata.resourceVersion),
    labels,
    groupKey: groupKeyOf(labels, deleting),
    schedulerName: asText(spec.schedulerName),
    priority: asNumber(spec.priority),
    nodeName,
    finished: phase === 'Succeeded' || phase === 'Failed',
    deleting,
    neverPreempts: spec.preemptionPolicy === 'Never',
    nominatedNode: asText(status.nominatedNodeName),
    startedMs: asTimeMs(status.startTime),
    owner: controllerOf(metadata),
    images: unbound ? asList(spec.containers).map((container) => asText(asObject(container).image)) : NO_IMAGES,
    volumes: spec.volumes === undefined ? NO_VOLUMES : readVolumes(spec.volumes, name),
    ...readRequest(spec),
    constraints: unbound ? constraintsOf(spec) : NO_CONSTRAINTS,
    affinity: spec.affinity === undefined ? NO_AFFINITY : readAffinity(spec.affinity, namespace),
    spread: unbound ? readSpread(spec.topologySpreadConstraints) : NO_SPREAD,
    runtimeClass: asText(spec.runtimeClassName),
    hasOverhead: spec.overhead !== undefined && spec.overhead !== null,
    object: keeps ? object : undefined,
    conditions: unbound ? asList(status.conditions) : NO_CONDITIONS,
  };
}

function groupKeyOf(labels: Labels, deleting: boolean): string {
  const keys = Object.keys(labels);
  if (keys.length > 1) keys.sort();
  let text = deleting ? '-' : '+';
  for (const key of keys) text += `${key}\n${labels[key]}\n`;
  return text;
}

/**
 * True when an update changes nothing that decides where the pod can go, so that trying again would fail again.
 * Annotations decide nothing for the plugins there are; what they are to somebody outside who sees the pod, nobody here knows.
 */
export function sameDemands(a: PodInfo, b: PodInfo): boolean {
  return a.groupKey === b.groupKey && demands(a) === demands(b) && deepEqual(annotationsOf(a), annotationsOf(b));
}

function annotationsOf({ object }: PodInfo): JsonObject {
  return partAt(partAt(object ?? {}, 'metadata'), 'annotations');
}

function demands(pod: PodInfo): string {
  const { nodeSelector, requiredNodeTerms, tolerations } = pod.constraints;
  const scalars = [...pod.request.scalars];
  const { required, requiredAnti } = pod.affinity;
  const terms = [required, requiredAnti].map((list) => list.map(({ id }) => id));
  const { hostPorts, request } = pod;
  return JSON.stringify([[...nodeSelector], requiredNodeTerms, tolerations, hostPorts, request, scalars, terms]);
}

function constraintsOf(spec: JsonObject): PodConstraints {
  const tolerations = asList(spec.tolerations);
  const nodeAffinity = asObject(asObject(spec.affinity).nodeAffinity);
  const required = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  const preferred = asList(nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution);
  const selector = spec.nodeSelector;
  return {
    nodeSelector: selector === undefined ? NO_CONSTRAINTS.nodeSelector : asTextMap(selector),
    requiredNodeTerms:
      required === undefined || required === null
        ? undefined
        : asList(asObject(required).nodeSelectorTerms).map(readNodeTerm),
    preferredNodeTerms: preferred.map((entry) => ({
      weight: asNumber(asObject(entry).weight),
      term: readNodeTerm(asObject(entry).preference),
    })),
    tolerations: tolerations.map(readToleration),
  };
}

/** One toleration, of a pod or of a runtime class. */
export function readToleration(value: unknown): Toleration {
  const toleration = asObject(value);
  return {
    key: asText(toleration.key),
    operator: asText(toleration.operator),
    value: asText(toleration.value),
    effect: asText(toleration.effect),
  };
}

function controllerOf(metadata: JsonObject): PodOwner | undefined {
  for (const reference of asList(metadata.ownerReferences)) {
    const { controller, apiVersion, kind, name, uid } = asObject(reference);
    if (controller === true) {
      return { kind: `${asText(apiVersion)}/${asText(kind)}`, name: asText(name), uid: asText(uid) };
    }
  }
  return undefined;
}
