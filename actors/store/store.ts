// The store. Owns the storage engine. The only writer: gathers what arrives while a batch is being written,
// commits it as one, and keeps this order: durable, then the committed revision in shared memory, then the batch
// published, then the writes acknowledged. A batch that the disk refused is taken back and its writes are refused; a
// commit of which nobody knows what is stored ends the thread: what was not acknowledged may be lost, what was is on disk.

import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { CrashError, OrchError } from '../../runtime/errors.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import type { StorageEngine } from '../../storage/engine.ts';
import { SharedState } from '../../storage/shared-state.ts';
import { SlabPool } from '../../storage/slab-pool.ts';
import { type SlabView, ThreadSlabs } from '../../storage/thread-slabs.ts';
import { CommitTimes } from './commit-times.ts';
import { Compactor } from './compactor.ts';
import { STORE_FACTS } from './facts.ts';
import { keyServiceProblem, storeProblem } from './health.ts';
import { type PendingCommit, PendingCommits } from './pending-commits.ts';
import { historyPlaces, livePlaces } from './present-state.ts';
import type { PresentState, StoreHealth, StoreProtocol } from './protocol.ts';
import { recover } from './recovery.ts';
import { RevisionLog } from './revision-log.ts';
import { STORE_SETTINGS, type StoreOptions } from './settings.ts';
import { SettledSteps } from './settled-steps.ts';
import { Snapshots } from './snapshots.ts';
import { StoreMeasures } from './store-measures.ts';
import { StoreMetrics } from './store-metrics.ts';
import { Subscribers } from './subscribers.ts';
import { isRefusedWrite, WriteRefusals } from './write-refusals.ts';

const COMPACTION_CHECKS_PER_INTERVAL = 10;

export type { StoreOptions };

export class Store implements Actor<StoreProtocol> {
  readonly #context: ActorContext;
  readonly #options: StoreOptions;
  readonly #engine: StorageEngine;
  readonly #encryption: StoredEncryption | undefined;
  readonly #refusals: WriteRefusals;
  readonly #settings: typeof STORE_SETTINGS;
  readonly #shared = new SharedState();
  readonly #pool: SlabPool;
  /** Of this thread, which may host readers: they find the slabs like everyone else. */
  readonly #slabs: SlabView;
  readonly #log: RevisionLog;
  readonly #subscribers: Subscribers;
  readonly #metrics: StoreMetrics;
  readonly #snapshots: Snapshots;
  readonly #commitTimes = new CommitTimes();
  readonly #compactor: Compactor;
  #tokenKey: Uint8Array = new Uint8Array();
  readonly #pending: PendingCommits;
  #running = false;
  #commitStartedMs: number | undefined;
  readonly #settled = new SettledSteps(() => this.#commitStartedMs === undefined);
  #sliceDue = false;
  #learnedSlabs = 0;
  #stopped = false;
  /** Set while stopping: called when everything accepted has been written. */
  #onIdle: (() => void) | undefined;

