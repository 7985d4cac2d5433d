// The randomness of the fuzzers: one generator an input, seeded by the run's seed, the target and the input's number, so
// that any input can be made again by itself.
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';

export class Dice extends SeededRandom {
  /** True once in `times`, on average. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** Mostly small, sometimes up to `most`: the lower of several throws. */
  small(most: number): number {
    return Math.min(this.below(most + 1), this.below(most + 1), this.below(most + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/** The dice of one input. */
export function diceOf(seed: number, target: string, index: number): Dice {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  for (let at = 0; at < target.length; at++) mixed = Math.imul(mixed ^ target.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (index >>> 0), 0xc2b2ae35) ^ Math.imul(Math.floor(index / 2 ** 32) + 1, 0x27d4eb2f);
  return new Dice(mixed ^ (mixed >>> 15));
}
