// Answers of the node listener that are made and that their clients have not taken whole. Nearly all of them are taken in the turn that
// follows: only those that two looks in a row find here are given a timer of their own.

/** A client that takes nothing for so long, once a look has found its answer, is cut off. */
const STALL_MS = 30_000;
const LOOK_INTERVAL_MS = 5_000;

/** An answer, as far as it can be cut off. */
export interface Untaken {
  /** Calls back when nothing has gone to the client, or come from it, for `ms`. */
  setTimeout(ms: number, callback: () => void): unknown;
  destroy(): unknown;
}

export class UntakenAnswers {
  /** Since the last look. */
  #young = new Set<Untaken>();
  /** Since the look before. */
  #old = new Set<Untaken>();
  #timer: NodeJS.Timeout | undefined;
  readonly #lookIntervalMs: number;

  constructor(lookIntervalMs = LOOK_INTERVAL_MS) {
    this.#lookIntervalMs = lookIntervalMs;
  }

  add(answer: Untaken): void {
    this.#young.add(answer);
    this.#timer ??= setInterval(() => this.#look(), this.#lookIntervalMs).unref();
  }

  /** It is out, or its client is gone. */
  delete(answer: Untaken): void {
    if (!this.#young.delete(answer)) this.#old.delete(answer);
  }

  #look(): void {
    for (const answer of this.#old) answer.setTimeout(STALL_MS, () => answer.destroy());
    this.#old = this.#young;
    this.#young = new Set();
    if (this.#old.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
