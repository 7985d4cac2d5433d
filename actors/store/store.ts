// The store. Driver: owns the storage engine. The only writer: gathers what arrives while a batch is being written,
// commits it as one, and keeps this order: durable, then the committed revision in shared memory, then the batch
// published, then the writes acknowledged. A failed commit ends the thread: what was not acknowledged may be lost, what
// was is on disk.
import type { Actor, ActorContext, ActorKind, MessageOf, Reply } from '../../runtime/actor.ts';
import { CrashError, OrchError } from '../../runtime/errors.ts';
import type { StorageEngine } from '../../storage/engine.ts';
import { SharedState } from '../../storage/shared-state.ts';
import { SlabPool } from '../../storage/slab-pool.ts';
import { SLAB_VIEW, SlabView } from '../../storage/slab-view.ts';
import { Backups } from './backups.ts';
import { CommitTimes } from './commit-times.ts';
import { Compactor } from './compactor.ts';
import { diskProblem } from './health.ts';
import { type PendingCommit, PendingCommits } from './pending-commits.ts';
import type { Backup, Snapshot, StoreHealth, StoreProtocol, TransactionResult } from './protocol.ts';
import { recover } from './recovery.ts';
import { RevisionLog } from './revision-log.ts';
import { STORE_SETTINGS, type StoreOptions } from './settings.ts';
import { historyPlaces, livePlaces } from './snapshot.ts';
import { StoreMeasures } from './store-measures.ts';
import { StoreMetrics } from './store-metrics.ts';
import { Subscribers } from './subscribers.ts';

const COMPACTION_CHECKS_PER_INTERVAL = 10;

export { STORE_SETTINGS, type StoreOptions };

export class Store implements Actor<StoreProtocol> {
  readonly #context: ActorContext;
  readonly #options: StoreOptions;
  readonly #engine: StorageEngine;
  readonly #settings: typeof STORE_SETTINGS;
  readonly #shared = new SharedState();
  readonly #pool: SlabPool;
  readonly #log: RevisionLog;
  readonly #subscribers: Subscribers;
  readonly #metrics: StoreMetrics;
  readonly #backups: Backups;
  readonly #commitTimes = new CommitTimes();
  readonly #compactor: Compactor;
  #tokenKey: Uint8Array = new Uint8Array();
  readonly #pending: PendingCommits;
  #running = false;
  #commitStartedMs: number | undefined;
  #settledSteps: (() => void)[] = [];
  #sliceDue = false;
  #learnedSlabs = 0;
  #stopped = false;
  /** Set while stopping: called when everything accepted has been written. */
  #onIdle: (() => void) | undefined;

