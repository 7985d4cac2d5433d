// Writes of one object that have been in each other's way: from then on one decides and commits at a time, in the order in which
// they came. Left to race, each of n writers decides anew whenever another was first, n² times in all, and most of them run out
// of tries.
import type { Timers } from '../../runtime/environment.ts';

/** What has its turn for longer than this waits for somebody, a webhook say, who may wait for the next: that one goes on as well. */
const TURN_MS = 1_000;

/** A key's turn, from when it is asked for until it is given up. */
export interface Turn {
  readonly key: string;
  /** The next one's begins. */
  end(): void;
}

export class Turns {
  readonly #timers: Timers;
  /** Those who wait, by key; a key is here while somebody has its turn. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Whether somebody has the turn of any key: most of the time nobody has. */
  get areTaken(): boolean {
    return this.#waiting.size > 0;
  }

  isTaken(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** Resolves when those who came before have ended their turns, or have had them for long. */
  take(key: string): Promise<Turn> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return new Promise((resolve) => waiting.push(() => resolve(this.#begin(key))));
    this.#waiting.set(key, []);
    return Promise.resolve(this.#begin(key));
  }

  #begin(key: string): Turn {
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      this.#next(key);
    };
    const timer = this.#timers.after(TURN_MS, end);
    return { key, end };
  }

  #next(key: string): void {
    const next = this.#waiting.get(key)!.shift();
    if (next === undefined) this.#waiting.delete(key);
    else next();
  }
}
