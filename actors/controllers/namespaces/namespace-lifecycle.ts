// Empties a namespace that is being deleted, then gives up the finalizer that held it (SPEC.md "Terminology": what is in
// a namespace goes with it). Follows the feed until nothing is left. Does not decide that a namespace is deleted, and
// relies on admission to let nothing new in.

import { NOTHING_LEFT } from '../../../api/aggregation/namespace-sweep.ts';
import { asList, asObject, asText, asTexts, partAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { parseKey } from '../../../storage/object-key.ts';
import type { FollowedRecords } from '../../../storage/records/followed-records.ts';
import { GroupedSets } from '../../../values/grouped-sets.ts';
import type { WriteTarget } from '../../admission/protocol.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import type { CustomTypes } from '../custom-types.ts';
import { controllerIdentity } from '../identities.ts';
import type { NamespacedType } from '../options.ts';
import { coreTarget, isTerminating } from '../targets.ts';
import { nextConditions, type Obstacles } from './namespace-conditions.ts';
import type { NamespaceContents } from './namespace-contents.ts';
import { RemoteContents, type SweepNamespace } from './remote-contents.ts';

const NAMESPACES = 'core/namespaces';
const PODS = 'core/pods';
const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);
/** A namespace that is gone by then gets no conditions: they would cost a write and tell nobody anything. */
const QUICK_PATH_MS = 1_000;
const SWEEP_INTERVAL_FIRST_MS = 1_000;
const SWEEP_INTERVAL_MAX_MS = 15_000;

const IN_BACKGROUND = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' } as const;
const NO_OBSTACLES: Obstacles = {
  unknown: new Map(),
  remaining: new Map(),
  finalizers: new Map(),
  failures: new Map(),
};

/** A namespace being deleted that still has our finalizer. Times are monotonic. */
interface Doomed {
  object: ApiObject;
  firstSweepAtMs: number;
  nextSweepAtMs: number;
  sweeps: number;
  /** Why types could not be deleted in the last sweep, by type as errors name it. */
  readonly failures: Map<string, string>;
  /** Objects that have finalizers, as `<storageKey>/<name>`. */
  readonly held: Map<string, readonly string[]>;
  /** The longest that its pods may take to end, as of the last sweep of them. */
  podGraceSeconds: number | undefined;
}

/** The namespace controller. Keys are names of namespaces. */
export class NamespaceLifecycle implements Controller {
  readonly name = 'namespace';
  readonly identity;
  readonly wants: readonly string[];
  readonly countsAbsence = true;
  readonly keysInFlightMax = 10;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #finalizer: string;
  readonly wantsCustom = true;
  readonly #customTypes: Pick<CustomTypes, 'ofStorageKey'>;
  readonly #types = new Map<string, NamespacedType>();
  /** By storage key, the types as errors name them: several where groups share one. */
  readonly #typeNames = new Map<string, Set<string>>();
  readonly #typeByTarget = new Map<string, NamespacedType>();
  readonly #contents: NamespaceContents;
  readonly #records: FollowedRecords;
  readonly #remote: RemoteContents;
  readonly #doomed = new Map<string, Doomed>();
  /** Types that answered deletecollection with 405, by storage key, with their names by namespace: they are deleted one by one. */
  readonly #withoutCollection = new Map<string, GroupedSets>();

