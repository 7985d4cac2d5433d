// Removes pods that nobody else will: those bound to a node that is gone, and terminating ones on a node where no node
// agent ever reported. Without it such a pod would be Terminating for ever.

import { asObject, asText, asTimeMs, partAt } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { GroupedSets } from '../../../values/grouped-sets.ts';
import { mayBeBound } from '../../pod-marks.ts';
import { type ApiObject, type Controller, type Due, deletionOf, NOTHING, type Plan } from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget, keyOf, splitKey } from '../targets.ts';
import { hasHeartbeat, readyCondition } from './node-health.ts';

const PODS = 'core/pods';
const NODES = 'core/nodes';
/** A node that is made again within this time keeps its pods. */
const NODE_QUARANTINE_MS = 40_000;

interface Pod {
  readonly uid: string;
  /** Empty where something else in it has the name of that member. */
  readonly node: string;
  /** Monotonic time at which its grace has passed; undefined: not terminating, or only finalizers hold it. */
  readonly deleteAtMs: number | undefined;
}

interface Node {
  /** A node agent has shown itself: a lease, or a `Ready` condition with a heartbeat. Stays true. */
  reports: boolean;
}

/** The pod garbage collector. Keys are `<namespace>/<name>` of pods. */
export class PodGarbage implements Controller {
  readonly name = 'pod-garbage';
  readonly identity;
  readonly wants: readonly string[];
  readonly countsAbsence = true;
  readonly keysInFlightMax = 32;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #leaseNamespace: string;
  readonly #pods = new Map<string, Pod>();
  readonly #podsOfNodes = new GroupedSets();
  readonly #nodes = new Map<string, Node>();
  readonly #leases = new Set<string>();
  /** Nodes that pods are bound to and that do not exist, with the monotonic time since when we know. */
  readonly #absentSinceMs = new Map<string, number>();
  #synced = false;

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'pod-garbage-collector');
    this.wants = [PODS, NODES, dialect.spell('coordination.@group/leases')];
    this.#clock = clock;
    this.#due = due;
    this.#leaseNamespace = dialect.nodeLeaseNamespace;
  }

  // How long nodes have been absent is kept: a stream that begins anew does not begin their quarantine anew.
  reset(): void {
    this.#synced = false;
    this.#pods.clear();
    this.#podsOfNodes.clear();
    this.#nodes.clear();
    this.#leases.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === PODS) this.#onPod(event);
    else if (event.storageKey === NODES) this.#onNode(event);
    else if (event.namespace === this.#leaseNamespace) this.#onLease(event);
  }

  onSynced(): void {
    this.#synced = true;
    for (const node of this.#absentSinceMs.keys())
      if (this.#nodes.has(node) || this.#podsOfNodes.of(node).size === 0) this.#absentSinceMs.delete(node);
    for (const node of this.#podsOfNodes.groups()) this.#reviewNode(node);
  }

  plan(key: string): Plan {
    const pod = this.#pods.get(key);
    if (pod === undefined || pod.node === '') return NOTHING;
    const waitMs = this.#waitMs(pod);
    if (waitMs === undefined) return NOTHING;
    if (waitMs > 0) return { writes: [], againAfterMs: waitMs };
    const { namespace, name } = splitKey(key);
    const target = coreTarget('pods', namespace, name);
    return { writes: [deletionOf(target, { uid: pod.uid }, { gracePeriodSeconds: 0 })] };
  }

  /** Milliseconds until the pod is to be removed; undefined: it is not ours to remove. */
  #waitMs(pod: Pod): number | undefined {
    const node = this.#nodes.get(pod.node);
    if (node === undefined) {
      const sinceMs = this.#absentSinceMs.get(pod.node) ?? this.#clock.monotonicMs();
      return sinceMs + NODE_QUARANTINE_MS - this.#clock.monotonicMs();
    }
    // Graceful pod deletion when nothing runs the pod. On a node with an agent, the agent ends the pod and then deletes
    // it. On a node made by hand nobody would, so the grace is waited for and the pod deleted here: a courtesy of this
    // control plane, which others do not offer.
    if (node.reports || pod.deleteAtMs === undefined) return undefined;
    return pod.deleteAtMs - this.#clock.monotonicMs();
  }

  #onPod(event: FeedEvent): void {
    const key = keyOf(event.namespace, event.name);
    const known = this.#pods.get(key);
    if (event.type === 'delete') {
      if (known !== undefined) this.#unbind(key, known.node);
      this.#pods.delete(key);
      return;
    }
    // Before it is bound a pod is nobody's here, and is neither parsed nor kept.
    if (known === undefined && !mayBeBound(event)) return;
    // A binding is for life, and on a node with an agent nothing else about the pod matters: spares the parsing.
    if (known !== undefined && this.#nodes.get(known.node)?.reports) return;
    const pod = readPod(event.object(), this.#clock);
    this.#pods.set(key, pod);
    if (known?.node !== pod.node) {
      if (known !== undefined) this.#unbind(key, known.node);
      if (pod.node !== '') this.#podsOfNodes.add(pod.node, key);
    }
    if (this.#synced && pod.node !== '') this.#reviewPod(key, pod);
  }

  #onNode(event: FeedEvent): void {
    if (event.type === 'delete') {
      this.#nodes.delete(event.name);
      this.#reviewNode(event.name);
      return;
    }
    let node = this.#nodes.get(event.name);
    const isNew = node === undefined;
    node ??= { reports: this.#leases.has(event.name) };
    this.#nodes.set(event.name, node);
    this.#absentSinceMs.delete(event.name);
    if (!node.reports) node.reports = hasHeartbeat(readyCondition(event.object()));
    if (isNew && this.#synced) this.#reviewNode(event.name);
  }

  #onLease(event: FeedEvent): void {
    if (event.type === 'delete') {
      this.#leases.delete(event.name);
      return;
    }
    this.#leases.add(event.name);
    const node = this.#nodes.get(event.name);
    if (node !== undefined) node.reports = true;
  }

  #unbind(key: string, node: string): void {
    if (this.#podsOfNodes.remove(node, key)) this.#absentSinceMs.delete(node);
  }

  #reviewNode(node: string): void {
    for (const key of this.#podsOfNodes.of(node)) this.#reviewPod(key, this.#pods.get(key)!);
  }

  #reviewPod(key: string, pod: Pod): void {
    if (!this.#nodes.has(pod.node) && !this.#absentSinceMs.has(pod.node))
      this.#absentSinceMs.set(pod.node, this.#clock.monotonicMs());
    if (this.#waitMs(pod) !== undefined) this.#due.add(key);
  }
}

function readPod(object: ApiObject, clock: Clock): Pod {
  const metadata = partAt(object, 'metadata');
  return {
    uid: asText(metadata.uid),
    node: asText(asObject(object.spec).nodeName),
    deleteAtMs: graceEndMs(metadata, clock),
  };
}

// The API server writes into deletionTimestamp when the grace will have passed, not when deletion was asked for. A clock that was
// set back since then gives a pod no more than its grace.
function graceEndMs(metadata: ApiObject, clock: Clock): number | undefined {
  const graceSeconds = metadata.deletionGracePeriodSeconds;
  if (typeof graceSeconds !== 'number' || graceSeconds <= 0) return undefined;
  const untilMs = asTimeMs(metadata.deletionTimestamp);
  return untilMs && clock.monotonicMs() + Math.min(untilMs - clock.nowMs(), 1000 * graceSeconds);
}
