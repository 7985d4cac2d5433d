// Starts the store actor over an engine that the test holds in its hand, with followers that note what they hear.
import type { ExecutionContext } from 'ava';
import type {
  Operation,
  PresentState,
  StoreBatch,
  StoreProtocol,
  Subscription,
  TransactionResult,
} from '../../../actors/store/protocol.ts';
import { STORE_SETTINGS, type StoreOptions } from '../../../actors/store/settings.ts';
import { type Store, storeActor } from '../../../actors/store/store.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Protocol, Ref } from '../../../runtime/actor.ts';
import type { Environment } from '../../../runtime/environment.ts';
import { type Delivery, GatheringDelivery } from '../../../runtime/messages/delivery.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { type InProcess, startInProcess } from '../../../runtime/threads/in-process.ts';
import type { EngineBatch, LocalEngine } from '../../../storage/engines/local-engine.ts';
import { MemoryEngine } from '../../../storage/engines/memory-engine.ts';
import { forEachRecord } from '../../../storage/following/publication.ts';
import { DELETED } from '../../../storage/records/slab-record.ts';
import { SlabView } from '../../../storage/records/thread-slabs.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { HeldDelivery } from '../hub/held-delivery.ts';
import { MessageWriter, type Version, versionAt } from './store-model.ts';

export const DEADLINE_MS = 240_000;

/** An engine in memory whose commits and probes wait for the test when it wants them to. */
export class HeldEngine implements LocalEngine {
  readonly inner = new MemoryEngine(new Uint8Array(32).fill(5));
  readonly batches: { readonly firstRevision: number; readonly lastRevision: number; readonly bytes: number }[] = [];
  readonly compactions: number[] = [];
  /** Told when a batch has become durable, before the store hears of it. */
  onDurable: (batch: EngineBatch) => void = () => {};
  /** Runs before a batch becomes durable; its rejection fails the commit. */
  beforeCommit: () => Promise<void> = async () => {};
  /** Runs within each slice of a compaction; true asks for another. */
  duringCompaction: () => Promise<boolean> = async () => false;
  beforeProbe: () => Promise<void> = async () => {};
  beforeLoad: () => Promise<void> = async () => {};
  isOpen = false;

  open: LocalEngine['open'] = () => {
    this.isOpen = true;
    return this.inner.open();
  };
  loadValues: LocalEngine['loadValues'] = async (visit) => {
    await this.beforeLoad();
    return this.inner.loadValues(visit);
  };
  loadEvents: LocalEngine['loadEvents'] = (visit) => this.inner.loadEvents(visit);
  view: LocalEngine['view'] = () => this.inner.view();
  diskBytes: LocalEngine['diskBytes'] = () => this.inner.diskBytes();

  async commit(batch: EngineBatch): Promise<void> {
    const { firstRevision, lastRevision, writes, events } = batch;
    const bytes = writes.reduce((sum, { value }) => sum + (value?.byteLength ?? 0), events.byteLength);
    this.batches.push({ firstRevision, lastRevision, bytes });
    await this.beforeCommit();
    await this.inner.commit(batch);
    this.onDurable(batch);
  }

  async compact(upToRevision: number): Promise<boolean> {
    this.compactions.push(upToRevision);
    await this.inner.compact(upToRevision);
    return this.duringCompaction();
  }

  async probe(): Promise<void> {
    await this.beforeProbe();
  }

  async close(): Promise<void> {
    this.isOpen = false;
  }
}

/** A promise that the test settles. */
export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
  fail(error: Error): void;
}

export function gate(): Gate {
  let open = (): void => {};
  let fail = (_: Error): void => {};
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  passed.catch(() => {}); // Whoever waits for it hears of it.
  return { passed, open: () => open(), fail: (error) => fail(error) };
}

interface FollowerProtocol extends Protocol {
  readonly asks: Record<never, never>;
  readonly tells: {
    readonly storeBatch: StoreBatch;
    readonly storeLost: Record<never, never>;
    /** Takes a place, and says nothing. */
    readonly filler: Record<never, never>;
  };
}

