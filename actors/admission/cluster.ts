// What admission plugins know of the cluster: objects of few and small kinds, followed from the store's stream on this thread,
// and kept as what each plugin makes of them. A write that is judged by them waits until everything that was committed before
// it is known here, so that nobody's own last write is missed; until all has been read, nothing is judged by it. Kinds with
// many objects are not followed: those are read one at a time (store-reader.ts).
import { type StoredForm, storedKind } from '../../api/catalog/stored-form.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Registry } from '../../api/resources/registry.ts';
import { internalError, storeNotRead } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import type { UnreadableValue } from '../../storage/following/publication.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import { parseKey } from '../../storage/object-key.ts';
import { FeedFollower } from '../following/feed-follower.ts';
import { feedOfThread } from '../following/feed-of-thread.ts';
import type { StoreBatch } from '../store/protocol.ts';

/** How long a write waits for the stream before its client is told to come back. */
const CATCH_UP_WAIT_MS = 10_000;

/** Where an object is, and the revision of its last change. */
export interface Whereabouts {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
}

/** An object that cannot be read, and why, in the words that clients are told. */
interface Unread extends Pick<Whereabouts, 'namespace' | 'name'> {
  readonly why: string;
}

/** What is kept of an object; undefined: nothing. */
export type Keep<T> = (object: JsonObject, of: Whereabouts) => T | undefined;

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/** The objects of a kind as their followers keep them. */
export class KindView<T> {
  readonly #keep: Keep<T>;
  readonly #byNamespace = new Map<string, Map<string, T>>();
  #changes = 0;
  #unread: readonly Unread[] = [];

  constructor(keep: Keep<T>) {
    this.#keep = keep;
  }

  /** Counts changes: what was computed from the view is good while it stays the same. */
  get changes(): number {
    return this.#changes;
  }

  /** Throws 500 where there is such an object and it cannot be read. */
  get(namespace: string, name: string): T | undefined {
    if (this.#unread.length > 0) this.#requireRead(namespace, name);
    return this.#byNamespace.get(namespace)?.get(name);
  }

  /** The objects of a namespace (empty: of the cluster) by name. Throws 500 where there are some that cannot be read. */
  within(namespace: string): ReadonlyMap<string, T> {
    if (this.#unread.length > 0) this.#requireRead(namespace);
    return this.#byNamespace.get(namespace) ?? NONE;
  }

  reset(): void {
    this.#changes++;
    this.#byNamespace.clear();
  }

  /** The objects that are there and of which nothing is known, as they cannot be read: nobody is let through by that. */
  setUnread(unread: readonly Unread[]): void {
    this.#changes++;
    this.#unread = unread;
  }

  put(object: JsonObject, of: Whereabouts): void {
    const kept = this.#keep(object, of);
    if (kept === undefined) {
      this.remove(of);
      return;
    }
    this.#changes++;
    let within = this.#byNamespace.get(of.namespace);
    if (within === undefined) {
      within = new Map();
      this.#byNamespace.set(of.namespace, within);
    }
    within.set(of.name, kept);
  }

  remove({ namespace, name }: Whereabouts): void {
    this.#changes++;
    const within = this.#byNamespace.get(namespace);
    within?.delete(name);
    if (within?.size === 0) this.#byNamespace.delete(namespace);
  }

  #requireRead(namespace: string, name?: string): void {
    const found = this.#unread.find((one) => one.namespace === namespace && (name === undefined || one.name === name));
    if (found !== undefined) throw new StatusError(internalError(found.why));
  }
}

interface Followed {
  readonly view: KindView<unknown>;
  readonly inVersion: (object: JsonObject) => JsonObject;
  readonly withOwners: boolean;
}

/** How a kind is followed. */
interface Following {
  /** Objects are given with their managedFields, which is for who stores them again. */
  readonly withOwners?: boolean;
}

interface ClusterParts {
  readonly registry: Registry;
  readonly forms: StoredForm;
}

interface WaitingWrite {
  readonly revision: number;
  readonly go: () => void;
}

export class ClusterView {
  readonly #context: ActorContext;
  readonly #parts: ClusterParts;
  readonly #followed = new Map<string, Followed[]>();
  readonly #waiting = new Set<WaitingWrite>();
  #follower: FeedFollower | undefined;
  #isWhole = false;
  #views = 0;

