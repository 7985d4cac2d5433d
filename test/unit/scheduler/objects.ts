// Pods, nodes and randomness for the scheduler's tests: valid by default, changed where a test says so.

import { ClusterState } from '../../../actors/scheduler/core/cluster-state.ts';
import type { CoreOptions } from '../../../actors/scheduler/core/core-options.ts';
import { zoneByLabels } from '../../../actors/scheduler/core/node-order.ts';
import { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import type { ClusterView, Profile } from '../../../actors/scheduler/framework/framework.ts';
import { DEFAULT_GATES } from '../../../actors/scheduler/framework/gates.ts';
import { NodeInfo } from '../../../actors/scheduler/nodes/node-info.ts';
import { type PodInfo, readPod } from '../../../actors/scheduler/pods/pod-info.ts';
import { DEFAULT_PLUGINS } from '../../../actors/scheduler/profiles/default-plugins.ts';
import { PLUGIN_ARGS } from '../../../actors/scheduler/profiles/plugin-args.ts';
import { makeProfile } from '../../../actors/scheduler/profiles/profile.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { Random } from '../../../runtime/environment.ts';

export const dialect = DIALECTS.orch;
const AVOID_ANNOTATION = dialect.spell('scheduler.alpha.@label/preferAvoidPods');
/** The profile of a scheduler that nobody configured. */
export function defaultProfile(of: Dialect, schedulerName = 'default-scheduler'): Profile {
  return makeProfile({ schedulerName, sets: DEFAULT_PLUGINS, args: PLUGIN_ARGS, dialect: of, gates: DEFAULT_GATES });
}

export const zoneOf = zoneByLabels(dialect);

/** A seeded Random: same seed, same numbers. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(next() * 256));
  return { next, bytes, uuid: () => Buffer.from(bytes(16)).toString('hex') };
}

export interface PodParts {
  readonly namespace?: string;
  readonly uid?: string;
  readonly requests?: JsonObject;
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

/** A core/v1 Pod, pending, of the default scheduler, with one container. */
export function pod(name: string, parts: PodParts = {}): JsonObject {
  const { namespace = 'default', uid = `uid-${name}`, requests = {}, metadata, spec, status } = parts;
  return {
    metadata: { namespace, name, uid, resourceVersion: '7', ...metadata },
    spec: { schedulerName: 'default-scheduler', containers: [{ name: 'main', resources: { requests } }], ...spec },
    status: { phase: 'Pending', ...status },
  };
}

/** The same pod on a node. */
export function boundPod(name: string, node: string, parts: PodParts = {}): JsonObject {
  return pod(name, { ...parts, spec: { nodeName: node, ...parts.spec } });
}

export interface NodeParts {
  readonly allocatable?: JsonObject;
  readonly labels?: JsonObject;
  readonly taints?: readonly JsonObject[];
  readonly unschedulable?: boolean;
  readonly annotations?: JsonObject;
  readonly images?: readonly JsonObject[];
}

/** A core/v1 Node with 4 cpu, 8Gi and room for 110 pods. */
export function node(name: string, parts: NodeParts = {}): JsonObject {
  const { allocatable = {}, labels = {}, taints, unschedulable, annotations = {}, images = [] } = parts;
  return {
    metadata: { name, labels, annotations },
    spec: { ...(taints === undefined ? {} : { taints }), ...(unschedulable === undefined ? {} : { unschedulable }) },
    status: {
      allocatable: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110', ...allocatable },
      images,
    },
  };
}

export function podInfo(name: string, parts: PodParts = {}): PodInfo {
  return readPod(pod(name, parts));
}

/** A node with these pods counted in. */
export function nodeInfo(name: string, parts: NodeParts = {}, pods: readonly PodInfo[] = []): NodeInfo {
  const info = new NodeInfo(name);
  info.update(node(name, parts), AVOID_ANNOTATION);
  for (const each of pods) info.addPod(each);
  return info;
}

export function newCore(options: Partial<CoreOptions> = {}): SchedulingCore {
  return new SchedulingCore({ ...coreOptions(), ...options });
}

/** Of a core that nobody configured. */
export function coreOptions(): CoreOptions {
  return { profiles: [defaultProfile(dialect)], random: seededRandom(1), dialect };
}

/** A cluster of nodes made one by one; nothing is known of their pods but what is counted in. */
export function viewOf(nodes: readonly NodeInfo[]): ClusterView {
  const { topology, objects } = new ClusterState(dialect);
  const imageNodes = new Map<string, number>();
  for (const name of nodes.flatMap(({ images }) => [...images.keys()])) {
    imageNodes.set(name, (imageNodes.get(name) ?? 0) + 1);
  }
  return {
    nodes,
    hasSoftTaints: nodes.some(({ softTaints }) => softTaints.length > 0),
    hasHardTaints: nodes.some(({ hardTaints }) => hardTaints.length > 0),
    hasCordonedNodes: nodes.some(({ unschedulable }) => unschedulable),
    hasAvoidingNodes: nodes.some(({ avoids }) => avoids.length > 0),
    imageNodes,
    topology,
    node: (name) => nodes.find((each) => each.name === name),
    objects,
  };
}
