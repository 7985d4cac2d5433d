// How often a growing collection is looked through for what may be dropped: so seldom that the looking costs each addition a constant.

export class SearchPace {
  readonly #unsearched: number;
  #dueAt: number;

  /** @param unsearched so many are not looked through. */
  constructor(unsearched: number) {
    this.#unsearched = unsearched;
    this.#dueAt = unsearched;
  }

  /** There are twice as many as were left the last time. */
  isDue(size: number): boolean {
    return size >= this.#dueAt;
  }

  /** It was looked through, and so many were left. */
  searched(left: number): void {
    this.#dueAt = Math.max(this.#unsearched, 2 * left);
  }
}
