// Orders the commits of a store whose engine others write to as well. What the engine tells is admitted to the log and shown,
// whoever committed it; a commit of our own is answered when it has been shown. What does not hold by what is known here may
// hold by now, so that a refusal is only given by a state at least as new as everything acknowledged before it was asked for.

import type { ActorContext } from '../../../runtime/actor.ts';
import { isOrchError, OrchError } from '../../../runtime/errors.ts';
import { MergedAsks } from '../../../runtime/messages/merged-asks.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { EngineView } from '../../../storage/engines/local-engine.ts';
import { type SharedCommit, type SharedEngine, TOO_MANY } from '../../../storage/engines/shared-engine.ts';
import { SearchPace } from '../../../values/search-pace.ts';
import type { PublishedPlace, TransactionResult } from '../protocol.ts';
import type { Projection } from '../readers/projection.ts';
import type { StoreOptions } from '../settings.ts';
import type { StoreMetrics } from '../store-metrics.ts';
import { CommitAnswers } from './commit-answers.ts';
import { givenUp, type PendingCommit, UNSEARCHED } from './pending-commits.ts';
import { type Fail, type Sequencer, storeStopped } from './sequencer.ts';
import { type Candidate, groupAt, isBehindFirst, SharedBatch, USUAL_LIMITS } from './shared-batch.ts';
import { SharedFollower } from './shared-follower.ts';
import { Unreached } from './unreached.ts';
import { isRefusedWrite, WriteRefusals } from './write-refusals.ts';

/** A transaction that loses to others so often is given back to who asked for it. */
const TRIES_MAX = 64;
const STOP_MS_MAX = 3000;
/** Of all batches under way, but for one: etcd brings one after the other to its disk, and is to answer the last in time as well. */
const BYTES_UNDER_WAY_MAX = 6 * 1024 * 1024;

export interface SharedParts {
  readonly context: ActorContext;
  readonly engine: SharedEngine;
  readonly options: StoreOptions;
  readonly encryption: StoredEncryption | undefined;
  readonly projection: Projection;
  readonly metrics: StoreMetrics;
  readonly fail: Fail;
}

/** A batch that the engine has. */
interface UnderWay {
  readonly names: readonly string[];
  readonly bytes: number;
  readonly startedMs: number;
}

export class SharedSequencer implements Sequencer {
  readonly isSettled = true;
  readonly #parts: SharedParts;
  readonly #context: ActorContext;
  readonly #engine: SharedEngine;
  readonly #follower: SharedFollower;
  readonly #refusals: WriteRefusals;
  readonly #barriers: MergedAsks<number>;
  readonly #answers = new CommitAnswers();
  /** The oldest first. */
  readonly #underWay = new Set<UnderWay>();
  readonly #contendedAs: (key: string) => string;
  #lanes = 1;
  /** Lower than usual where the engine takes less. */
  #limits = USUAL_LIMITS;
  #waiting: Candidate[] = [];
  readonly #pace = new SearchPace(UNSEARCHED);
  #running = false;
  #stopped = false;
  /** Set while the loop waits for a lane, or for something to send. */
  #onStir: (() => void) | undefined;
  /** Set while stopping: called when everything accepted has been answered. */
  #onIdle: (() => void) | undefined;

  constructor(parts: SharedParts) {
    const { keepsForm = false } = parts.engine;
    this.#parts = keepsForm ? { ...parts, encryption: undefined, options: { ...parts.options, media: 'json' } } : parts;
    this.#context = parts.context;
    this.#engine = parts.engine;
    this.#contendedAs = parts.engine.contendedAs ?? ((key) => key);
    this.#refusals = new WriteRefusals(parts.context);
    this.#follower = new SharedFollower({ ...this.#parts, onLost: (error) => this.#break(error) });
    const unreached = new Unreached(parts.context.log);
    this.#barriers = new MergedAsks(() => this.#newest(unreached));
  }

  get writable(): number {
    return this.#refusals.current === undefined ? 1 : 0;
  }

  get waitedMs(): number {
    const [oldest] = this.#underWay;
    return oldest === undefined ? 0 : this.#context.clock.monotonicMs() - oldest.startedMs;
  }

