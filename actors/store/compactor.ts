// Forgets history: by age, by bounds, or when asked. What readers see is compacted at once, between batches; the disk
// follows in slices, which the commit loop asks for.
import type { StorageEngine } from '../../storage/engine.ts';
import type { SlabPool } from '../../storage/slab-pool.ts';
import type { CommitTimes } from './commit-times.ts';
import type { RevisionLog } from './revision-log.ts';

/** Share of a bound that compaction leaves, so that it does not happen again at each batch. */
const BOUND_SHARE_KEPT = 0.9;

export interface CompactorParts {
  readonly log: RevisionLog;
  readonly pool: SlabPool;
  readonly commitTimes: CommitTimes;
  readonly historyBytesMax: number;
  readonly historyEventsMax: number;
  readonly sparseShare: number;
  /** Tells readers what is compacted and where records were moved; returns the publication's number. */
  readonly publish: (movedRuns: readonly number[]) => number;
}

export class Compactor {
  readonly #parts: CompactorParts;
  /** The highest revision asked for; reached when later batches allow it. */
  #target = 0;
  /** True while the engine holds records of what is compacted. */
  isDiskDue = false;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /** Compacts what was committed at or before a moment. True if anything was. */
  byAge(wallMs: number): boolean {
    return this.upTo(this.#parts.commitTimes.revisionAt(wallMs));
  }

  /** Compacts when the window has outgrown its bounds. True if anything was. */
  byBounds(): boolean {
    const { log, historyBytesMax, historyEventsMax } = this.#parts;
    if (log.historyBytes <= historyBytesMax && log.history.length <= historyEventsMax) return false;
    return this.upTo(log.compactionForBounds(historyBytesMax * BOUND_SHARE_KEPT, historyEventsMax * BOUND_SHARE_KEPT));
  }

  /** Compacts to a revision, or as far as may be. Only between batches. True if anything was compacted. */
  upTo(revision: number): boolean {
    const { log, pool, commitTimes, sparseShare, publish } = this.#parts;
    this.#target = Math.max(this.#target, Math.min(revision, log.revision));
    const target = Math.min(this.#target, commitTimes.compactableRevision);
    if (target <= log.compactedRevision) return false;
    log.compact(target);
    commitTimes.forget(target);
    const moved = pool.sparse(sparseShare).flatMap((slab) => log.moveOut(slab));
    pool.retireEmpty(publish(moved));
    this.isDiskDue = true;
    return true;
  }

  /** One slice. Meanwhile the window may be compacted further, which makes another due. */
  async compactDisk(engine: StorageEngine): Promise<void> {
    this.isDiskDue = false;
    if (await engine.compact(this.#parts.log.compactedRevision)) this.isDiskDue = true;
  }
}
