// The store. Driver: owns the storage engine. The only writer: gathers what arrives while a batch is being written,
// commits it as one, and keeps this order: durable, then the committed revision in shared memory, then the batch
// published, then the writes acknowledged. A failed commit ends the thread: what was not acknowledged may be lost, what
// was is on disk.
import type { Actor, ActorContext, ActorKind, AskMessage, MessageOf, Reply } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { HistogramSeries, Series } from '../../runtime/metrics.ts';
import type { StorageEngine } from '../../storage/engine.ts';
import { SharedState } from '../../storage/shared-state.ts';
import { SlabPool } from '../../storage/slab-pool.ts';
import { SLAB_VIEW, SlabView } from '../../storage/slab-view.ts';
import type { StorageMedia } from '../../storage/stored-value.ts';
import type { Snapshot, StoreHealth, StoreProtocol, TransactionResult } from './protocol.ts';
import { type CommitTime, recover } from './recovery.ts';
import { RevisionLog } from './revision-log.ts';
import { Subscribers } from './subscribers.ts';

export interface StoreOptions {
  /** Makes the engine, unopened. */
  readonly engine: (context: ActorContext) => StorageEngine;
  readonly media: StorageMedia;
  /** Events older than this are compacted; 0: only when the window outgrows its bounds. */
  readonly compactionIntervalMs: number;
  readonly healthcheckTimeoutMs: number;
  /** Bytes that only the history window keeps; older events are compacted beyond it. */
  readonly historyBytesMax: number;
}

export const STORE_SETTINGS = {
  slabBytes: 1024 * 1024,
  historyEventsMax: 200_000,
  /** Transactions in one commit batch. */
  batchTransactionsMax: 1024,
  /** A sealed slab that is live to at most this share is emptied and reused. */
  sparseShare: 0.25,
} as const;

const COMPACTION_CHECKS_PER_INTERVAL = 10;

interface PendingCommit {
  readonly message: AskMessage<StoreProtocol, 'commit'>;
  readonly reply: Reply;
}

export class Store implements Actor<StoreProtocol> {
  readonly #context: ActorContext;
  readonly #options: StoreOptions;
  readonly #engine: StorageEngine;
  readonly #settings: typeof STORE_SETTINGS;
  readonly #shared = new SharedState();
  readonly #pool: SlabPool;
  readonly #log: RevisionLog;
  readonly #subscribers: Subscribers;
  readonly #batchSizes: HistogramSeries;
  readonly #commits: Series;
  #tokenKey: Uint8Array = new Uint8Array();
  #commitTimes: CommitTime[] = [];
  #pending: PendingCommit[] = [];
  #running = false;
  /** Compact to here when the engine is next free; the disk follows in slices. */
  #compactTarget = 0;
  #diskCompactionPending = false;
  #commitStartedMs: number | undefined;
  readonly #settledSteps: (() => void)[] = [];
  #learnedSlabs = 0;
  #stopped = false;

  constructor(context: ActorContext, options: StoreOptions) {
    this.#context = context;
    this.#options = options;
    this.#engine = options.engine(context);
    this.#settings = { ...STORE_SETTINGS, ...(context.settings as Partial<typeof STORE_SETTINGS>) };
    this.#pool = new SlabPool(this.#settings.slabBytes, this.#shared);
    this.#log = new RevisionLog(this.#pool, options.media);
    this.#subscribers = new Subscribers(context, this.#shared, this.#pool);
    const { metrics } = context;
    this.#commits = metrics.counter('orch_store_commits_total', 'Durable commit batches.');
    this.#batchSizes = metrics.histogram(
      'orch_store_batch_transactions',
      'Transactions in one commit batch.',
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    );
    metrics.beforeSnapshot(() => this.#gauge());
  }

