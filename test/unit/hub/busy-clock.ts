// A clock that goes on within a turn, as it does on a thread that has much to do: virtual time stands still there, and whatever goes
// by how long something took would never see it take long.
import type { Clock } from '../../../runtime/environment.ts';
import type { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';

/** One look in so many finds that time has passed. */
const LOOKS = 4;
const PASSED_MS_MAX = 40;

export class BusyClock implements Clock {
  readonly #time: Clock;
  readonly #random: SeededRandom;
  #passedMs = 0;

  constructor(time: Clock, random: SeededRandom) {
    this.#time = time;
    this.#random = random;
  }

  nowMs(): number {
    return this.#time.nowMs() + this.#passedMs;
  }

  monotonicMs(): number {
    if (this.#random.below(LOOKS) === 0) this.#passedMs += this.#random.below(PASSED_MS_MAX);
    return this.#time.monotonicMs() + this.#passedMs;
  }
}
