// A store and an admission small enough to read: objects in a map, writes applied at once, every change one batch of the
// stream. It knows what of the API's behaviour the controllers rely on, records every write, and fails when told to.
import type { WriteReply, WriteRequest } from '../../../actors/admission/protocol.ts';
import type { FeedFactory } from '../../../actors/feed-of-thread.ts';
import type { PresentState, PublishedPlace, StoreBatch } from '../../../actors/store/protocol.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/store-feed.ts';

/** An object in a test: as loose as JSON. */
export interface Loose {
  [key: string]: Loose | Loose[] | string | number | boolean | undefined | null | string[];
}

interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  labels?: Record<string, string>;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** A stored object: metadata for certain, the rest as loose as JSON. */
export interface Stored {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec?: Loose;
  status?: Loose;
  data?: Record<string, string>;
  [key: string]: unknown;
}

interface Change {
  readonly type: FeedEvent['type'];
  readonly storageKey: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly text: string;
}

export interface RecordedWrite {
  readonly request: WriteRequest;
  readonly body: Stored | undefined;
  readonly code: number;
}

const PLACE: PublishedPlace = { incarnation: 1, revision: 1, slab: 0, offset: 0 };
const FINALIZERS: Readonly<Record<string, string>> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' };
const WITHOUT_COLLECTION: ReadonlySet<string> = new Set(['services']);

export class FakeCluster {
  readonly #dialect: Dialect;
  readonly #clock: Clock;
  readonly #objects = new Map<string, Change>();
  readonly #batches = new Map<number, Change[]>();
  readonly #presents = new Map<number, Change[]>();
  #revision = 0;
  #sequence = 0;
  #uids = 0;
  readonly writes: RecordedWrite[] = [];
  /** Batches on their way to the subscriber. */
  readonly outbox: StoreBatch[] = [];
  /** How often an object of this storage key was parsed. */
  readonly parsed = new Map<string, number>();
  /** An answer or error instead of the write; undefined lets it through. */
  fault: (request: WriteRequest) => WriteReply | Error | undefined = () => undefined;
  inFlight = 0;
  inFlightMost = 0;

  constructor(dialect: Dialect, clock: Clock) {
    this.#dialect = dialect;
    this.#clock = clock;
  }

  get(storageKey: string, namespace: string, name: string): Stored | undefined {
    const change = this.#objects.get(`${storageKey}/${namespace}/${name}`);
    return change === undefined ? undefined : (JSON.parse(change.text) as Stored);
  }