  constructor(
    clock: Clock,
    due: Due,
    dialect: Dialect,
    types: readonly NamespacedType[],
    customTypes: Pick<CustomTypes, 'ofStorageKey'>,
    sweepRemote: SweepNamespace,
    { contents, records }: { readonly contents: NamespaceContents; readonly records: FollowedRecords },
  ) {
    this.#contents = contents;
    this.#records = records;
    this.#remote = new RemoteContents(dialect, due, sweepRemote);
    this.#customTypes = customTypes;
    this.identity = controllerIdentity(dialect, 'namespace-controller');
    this.#clock = clock;
    this.#due = due;
    this.#finalizer = dialect.brand;
    for (const type of types) {
      const names = this.#typeNames.get(type.storageKey) ?? new Set();
      this.#typeNames.set(type.storageKey, names.add(qualifiedName(type.group, type.plural)));
      if (this.#types.has(type.storageKey)) continue;
      this.#types.set(type.storageKey, type);
      this.#typeByTarget.set(qualifiedName(type.group, type.plural), type);
    }
    this.wants = [NAMESPACES, this.#remote.storageKey, ...this.#types.keys()];
  }

  reset(): void {
    this.#contents.clear();
    this.#records.clear();
    this.#remote.clear();
    this.#doomed.clear();
    for (const names of this.#withoutCollection.values()) names.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === NAMESPACES) this.#onNamespace(event);
    else if (event.storageKey === this.#remote.storageKey) this.#onApiService(event);
    else this.#onContent(event);
  }

  onMoved(event: FeedEvent): void {
    this.#records.moved(event);
  }

  onSynced(): void {
    for (const name of this.#doomed.keys()) this.#due.add(name);
  }

  plan(key: string): Plan {
    const doomed = this.#doomed.get(key);
    if (doomed === undefined) return NOTHING;
    if (this.#isEmpty(key) && this.#remote.isSwept(key)) return this.#planEnd(key, doomed);
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < doomed.nextSweepAtMs) {
      // What extension servers have is known some time after the sweep.
      const writes = this.#remote.of(key) === undefined ? [] : this.#planStatus(key, doomed, nowMs);
      return { writes, againAfterMs: doomed.nextSweepAtMs - nowMs };
    }
    return this.#planSweep(key, doomed, nowMs);
  }

  onOutcome(key: string, write: Write, outcome: WriteOutcome): void {
    const doomed = this.#doomed.get(key);
    const typeName = qualifiedName(write.target.group, write.target.resource);
    const { group, resource } = write.target;
    const type = this.#typeByTarget.get(typeName) ?? this.#customTypes.ofStorageKey(`${group}/${resource}`);
    if (doomed === undefined || type === undefined) return;
    if (!outcome.ok) {
      // Sweep again as soon as the queue's backoff allows.
      doomed.nextSweepAtMs = 0;
      if (outcome.code === 405 && write.verb === 'deletecollection') this.#learnNames(type.storageKey);
      else doomed.failures.set(typeName, outcome.message);
      return;
    }
    const items = asList(outcome.body?.items);
    if (type.storageKey === PODS && write.verb === 'deletecollection') doomed.podGraceSeconds = longestGrace(items);
    for (const item of items) {
      const metadata = partAt(asObject(item), 'metadata');
      // An answer may come after the feed has shown that the object is gone: then there is nothing to note.
      if (this.#records.has(asText(metadata.uid)))
        noteFinalizers(doomed, `${type.storageKey}/${asText(metadata.name)}`, metadata);
    }
  }

  /** What was left behind by a definition that is gone, its finalizer taken off by hand, can be deleted by nobody, and holds nothing. */
  #isEmpty(namespace: string): boolean {
    return this.#contents.isEmpty(namespace, (storageKey) => this.#typeOf(storageKey) !== undefined);
  }

  #typeOf(storageKey: string): NamespacedType | undefined {
    return this.#types.get(storageKey) ?? this.#customTypes.ofStorageKey(storageKey);
  }

  /** An object is in each of the groups that its type is served in. */
  #namesOfType(storageKey: string): ReadonlySet<string> {
    const names = this.#typeNames.get(storageKey);
    if (names !== undefined) return names;
    const type = this.#customTypes.ofStorageKey(storageKey);
    return new Set(type === undefined ? [] : [qualifiedName(type.group, type.plural)]);
  }

  #onNamespace(event: FeedEvent): void {
    const object = event.type === 'delete' ? undefined : event.object();
    const isOurs = object !== undefined && isTerminating(object) && finalizersOf(object).includes(this.#finalizer);
    if (!isOurs) {
      this.#doomed.delete(event.name);
      this.#remote.forget(event.name);
      return;
    }
    const doomed = this.#doomed.get(event.name);
    if (doomed !== undefined) doomed.object = object;
    else {
      const fresh = { firstSweepAtMs: 0, nextSweepAtMs: 0, sweeps: 0, failures: new Map(), held: new Map() };
      this.#doomed.set(event.name, { object, ...fresh, podGraceSeconds: undefined });
    }
    this.#due.add(event.name);
  }

  /** A server that can be reached again, or another one: nobody waits for the next sweep. */
  #onApiService(event: FeedEvent): void {
    if (!this.#remote.onEvent(event)) return;
    for (const [name, doomed] of this.#doomed) {
      doomed.nextSweepAtMs = 0;
      this.#due.add(name);
    }
  }

  #onContent(event: FeedEvent): void {
    if (event.namespace === '') return;
    const cameOrWent = this.#contents.onEvent(event);
    if (event.type === 'delete') this.#records.remove(event);
    else this.#records.put(event);
    const names = this.#withoutCollection.get(event.storageKey);
    if (event.type === 'delete') names?.remove(event.namespace, event.name);
    else names?.add(event.namespace, event.name);
    const doomed = this.#doomed.get(event.namespace);
    if (doomed === undefined) return;
    if (event.type === 'delete') {
      doomed.held.delete(`${event.storageKey}/${event.name}`);
      if (this.#isEmpty(event.namespace)) this.#due.add(event.namespace);
      return;
    }
    const metadata = partAt(event.object(), 'metadata');
    noteFinalizers(doomed, `${event.storageKey}/${event.name}`, metadata);
    if (cameOrWent) {
      doomed.nextSweepAtMs = 0;
      this.#due.add(event.namespace);
    }
  }

  /** All objects are looked at, but once: the names of one namespace cannot be found in less. */
  #learnNames(storageKey: string): void {
    if (this.#withoutCollection.has(storageKey)) return;
    const names = new GroupedSets();
    for (const key of this.#records.keysBelow(Buffer.from(`${storageKey}/`))) {
      const { namespace, name } = parseKey(key);
      names.add(namespace, name);
    }
    this.#withoutCollection.set(storageKey, names);
  }

  // Pods are deleted with their own grace: the same delete that everything else gets, which is repeated without harm.
  #planSweep(namespace: string, doomed: Doomed, nowMs: number): Plan {
    if (doomed.sweeps === 0) doomed.firstSweepAtMs = nowMs;
    const writes = this.#planStatus(namespace, doomed, nowMs);
    this.#remote.begin(namespace);
    for (const storageKey of this.#contents.of(namespace).keys()) {
      const type = this.#typeOf(storageKey);
      if (type === undefined) continue;
      const names = this.#withoutCollection.get(storageKey);
      if (names !== undefined) {
        for (const name of names.of(namespace))
          writes.push({ verb: 'delete', target: targetOf(type, namespace, name), body: IN_BACKGROUND });
      } else {
        writes.push({ verb: 'deletecollection', target: targetOf(type, namespace, ''), body: IN_BACKGROUND });
      }
    }
    const intervalMs = Math.min(SWEEP_INTERVAL_MAX_MS, SWEEP_INTERVAL_FIRST_MS * 2 ** Math.min(doomed.sweeps, 10));
    doomed.sweeps += 1;
    doomed.nextSweepAtMs = nowMs + intervalMs;
    doomed.failures.clear();
    return { writes, againAfterMs: intervalMs };
  }

  #planStatus(namespace: string, doomed: Doomed, nowMs: number): Write[] {
    if (doomed.sweeps === 0 || nowMs - doomed.firstSweepAtMs < QUICK_PATH_MS) return [];
    const write = this.#statusWrite(namespace, doomed.object, this.#obstacles(namespace, doomed));
    return write === undefined ? [] : [write];
  }

  #statusWrite(namespace: string, object: ApiObject, obstacles: Obstacles): Write | undefined {
    const conditions = nextConditions(object, obstacles, timestampOf(this.#clock.nowMs()));
    if (conditions === undefined) return undefined;
    const body = { ...object, status: { ...asObject(object.status), conditions } };
    return { verb: 'update', target: coreTarget('namespaces', '', namespace, 'status'), body };
  }

  #obstacles(namespace: string, doomed: Doomed): Obstacles {
    const remaining = new Map<string, number>();
    for (const [storageKey, count] of this.#contents.of(namespace))
      for (const name of this.#namesOfType(storageKey)) remaining.set(name, count);
    const finalizers = new Map<string, number>();
    for (const [key, held] of doomed.held) {
      const times = this.#namesOfType(key.slice(0, key.lastIndexOf('/'))).size;
      for (const finalizer of held) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + times);
    }
    const failures = new Map(doomed.failures);
    if (this.#havePodsOutlastedGrace(namespace, doomed))
      failures.set('pods', `unexpected items still remain in namespace: ${namespace} for gvr: /v1, Resource=pods`);
    const { unknown, ...remote } = this.#remote.of(namespace) ?? NOTHING_LEFT;
    for (const [type, count] of remote.remaining) remaining.set(type, count);
    for (const [finalizer, count] of remote.finalizers)
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + count);
    return {
      unknown: new Map(unknown),
      remaining,
      finalizers,
      failures: new Map([...failures, ...remote.failures]),
    };
  }

  /** Whether there are pods that no finalizer explains and that should have ended by now: their agent may be gone. */
  #havePodsOutlastedGrace(namespace: string, { object, held, podGraceSeconds }: Doomed): boolean {
    if (podGraceSeconds === undefined || this.#contents.count(namespace, PODS) === 0) return false;
    for (const key of held.keys()) if (key.startsWith(`${PODS}/`)) return false;
    const deletedAtMs = Date.parse(asText(partAt(object, 'metadata').deletionTimestamp));
    return this.#clock.nowMs() - deletedAtMs >= podGraceSeconds * 1_000;
  }

  // Where someone else's finalizer keeps the namespace, its conditions say first that nothing is in the way here: afterwards the
  // namespace is no longer ours to look at.
  #planEnd(namespace: string, doomed: Doomed): Plan {
    const others = finalizersOf(doomed.object).filter((finalizer) => finalizer !== this.#finalizer);
    const staysOn = others.length > 0 || asList(partAt(doomed.object, 'metadata').finalizers).length > 0;
    if (staysOn) {
      const status = this.#statusWrite(namespace, doomed.object, NO_OBSTACLES);
      if (status !== undefined) return { writes: [status] };
    }
    const body = { ...doomed.object, spec: { ...asObject(doomed.object.spec), finalizers: others } };
    return { writes: [{ verb: 'update', target: coreTarget('namespaces', '', namespace, 'finalize'), body }] };
  }
}

/** Of pods that have not ended. */
function longestGrace(pods: readonly unknown[]): number {
  return pods.map(asObject).reduce((longest, pod) => {
    const grace = partAt(pod, 'spec').terminationGracePeriodSeconds;
    return typeof grace === 'number' && !ENDED.has(asText(partAt(pod, 'status').phase))
      ? Math.max(longest, grace)
      : longest;
  }, 0);
}

/** `key`: as in `Doomed.held`. */
function noteFinalizers({ held }: Doomed, key: string, metadata: ApiObject): void {
  const finalizers = asTexts(metadata.finalizers);
  if (finalizers.length === 0) held.delete(key);
  else held.set(key, finalizers);
}

function finalizersOf(namespace: ApiObject): readonly string[] {
  return asTexts(asObject(namespace.spec).finalizers);
}

function qualifiedName(group: string, plural: string): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function targetOf(type: NamespacedType, namespace: string, name: string): WriteTarget {
  const { group, version, plural } = type;
  return { group, version, resource: plural, subresource: '', namespace, name };
}
