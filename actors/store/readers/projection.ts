// What the store shows its readers: slabs, the history window, publications and the committed revision in shared memory. Shows
// nothing but what a sequencer says is committed, and keeps the window to its age and bounds between batches.

import type { ActorContext } from '../../../runtime/actor.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { type SlabView, ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { CommitTimes } from '../commit-times.ts';
import { Compactor } from '../compactor.ts';
import { RevisionLog } from '../log/revision-log.ts';
import type { PresentState, Subscription } from '../protocol.ts';
import type { STORE_SETTINGS, StoreOptions } from '../settings.ts';
import { SettledSteps } from '../settled-steps.ts';
import { Subscribers } from './subscribers.ts';
import { UnreadableValues } from './unreadable-values.ts';

const COMPACTION_CHECKS_PER_INTERVAL = 10;

export interface ProjectionParts {
  readonly context: ActorContext;
  readonly options: StoreOptions;
  readonly settings: typeof STORE_SETTINGS;
  readonly encryption: StoredEncryption | undefined;
  /** The log holds nothing that is not committed. */
  readonly isSettled: () => boolean;
  /** Nothing is left of a compaction but what the engine may do of it. */
  readonly onCompacted: () => void;
}

export class Projection {
  readonly shared = new SharedState();
  readonly pool: SlabPool;
  readonly log: RevisionLog;
  readonly subscribers: Subscribers;
  readonly commitTimes = new CommitTimes();
  readonly compactor: Compactor;
  readonly settled: SettledSteps;
  readonly unreadable: UnreadableValues;
  readonly #parts: ProjectionParts;
  /** Of this thread, which may host readers: they find the slabs like everyone else. */
  readonly #slabs: SlabView;
  /** What the wall's clock was ahead of the steady one when the log had been filled. */
  #aheadMs = 0;
  #learnedSlabs = 0;
  #sliceDue = false;

  constructor(parts: ProjectionParts) {
    const { context, options, settings, encryption, isSettled } = parts;
    this.#parts = parts;
    this.settled = new SettledSteps(isSettled);
    this.pool = new SlabPool(settings.slabBytes, this.shared);
    this.subscribers = new Subscribers(context, this.shared, this.pool, settings);
    this.log = new RevisionLog(this.pool, options.media, encryption, this.subscribers.incarnation);
    this.unreadable = new UnreadableValues(context);
    this.#slabs = ThreadSlabs.of(context).viewOf(context.name);
    this.compactor = new Compactor({
      log: this.log,
      pool: this.pool,
      commitTimes: this.commitTimes,
      historyBytesMax: options.historyBytesMax,
      historyEventsMax: settings.historyEventsMax,
      sliceEvents: settings.compactionSliceEvents,
      sparseShare: settings.sparseShare,
      publish: (movedRuns) => this.#publish([], movedRuns),
    });
  }

  /** The log has been filled: it may be shown from here on. */
  open(): void {
    const { context, options } = this.#parts;
    this.#aheadMs = context.clock.nowMs() - context.clock.monotonicMs();
    this.shared.committedRevision = this.log.revision;
    this.#learnSlabs();
    const { compactionIntervalMs } = options;
    if (compactionIntervalMs <= 0) return;
    context.timers.every(Math.max(100, compactionIntervalMs / COMPACTION_CHECKS_PER_INTERVAL), () =>
      this.settled.when(this.#compactByAge),
    );
  }

  /** Everything up to the log's revision is committed: shared memory says so first, then the publication does. */
  show(runs: readonly number[]): void {
    const { revision } = this.log;
    this.shared.committedRevision = revision;
    // Of what brings nothing there may be no end: reads beside other servers' writes bring it about.
    if (runs.length > 0) this.commitTimes.add({ revision, wallMs: this.#steadyMs });
    this.#publish(runs, []);
  }

  /** What waited for the batch, and keeping the history window to its bounds. */
  settle(): void {
    this.compactor.byBounds();
    if (this.compactor.isBehind) this.#goOnCompacting();
    this.settled.run();
  }

  /** Compacts to a revision, all of it at once. */
  compactTo(revision: number): void {
    this.compactor.upTo(revision);
    while (this.compactor.isBehind) this.compactor.next();
    this.#parts.onCompacted();
  }

  /** What a batch that was taken back had written to slabs is dead, and was never shown to anyone. */
  retracted(): void {
    this.pool.retireEmpty(this.subscribers.sequence);
  }

  subscribe(
    { subscriber, types, first, history = true, isPatient = false }: Subscription,
    tokenKey: Uint8Array,
    isShared: boolean,
  ): PresentState {
    const readerSlot = this.subscribers.add(subscriber, isPatient);
    const { places: live, first: firstCount } = this.log.current.placesInOrder(types, first);
    return {
      incarnation: this.subscribers.incarnation,
      readerSlot,
      sequence: this.subscribers.sequence,
      revision: this.log.revision,
      compactedRevision: this.log.compactedRevision,
      sharedState: this.shared.memory,
      slabs: this.pool.memories(),
      live,
      first: firstCount,
      history: history ? this.log.window.places() : new Uint32Array(),
      tokenKey,
      isShared,
      ...(this.unreadable.size > 0 && { unreadable: this.unreadable.all() }),
    };
  }

  /** The time of day by a clock that nobody sets: history is kept for as long as it is to be, whatever befalls the wall's. */
  get #steadyMs(): number {
    return this.#parts.context.clock.monotonicMs() + this.#aheadMs;
  }

  /** Returns the publication's number. */
  #publish(runs: readonly number[], movedRuns: readonly number[]): number {
    this.#learnSlabs();
    const unreadable = this.unreadable.takeChanged();
    this.subscribers.publish({
      lastRevision: this.log.revision,
      compactedRevision: this.log.compactedRevision,
      runs,
      movedRuns,
      ...(unreadable && { unreadable }),
    });
    return this.subscribers.sequence;
  }

  #learnSlabs(): void {
    if (this.#learnedSlabs === this.pool.count) return;
    this.#slabs.learn(this.pool.memories(this.#learnedSlabs), this.subscribers.incarnation);
    this.#learnedSlabs = this.pool.count;
  }

  readonly #compactByAge = (): void => {
    this.compactor.byAge(this.#steadyMs - this.#parts.options.compactionIntervalMs);
    this.#goOnCompacting();
  };

  readonly #compactNext = (): void => {
    this.#sliceDue = false;
    this.compactor.next();
    this.#goOnCompacting();
  };

  /** Slices are turns apart: what has arrived meanwhile comes first. */
  #goOnCompacting(): void {
    if (!this.compactor.isBehind) {
      this.#parts.onCompacted();
    } else if (!this.#sliceDue) {
      this.#sliceDue = true;
      this.#parts.context.timers.soon(() => this.settled.when(this.#compactNext));
    }
  }
}