  constructor(context: ActorContext, options: StoreOptions) {
    this.#context = context;
    this.#options = options;
    this.#engine = options.engine(context);
    this.#settings = { ...STORE_SETTINGS, ...(context.settings as Partial<typeof STORE_SETTINGS>) };
    this.#pool = new SlabPool(this.#settings.slabBytes, this.#shared);
    this.#log = new RevisionLog(this.#pool, options.media);
    this.#subscribers = new Subscribers(context, this.#shared, this.#pool);
    this.#pending = new PendingCommits(this.#settings.batchTransactionsMax, this.#settings.batchBytesMax);
    this.#compactor = new Compactor({
      log: this.#log,
      pool: this.#pool,
      commitTimes: this.#commitTimes,
      historyBytesMax: options.historyBytesMax,
      historyEventsMax: this.#settings.historyEventsMax,
      sliceEvents: this.#settings.compactionSliceEvents,
      sparseShare: this.#settings.sparseShare,
      publish: (movedRuns) => this.#publish([], movedRuns),
    });
    this.#backups = new Backups(this.#engine, context.timers);
    this.#metrics = new StoreMetrics(context.metrics, () => ({
      revision: this.#shared.committedRevision,
      objects: this.#log.current.size,
      historyEvents: this.#log.window.events.length,
      slabBytes: this.#pool.reservedBytes,
      slabLiveBytes: this.#pool.liveBytes,
      subscribers: this.#subscribers.count,
    }));
  }

  /** Opens the engine and recovers; nothing is answered before. */
  async open(): Promise<void> {
    try {
      const contents = await this.#engine.open();
      this.#tokenKey = contents.tokenKey;
      const nowMs = this.#context.clock.nowMs();
      for (const { revision, wallMs } of await recover(this.#log, this.#pool, this.#engine, contents)) {
        // A clock that was ahead then and is right now must not keep history for ever.
        this.#commitTimes.add({ revision, wallMs: Math.min(wallMs, nowMs) });
      }
    } catch (error) {
      await this.#engine.close({ asFound: true });
      throw error;
    }
    this.#shared.committedRevision = this.#log.revision;
    this.#learnSlabs();
    const { compactionIntervalMs } = this.#options;
    if (compactionIntervalMs > 0) {
      this.#context.timers.every(Math.max(100, compactionIntervalMs / COMPACTION_CHECKS_PER_INTERVAL), () =>
        this.#whenSettled(this.#compactByAge),
      );
    }
    const keys = (): Iterator<string> => this.#log.current.keys();
    if (this.#options.measures) new StoreMeasures(this.#context, this.#engine, keys).start(this.#options.measures);
    this.#context.log.info({ revision: this.#log.revision, objects: this.#log.current.size }, 'store opened');
  }

  onMessage(message: MessageOf<StoreProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'commit':
        if (this.#stopped) {
          reply.fail(new OrchError('ActorDown', 'the store has stopped'));
          return;
        }
        this.#pending.add({ message, reply });
        this.#wake();
        return;
      case 'subscribe':
        this.#answerSettled(reply, () => this.#subscribe(message.subscriber));
        return;
      case 'unsubscribe':
        this.#subscribers.remove(message.subscriber);
        return;
      case 'openBackup':
        this.#answerSettled(reply, () => this.#openBackup());
        return;
      case 'readBackup':
        this.#backups.read(message.id).then(
          (payload) => reply.send({ payload }),
          (error: unknown) => reply.fail(error),
        );
        return;
      case 'closeBackup':
        this.#backups.close(message.id);
        return;
      case 'health':
        this.#health(reply);
        return;
      case 'compact':
        this.#answerSettled(reply, () => {
          this.#compactor.upTo(message.upToRevision);
          while (this.#compactor.isBehind) this.#compactor.next();
          this.#wake();
          return { compactedRevision: this.#log.compactedRevision };
        });
        return;
    }
  }

  async stop(): Promise<void> {
    if (this.#running) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#stopped = true;
    await this.#engine.close();
  }

  /** The subscription may be the dead actor's or already its successor's: whoever lives subscribes again. */
  peerRestarted(name: string): void {
    this.#subscribers.lose(name);
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
    while (this.#pending.length > 0 || this.#diskCompactionDue) {
      if (this.#pending.length > 0) await this.#commitBatch(this.#pending.take());
      if (this.#diskCompactionDue) await this.#compactor.compactDisk(this.#engine);
    }
    this.#rest();
  }

  /** Nothing runs any more; when stopping, nothing will. */
  #rest(): void {
    this.#running = false;
    if (this.#onIdle === undefined) return;
    this.#stopped = true;
    this.#onIdle();
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
      this.#commitTimes.add({ revision: batch.lastRevision, wallMs });
      this.#publish(batch.runs, []);
      this.#metrics.committed(transactions);
    }
    commits.forEach(({ reply }, index) => {
      reply.send({ results: answers[index] });
    });
    if (batch !== undefined) this.#settle();
  }

  /** What waited for the batch, and keeping the history window to its bounds. */
  #settle(): void {
    this.#compactor.byBounds();
    if (this.#compactor.isBehind) this.#goOnCompacting();
    const steps = this.#settledSteps;
    this.#settledSteps = [];
    for (const step of steps) step();
  }

  /** Runs a step that must not see a batch which is not durable yet: now, or once after the batch being written. */
  #whenSettled(step: () => void): void {
    if (this.#commitStartedMs === undefined) step();
    else if (!this.#settledSteps.includes(step)) this.#settledSteps.push(step);
  }

  #answerSettled(reply: Reply, answer: () => unknown): void {
    this.#whenSettled(() => {
      try {
        reply.send(answer());
      } catch (error) {
        reply.fail(error);
      }
    });
  }

  /** Returns the publication's number. */
  #publish(runs: readonly number[], movedRuns: readonly number[]): number {
    this.#learnSlabs();
    this.#subscribers.publish({
      lastRevision: this.#log.revision,
      compactedRevision: this.#log.compactedRevision,
      runs,
      movedRuns,
    });
    return this.#subscribers.sequence;
  }

  /** The store's own thread may host readers: they find the slabs in the thread's view like everyone else. */
  #learnSlabs(): void {
    if (this.#learnedSlabs === this.#pool.count) return;
    this.#context.threadLocal(SLAB_VIEW, () => new SlabView()).learn(this.#pool.memories(this.#learnedSlabs));
    this.#learnedSlabs = this.#pool.count;
  }

  #subscribe(subscriber: string): Snapshot {
    const readerSlot = this.#subscribers.add(subscriber);
    return {
      readerSlot,
      sequence: this.#subscribers.sequence,
      revision: this.#log.revision,
      compactedRevision: this.#log.compactedRevision,
      sharedState: this.#shared.memory,
      slabs: this.#pool.memories(),
      live: livePlaces(this.#log),
      history: historyPlaces(this.#log),
      tokenKey: this.#tokenKey,
    };
  }

  #openBackup(): Backup {
    const { revision, liveDigest, current } = this.#log;
    return { id: this.#backups.open(), revision, objects: current.size, digest: liveDigest };
  }

  readonly #compactByAge = (): void => {
    this.#compactor.byAge(this.#context.clock.nowMs() - this.#options.compactionIntervalMs);
    this.#goOnCompacting();
  };

  readonly #compactNext = (): void => {
    this.#sliceDue = false;
    this.#compactor.next();
    this.#goOnCompacting();
  };

  /** Slices are turns apart: what has arrived meanwhile comes first. */
  #goOnCompacting(): void {
    if (!this.#compactor.isBehind) {
      this.#wake();
    } else if (!this.#sliceDue) {
      this.#sliceDue = true;
      this.#context.timers.soon(() => this.#whenSettled(this.#compactNext));
    }
  }

  /** A store that is stopping leaves the disk's compaction to the next start. */
  get #diskCompactionDue(): boolean {
    return this.#compactor.isDiskDue && this.#onIdle === undefined;
  }

  #health(reply: Reply): void {
    const answer = (reason: string): void => {
      const revision = this.#shared.committedRevision;
      reply.send({ healthy: reason === '', revision, reason } satisfies StoreHealth);
    };
    const timeoutMs = this.#options.healthcheckTimeoutMs;
    const started = this.#commitStartedMs;
    if (started !== undefined && this.#context.clock.monotonicMs() - started > timeoutMs) {
      answer(`a commit has been waiting for the disk for more than ${timeoutMs} ms`);
      return;
    }
    void diskProblem(this.#engine, this.#context.timers, timeoutMs).then(answer);
  }

  /** What was accepted but not acknowledged is lost with the thread. */
  #fail(error: unknown): void {
    this.#rest();
    this.#stopped = true;
    try {
      this.#context.crash(error instanceof Error ? error : new OrchError('StoreUnusable', String(error)));
    } catch (crash) {
      // The thread has been told. Nobody above this promise could do more.
      if (!(crash instanceof CrashError)) throw crash;
    }
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
