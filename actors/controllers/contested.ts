// Lets a controller give way where somebody else keeps setting the same object otherwise, as a second controller does that was
// told of another authority: each would undo the other's write at once, for ever. The first time a thing is set right it is so
// at once; each further time it waits twice as long.
import type { Clock } from '../../runtime/environment.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
/** Who changed it and is quiet for this long is not at it any more. */
const FORGOTTEN_AFTER_MS = 2 * LONGEST_WAIT_MS;

interface Contest {
  readonly atMs: number;
  readonly waitMs: number;
}

/** What was set right lately, by the controller's own keys. */
export class Contested {
  readonly #clock: Clock;
  readonly #contests = new Map<string, Contest>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long it has to stay wrong yet; 0 when it may be set right now. */
  leftMs(key: string): number {
    const contest = this.#contests.get(key);
    return contest === undefined ? 0 : Math.max(0, contest.atMs + contest.waitMs - this.#clock.monotonicMs());
  }

  /** It was set right just now. */
  onSetRight(key: string): void {
    const before = this.#contests.get(key);
    const atMs = this.#clock.monotonicMs();
    const isAnew = before === undefined || atMs - before.atMs > FORGOTTEN_AFTER_MS;
    this.#contests.set(key, { atMs, waitMs: isAnew ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, 2 * before.waitMs) });
  }

  /** The thing is gone. */
  forget(key: string): void {
    this.#contests.delete(key);
  }

  clear(): void {
    this.#contests.clear();
  }
}