/** Follows the store as a hub does: what it knows, and what it was told. */
class Follower implements Actor<FollowerProtocol> {
  readonly context: ActorContext;
  readonly slabs = new SlabView();
  readonly state = new Map<string, Version>();
  readonly batches: StoreBatch[] = [];
  shared: SharedState | undefined;
  readerSlot = -1;
  sequence = -1;
  revision = -1;
  compactedRevision = -1;
  timesLost = 0;
  /** Subscribes again when it is told that it was lost. */
  resubscribes = true;
  /** Reports its epoch after each batch. */
  reports = true;
  onBatch: (batch: StoreBatch) => void = () => {};
  onLost: () => void = () => {};
  #early: StoreBatch[] | undefined;

  constructor(context: ActorContext) {
    this.context = context;
  }

  onMessage(message: MessageOf<FollowerProtocol>): void {
    switch (message.type) {
      case 'filler':
        return;
      case 'storeBatch':
        this.onBatch(message);
        if (this.#early !== undefined) this.#early.push(message);
        else this.#apply(message);
        return;
      case 'storeLost':
        this.timesLost++;
        this.onLost();
        if (this.resubscribes) void this.subscribe();
        return;
    }
  }

  async subscribe(wants: Omit<Subscription, 'subscriber'> = {}): Promise<PresentState> {
    this.#early = [];
    const store = this.context.ref('store');
    const { name: subscriber } = this.context;
    const present = await store.ask({ type: 'subscribe', subscriber, ...wants }, { deadlineMs: DEADLINE_MS });
    this.#begin(present);
    return present;
  }

  reportEpoch(): void {
    this.shared!.setReaderEpoch(this.readerSlot, this.sequence);
  }

  #begin(present: PresentState): void {
    this.slabs.learn(present.slabs, present.incarnation);
    this.shared = new SharedState(present.sharedState);
    this.readerSlot = present.readerSlot;
    this.sequence = present.sequence;
    this.revision = present.revision;
    this.compactedRevision = present.compactedRevision;
    this.state.clear();
    for (let i = 0; i < present.live.length; i += 2) {
      const version = versionAt(this.slabs.slab(present.live[i]!), present.live[i + 1]!);
      this.state.set(version.key, version);
    }
    if (this.reports) this.reportEpoch();
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const batch of early) this.#apply(batch);
  }

  #apply(batch: StoreBatch): void {
    if (batch.sequence <= this.sequence) return;
    if (batch.sequence !== this.sequence + 1) throw new Error(`publication ${this.sequence + 1} is missing`);
    this.batches.push(batch);
    this.sequence = batch.sequence;
    this.revision = batch.lastRevision;
    this.compactedRevision = batch.compactedRevision;
    this.slabs.learn(batch.newSlabs, batch.incarnation);
    forEachRecord(batch.runs, this.slabs, (slab, _number, offset) => {
      const version = versionAt(slab, offset);
      if (version.type === DELETED) this.state.delete(version.key);
      else this.state.set(version.key, version);
    });
    if (this.reports) this.reportEpoch();
  }
}

const FOLLOWER_MAILBOX_MAX = 8;

export interface RigSetup {
  readonly engine?: HeldEngine;
  readonly options?: Partial<StoreOptions>;
  readonly settings?: Partial<Record<keyof typeof STORE_SETTINGS, number>>;
  readonly followers?: number;
  /** Publications that a reader may be behind by before it is lost. */
  readonly followerMailboxMax?: number;
  readonly environment?: Environment;
  readonly delivery?: Delivery;
  /** Looks at the store's context before the store gets it. */
  readonly spy?: (context: ActorContext) => ActorContext;
  /** Hears each answer of the store before the asker does. */
  readonly onReply?: (type: string) => void;
}

export interface Rig {
  readonly running: InProcess;
  readonly store: Ref<StoreProtocol>;
  readonly engine: HeldEngine;
  readonly actor: Store;
  readonly followers: readonly Follower[];
  /** Commits one transaction. */
  commit(build: (writer: MessageWriter) => readonly Operation[]): Promise<TransactionResult>;
  /** Commits one put of any expectation; resolves with its revision. */
  put(key: string, data?: string): Promise<number>;
  /** A follower takes no message any more, and its mailbox is full. */
  fill(index?: number): void;
  /** It takes what waits, and goes on. */
  letGo(index?: number): void;
}

