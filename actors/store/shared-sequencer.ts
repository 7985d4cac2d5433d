// Orders the commits of a store whose engine others write to as well. What the engine tells is admitted to the log and shown,
// whoever committed it; a commit of our own is answered when it has been shown. What does not hold by what is known here may
// hold by now, so that a refusal is only given by a state at least as new as everything acknowledged before it was asked for.

import type { ActorContext } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import { MergedAsks } from '../../runtime/merged-asks.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import type { EngineView } from '../../storage/local-engine.ts';
import type { SharedCommit, SharedEngine } from '../../storage/shared-engine.ts';
import type { PendingCommit } from './pending-commits.ts';
import type { Projection } from './projection.ts';
import type { PublishedPlace, TransactionResult } from './protocol.ts';
import { type Fail, type Sequencer, storeStopped } from './sequencer.ts';
import type { StoreOptions } from './settings.ts';
import { type Candidate, SharedBatch } from './shared-batch.ts';
import { SharedFollower } from './shared-follower.ts';
import type { StoreMetrics } from './store-metrics.ts';
import { isRefusedWrite, WriteRefusals } from './write-refusals.ts';

/** A transaction that loses to others so often is given back to who asked for it. */
const TRIES_MAX = 64;
const STOP_MS_MAX = 3000;

export interface SharedParts {
  readonly context: ActorContext;
  readonly engine: SharedEngine;
  readonly options: StoreOptions;
  readonly encryption: StoredEncryption | undefined;
  readonly projection: Projection;
  readonly metrics: StoreMetrics;
  readonly fail: Fail;
}

interface Answering {
  readonly results: (TransactionResult | undefined)[];
  left: number;
}

export class SharedSequencer implements Sequencer {
  readonly isSettled = true;
  readonly #parts: SharedParts;
  readonly #context: ActorContext;
  readonly #engine: SharedEngine;
  readonly #follower: SharedFollower;
  readonly #refusals: WriteRefusals;
  readonly #barriers: MergedAsks<number>;
  readonly #answering = new Map<PendingCommit, Answering>();
  #waiting: Candidate[] = [];
  #running = false;
  #stopped = false;
  #commitStartedMs: number | undefined;
  /** Set while stopping: called when everything accepted has been answered. */
  #onIdle: (() => void) | undefined;

  constructor(parts: SharedParts) {
    this.#parts = parts;
    this.#context = parts.context;
    this.#engine = parts.engine;
    this.#refusals = new WriteRefusals(parts.context);
    this.#follower = new SharedFollower({ ...parts, onLost: (error) => this.#break(error) });
    this.#barriers = new MergedAsks(async () => this.#follower.reach(await this.#engine.readBarrier()));
  }

  get writable(): number {
    return this.#refusals.current === undefined ? 1 : 0;
  }

  get waitedMs(): number {
    return this.#commitStartedMs === undefined ? 0 : this.#context.clock.monotonicMs() - this.#commitStartedMs;
  }

  async open(): Promise<Uint8Array> {
    try {
      const { tokenKey, base } = await this.#engine.open();
      await this.#follower.open(base);
      const { compactionIntervalMs } = this.#parts.options;
      if (compactionIntervalMs > 0) this.#context.timers.every(compactionIntervalMs, () => this.#compact());
      return tokenKey;
    } catch (error) {
      await this.#engine.close();
      throw error;
    }
  }

  accept(commit: PendingCommit): void {
    if (this.#stopped) {
      commit.reply.fail(storeStopped());
      return;
    }
    const { transactions } = commit.message;
    if (transactions.length === 0) {
      commit.reply.send({ results: [] });
      return;
    }
    this.#answering.set(commit, { results: transactions.map(() => undefined), left: transactions.length });
    transactions.forEach((transaction, index) => {
      this.#waiting.push({ commit, index, transaction, isFresh: false, tries: 0 });
    });
    this.#wake();
  }

  /** The engine forgets by its own clock, which all its users share. */
  compacted(): void {
    this.#parts.projection.compactor.isDiskDue = false;
  }

  barrier(): Promise<number> {
    return this.#barriers.answer();
  }

  view(): EngineView {
    return this.#follower.view();
  }