  async open(): Promise<Uint8Array> {
    try {
      const { tokenKey, lanes, ...numbering } = await this.#engine.open();
      this.#lanes = lanes;
      await this.#follower.open(numbering);
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
    this.#answers.begin(commit);
    transactions.forEach((transaction, index) => {
      this.#waiting.push({ commit, index, transaction, isFresh: false, tries: 0 });
    });
    if (this.#pace.isDue(this.#waiting.length)) this.#dropGivenUp();
    this.#wake();
  }

  /** The engine forgets by its own clock, which all its users share. */
  compacted(): void {
    this.#parts.projection.compactor.isDiskDue = false;
  }

  barrier(): Promise<number> {
    return this.#barriers.answer();
  }

  async #newest(unreached: Unreached): Promise<number> {
    try {
      const revision = await this.#engine.readBarrier();
      unreached.reached();
      return await this.#follower.reach(revision);
    } catch (error) {
      if (!this.#stopped) unreached.failed(error);
      throw error;
    }
  }

  view(): EngineView {
    return this.#follower.view();
  }

  /** An engine that does not answer is not waited for any longer: what was not acknowledged may have happened. */
  async stop(): Promise<void> {
    if (this.#running || this.#underWay.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        this.#context.timers.after(STOP_MS_MAX, resolve);
      });
    }
    this.#stopped = true;
    await this.#engine.close();
  }

