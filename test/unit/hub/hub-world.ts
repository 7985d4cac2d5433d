// A store on the memory engine, a hub, and the ingress's own watches on fake sockets, in one thread under virtual time.
// The store can be lost and restarted, mailboxes can be held back, and every commit is noted for comparison.

import type { WatchWindows } from '../../../actors/hub/caches/windows.ts';
import { type Hub, hubActor } from '../../../actors/hub/hub.ts';
import type { FollowedTypes } from '../../../actors/hub/hub-types.ts';
import type { HubProtocol, ListAnswer, ListQuery, WatchDeliveryProtocol } from '../../../actors/hub/protocol.ts';
import { HUB_SETTINGS } from '../../../actors/hub/settings.ts';
import type { Exchange } from '../../../actors/ingress/exchange/exchange.ts';
import { Watches } from '../../../actors/ingress/watch/watches.ts';
import type { Operation, StoreProtocol, TransactionResult } from '../../../actors/store/protocol.ts';
import { EXPECT_ANY } from '../../../actors/store/protocol.ts';
import { STORE_SETTINGS, type StoreOptions } from '../../../actors/store/settings.ts';
import { Store } from '../../../actors/store/store.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { parseQuery } from '../../../api/requests/query.ts';
import { parseRequestInfo } from '../../../api/requests/request-info.ts';
import { createRegistry, storedFieldsIn } from '../../../api/resources/registry.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { selectableValues } from '../../../api/selectors/selectable-values.ts';
import { isStatusError, type Status } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import type { Rendering } from '../../../rendering/rendering.ts';
import type {
  Actor,
  ActorContext,
  ActorDefinition,
  AskMessage,
  MessageOf,
  Protocol,
  Ref,
  Reply,
} from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { type Delivery, GatheringDelivery } from '../../../runtime/messages/delivery.ts';
import { planOfOneThread } from '../../../runtime/placement/plan.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { createSimulation, type Simulation, whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import { type InProcess, startInProcess } from '../../../runtime/threads/in-process.ts';
import type { LocalEngine } from '../../../storage/engines/local-engine.ts';
import { MemoryEngine } from '../../../storage/engines/memory-engine.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { valueView } from '../../../storage/records/slab-record.ts';
import { type StoreSlabs, ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import { exchangeOver } from '../ingress/exchanges.ts';
import { NO_CONVERSION, SAME_FORMS } from '../ingress/no-conversion.ts';
import { renderingOf, representationOf } from '../rendering/representations.ts';
import { BusyClock } from './busy-clock.ts';
import { FakeResponse } from './fake-response.ts';
import { HeldDelivery } from './held-delivery.ts';

const REGISTRY = createRegistry(DIALECTS.orch);
const REQUEST_TIMEOUT_MS = 60_000;

/** An object version as tests compare it. */
export interface Version {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One change of one object; undefined stands for absence. */
export interface Change {
  readonly key: string;
  readonly before: (Version & { readonly revision: number }) | undefined;
  readonly after: Version | undefined;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name?: string; readonly namespace?: string; readonly resourceVersion: string };
    readonly [member: string]: unknown;
  };
}

/** An open watch as its client sees it. */
export class WatchClient {
  readonly response = new FakeResponse();
  refusal: Status | undefined;
  failure: unknown;
  finished = false;

  /** All events so far. */
  get events(): readonly WatchEvent[] {
    const lines = this.response.text.split('\n');
    if (lines.pop() !== '') throw new Error('the stream ends inside an event');
    return lines.map((line) => JSON.parse(line) as WatchEvent);
  }

  /** `<type> <namespace>/<name> <resourceVersion>` of each event. */
  get seen(): readonly string[] {
    return this.events.map(
      ({ type, object: { metadata } }) =>
        `${type} ${metadata.namespace ?? ''}/${metadata.name ?? ''} ${metadata.resourceVersion}`,
    );
  }
}