  /** An engine that does not answer is not waited for any longer: what was not acknowledged may have happened. */
  async stop(): Promise<void> {
    if (this.#running) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        this.#context.timers.after(STOP_MS_MAX, resolve);
      });
    }
    this.#stopped = true;
    await this.#engine.close();
  }

  #wake(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // At the end of the turn, so that everything which arrived with the first write shares its batch.
    this.#context.timers.soon(() => {
      this.#run().catch((error: unknown) => this.#break(error));
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped) await this.#commitNext();
    this.#running = false;
    this.#onIdle?.();
  }

  /** One batch, or one barrier where that is all that helps. */
  async #commitNext(): Promise<void> {
    if (this.#refusals.isFresh) {
      this.#refuse(this.#waiting, this.#refusals.current);
      this.#waiting = [];
      return;
    }
    const { batch, needsBarrier } = this.#formBatch();
    if (batch.entries.length > 0) await this.#commit(batch);
    if (needsBarrier.length === 0) return;
    try {
      await this.barrier();
      for (const candidate of needsBarrier) candidate.isFresh = true;
    } catch (error) {
      this.#refuse(needsBarrier, error);
      this.#waiting = this.#waiting.filter((candidate) => !needsBarrier.includes(candidate));
    }
  }

  /** Takes what goes into the next batch from what waits, and answers what needs none. */
  #formBatch(): { readonly batch: SharedBatch; readonly needsBarrier: readonly Candidate[] } {
    const { options, encryption, projection } = this.#parts;
    const { numbers, remains } = this.#follower;
    const batch = new SharedBatch({ log: projection.log, numbers, media: options.media, encryption, remains });
    const needsBarrier: Candidate[] = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; ) {
      const group = groupAt(waiting, at);
      at += group.length;
      const verdicts = group.length === 1 ? [batch.add(group[0])] : batch.addTogether(group);
      for (const [i, candidate] of group.entries()) {
        const verdict = verdicts[i]!;
        if (verdict === 'sent') continue;
        if (typeof verdict === 'object') {
          this.#answer(candidate, verdict);
          continue;
        }
        this.#waiting.push(candidate);
        if (verdict === 'barrier') needsBarrier.push(candidate);
      }
    }
    return { batch, needsBarrier };
  }

  async #commit(batch: SharedBatch): Promise<void> {
    const candidates = batch.entries.map(({ candidate }) => candidate);
    const shared = [...batch.entries.map((entry) => entry.shared), ...batch.sweep()];
    this.#commitStartedMs = this.#context.clock.monotonicMs();
    this.#follower.notePlaces();
    let commit: SharedCommit;
    try {
      commit = await this.#engine.commit(shared);
      await this.#follower.reach(commit.revision);
    } catch (error) {
      if (!isRefusedWrite(error)) throw error;
      this.#refusals.refused(error);
      this.#refuse(candidates, error);
      return;
    } finally {
      this.#commitStartedMs = undefined;
    }
    this.#refusals.written();
    this.#parts.metrics.committed(candidates.length);
    const lost: Candidate[] = [];
    batch.entries.forEach(({ candidate, place }, index) => {
      if (commit.held[index] === true) this.#answer(candidate, this.#placesOf(candidate, commit.revision, place));
      else if (isBehindFirst(candidate) && lost.at(-1)?.commit !== candidate.commit)
        this.#answer(candidate, batch.lostBehind(candidate));
      else if (++candidate.tries < TRIES_MAX) lost.push(candidate);
      else this.#answerFailed(candidate.commit, new OrchError('Overloaded', 'others write the same objects'));
    });
    // What came in between has been shown by now: by that they are judged again.
    for (const candidate of lost) candidate.isFresh = true;
    this.#waiting = [...lost, ...this.#waiting];
  }

  #placesOf({ transaction }: Candidate, engineRevision: number, place: number): TransactionResult {
    const { numbers } = this.#follower;
    const revision = numbers.version(engineRevision, place);
    const { incarnation } = this.#parts.projection.subscribers;
    const places = transaction.operations.map(({ key }): PublishedPlace => {
      const { slab, offset } = this.#follower.placeOf(key, revision);
      return { revision, slab, offset, incarnation };
    });
    return { ok: true, revision, places };
  }

  #answer({ commit, index }: Candidate, result: TransactionResult): void {
    const answering = this.#answering.get(commit);
    if (answering === undefined) return;
    answering.results[index] = result;
    if (--answering.left > 0) return;
    this.#answering.delete(commit);
    commit.reply.send({ results: answering.results });
  }

  #refuse(candidates: readonly Candidate[], error: unknown): void {
    for (const { commit } of candidates) this.#answerFailed(commit, error);
  }

  /** Nothing of the message is tried any more. */
  #answerFailed(commit: PendingCommit, error: unknown): void {
    if (!this.#answering.delete(commit)) return;
    this.#waiting = this.#waiting.filter((candidate) => candidate.commit !== commit);
    commit.reply.fail(error);
  }

  #compact(): void {
    this.#engine.compact().catch((error: unknown) => {
      this.#context.log.warn({ err: error }, 'the store was not compacted');
    });
  }

  #break(error: unknown): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#running = false;
    this.#onIdle?.();
    this.#parts.fail(error);
  }
}

function isBehindFirst({ transaction, index }: Candidate): boolean {
  return transaction.isBehindFirst === true && index > 0;
}

/** What waits there, and behind it what may only be committed together with it. */
function groupAt(waiting: readonly Candidate[], at: number): readonly [Candidate, ...Candidate[]] {
  const first = waiting[at]!;
  const group: [Candidate, ...Candidate[]] = [first];
  for (let next = waiting[at + 1]; next !== undefined; next = waiting[at + group.length]) {
    if (next.commit !== first.commit || !isBehindFirst(next)) break;
    group.push(next);
  }
  return group;
}
