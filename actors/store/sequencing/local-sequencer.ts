// Orders the commits of a store that only this process writes to. Gathers what arrives while a batch is being written, numbers
// and commits it as one, and keeps this order: durable, then the committed revision in shared memory, then the batch
// published, then the writes acknowledged. A batch that the disk refused is taken back and its writes are refused; a
// commit of which nobody knows what is stored fails the store.

import type { ActorContext } from '../../../runtime/actor.ts';
import type { Timer } from '../../../runtime/environment.ts';
import type { OrchError } from '../../../runtime/errors.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { EngineView, LocalEngine } from '../../../storage/engines/local-engine.ts';
import { recover } from '../log/recovery.ts';
import type { Projection } from '../readers/projection.ts';
import type { STORE_SETTINGS, StoreOptions } from '../settings.ts';
import type { StoreMetrics } from '../store-metrics.ts';
import { type PendingCommit, PendingCommits } from './pending-commits.ts';
import { type Fail, type Sequencer, storeStopped } from './sequencer.ts';
import { isRefusedWrite, WriteRefusals } from './write-refusals.ts';

/** After this long without a write a disk that refused one is tried all the same: health checks and snapshots wait for no write. */
const TRY_MS = 5000;

export interface LocalParts {
  readonly context: ActorContext;
  readonly engine: LocalEngine;
  readonly options: StoreOptions;
  readonly settings: typeof STORE_SETTINGS;
  readonly encryption: StoredEncryption | undefined;
  readonly projection: Projection;
  readonly metrics: StoreMetrics;
  readonly fail: Fail;
}

export class LocalSequencer implements Sequencer {
  readonly #parts: LocalParts;
  readonly #context: ActorContext;
  readonly #engine: LocalEngine;
  readonly #projection: Projection;
  readonly #refusals: WriteRefusals;
  readonly #pending: PendingCommits;
  #running = false;
  #stopped = false;
  #commitStartedMs: number | undefined;
  #nextTry: Timer | undefined;
  /** Set while stopping: called when everything accepted has been written. */
  #onIdle: (() => void) | undefined;

  constructor(parts: LocalParts) {
    this.#parts = parts;
    this.#context = parts.context;
    this.#engine = parts.engine;
    this.#projection = parts.projection;
    this.#refusals = new WriteRefusals(parts.context);
    this.#pending = new PendingCommits(parts.settings.batchTransactionsMax, parts.settings.batchBytesMax);
  }

  get isSettled(): boolean {
    return this.#commitStartedMs === undefined;
  }

  get writable(): number {
    return this.#refusals.current === undefined ? 1 : 0;
  }

  get waitedMs(): number {
    return this.#commitStartedMs === undefined ? 0 : this.#context.clock.monotonicMs() - this.#commitStartedMs;
  }

  async open(): Promise<Uint8Array> {
    const { options, encryption } = this.#parts;
    const { log, pool, commitTimes } = this.#projection;
    try {
      const contents = await this.#engine.open();
      const nowMs = this.#context.clock.nowMs();
      const forms = { currentVersion: options.currentVersion, encryption };
      const times = await recover(log, pool, this.#engine, contents, forms);
      for (const { revision, wallMs } of times) {
        // A clock that was ahead then and is right now must not keep history for ever.
        commitTimes.add({ revision, wallMs: Math.min(wallMs, nowMs) });
      }
      await this.#engine.loaded?.();
      // The newest record is the one that compaction leaves: it is not to hold values under an old key.
      if (log.hasStaleHistory) await this.#checkpoint(nowMs);
      return contents.tokenKey;
    } catch (error) {
      await this.#engine.close({ asFound: true });
      throw error;
    }
  }

  accept(commit: PendingCommit): void {
    if (this.#stopped) {
      commit.reply.fail(storeStopped());
      return;
    }
    this.#pending.add(commit);
    this.#wake();
  }

  compacted(): void {
    this.#wake();
  }

  doubted(): void {
    this.#nextTry ??= this.#context.timers.after(TRY_MS, () => {
      this.#nextTry = undefined;
      // Opens what a refused write has closed, whether or not there is something to forget.
      this.#projection.compactor.isDiskDue = true;
      this.#wake();
    });
  }

  /** Nobody else writes. */
  barrier(): Promise<number> {
    return Promise.resolve(this.#projection.shared.committedRevision);
  }

  view(): EngineView {
    return this.#engine.view();
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

  async #checkpoint(wallMs: number): Promise<void> {
    const { lastRevision, ...batch } = this.#projection.log.checkpoint(wallMs);
    await this.#engine.commit({ ...batch, lastRevision });
    this.#projection.commitTimes.add({ revision: lastRevision, wallMs });
  }

  #wake(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // At the end of the turn, so that everything which arrived with the first write shares its batch.
    this.#context.timers.soon(() => {
      this.#run().catch((error: unknown) => {
        this.#rest();
        this.#stopped = true;
        this.#parts.fail(error);
      });
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
      this.#projection.log.retract();
      this.#projection.retracted();
      this.#refused(error);
      for (const { reply } of commits) reply.fail(error);
      this.#projection.settle();
    }
  }

  /** Throws, with nothing acknowledged, what the engine rejects with. */
  async #writeBatch(commits: readonly PendingCommit[]): Promise<void> {
    const { log } = this.#projection;
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
      this.#projection.show(batch.runs);
      this.#parts.metrics.committed(transactions);
      this.#refusals.written();
    }
    commits.forEach(({ reply }, index) => {
      reply.send({ results: answers[index] });
    });
    if (batch !== undefined) this.#projection.settle();
  }

  /** A store that is stopping leaves the disk's compaction to the next start. */
  get #diskCompactionDue(): boolean {
    return this.#projection.compactor.isDiskDue && this.#onIdle === undefined && !this.#refusals.isFresh;
  }

  /** A disk that refuses this as well is compacted later. */
  async #compactDisk(): Promise<void> {
    const { compactor } = this.#projection;
    try {
      await compactor.compactDisk(this.#engine);
      this.#refusals.written();
    } catch (error) {
      if (!isRefusedWrite(error)) throw error;
      compactor.isDiskDue = true;
      this.#refused(error);
    }
  }

  #refused(error: OrchError): void {
    this.#refusals.refused(error);
    this.#nextTry?.cancel();
    this.#nextTry = undefined;
    this.doubted();
  }
}