  names(storageKey: string): string[] {
    return [...this.#objects.values()]
      .filter((change) => change.storageKey === storageKey)
      .map(({ namespace, name }) => (namespace === '' ? name : `${namespace}/${name}`))
      .sort();
  }

  /** Stores an object behind admission's back. */
  put(storageKey: string, object: Stored): void {
    const metadata = {
      uid: `uid-${++this.#uids}`,
      creationTimestamp: new Date(this.#clock.nowMs()).toISOString(),
      ...object.metadata,
    };
    this.#revision += 1;
    metadata.resourceVersion = String(this.#revision);
    this.#commit('put', storageKey, { ...object, metadata });
  }

  remove(storageKey: string, namespace: string, name: string): void {
    const object = this.get(storageKey, namespace, name);
    if (object === undefined) throw new Error(`no ${storageKey}/${namespace}/${name}`);
    this.#revision += 1;
    this.#commit('delete', storageKey, object);
  }

  /** Requests deletion as a client would. */
  delete(storageKey: string, namespace: string, name: string, propagationPolicy = 'Background'): number {
    return this.#delete(storageKey, namespace, name, { propagationPolicy });
  }

  subscribe(): PresentState {
    this.#presents.set(this.#sequence, [...this.#objects.values()]);
    return {
      incarnation: 1,
      sequence: this.#sequence,
      revision: this.#revision,
      compactedRevision: 0,
      sharedState: new SharedArrayBuffer(8),
      readerSlot: 0,
      slabs: [],
      live: new Uint32Array(0),
      history: new Uint32Array(0),
      tokenKey: new Uint8Array(0),
    };
  }

  readonly feedFactory: FeedFactory = (_context, storageKeys, onEvent) => {
    const wanted = new Set(storageKeys);
    const emit = (changes: readonly Change[], type?: 'present') => {
      for (const change of changes) if (wanted.has(change.storageKey)) onEvent(this.#event(change, type));
    };
    return {
      begin: (present) => emit(this.#presents.get(present.sequence) ?? [], 'present'),
      apply: (batch) => emit(this.#batches.get(batch.sequence) ?? []),
    };
  };

  async write(request: WriteRequest): Promise<WriteReply> {
    this.inFlight += 1;
    this.inFlightMost = Math.max(this.inFlightMost, this.inFlight);
    await Promise.resolve();
    this.inFlight -= 1;
    const body =
      request.payload.length === 0 ? undefined : (JSON.parse(new TextDecoder().decode(request.payload)) as Stored);
    const fault = this.fault(request);
    const reply = fault ?? this.#apply(request, body);
    this.writes.push({ request, body, code: reply instanceof Error ? 0 : reply.code });
    if (reply instanceof Error) throw reply;
    return reply;
  }

  #apply({ verb, target, parameters }: WriteRequest, body: Stored | undefined): WriteReply {
    const { resource, namespace, subresource } = target;
    const storageKey = `${target.group || 'core'}/${resource}`;
    if (verb === 'deletecollection') {
      if (WITHOUT_COLLECTION.has(resource)) return failure(405);
      const names = this.names(storageKey).filter((name) => name.startsWith(`${namespace}/`));
      const items = names.map((name) => {
        const short = name.slice(namespace.length + 1);
        const before = this.get(storageKey, namespace, short);
        this.#delete(storageKey, namespace, short, undefined);
        return this.get(storageKey, namespace, short) ?? before;
      });
      return parameters.propagationPolicy === 'Background'
        ? { code: 200, body: { kind: 'List', items } }
        : failure(400);
    }
    if (verb === 'delete') {
      const code = this.#delete(storageKey, namespace, target.name, body);
      return code === 200 ? { code, body: { kind: 'Status' } } : failure(code);
    }
    if (body === undefined) return failure(400);
    if (verb === 'create') return this.#create(storageKey, namespace, body);
    if (verb === 'patch') return this.#patch(storageKey, namespace, target.name, body);
    return this.#update(storageKey, namespace, target.name, subresource, body);
  }

  #create(storageKey: string, namespace: string, body: Stored): WriteReply {
    if (namespace !== '') {
      const home = this.get('core/namespaces', '', namespace);
      if (home === undefined) return failure(404);
      if (home.metadata.deletionTimestamp !== undefined) return failure(403);
    }
    if (this.get(storageKey, namespace, body.metadata.name) !== undefined) return failure(409);
    this.put(storageKey, body);
    return { code: 201, place: PLACE };
  }

  #update(storageKey: string, namespace: string, name: string, subresource: string, body: Stored): WriteReply {
    const stored = this.get(storageKey, namespace, name);
    if (stored === undefined) return failure(404);
    if (body.metadata.resourceVersion !== stored.metadata.resourceVersion) return failure(409);
    if (subresource === 'status') {
      this.put(storageKey, { ...stored, status: body.status ?? {} });
      return { code: 200, place: PLACE };
    }
    if (subresource === 'finalize') {
      const spec = { ...stored.spec, finalizers: body.spec?.finalizers ?? [] };
      this.put(storageKey, { ...stored, spec });
      const isFree = (spec.finalizers as string[]).length === 0 && stored.metadata.finalizers === undefined;
      if (isFree && stored.metadata.deletionTimestamp !== undefined) this.remove(storageKey, namespace, name);
      return { code: 200, place: PLACE };
    }
    this.put(storageKey, body);
    return { code: 200, place: PLACE };
  }

  /** Of metadata alone, as a JSON merge patch does it; the last finalizer of a deleted object takes it along. */
  #patch(storageKey: string, namespace: string, name: string, body: Stored): WriteReply {
    const stored = this.get(storageKey, namespace, name);
    if (stored === undefined) return failure(404);
    const { uid, resourceVersion } = stored.metadata;
    if (body.metadata.resourceVersion !== resourceVersion || body.metadata.uid !== uid) return failure(409);
    const members = Object.entries({ ...stored.metadata, ...body.metadata }).filter(([, value]) => value !== null);
    const metadata = Object.fromEntries(members) as unknown as Metadata;
    this.put(storageKey, { ...stored, metadata });
    if (metadata.deletionTimestamp !== undefined && metadata.finalizers === undefined)
      this.remove(storageKey, namespace, name);
    return { code: 200, place: PLACE };
  }

  #delete(storageKey: string, namespace: string, name: string, options: Loose | Stored | undefined): number {
    const stored = this.get(storageKey, namespace, name);
    if (stored === undefined) return 404;
    const preconditions = (options?.preconditions ?? {}) as { uid?: string; resourceVersion?: string };
    const { metadata } = stored;
    if (preconditions.uid !== undefined && preconditions.uid !== metadata.uid) return 409;
    if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== metadata.resourceVersion)
      return 409;
    const grace = this.#graceSeconds(storageKey, stored, options);
    const isNamespace = storageKey === 'core/namespaces';
    const added = FINALIZERS[String(options?.propagationPolicy)];
    const finalizers = [...(metadata.finalizers ?? []), ...(added === undefined ? [] : [added])];
    const isHeld = grace > 0 || isNamespace || finalizers.length > 0;
    if (!isHeld) {
      this.remove(storageKey, namespace, name);
      return 200;
    }
    const isRepeat = metadata.deletionTimestamp !== undefined && grace >= (metadata.deletionGracePeriodSeconds ?? 0);
    if (isRepeat) return 200;
    const deletionTimestamp = new Date(this.#clock.nowMs() + grace * 1000).toISOString();
    this.put(storageKey, {
      ...stored,
      ...(isNamespace ? { status: { ...stored.status, phase: 'Terminating' } } : {}),
      metadata: {
        ...metadata,
        ...(finalizers.length > 0 ? { finalizers } : {}),
        deletionTimestamp,
        deletionGracePeriodSeconds: grace,
      },
    });
    return 200;
  }

  #graceSeconds(storageKey: string, stored: Stored, options: Loose | Stored | undefined): number {
    if (storageKey !== 'core/pods' || !stored.spec?.nodeName) return 0;
    return Number(options?.gracePeriodSeconds ?? stored.spec.terminationGracePeriodSeconds ?? 30);
  }

