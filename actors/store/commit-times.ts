// When the batches of the history window were committed: what compaction by age goes by, and how far any compaction may
// go. Holds one entry a batch, since batches are what the engine keeps records of.

/** One committed batch. */
export interface CommitTime {
  /** The batch's last revision. */
  readonly revision: number;
  readonly wallMs: number;
}

export class CommitTimes {
  readonly #times: CommitTime[] = [];

  add(time: CommitTime): void {
    this.#times.push(time);
  }

  /** The last revision that was committed at or before a moment; 0 when the window begins after it. */
  revisionAt(wallMs: number): number {
    let revision = 0;
    for (const time of this.#times) {
      if (time.wallMs > wallMs) break;
      revision = time.revision;
    }
    return revision;
  }

  /** The newest batch's event record stays on disk, since it vouches for the values: compaction ends before it. */
  get compactableRevision(): number {
    return this.#times.at(-2)?.revision ?? 0;
  }

  /** Drops batches that lie wholly at or before a compacted revision. */
  forget(compactedRevision: number): void {
    const kept = this.#times.findIndex(({ revision }) => revision > compactedRevision);
    this.#times.splice(0, kept < 0 ? this.#times.length : kept);
  }
}
