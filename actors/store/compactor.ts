// Forgets history: by age, by bounds, or when asked. What readers see is compacted between batches and in slices, so that
// no write waits long; the disk follows, in slices too, which the commit loop asks for.
import type { LocalEngine } from '../../storage/engines/local-engine.ts';
import type { SlabPool } from '../../storage/records/slab-pool.ts';
import type { CommitTimes } from './commit-times.ts';
import type { RevisionLog } from './log/revision-log.ts';

/** Share of a bound that compaction leaves, so that it does not happen again at each batch. */
const BOUND_SHARE_KEPT = 0.9;
/** Sparse slabs emptied in one slice: a slab of small records takes a millisecond or two. */
const SLICE_SLABS = 4;

export interface CompactorParts {
  readonly log: RevisionLog;
  readonly pool: SlabPool;
  readonly commitTimes: CommitTimes;
  readonly historyBytesMax: number;
  readonly historyEventsMax: number;
  /** Events forgotten in one slice. */
  readonly sliceEvents: number;
  readonly sparseShare: number;
  /** Tells readers what is compacted and where records were moved; returns the publication's number. */
  readonly publish: (movedRuns: readonly number[]) => number;
}

export class Compactor {
  readonly #parts: CompactorParts;
  /** The highest revision asked for; reached when later batches allow it. */
  #target = 0;
  /** Slabs found sparse at the end of the last compaction and not yet emptied. */
  #sparse: number[] = [];
  /** True while the engine holds records of what is compacted. */
  isDiskDue = false;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /** True while there is another slice to do. */
  get isBehind(): boolean {
    return this.#reachable > this.#parts.log.compactedRevision || this.#sparse.length > 0;
  }

  /** Compacts what was committed at or before a moment: the first slice. */
  byAge(wallMs: number): void {
    this.upTo(this.#parts.commitTimes.revisionAt(wallMs));
  }

  /** Compacts when the window has outgrown its bounds: the first slice. */
  byBounds(): void {
    const { log, historyBytesMax, historyEventsMax } = this.#parts;
    const { window } = log;
    if (window.bytes <= historyBytesMax && window.length <= historyEventsMax) return;
    this.upTo(window.revisionForBounds(historyBytesMax * BOUND_SHARE_KEPT, historyEventsMax * BOUND_SHARE_KEPT));
  }

  /** Compacts to a revision, or as far as may be: the first slice. Only between batches. */
  upTo(revision: number): void {
    this.#target = Math.max(this.#target, Math.min(revision, this.#parts.log.revision));
    this.next();
  }

  /** Does the next slice, if there is one. Only between batches. */
  next(): void {
    const { log, commitTimes, pool, sliceEvents, sparseShare, publish } = this.#parts;
    if (!this.isBehind) return;
    const target = this.#reachable;
    if (target > log.compactedRevision) {
      log.compact(Math.min(target, log.window.revisionOfEvent(sliceEvents)));
      commitTimes.forget(log.compactedRevision);
      if (log.compactedRevision === target) {
        this.isDiskDue = true;
        this.#sparse = pool.sparse(sparseShare);
      }
    }
    const slabs = this.#sparse.splice(0, SLICE_SLABS).filter((slab) => pool.isSparse(slab, sparseShare));
    pool.retireEmpty(publish(slabs.flatMap((slab) => log.moveOut(slab))));
  }

  /** One slice. Meanwhile the window may be compacted further, which makes another due. */
  async compactDisk(engine: LocalEngine): Promise<void> {
    this.isDiskDue = false;
    const { log } = this.#parts;
    const { compactedRevision } = log;
    if (await engine.compact(compactedRevision)) this.isDiskDue = true;
    log.forgetFound(compactedRevision);
  }

  get #reachable(): number {
    return Math.min(this.#target, this.#parts.commitTimes.compactableRevision);
  }
}