export interface WorldOptions {
  readonly seed?: number;
  readonly slabBytes?: number;
  readonly historyEventsMax?: number;
  readonly historyBytesMax?: number;
  readonly compactionIntervalMs?: number;
  readonly windows?: WatchWindows;
  readonly types?: readonly FollowedTypes[];
  /** 0: the hub does not check itself. */
  readonly selfCheckIntervalMs?: number;
  /** What all sockets of a cohort are written in one go. */
  readonly fanOutBytesMax?: number;
  readonly gatheredEntriesMax?: number;
  readonly ingressMailboxMax?: number;
  readonly minRequestTimeoutMs?: number;
  readonly hubMailboxMax?: number;
  /** Chance decides which mailbox is drained next, one message at a time. */
  readonly randomDelivery?: boolean;
  /** Messages are delivered as on a real thread. */
  readonly gathers?: boolean;
  /** Turns take time: what is committed in the rest after a long fan-out is sent out with the next. */
  readonly isBusy?: boolean;
  /** The store's messages reach the hub late. */
  readonly distantHub?: boolean;
  readonly engine?: (bytes: Uint8Array) => LocalEngine;
  /** More actors on the thread. */
  readonly kinds?: readonly ActorDefinition<undefined>[];
}

function deliveryOf(options: WorldOptions, { simulation, delivery }: Parts): Delivery {
  if (options.gathers === true) return new GatheringDelivery(simulation.time);
  return options.randomDelivery === true ? simulation.delivery : delivery;
}

/** What a store may be slow to answer. */
type Delayed = 'subscribe' | 'digests';

/** A store that can be replaced by a new incarnation over the same engine. */
class RestartableStore implements Actor<StoreProtocol> {
  readonly #make: () => Store;
  #state: Store | 'starting' | 'dead' = 'dead';
  #late: { readonly type: Delayed; readonly sends: (() => void)[] } | undefined;
  #waiting: (readonly [MessageOf<StoreProtocol>, Reply])[] = [];

  constructor(make: () => Store) {
    this.#make = make;
  }

  /** From here on messages wait, as in the mailbox of an actor that has not started. */
  prepare(): void {
    this.#state = 'starting';
  }

  async open(): Promise<void> {
    const store = this.#make();
    await store.open();
    this.#state = store;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [message, reply] of waiting) store.onMessage(message, reply);
  }

  die(): void {
    this.#state = 'dead';
  }

  /** Answers are made when they are asked for, and arrive when this is called, after what was published meanwhile. */
  delay(type: Delayed): () => void {
    const sends: (() => void)[] = [];
    this.#late = { type, sends };
    return () => {
      this.#late = undefined;
      for (const send of sends) send();
    };
  }

  onMessage(message: MessageOf<StoreProtocol>, given: Reply): void {
    const late = message.type === this.#late?.type ? this.#late : undefined;
    const reply: Reply =
      late === undefined
        ? given
        : {
            isAwaited: true,
            send: (value) => late.sends.push(() => given.send(value)),
            fail: (error) => given.fail(error),
          };
    if (this.#state === 'dead') reply.fail(new OrchError('ActorDown', 'the store is down'));
    else if (this.#state === 'starting') this.#waiting.push([message, reply]);
    else this.#state.onMessage(message, reply);
  }
}

/** A hub on another thread than the store: what the store sends it arrives in order, and later than other messages. */
class DistantHub implements Actor<HubProtocol> {
  readonly #hub: Hub;
  readonly #context: ActorContext;
  readonly #random: SeededRandom;
  readonly #underWay: MessageOf<HubProtocol>[] = [];

  constructor(hub: Hub, context: ActorContext, seed: number) {
    this.#hub = hub;
    this.#context = context;
    this.#random = new SeededRandom(seed ^ 0xfa2);
  }

  start(): Promise<void> {
    return this.#hub.start();
  }

  onMessage(message: MessageOf<HubProtocol>, reply: Reply): void {
    if (message.type !== 'storeBatch' && message.type !== 'storeLost') {
      this.#hub.onMessage(message, reply);
      return;
    }
    this.#underWay.push(message);
    this.#context.timers.after(this.#random.below(4), () => {
      this.#hub.onMessage(this.#underWay.shift()!, { isAwaited: false, send: () => {}, fail: () => {} });
    });
  }
}

class WatchIngress implements Actor<WatchDeliveryProtocol> {
  readonly watches: Watches;

  constructor(context: ActorContext, minRequestTimeoutMs = 1_800_000) {
    this.watches = new Watches({
      context,
      hub: context.ref('hub'),
      conversion: NO_CONVERSION,
      forms: SAME_FORMS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      minRequestTimeoutMs,
      metaGroup: DIALECTS.orch.metaGroup,
      schema: () => schemaOf(DIALECTS.orch),
      bearerPrefix: 'bearer.',
    });
  }

  onMessage(message: MessageOf<WatchDeliveryProtocol>): void {
    if (message.type === 'watchFrames') this.watches.frames(message);
    else this.watches.end(message);
  }
}