/** What /metrics says of the store by this name. */
export function gauge({ running }: Pick<Rig, 'running'>, metric: string): number | undefined {
  const families = running.metrics().flat();
  return families.find(({ name }) => name === `orch_store_${metric}`)?.series[0]?.value;
}

/** A running store on a thread of its own, and its followers on another. */
export async function startRig(setup: RigSetup = {}): Promise<Rig> {
  const environment = setup.environment ?? realEnvironment;
  const delivery = new HeldDelivery(setup.delivery ?? new GatheringDelivery(environment.timers));
  const engine = setup.engine ?? new HeldEngine();
  const followers: Follower[] = [];
  let actor: Store | undefined;
  const settings = { ...STORE_SETTINGS, ...setup.settings };
  const store: ActorDefinition<StoreOptions> = {
    ...storeActor,
    async create(context, options) {
      actor = (await storeActor.create(setup.spy?.(context) ?? context, options)) as Store;
      return setup.onReply === undefined ? actor : overheard(actor, setup.onReply);
    },
  };
  const follower: ActorDefinition<StoreOptions> = {
    actor: 'follower',
    mailboxMax: setup.followerMailboxMax ?? FOLLOWER_MAILBOX_MAX,
    stopOrder: 10,
    create(context) {
      followers.push(new Follower(context));
      return followers.at(-1)! as Actor<Protocol>;
    },
  };
  const count = setup.followers ?? 1;
  const planned = Array.from({ length: count }, (_, index) => ({
    actor: 'follower',
    name: count === 1 ? 'follower' : `follower/${index}`,
    index,
    settings: {},
  }));
  const running = await startInProcess<StoreOptions>({
    actors: [store, follower],
    plan: {
      name: 'rig',
      threads: [
        { name: 'store', group: 'store', actors: [{ actor: 'store', name: 'store', index: 0, settings }] },
        { name: 'readers', group: 'readers', actors: planned },
      ],
      warnings: [],
    },
    options: {
      engine: () => engine,
      media: 'protobuf',
      compactionIntervalMs: 0,
      healthcheckTimeoutMs: 2000,
      historyBytesMax: 64 * 1024 * 1024,
      ...setup.options,
    },
    environment,
    freezeMessages: true,
    delivery,
  });
  const ref = running.ref<StoreProtocol>('store');
  const commit: Rig['commit'] = async (build) => {
    const writer = new MessageWriter();
    writer.transaction(build(writer));
    const { transactions, payload } = writer;
    const { results } = await ref.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
    return results[0]!;
  };
  const put: Rig['put'] = async (key, data = '') => {
    const result = await commit((writer) => [writer.put(key, -1, data)]);
    if (!result.ok) throw new Error(`refused: ${result.reason}`);
    return result.revision;
  };
  const nameOf = (index: number): string => followers[index]!.context.name;
  const fill: Rig['fill'] = (index = 0) => {
    delivery.hold(nameOf(index));
    const ref = running.ref<FollowerProtocol>(nameOf(index));
    while (ref.tell<'filler'>({ type: 'filler' }) === 'queued');
  };
  const letGo: Rig['letGo'] = (index = 0) => delivery.letGo(nameOf(index));
  return { running, store: ref, engine, actor: actor!, followers, commit, put, fill, letGo };
}

/** A rig in real time that ends with the test. */
export async function rigFor(t: ExecutionContext, setup: RigSetup = {}): Promise<Rig> {
  const rig = await startRig(setup);
  t.teardown(() => rig.running.stop());
  return rig;
}

/** Waits until `holds`, a turn of the event loop at a time. */
export async function until(holds: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`never came true: ${holds}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets everything happen that needs no outside event. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The store with an ear on its answers. */
function overheard(store: Store, hear: (type: string) => void): Actor<Protocol> {
  const actor: Actor<StoreProtocol> = {
    onMessage(message, reply) {
      store.onMessage(message, {
        isAwaited: true,
        send(value) {
          hear(message.type);
          reply.send(value);
        },
        fail: (error) => reply.fail(error),
      });
    },
    stop: () => store.stop(),
    peerRestarted: (name) => store.peerRestarted(name),
  };
  return actor as unknown as Actor<Protocol>;
}