  #wake(): void {
    if (this.#stopped) return;
    this.#stir();
    if (this.#running) return;
    this.#running = true;
    // At the end of the turn, so that everything which arrived with the first write shares its batch.
    this.#context.timers.soon(() => {
      this.#run().catch((error: unknown) => this.#break(error));
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped) await this.#commitNext();
    this.#running = false;
    if (this.#underWay.size === 0) this.#onIdle?.();
  }

  /** A batch for each lane that is free, or one barrier where that is all that helps. */
  async #commitNext(): Promise<void> {
    if (this.#refusals.isFresh) {
      this.#refuse(this.#waiting, this.#refusals.current);
      return;
    }
    if (!this.#hasLane()) {
      await this.#stirred();
      return;
    }
    const { batches, needsBarrier } = this.#formBatches();
    for (const batch of batches) {
      this.#commit(batch).catch((error: unknown) => this.#break(error));
    }
    if (needsBarrier.length === 0) {
      if (this.#waiting.length > 0 && this.#underWay.size > 0) await this.#stirred();
      return;
    }
    try {
      await this.barrier();
      for (const candidate of needsBarrier) candidate.isFresh = true;
    } catch (error) {
      this.#refuse(needsBarrier, error);
    }
  }

  /** Whether another batch may be under way, beside those that are about to be. */
  #hasLane(formed: readonly SharedBatch[] = []): boolean {
    const all = [...this.#underWay, ...formed];
    return all.length < this.#lanes && all.reduce((sum, { bytes }) => sum + bytes, 0) < BYTES_UNDER_WAY_MAX;
  }

  /** Takes what goes into the next batches from what waits, and answers what needs none. */
  #formBatches(): { readonly batches: readonly SharedBatch[]; readonly needsBarrier: readonly Candidate[] } {
    if (this.#waiting.some(isGivenUp)) this.#dropGivenUp();
    const written = new Set([...this.#underWay].flatMap(({ names }) => names));
    const batches = [this.#emptyBatch(written)];
    const needsBarrier: Candidate[] = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; ) {
      if (batches.at(-1)!.isFull) {
        if (!this.#hasLane(batches)) {
          this.#waiting.push(...waiting.slice(at));
          break;
        }
        batches.push(this.#emptyBatch(written));
      }
      const group = groupAt(waiting, at);
      at += group.length;
      this.#decide(batches.at(-1)!, group, needsBarrier);
    }
    return { batches: batches.filter(({ entries }) => entries.length > 0), needsBarrier };
  }

  #emptyBatch(written: Set<string>): SharedBatch {
    const { options, encryption, projection } = this.#parts;
    const { numbers, remains } = this.#follower;
    const contendedAs = this.#contendedAs;
    return new SharedBatch({
      log: projection.log,
      numbers,
      media: options.media,
      encryption,
      limits: this.#limits,
      remains,
      unreadable: projection.unreadable,
      written,
      contendedAs,
    });
  }

  /** Puts a group into a batch, answers it, or leaves it waiting. */
  #decide(batch: SharedBatch, group: readonly [Candidate, ...Candidate[]], needsBarrier: Candidate[]): void {
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

  async #commit(batch: SharedBatch): Promise<void> {
    const keys = batch.entries.flatMap(({ shared }) => shared.writes.map(({ key }) => key));
    const { names, bytes } = batch;
    const lane: UnderWay = { names, bytes, startedMs: this.#context.clock.monotonicMs() };
    this.#underWay.add(lane);
    this.#follower.notePlaces(keys);
    try {
      await this.#commitNoted(batch);
    } finally {
      this.#follower.forgetPlaces(keys);
      this.#underWay.delete(lane);
      this.#stir();
      if (this.#waiting.length > 0) this.#wake();
      else if (this.#underWay.size === 0 && !this.#running) this.#onIdle?.();
    }
  }

  async #commitNoted(batch: SharedBatch): Promise<void> {
    const candidates = batch.entries.map(({ candidate }) => candidate);
    const shared = [...batch.entries.map((entry) => entry.shared), ...batch.sweep()];
    let commit: SharedCommit;
    try {
      commit = await this.#engine.commit(shared);
      await this.#follower.reach(commit.revision);
    } catch (error) {
      if (isOrchError(error, 'StorageTooLarge')) this.#tooLarge(candidates, shared.length, error);
      else if (isRefusedWrite(error)) {
        this.#refusals.refused(error);
        this.#refuse(candidates, error);
      } else throw error;
      return;
    }
    this.#refusals.written();
    this.#parts.metrics.committed(candidates.length);
    const lost: Candidate[] = [];
    const hopeless: Candidate[] = [];
    batch.entries.forEach(({ candidate, place }, index) => {
      if (commit.held[index] === true) this.#answer(candidate, this.#placesOf(candidate, commit.revision, place));
      else if (isBehindFirst(candidate) && lost.at(-1)?.commit !== candidate.commit)
        this.#answer(candidate, batch.lostBehind(candidate));
      else if (++candidate.tries < TRIES_MAX) lost.push(candidate);
      else hopeless.push(candidate);
    });
    // What came in between has been shown by now: by that they are judged again.
    for (const candidate of lost) candidate.isFresh = true;
    this.#waiting = [...lost, ...this.#waiting];
    if (hopeless.length > 0) this.#refuse(hopeless, new OrchError('Overloaded', 'others write the same objects'));
  }

  /**
   * Of several that are too much at once each is tried again, in smaller batches. One alone says nothing against the writes of others.
   * `count`: with what is swept.
   */
  #tooLarge(candidates: readonly Candidate[], count: number, error: OrchError): void {
    const isTooMany = error.details === TOO_MANY;
    // What is swept beside them is of few bytes.
    if ((isTooMany ? count : candidates.length) === 1) {
      this.#refuse(candidates, error);
      return;
    }
    const { operations, bytes } = this.#limits;
    this.#context.log.warn(
      { err: error },
      'etcd takes less at once than usual: writes are divided into smaller batches',
    );
    this.#limits = isTooMany ? { operations: operations / 2, bytes } : { operations, bytes: bytes / 2 };
    this.#waiting = [...candidates, ...this.#waiting];
  }

  /** Waits until a lane is free, or something arrives. */
  #stirred(): Promise<void> {
    return new Promise((resolve) => {
      this.#onStir = resolve;
    });
  }

  #stir(): void {
    this.#onStir?.();
    this.#onStir = undefined;
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
    this.#answers.give(commit, index, result);
  }

  /**
   * What nobody waits for any more is not made: behind an etcd that stands still it would gather for as long as that does, and happen long
   * after its clients were told that it had taken too long.
   */
  #dropGivenUp(): void {
    this.#refuse(this.#waiting.filter(isGivenUp), givenUp());
    this.#pace.searched(this.#waiting.length);
  }

  /** Nothing of the messages that these are of is tried any more. */
  #refuse(candidates: readonly Candidate[], error: unknown): void {
    const refused = new Set<PendingCommit>();
    for (const { commit } of candidates) {
      this.#answers.fail(commit, error);
      refused.add(commit);
    }
    this.#waiting = this.#waiting.filter(({ commit }) => !refused.has(commit));
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
    this.#stir();
    this.#onIdle?.();
    this.#parts.fail(error);
  }
}

function isGivenUp({ commit }: Candidate): boolean {
  return !commit.reply.isAwaited;
}
