// A pod as the scheduler sees it: read once from the stored object, then never parsed again. Pure; holds no placement
// state (cluster-state.ts) and no queue state (queue.ts).

import type { JsonObject } from '../../../api/json-value.ts';
import { asList, asNumber, asObject, asText, asTextMap, asTexts } from '../../../api/object-fields.ts';
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import { countOf } from '../../../values/quantity.ts';
import {
  NO_AFFINITY,
  NO_SPREAD,
  type PodAffinity,
  readAffinity,
  readSpread,
  type SpreadConstraint,
} from './pod-terms.ts';
import { AmountSum, type ResourceAmounts } from './resource-amounts.ts';
import { unknownDemands } from './unknown-demands.ts';

/** A port that a container claims on its node. */
export interface HostPort {
  /** `0.0.0.0` stands for every address of the node. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** `operator` empty means Equal; an empty key or effect matches any. */
export interface Toleration {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
}

/** One requirement of a node selector term, as written. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** All requirements of a term must hold. A term without any matches no node. */
export interface NodeTerm {
  readonly matchExpressions: readonly NodeRequirement[];
  readonly matchFields: readonly NodeRequirement[];
}

/** Where a pod may and would rather go. Only kept for pods that still need a node. */
export interface PodConstraints {
  readonly nodeSelector: ReadonlyMap<string, string>;
  /** Any of the terms must match; undefined asks for nothing, an empty list matches no node. */
  readonly requiredNodeTerms: readonly NodeTerm[] | undefined;
  readonly preferredNodeTerms: readonly { readonly weight: number; readonly term: NodeTerm }[];
  readonly tolerations: readonly Toleration[];
}

export interface PodInfo {
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
  /** Empty while unbound. */
  readonly nodeName: string;
  /** The phase is Succeeded or Failed: it holds no resources any more. */
  readonly finished: boolean;
  /** It has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly request: ResourceAmounts;
  /** cpu and memory for scoring, where a container that asks for nothing counts as a small one. */
  readonly scoredMilliCpu: number;
  readonly scoredMemoryBytes: number;
  readonly hostPorts: readonly HostPort[];
  readonly constraints: PodConstraints;
  /** Kept for pods that have a node as well: it binds those that come after. */
  readonly affinity: PodAffinity;
  readonly spread: readonly SpreadConstraint[];
  /** What the pod demands that no plug-in knows; empty for pods that have a node. */
  readonly unknownDemands: readonly string[];
  /** `status.conditions` as stored, for changing one of them. */
  readonly conditions: readonly unknown[];
}

export const ALL_ADDRESSES = '0.0.0.0';
const SCORED_MILLI_CPU_DEFAULT = 100;
const SCORED_MEMORY_BYTES_DEFAULT = 200 * 1024 * 1024;

const NO_HOST_PORTS: readonly HostPort[] = Object.freeze([]);
const NO_DEMANDS: readonly string[] = Object.freeze([]);
const NO_CONDITIONS: readonly unknown[] = Object.freeze([]);
const NO_CONSTRAINTS: PodConstraints = Object.freeze({
  nodeSelector: new Map<string, string>(),
  requiredNodeTerms: undefined,
  preferredNodeTerms: [],
  tolerations: [],
});

export function podKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Reads a core/v1 Pod. Total: members that are missing or of another type count as absent. */
export function readPod(object: JsonObject): PodInfo {
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
  const containers = asList(spec.containers).map(asObject);
  const initContainers = asList(spec.initContainers).map(asObject);
  const overhead = asObject(spec.overhead);
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
    request: requestOf(containers, initContainers, overhead),
    scoredMilliCpu: scoredRequest(containers, initContainers, overhead, 'cpu', 1000, SCORED_MILLI_CPU_DEFAULT),
    scoredMemoryBytes: scoredRequest(containers, initContainers, overhead, 'memory', 1, SCORED_MEMORY_BYTES_DEFAULT),
    hostPorts: hostPortsOf(containers),
    constraints: unbound ? constraintsOf(spec) : NO_CONSTRAINTS,
    affinity: spec.affinity === undefined ? NO_AFFINITY : readAffinity(spec.affinity, namespace),
    spread: unbound ? readSpread(spec.topologySpreadConstraints) : NO_SPREAD,
    unknownDemands: unbound ? unknownDemands(spec) : NO_DEMANDS,
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
 * Annotations decide nothing for the plugins there are.
 */
export function sameDemands(a: PodInfo, b: PodInfo): boolean {
  return a.groupKey === b.groupKey && demands(a) === demands(b);
}

function demands(pod: PodInfo): string {
  const { nodeSelector, requiredNodeTerms, tolerations } = pod.constraints;
  const scalars = [...pod.request.scalars];
  const { required, requiredAnti } = pod.affinity;
  const terms = [required, requiredAnti].map((list) => list.map(({ id }) => id));
  const { hostPorts, request } = pod;
  return JSON.stringify([[...nodeSelector], requiredNodeTerms, tolerations, hostPorts, request, scalars, terms]);
}

function requestsIn(container: JsonObject): JsonObject {
  return asObject(asObject(container.resources).requests);
}

/** The sum over containers, or the largest init container where that is more, plus the overhead. */
function requestOf(
  containers: readonly JsonObject[],
  initContainers: readonly JsonObject[],
  overhead: JsonObject,
): ResourceAmounts {
  const sum = new AmountSum();
  for (const container of containers) sum.add(requestsIn(container));
  for (const container of initContainers) sum.raise(requestsIn(container));
  sum.add(overhead);
  return sum.amounts();
}

function scoredRequest(
  containers: readonly JsonObject[],
  initContainers: readonly JsonObject[],
  overhead: JsonObject,
  resource: 'cpu' | 'memory',
  scale: 1 | 1000,
  whenUnset: number,
): number {
  let amount = 0;
  for (const container of containers) amount += countOf(requestsIn(container)[resource], scale) ?? whenUnset;
  for (const container of initContainers) {
    amount = Math.max(amount, countOf(requestsIn(container)[resource], scale) ?? whenUnset);
  }
  return amount + (countOf(overhead[resource], scale) ?? 0);
}

function hostPortsOf(containers: readonly JsonObject[]): readonly HostPort[] {
  let hostPorts: HostPort[] | undefined;
  for (const container of containers) {
    for (const entry of asList(container.ports)) {
      const port = asNumber(asObject(entry).hostPort);
      if (port <= 0) continue;
      const ip = asText(asObject(entry).hostIP) || ALL_ADDRESSES;
      const protocol = asText(asObject(entry).protocol) || 'TCP';
      hostPorts ??= [];
      hostPorts.push({ ip, protocol, port });
    }
  }
  return hostPorts ?? NO_HOST_PORTS;
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
        : asList(asObject(required).nodeSelectorTerms).map(termOf),
    preferredNodeTerms: preferred.map((entry) => ({
      weight: asNumber(asObject(entry).weight),
      term: termOf(asObject(entry).preference),
    })),
    tolerations: tolerations.map(tolerationOf),
  };
}

function tolerationOf(value: unknown): Toleration {
  const toleration = asObject(value);
  return {
    key: asText(toleration.key),
    operator: asText(toleration.operator),
    value: asText(toleration.value),
    effect: asText(toleration.effect),
  };
}

function termOf(value: unknown): NodeTerm {
  const term = asObject(value);
  return {
    matchExpressions: asList(term.matchExpressions).map(requirementOf),
    matchFields: asList(term.matchFields).map(requirementOf),
  };
}

function requirementOf(value: unknown): NodeRequirement {
  const requirement = asObject(value);
  return {
    key: asText(requirement.key),
    operator: asText(requirement.operator),
    values: asTexts(requirement.values),
  };
}