  constructor(context: ActorContext, parts: ClusterParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** How many views there are. */
  get views(): number {
    return this.#views;
  }

  /** Whether everything has been read. What was known before the stream broke off no longer counts. */
  get isWhole(): boolean {
    return this.#follower === undefined || this.#isWhole;
  }

  /**
   * Follows a kind, for as long as the actor lives. Call it while the plugins are made.
   *
   * @param kind `v1/limitranges`, `scheduling.@group/v1/priorityclasses`: in that version objects are given to `keep`.
   */
  follow<T>(kind: string, keep: Keep<T>, { withOwners = false }: Following = {}): KindView<T> {
    if (this.#follower !== undefined) throw new Error(`${kind} is to be followed too late`);
    const { registry, forms } = this.#parts;
    const [plural = '', version = '', group = ''] = registry.dialect.spell(kind).split('/').reverse();
    const type = registry.storageType(`${group || 'core'}/${plural}`);
    if (type === undefined) throw new Error(`there are no objects of ${kind} to follow`);
    const view = new KindView(keep);
    const wanted = { group, version, kind: type.kind };
    const followed: Followed = {
      view: view as KindView<unknown>,
      inVersion: forms.between(storedKind(type), wanted),
      withOwners,
    };
    this.#followed.set(type.storageKey, [...(this.#followed.get(type.storageKey) ?? []), followed]);
    this.#views++;
    return view;
  }

  /**
   * Waits until all that has been committed by now is known; undefined where it is already. Rejects with 503 when the stream
   * does not come so far.
   */
  current(): Promise<void> | undefined {
    const follower = this.#follower;
    if (follower === undefined) return undefined;
    const acknowledged = follower.acknowledgedRevision();
    if (acknowledged !== undefined) return acknowledged.then((revision) => this.#known(follower, revision));
    return this.#known(follower, follower.committedRevision);
  }

  /** The same of what this server has committed or was told of: nobody else is asked. */
  currentHere(): Promise<void> | undefined {
    const follower = this.#follower;
    return follower && this.#known(follower, follower.committedRevision);
  }

  #known(follower: FeedFollower, revision: number): Promise<void> | undefined {
    return this.#isWhole && follower.appliedRevision >= revision ? undefined : this.#reach(revision);
  }

  /** Without views nothing is subscribed to. */
  start(): void {
    if (this.#views === 0) return;
    this.#follower = new FeedFollower(this.#context, [...this.#followed.keys()], feedOfThread, {
      onReset: () => {
        this.#isWhole = false;
        for (const followers of this.#followed.values()) for (const { view } of followers) view.reset();
      },
      onEvent: (event) => this.#onEvent(event),
      onUnread: (values) => this.#onUnread(values),
      onSynced: () => {
        this.#isWhole = true;
        this.#release();
      },
      onBatchEnd: () => this.#release(),
    });
    this.#follower.start();
  }

  stop(): void {
    this.#follower?.stop();
  }

  onBatch(batch: StoreBatch): void {
    this.#follower?.onBatch(batch);
  }

  onLost(): void {
    this.#follower?.onLost();
  }

  #onUnread(values: readonly UnreadableValue[]): void {
    const all = values.map(({ key, why }) => ({ ...parseKey(key), why }));
    for (const [storageKey, followers] of this.#followed) {
      const ofType = all.filter((one) => one.storageKey === storageKey);
      for (const { view } of followers) view.setUnread(ofType);
    }
  }

  #onEvent(event: FeedEvent): void {
    const { namespace, name, revision, type, storageKey } = event;
    const followers = this.#followed.get(storageKey) ?? [];
    const of = { namespace, name, revision };
    if (type === 'delete') {
      for (const { view } of followers) view.remove(of);
      return;
    }
    try {
      for (const { view, inVersion, withOwners } of followers) {
        view.put(inVersion(withOwners ? event.kept().object() : event.object()), of);
      }
    } catch (error) {
      // One object that cannot be read must not keep the others from being known.
      this.#context.log.error({ event: { type, storageKey, namespace, name }, err: error }, 'object not understood');
    }
  }

  #reach(revision: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#context.timers.after(CATCH_UP_WAIT_MS, () => {
        this.#waiting.delete(waiting);
        reject(new StatusError(storeNotRead()));
      });
      const waiting: WaitingWrite = {
        revision,
        go: () => {
          timer.cancel();
          resolve();
        },
      };
      this.#waiting.add(waiting);
    });
  }

  #release(): void {
    const applied = this.#follower!.appliedRevision;
    for (const waiting of this.#waiting) {
      if (waiting.revision > applied) continue;
      this.#waiting.delete(waiting);
      waiting.go();
    }
  }
}