  constructor(context: ActorContext, options: StoreOptions, encryption?: StoredEncryption) {
    this.#context = context;
    this.#options = options;
    this.#engine = options.engine(context);
    this.#encryption = encryption;
    this.#refusals = new WriteRefusals(context);
    this.#settings = { ...STORE_SETTINGS, ...(context.settings as Partial<typeof STORE_SETTINGS>) };
    this.#pool = new SlabPool(this.#settings.slabBytes, this.#shared);
    this.#subscribers = new Subscribers(context, this.#shared, this.#pool);
    this.#log = new RevisionLog(this.#pool, options.media, this.#encryption, this.#subscribers.incarnation);
    this.#slabs = ThreadSlabs.of(context).viewOf(context.name);
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
    this.#snapshots = new Snapshots(this.#engine, this.#log, context.timers);
    this.#metrics = new StoreMetrics(context.metrics, () => ({
      revision: this.#shared.committedRevision,
      objects: this.#log.current.size,
      historyEvents: this.#log.window.events.length,
      slabBytes: this.#pool.reservedBytes,
      slabLiveBytes: this.#pool.liveBytes,
      subscribers: this.#subscribers.count,
      writable: this.#refusals.current === undefined ? 1 : 0,
    }));
  }

  /** Opens the engine and recovers; nothing is answered before. */
  async open(): Promise<void> {
    try {
      const contents = await this.#engine.open();
      this.#tokenKey = contents.tokenKey;
      const nowMs = this.#context.clock.nowMs();
      const forms = { currentVersion: this.#options.currentVersion, encryption: this.#encryption };
      const times = await recover(this.#log, this.#pool, this.#engine, contents, forms);
      for (const { revision, wallMs } of times) {
        // A clock that was ahead then and is right now must not keep history for ever.
        this.#commitTimes.add({ revision, wallMs: Math.min(wallMs, nowMs) });
      }
      // The newest record is the one that compaction leaves: it is not to hold values under an old key.
      if (this.#log.hasStaleHistory) await this.#checkpoint(nowMs);
    } catch (error) {
      this.#encryption?.close();
      await this.#engine.close({ asFound: true });
      throw error;
    }
    this.#shared.committedRevision = this.#log.revision;
    this.#learnSlabs();
    const { compactionIntervalMs } = this.#options;
    if (compactionIntervalMs > 0) {
      this.#context.timers.every(Math.max(100, compactionIntervalMs / COMPACTION_CHECKS_PER_INTERVAL), () =>
        this.#settled.when(this.#compactByAge),
      );
    }
    const { measures } = this.#options;
    if (measures) new StoreMeasures(this.#context, this.#engine, this.#log.current).start(measures);
    this.#context.log.info({ revision: this.#log.revision, objects: this.#log.current.size }, 'store opened');
  }

  async #checkpoint(wallMs: number): Promise<void> {
    const { lastRevision, ...batch } = this.#log.checkpoint(wallMs);
    await this.#engine.commit({ ...batch, lastRevision });
    this.#commitTimes.add({ revision: lastRevision, wallMs });
  }

  onMessage(message: MessageOf<StoreProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'commit':
        this.#accept({ message, reply });
        return;
      case 'subscribe':
        this.#settled.answer(reply, () => this.#subscribe(message.subscriber));
        return;
      case 'unsubscribe':
        this.#subscribers.remove(message.subscriber);
        return;
      case 'digests':
        this.#settled.answer(reply, () => ({ revision: this.#log.revision, resources: this.#log.digests.all() }));
        return;
      case 'health':
        this.#health(reply);
        return;
      case 'keyServiceHealth':
        void keyServiceProblem(this.#encryption, message.number).then((problem) => reply.send({ problem }));
        return;
      case 'compact':
        this.#settled.answer(reply, () => {
          this.#compactor.upTo(message.upToRevision);
          while (this.#compactor.isBehind) this.#compactor.next();
          this.#wake();
          return { compactedRevision: this.#log.compactedRevision };
        });
        return;
      case 'openSnapshot':
      case 'readSnapshot':
      case 'closeSnapshot':
        this.#snapshots.onMessage(message, reply, (answer) => this.#settled.answer(reply, answer));
        return;
      default:
        unreachable(message);
    }
  }

  async stop(): Promise<void> {
    if (this.#running) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#stopped = true;
    this.#encryption?.close();
    await this.#engine.close();
  }

  /** The subscription may be the dead actor's or already its successor's: whoever lives subscribes again. */
  peerRestarted(name: string): void {
    this.#subscribers.lose(name);
  }

  /** Values under a key that a service has yet to give wait here, and nothing waits for them. */
  #accept(commit: PendingCommit): void {
    const { message, reply } = commit;
    const readiness = this.#encryption?.readyFor(message.transactions);
    if (readiness !== undefined) {
      readiness.then(
        () => this.#accept(commit),
        (error: unknown) => reply.fail(error),
      );
      return;
    }
    if (this.#stopped) {
      reply.fail(new OrchError('ActorDown', 'the store has stopped'));
      return;
    }
    this.#pending.add(commit);
    this.#wake();
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
      if (this.#diskCompactionDue) await this.#compactDisk();
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

  /** Takes a batch back when it was refused; so are its writes, until the disk is worth another try. */
  async #commitBatch(commits: readonly PendingCommit[]): Promise<void> {
    if (this.#refusals.isFresh) {
      for (const { reply } of commits) reply.fail(this.#refusals.current);
      return;
    }
    try {
      await this.#writeBatch(commits);
    } catch (error) {
      if (!isRefusedWrite(error)) throw error;
      this.#commitStartedMs = undefined;
      this.#log.retract();
      // What it had written to slabs is dead, and was never shown to anyone.
      this.#pool.retireEmpty(this.#subscribers.sequence);
      this.#refusals.refused(error);
      for (const { reply } of commits) reply.fail(error);
      this.#settle();
    }
  }

  /** Throws, with nothing acknowledged, what the engine rejects with. */
  async #writeBatch(commits: readonly PendingCommit[]): Promise<void> {
    const log = this.#log;
    const firstRevision = log.revision + 1;
    const wallMs = this.#context.clock.nowMs();
    let transactions = 0;
    log.begin();
    const answers = commits.map(({ message }) => {
      transactions += message.transactions.length;
      return log.applyEach(message.transactions, message.payload);
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
      this.#refusals.written();
    }
    commits.forEach(({ reply }, index) => {
      reply.send({ results: answers[index] });
    });
    if (batch !== undefined) this.#settle();
  }

  /** A disk that refuses this as well is compacted later. */
  async #compactDisk(): Promise<void> {
    try {
      await this.#compactor.compactDisk(this.#engine);
      this.#refusals.written();
    } catch (error) {
      if (!isRefusedWrite(error)) throw error;
      this.#compactor.isDiskDue = true;
      this.#refusals.refused(error);
    }
  }

  /** What waited for the batch, and keeping the history window to its bounds. */
  #settle(): void {
    this.#compactor.byBounds();
    if (this.#compactor.isBehind) this.#goOnCompacting();
    this.#settled.run();
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

  #learnSlabs(): void {
    if (this.#learnedSlabs === this.#pool.count) return;
    this.#slabs.learn(this.#pool.memories(this.#learnedSlabs), this.#subscribers.incarnation);
    this.#learnedSlabs = this.#pool.count;
  }

  #subscribe(subscriber: string): PresentState {
    const readerSlot = this.#subscribers.add(subscriber);
    return {
      incarnation: this.#subscribers.incarnation,
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
      this.#context.timers.soon(() => this.#settled.when(this.#compactNext));
    }
  }

  /** A store that is stopping leaves the disk's compaction to the next start. */
  get #diskCompactionDue(): boolean {
    return this.#compactor.isDiskDue && this.#onIdle === undefined && !this.#refusals.isFresh;
  }

  #health(reply: Reply): void {
    const { clock, timers } = this.#context;
    const timeoutMs = this.#options.healthcheckTimeoutMs;
    const started = this.#commitStartedMs;
    const waitedMs = started === undefined ? 0 : clock.monotonicMs() - started;
    void storeProblem(this.#engine, timers, timeoutMs, waitedMs).then((reason) => {
      const revision = this.#shared.committedRevision;
      reply.send({ healthy: reason === '', revision, reason } satisfies StoreHealth);
    });
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
export const storeActor: ActorDefinition<StoreOptions> = {
  ...STORE_FACTS,
  owns: 'the storage engine',
  create: async (context, options) => {
    const store = new Store(context, options, await options.encryption?.());
    await store.open();
    return store;
  },
};
