// The pods of nodes that are in trouble: those that do not tolerate a node's NoExecute taints are evicted, at once or when the time
// is up that they tolerate them for, and those of a node that nobody hears of are said not to be ready. Pods of other nodes are
// parsed once, when they are bound. Since when a node has each of its taints is taint-times.ts'.

import { asText, asTimeMs, partAt, partsAt, setNumberAt, textAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import { tolerationOf } from '../../../api/pods/tolerations.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent, KeptRecord } from '../../../storage/following/store-feed.ts';
import { GroupedSets } from '../../../values/grouped-sets.ts';
import { mayBeBound } from '../../pod-marks.ts';
import { Announcements } from '../announcements.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  deletionOf,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget, isTerminating, keyOf, splitKey } from '../targets.ts';
import { readyCondition } from './node-health.ts';
import { areSameTaints, TaintTimes, type TimedTaint, taintLike } from './taint-times.ts';

const PODS = 'core/pods';
const NODES = 'core/nodes';

interface Node {
  readonly taints: readonly TimedTaint[];
  /** What `Ready` says; undefined: there is none. */
  readonly ready: string | undefined;
}

interface Pod {
  readonly node: string;
  readonly record: KeptRecord;
  /** Monotonic time. */
  readonly boundAtMs: number;
}

const NO_TAINTS: readonly TimedTaint[] = [];

/** Keys are `<namespace>/<name>` of pods. */
export class NodePods implements Controller {
  readonly name = 'node-pods';
  readonly identity;
  readonly wants = [PODS, NODES];
  readonly countsAbsence = true;
  readonly keysInFlightMax = 32;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #announcements: Announcements;
  readonly #taintTimes: TaintTimes;
  readonly #pods = new Map<string, Pod>();
  readonly #podsOfNodes = new GroupedSets();
  readonly #nodes = new Map<string, Node>();
  /** Pods that were ready on a node that is not. */
  readonly #misjudged = new Set<string>();
  /** Pods that will be evicted unless something changes. */
  readonly #timed = new Set<string>();
  #synced = false;

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'node-controller');
    this.#clock = clock;
    this.#due = due;
    this.#announcements = new Announcements(clock, due);
    this.#taintTimes = new TaintTimes(clock, dialect);
  }

  reset(): void {
    this.#synced = false;
    this.#pods.clear();
    this.#podsOfNodes.clear();
    this.#nodes.clear();
    this.#misjudged.clear();
    this.#timed.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === PODS) this.#onPod(event);
    else this.#onNode(event);
  }

  onMoved(event: FeedEvent): void {
    if (event.storageKey !== PODS) return;
    const key = keyOf(event.namespace, event.name);
    const pod = this.#pods.get(key);
    if (pod?.record.revision === event.revision) this.#pods.set(key, { ...pod, record: event.kept() });
  }

  onSynced(): void {
    this.#synced = true;
    this.#announcements.clear();
    this.#timed.clear();
    for (const [name, node] of this.#nodes) if (isTroubled(node)) this.#reviewPods(name, true);
  }

  plan(key: string): Plan {
    if (this.#announcements.owns(key)) return this.#announcements.plan(key);
    const pod = this.#pods.get(key);
    const node = pod && this.#nodes.get(pod.node);
    if (pod === undefined || node === undefined) return NOTHING;
    const object = pod.record.object();
    const writes =
      this.#misjudged.delete(key) && isNotReady(node) ? this.#unready(key, pod.record.revision, object) : [];
    const waitMs = this.#evictionMs(pod, node, object);
    if (waitMs === undefined) {
      if (this.#timed.delete(key)) this.#tell(key, 'Cancelling deletion of Pod');
      return { writes };
    }
    if (waitMs > 0) {
      this.#timed.add(key);
      return { writes, againAfterMs: waitMs };
    }
    const { namespace, name } = splitKey(key);
    const uid = textAt(partAt(object, 'metadata'), 'uid');
    return { writes: [...writes, deletionOf(coreTarget('pods', namespace, name), { uid })] };
  }

  onOutcome(key: string, { verb, target }: Write, { ok }: WriteOutcome): void {
    if (!ok) {
      if (target.subresource === 'status') this.#misjudged.add(key);
      return;
    }
    if (verb === 'delete') {
      this.#timed.delete(key);
      this.#tell(key, 'Marking for deletion Pod');
    } else if (target.subresource === 'status') {
      const about = { kind: 'Pod', ...splitKey(key), uid: '' } as const;
      const says = { reason: 'NodeNotReady', message: 'Node is not ready' };
      this.#announcements.tell({ about, component: 'node-controller', type: 'Warning', ...says });
    }
  }

  #onPod(event: FeedEvent): void {
    const key = keyOf(event.namespace, event.name);
    const known = this.#pods.get(key);
    if (event.type === 'delete') {
      this.#forget(key, known);
      return;
    }
    // A binding is for life.
    if (known !== undefined) {
      this.#pods.set(key, { ...known, record: event.kept() });
      if ((this.#nodes.get(known.node)?.taints.length ?? 0) > 0) this.#due.add(key);
      return;
    }
    const node = mayBeBound(event) ? textAt(partAt(event.object(), 'spec'), 'nodeName') : '';
    if (node === '') return;
    const agoMs = event.type === 'present' ? this.#boundAgoMs(event.object()) : 0;
    this.#pods.set(key, { node, record: event.kept(), boundAtMs: this.#clock.monotonicMs() - agoMs });
    this.#podsOfNodes.add(node, key);
    const on = this.#nodes.get(node);
    if (on !== undefined && isTroubled(on)) this.#review(key, true);
  }

  /** Of a pod that was there before us: a restart takes no time from it that it has on its node. */
  #boundAgoMs(pod: ApiObject): number {
    const scheduled = partsAt(partAt(pod, 'status'), 'conditions').find(({ type }) => type === 'PodScheduled');
    const boundMs =
      asTimeMs(scheduled?.lastTransitionTime) ?? asTimeMs(partAt(pod, 'metadata').creationTimestamp) ?? -Infinity;
    return Math.max(0, this.#clock.nowMs() - boundMs);
  }

  #forget(key: string, known: Pod | undefined): void {
    this.#pods.delete(key);
    this.#misjudged.delete(key);
    this.#timed.delete(key);
    if (known !== undefined) this.#podsOfNodes.remove(known.node, key);
  }

  #onNode(event: FeedEvent): void {
    const { name, type } = event;
    const known = this.#nodes.get(name);
    if (type === 'delete') {
      this.#nodes.delete(name);
      if (known !== undefined && known.taints.length > 0) this.#reviewPods(name, false);
      return;
    }
    const object = event.object();
    const before = known?.taints ?? NO_TAINTS;
    const taints = this.#taintTimes.of(object, before, type === 'present');
    const ready = readyCondition(object);
    const node: Node = { taints, ready: ready === undefined ? undefined : asText(ready.status) };
    this.#nodes.set(name, node);
    const isSilent = node.ready === 'Unknown' && known?.ready !== 'Unknown';
    if (isSilent || !areSameTaints(taints, before)) this.#reviewPods(name, isSilent);
  }

  #reviewPods(node: string, mayBeMisjudged: boolean): void {
    for (const key of this.#podsOfNodes.of(node)) this.#review(key, mayBeMisjudged);
  }

  #review(key: string, mayBeMisjudged: boolean): void {
    if (!this.#synced) return;
    if (mayBeMisjudged) this.#misjudged.add(key);
    this.#due.add(key);
  }

  /** Milliseconds until the pod is to be deleted; undefined: it is not. */
  #evictionMs({ boundAtMs }: Pod, { taints }: Node, pod: ApiObject): number | undefined {
    if (taints.length === 0 || isTerminating(pod)) return undefined;
    const tolerations = partsAt(partAt(pod, 'spec'), 'tolerations').map((toleration) => ({
      ...taintLike(toleration),
      operator: textAt(toleration, 'operator'),
      seconds: setNumberAt(toleration, 'tolerationSeconds') ?? Infinity,
    }));
    const endsMs = taints.map((taint) => {
      const seconds = tolerationOf(tolerations, taint)?.seconds ?? 0;
      return Math.max(Math.max(taint.sinceMs, boundAtMs) + Math.max(0, seconds) * 1000, taint.heldUntilMs);
    });
    const endMs = Math.min(...endsMs);
    return endMs === Infinity ? undefined : Math.max(0, endMs - this.#clock.monotonicMs());
  }

  #unready(key: string, revision: number, pod: ApiObject): Write[] {
    const conditions = partsAt(partAt(pod, 'status'), 'conditions');
    if (!conditions.some(isReadyCondition)) return [];
    const lastTransitionTime = timestampOf(this.#clock.nowMs());
    const after = conditions.map((condition) =>
      isReadyCondition(condition) ? { ...condition, status: 'False', lastTransitionTime } : condition,
    );
    const { namespace, name } = splitKey(key);
    const body = { metadata: { resourceVersion: String(revision) }, status: { conditions: after } };
    return [{ verb: 'patch', target: coreTarget('pods', namespace, name, 'status'), body }];
  }

  #tell(key: string, what: string): void {
    const about = { kind: 'Pod', ...splitKey(key), uid: '' } as const;
    const message = `${what} ${key}`;
    this.#announcements.tell({
      about,
      component: 'taint-controller',
      type: 'Normal',
      reason: 'TaintManagerEviction',
      message,
    });
  }
}

function isTroubled(node: Node): boolean {
  return node.taints.length > 0 || isNotReady(node);
}

function isNotReady({ ready }: Node): boolean {
  return ready !== undefined && ready !== 'True';
}

function isReadyCondition({ type, status }: ApiObject): boolean {
  return type === 'Ready' && status === 'True';
}