export class HubWorld {
  readonly simulation: Simulation;
  readonly delivery = new HeldDelivery();
  readonly slabs: ThreadSlabs;
  readonly store: Ref<StoreProtocol>;
  readonly hubRef: Ref<HubProtocol>;
  readonly run: InProcess;
  hub!: Hub;
  ingress!: WatchIngress;
  readonly #parts: Parts;
  /** Every commit in order of revision, with what it changed. */
  readonly commits: { readonly revision: number; readonly changes: readonly Change[] }[] = [];
  readonly #present = new Map<string, Version & { readonly revision: number }>();

  private constructor(parts: Parts, run: InProcess) {
    this.#parts = parts;
    this.run = run;
    this.simulation = parts.simulation;
    this.delivery = parts.delivery;
    this.slabs = parts.slabs!;
    this.hub = parts.hub!;
    this.ingress = parts.ingress!;
    this.store = run.ref<StoreProtocol>('store');
    this.hubRef = run.ref<HubProtocol>('hub');
  }

  static async start(options: WorldOptions = {}): Promise<HubWorld> {
    const parts = new Parts(options);
    const kinds = parts.kinds();
    const plan = planOfOneThread(kinds);
    const { environment, time } = parts.simulation;
    const clock = options.isBusy === true ? new BusyClock(time, new SeededRandom((options.seed ?? 1) ^ 0xb5)) : time;
    const starting = startInProcess({
      actors: kinds,
      plan,
      options: undefined,
      environment: { ...environment, clock },
      freezeMessages: true,
      delivery: deliveryOf(options, parts),
    });
    return new HubWorld(parts, await whileTimePasses(parts.simulation.time, starting));
  }

  /** Lets everything happen that needs no time to pass. */
  settle(): Promise<void> {
    return this.simulation.time.runUntilIdle();
  }

  /** Awaits work while time passes as needed. */
  during<T>(work: Promise<T>): Promise<T> {
    return whileTimePasses(this.simulation.time, work);
  }

  async stop(): Promise<void> {
    await this.during(this.run.stop());
  }