  /** Opens the engine and recovers; nothing is answered before. */
  async open(): Promise<void> {
    const contents = await this.#engine.open();
    this.#tokenKey = contents.tokenKey;
    this.#commitTimes = await recover(this.#log, this.#pool, this.#engine, contents);
    this.#shared.committedRevision = this.#log.revision;
    this.#learnSlabs();
    const { compactionIntervalMs } = this.#options;
    if (compactionIntervalMs > 0) {
      this.#context.timers.every(Math.max(100, compactionIntervalMs / COMPACTION_CHECKS_PER_INTERVAL), () =>
        this.#compactByAge(),
      );
    }
    this.#context.log.info({ revision: this.#log.revision, objects: this.#log.current.size }, 'store opened');
  }

  onMessage(message: MessageOf<StoreProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'commit':
        this.#pending.push({ message, reply });
        this.#wake();
        return;
      case 'subscribe':
        this.#whenSettled(() => reply.send(this.#subscribe(message.subscriber)));
        return;
      case 'unsubscribe':
        this.#subscribers.remove(message.subscriber);
        return;
      case 'health':
        this.#health(reply);
        return;
      case 'compact':
        this.#compactTarget = Math.max(this.#compactTarget, message.upToRevision);
        this.#compactInMemory();
        this.#wake();
        reply.send({ compactedRevision: this.#log.compactedRevision });
        return;
    }
  }

  async stop(): Promise<void> {
    while (this.#running) await new Promise<void>((resolve) => this.#context.timers.soon(resolve));
    this.#stopped = true;
    await this.#engine.close();
  }

  /** A subscriber whose thread died reads nothing any more. */
  peerRestarted(name: string): void {
    this.#subscribers.remove(name);
  }

  #wake(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // At the end of the turn, so that everything which arrived with the first write shares its batch.
    this.#context.timers.soon(() => {
      this.#run().catch((error: unknown) => this.#fail(error));
    });
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0 || this.#diskCompactionPending) {
      if (this.#pending.length > 0) await this.#commitBatch(this.#takePending());
      if (this.#diskCompactionPending) {
        this.#diskCompactionPending = await this.#engine.compact(this.#log.compactedRevision);
      }
    }
    this.#running = false;
  }

  #takePending(): PendingCommit[] {
    let transactions = 0;
    let count = 0;
    while (count < this.#pending.length && transactions < this.#settings.batchTransactionsMax) {
      transactions += this.#pending[count]!.message.transactions.length;
      count++;
    }
    if (count === this.#pending.length) {
      const all = this.#pending;
      this.#pending = [];
      return all;
    }
    return this.#pending.splice(0, count);
  }

  async #commitBatch(commits: readonly PendingCommit[]): Promise<void> {
    const log = this.#log;
    const firstRevision = log.revision + 1;
    const wallMs = this.#context.clock.nowMs();
    let transactions = 0;
    log.begin();
    const answers = commits.map(({ message }) => {
      transactions += message.transactions.length;
      return message.transactions.map((transaction): TransactionResult => log.apply(transaction, message.payload));
    });
    const batch = log.finish(firstRevision, wallMs);
    if (batch !== undefined) {
      this.#commitStartedMs = this.#context.clock.monotonicMs();
      await this.#engine.commit(batch);
      this.#commitStartedMs = undefined;
      this.#shared.committedRevision = batch.lastRevision;
      this.#commitTimes.push({ revision: batch.lastRevision, wallMs });
      this.#publish(batch.runs, []);
      this.#compactByBounds(batch.firstRevision - 1);
      this.#commits.add(1);
      this.#batchSizes.observe(transactions);
      for (const step of this.#settledSteps.splice(0)) step();
    }
    commits.forEach(({ reply }, index) => {
      reply.send({ results: answers[index] });
    });
  }

  /** Runs a step that must not see a batch which is not durable yet. */
  #whenSettled(step: () => void): void {
    if (this.#commitStartedMs === undefined) step();
    else this.#settledSteps.push(step);
  }

  #publish(runs: readonly number[], movedRuns: readonly number[]): void {
    this.#learnSlabs();
    this.#subscribers.publish({
      lastRevision: this.#log.revision,
      compactedRevision: this.#log.compactedRevision,
      runs,
      movedRuns,
    });
  }

  /** The store's own thread may host readers: they find the slabs in the thread's view like everyone else. */
  #learnSlabs(): void {
    if (this.#learnedSlabs === this.#pool.count) return;
    this.#context.threadLocal(SLAB_VIEW, () => new SlabView()).learn(this.#pool.memories(this.#learnedSlabs));
    this.#learnedSlabs = this.#pool.count;
  }

  #subscribe(subscriber: string): Snapshot {
    const log = this.#log;
    const live = new Uint32Array(log.current.size * 2);
    let at = 0;
    for (const { slab, offset } of log.current.values()) {
      live[at++] = slab;
      live[at++] = offset;
    }
    const history = new Uint32Array(log.history.length * 4);
    at = 0;
    for (const event of log.history) {
      history[at++] = event.slab;
      history[at++] = event.offset;
      history[at++] = event.previousSlab;
      history[at++] = event.previousOffset;
    }
    return {
      readerSlot: this.#subscribers.add(subscriber),
      sequence: this.#subscribers.sequence,
      revision: log.revision,
      compactedRevision: log.compactedRevision,
      sharedState: this.#shared.memory,
      slabs: this.#pool.memories(),
      live,
      history,
      tokenKey: this.#tokenKey,
    };
  }

  #compactByAge(): void {
    const before = this.#context.clock.nowMs() - this.#options.compactionIntervalMs;
    let target = 0;
    for (const { revision, wallMs } of this.#commitTimes) {
      if (wallMs > before) break;
      target = revision;
    }
    this.#compactTarget = Math.max(this.#compactTarget, target);
    if (this.#compactInMemory()) this.#wake();
  }

  /** `newestRevision`: the last batch's event record stays, since it vouches for the values. */
  #compactByBounds(newestRevision: number): void {
    const { historyBytesMax } = this.#options;
    const { historyEventsMax } = this.#settings;
    if (this.#log.historyBytes <= historyBytesMax && this.#log.history.length <= historyEventsMax) return;
    // A tenth more than needed, so that this does not happen at each batch.
    const target = this.#log.compactionForBounds(historyBytesMax * 0.9, historyEventsMax * 0.9);
    this.#compactTarget = Math.max(this.#compactTarget, Math.min(target, newestRevision));
    this.#compactInMemory();
  }

  /** Compacts what readers see, empties sparse slabs, and leaves the disk to the commit loop. True if anything was done. */
  #compactInMemory(): boolean {
    const newest = this.#commitTimes.at(-2)?.revision ?? 0;
    const target = Math.min(this.#compactTarget, newest);
    if (target <= this.#log.compactedRevision || this.#commitStartedMs !== undefined) return false;
    this.#log.compact(target);
    const kept = this.#commitTimes.findIndex(({ revision }) => revision > target);
    this.#commitTimes.splice(0, kept);
    const moved = this.#pool.sparse(this.#settings.sparseShare).flatMap((slab) => this.#log.moveOut(slab));
    this.#publish([], moved);
    this.#pool.retireEmpty(this.#subscribers.sequence);
    this.#diskCompactionPending = true;
    return true;
  }

  #health(reply: Reply): void {
    const answer = (healthy: boolean, reason: string): void => {
      reply.send({ healthy, revision: this.#shared.committedRevision, reason } satisfies StoreHealth);
    };
    const timeoutMs = this.#options.healthcheckTimeoutMs;
    const started = this.#commitStartedMs;
    if (started !== undefined && this.#context.clock.monotonicMs() - started > timeoutMs) {
      answer(false, `a commit has been waiting for the disk for more than ${timeoutMs} ms`);
      return;
    }
    const timer = this.#context.timers.after(timeoutMs, () =>
      answer(false, `the disk did not answer within ${timeoutMs} ms`),
    );
    this.#engine.probe().then(
      () => {
        timer.cancel();
        answer(true, '');
      },
      (error: unknown) => {
        timer.cancel();
        answer(false, String(error));
      },
    );
  }

  #fail(error: unknown): void {
    this.#context.log.fatal({ err: error }, 'commit failed');
    this.#context.crash(error instanceof Error ? error : new OrchError('StoreUnusable', String(error)));
  }

  #gauge(): void {
    const { metrics } = this.#context;
    metrics.gauge('orch_store_revision', 'The revision last committed.').set(this.#log.revision);
    metrics.gauge('orch_store_objects', 'Objects stored.').set(this.#log.current.size);
    metrics.gauge('orch_store_history_events', 'Events in the history window.').set(this.#log.history.length);
    metrics.gauge('orch_store_slab_bytes', 'Shared memory held by slabs.').set(this.#pool.reservedBytes);
    metrics
      .gauge('orch_store_slab_live_bytes', 'Bytes of records current or in the history window.')
      .set(this.#pool.liveBytes);
    metrics.gauge('orch_store_subscribers', 'Actors that follow the store.').set(this.#subscribers.count);
  }
}

/** The store as a placeable actor. */
export const storeKind: ActorKind<StoreOptions> = {
  kind: 'store',
  nature: 'driver',
  owns: 'the storage engine',
  mailboxMax: 20_000,
  stopOrder: 90,
  settings: STORE_SETTINGS,
  create: async (context, options) => {
    const store = new Store(context, options);
    await store.open();
    return store;
  },
};