  #commit(type: 'put' | 'delete', storageKey: string, object: Stored): void {
    const { name, namespace = '' } = object.metadata;
    const change = { type, storageKey, namespace, name, revision: this.#revision, text: JSON.stringify(object) };
    const key = `${storageKey}/${namespace}/${name}`;
    if (type === 'put') this.#objects.set(key, change);
    else this.#objects.delete(key);
    this.#sequence += 1;
    this.#batches.set(this.#sequence, [change]);
    const batch = {
      incarnation: 1,
      sequence: this.#sequence,
      lastRevision: this.#revision,
      compactedRevision: 0,
      runs: [],
      movedRuns: [],
      newSlabs: [],
    };
    this.outbox.push(batch);
  }

  #event(change: Change, type: FeedEvent['type'] = change.type): FeedEvent {
    const { storageKey, namespace, name, revision, text } = change;
    const object = () => {
      this.parsed.set(storageKey, (this.parsed.get(storageKey) ?? 0) + 1);
      return JSON.parse(text) as Record<string, unknown>;
    };
    return {
      type,
      storageKey,
      namespace,
      name,
      revision,
      object,
      uid: () => /"uid":"([^"]*)"/.exec(text)?.[1] ?? '',
      mayBeOwned: () => text.includes('"ownerReferences"'),
      mayBeTerminating: () => text.includes('"deletionTimestamp"'),
    };
  }

  /** A namespace as the API server makes it. */
  putNamespace(name: string, finalizers: string[] = [this.#dialect.brand]): void {
    this.put('core/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
      spec: { finalizers },
      status: { phase: 'Active' },
    });
  }
}

function failure(code: number): WriteReply {
  return { code, body: { kind: 'Status', status: 'Failure', message: `refused with ${code}` } };
}