  /** Starts a commit of puts and removals under one revision; `settle` brings it about. */
  commitSoon(versions: readonly Version[], removals: readonly string[] = []): Promise<number> {
    return this.#ask(versions, removals).then((result) => {
      if (!result.ok) throw new Error(`the commit was refused: ${result.reason} ${result.key}`);
      this.#note(result.revision, versions, removals);
      return result.revision;
    });
  }

  /** Commits puts and removals (`<namespace>/<name>`) under one revision, which it answers. */
  commit(versions: readonly Version[], removals: readonly string[] = []): Promise<number> {
    return this.during(this.commitSoon(versions, removals));
  }

  /** Starts the removal of an object; undefined when there is none. */
  removeSoon(key: string): Promise<number | undefined> {
    return this.#ask([], [key]).then((result) => {
      if (!result.ok) return undefined;
      this.#note(result.revision, [], [key]);
      return result.revision;
    });
  }

  put(key: string, text = '', labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const [namespace = '', name = ''] = key.split('/');
    return this.commit([{ namespace, name, labels, text }]);
  }

  remove(key: string): Promise<number> {
    return this.commit([], [key]);
  }

  async #ask(versions: readonly Version[], removals: readonly string[]): Promise<TransactionResult> {
    const payloads: Buffer[] = [];
    const operations: Operation[] = versions.map((version) => putOperation(version, payloads));
    for (const key of removals) operations.push({ key: `core/configmaps/${key}`, expect: EXPECT_ANY, delete: true });
    const payload = Buffer.concat(payloads);
    const { results } = await this.store.ask(
      { type: 'commit', transactions: [{ operations }], payload },
      { deadlineMs: REQUEST_TIMEOUT_MS },
    );
    return results[0]!;
  }

  #note(revision: number, versions: readonly Version[], removals: readonly string[]): void {
    const changes: Change[] = [];
    for (const version of versions) {
      const key = `${version.namespace}/${version.name}`;
      changes.push({ key, before: this.#present.get(key), after: version });
      this.#present.set(key, { ...version, revision });
    }
    for (const key of removals) {
      changes.push({ key, before: this.#present.get(key), after: undefined });
      this.#present.delete(key);
    }
    this.commits.push({ revision, changes });
  }

  /** What a watch after a revision must see, as `WatchClient.seen` puts it. */
  expectedAfter(revision: number, selects: (version: Version) => boolean = () => true): readonly string[] {
    const seen: string[] = [];
    for (const commit of this.commits) {
      if (commit.revision <= revision) continue;
      for (const { key, before, after } of commit.changes) {
        const wasIn = before !== undefined && selects(before);
        const isIn = after !== undefined && selects(after);
        if (isIn) seen.push(`${wasIn ? 'MODIFIED' : 'ADDED'} ${key} ${commit.revision}`);
        else if (wasIn) seen.push(`DELETED ${key} ${commit.revision}`);
      }
    }
    return seen;
  }

  /** The objects there were at a revision, as ADDED events show them. */
  stateAt(revision: number, selects: (version: Version) => boolean = () => true): readonly string[] {
    const state = new Map<string, number>();
    for (const commit of this.commits) {
      if (commit.revision > revision) break;
      for (const { key, after } of commit.changes) {
        if (after !== undefined && selects(after)) state.set(key, commit.revision);
        else state.delete(key);
      }
    }
    return [...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, at]) => `ADDED ${key} ${at}`);
  }

  /** Opens a watch of config maps as the ingress does. `namespace` empty: all. */
  watch(query = '', namespace = '', watch = new WatchClient(), encoding: Rendering['encoding'] = 'json'): WatchClient {
    const path = namespace === '' ? '/api/v1/configmaps' : `/api/v1/namespaces/${namespace}/configmaps`;
    const parameters = parseQuery(`watch=1&${query}`);
    const info = parseRequestInfo('GET', path, parameters);
    if (!info.isResource) throw new Error(`${path} is no resource`);
    const request = { isWebSocket: false, release: () => {} } as unknown as Exchange['request'];
    const exchange = exchangeOver(watch.response, { request, query: parameters, info, verb: 'watch' });
    this.ingress.watches
      .serve(exchange, info, {
        type: configMaps(),
        representation: representationOf(renderingOf(configMaps(), { encoding })),
      })
      .then(
        () => {
          const { ongoing } = exchange;
          if (ongoing === undefined || ongoing.isEnded) watch.finished = true;
          else {
            ongoing.onEnded = () => {
              watch.finished = true;
            };
          }
        },
        (error: unknown) => {
          watch.finished = true;
          if (isStatusError(error)) watch.refusal = error.status;
          else watch.failure = error;
        },
      );
    return watch;
  }

  watchProtobuf(query = '', namespace = ''): WatchClient {
    return this.watch(query, namespace, new WatchClient(), 'protobuf');
  }

  list(query: Partial<ListQuery> = {}, deadlineMs = REQUEST_TIMEOUT_MS): Promise<AskReply> {
    const message: AskMessage<HubProtocol, 'list'> = {
      type: 'list',
      storageKey: 'core/configmaps',
      namespace: '',
      labelSelector: '',
      fieldSelector: '',
      freshness: { kind: 'mostRecent' },
      limit: 0,
      continueToken: '',
      ...query,
    };
    return this.hubRef.ask(message, { deadlineMs });
  }

  /** A list's objects, as ADDED events show them. Releases the list. */
  seenIn(answer: ListAnswer): readonly string[] {
    const seen = objectsAt(answer, this.slabs.ofStore(answer.incarnation)).map(
      ({ metadata }) => `ADDED ${metadata.namespace ?? ''}/${metadata.name ?? ''} ${metadata.resourceVersion}`,
    );
    this.hubRef.tell<'release'>({ type: 'release', pin: answer.pin });
    return seen;
  }

  /** The store drops the hub, as it does with one that lags too far. */
  loseStore(): void {
    this.hubRef.tell<'storeLost'>({ type: 'storeLost' });
  }

  /** See RestartableStore. */
  delayPresents(): () => void {
    return this.#parts.store!.delay('subscribe');
  }

  /** See RestartableStore. */
  delayDigests(): () => void {
    return this.#parts.store!.delay('digests');
  }

  killStore(): void {
    this.#parts.store!.die();
  }

  /**
   * A new incarnation of the store over the same engine. As with threads, what the old one sent has arrived before the
   * hub hears of the new one, and it hears of it before the new one sends anything.
   */
  /** `arrives`: false loses what the store has sent to a hub whose messages are held. */
  async restartStore(arrives = true): Promise<void> {
    if (arrives) this.delivery.letGo('hub');
    await this.settle();
    const store = this.#parts.store!;
    store.prepare();
    this.hub.peerRestarted('store');
    await this.during(store.open());
    await this.settle();
  }
}

type AskReply = HubProtocol['asks']['list']['reply'];

/** What the kinds make when they are created. */
class Parts {
  readonly simulation: Simulation;
  readonly delivery = new HeldDelivery();
  readonly #options: WorldOptions;
  store: RestartableStore | undefined;
  hub: Hub | undefined;
  ingress: WatchIngress | undefined;
  slabs: ThreadSlabs | undefined;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.simulation = createSimulation(options.seed ?? 1);
  }

  #distant(hub: Hub, context: ActorContext): DistantHub {
    return new DistantHub(hub, context, this.#options.seed ?? 1);
  }

  kinds(): ActorDefinition<undefined>[] {
    const { slabBytes, historyEventsMax, historyBytesMax, compactionIntervalMs, engine } = this.#options;
    const tokenKey = Buffer.alloc(32, 5);
    const disk = engine?.(tokenKey) ?? new MemoryEngine(tokenKey);
    const storeOptions: StoreOptions = {
      engine: () => disk,
      media: 'json',
      compactionIntervalMs: compactionIntervalMs ?? 0,
      healthcheckTimeoutMs: 1000,
      historyBytesMax: historyBytesMax ?? 64 * 1024 * 1024,
    };
    const settings = {
      ...STORE_SETTINGS,
      ...(slabBytes === undefined ? {} : { slabBytes }),
      ...(historyEventsMax === undefined ? {} : { historyEventsMax }),
    };
    return [
      {
        actor: 'store',
        mailboxMax: 20_000,
        stopOrder: 90,
        settings,
        create: async (context) => {
          this.slabs = ThreadSlabs.of(context);
          this.store = new RestartableStore(
            () => new Store(context, storeOptions, storeOptions.engine(context, undefined) as LocalEngine),
          );
          await this.store.open();
          return this.store as Actor<Protocol>;
        },
      },
      {
        ...hubActor,
        settings: {
          ...HUB_SETTINGS,
          selfCheckIntervalMs: this.#options.selfCheckIntervalMs ?? 0,
          fanOutBytesMax: this.#options.fanOutBytesMax ?? HUB_SETTINGS.fanOutBytesMax,
          gatheredEntriesMax: this.#options.gatheredEntriesMax ?? HUB_SETTINGS.gatheredEntriesMax,
        },
        mailboxMax: this.#options.hubMailboxMax ?? hubActor.mailboxMax,
        create: (context) => {
          this.hub = hubActor.create(context, {
            selectableFields: (storageKey) => storedFieldsIn(REGISTRY, storageKey),
            initialEventsEndAnnotation: 'initial-events-end',
            ...(this.#options.windows && { windows: this.#options.windows }),
            ...(this.#options.types && { types: this.#options.types }),
            records: new ProtobufRecords(DIALECTS.orch),
          }) as Hub;
          const hub = this.#options.distantHub === true ? this.#distant(this.hub, context) : this.hub;
          return hub as Actor<Protocol>;
        },
      },
      {
        actor: 'ingress',
        mailboxMax: this.#options.ingressMailboxMax ?? 20_000,
        stopOrder: 10,
        create: (context) => {
          this.ingress = new WatchIngress(context, this.#options.minRequestTimeoutMs);
          return this.ingress as Actor<Protocol>;
        },
      },
      ...(this.#options.kinds ?? []),
    ];
  }
}

function configMaps(): KnownType {
  return REGISTRY.storageType('core/configmaps')!;
}

/** A put of a config map; its bytes are added to `payloads`. */
function putOperation({ namespace, name, labels, text }: Version, payloads: Buffer[]): Operation {
  const object = { metadata: { name, namespace, labels }, data: { text } };
  const encoded = encodeStored(object, 'v1', 'ConfigMap');
  const value = Buffer.from(encoded.text);
  const valueOffset = payloads.reduce((sum, { length }) => sum + length, 0);
  payloads.push(value);
  return {
    key: `core/configmaps/${namespace}/${name}`,
    expect: EXPECT_ANY,
    valueOffset,
    valueLength: value.length,
    revisionOffset: encoded.revisionOffset,
    itemOffset: encoded.itemOffset,
    attributes: packAttributes(labels, selectableValues(object, configMaps().selectableFields)),
    schemaGeneration: 1,
  };
}

/** The objects of a list. */
export function objectsAt({ places }: ListAnswer, slabs: StoreSlabs): WatchEvent['object'][] {
  const objects: WatchEvent['object'][] = [];
  for (let i = 0; i < places.length; i += 2) {
    const slab = slabs.slab(places[i]!);
    objects.push(JSON.parse(valueView(slab, places[i + 1]!).toString('utf8')) as WatchEvent['object']);
  }
  return objects;
}
