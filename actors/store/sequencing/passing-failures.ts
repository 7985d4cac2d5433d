// Values that could not be read because a service gave no key for them. They are looked at again from time to time until one can be
// read, which is told once: what versions they have is past by then, so that whoever follows has to begin anew.
import type { Timer, Timers } from '../../../runtime/environment.ts';

const AGAIN_MS = 10_000;

export class PassingFailures {
  readonly #timers: Timers;
  readonly #onPassed: () => void;
  readonly #looks = new Map<string, () => unknown>();
  #timer: Timer | undefined;

  constructor({ timers }: { readonly timers: Timers }, onPassed: () => void) {
    this.#timers = timers;
    this.#onPassed = onPassed;
  }

  /** `lookAgain` throws, or rejects, while the value cannot be read. */
  add(key: string, lookAgain: () => unknown): void {
    this.#looks.set(key, lookAgain);
    this.#wait();
  }

  /** It can be read, or is gone. */
  remove(key: string): void {
    if (!this.#looks.delete(key) || this.#looks.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(): void {
    this.#timer ??= this.#timers.after(AGAIN_MS, () => void this.#look());
  }

  /** At the one that has waited longest, which is then behind all others. */
  async #look(): Promise<void> {
    this.#timer = undefined;
    const [oldest] = this.#looks;
    if (oldest === undefined) return;
    const [key, lookAgain] = oldest;
    this.#looks.delete(key);
    this.#looks.set(key, lookAgain);
    try {
      await lookAgain();
    } catch {
      this.#wait();
      return;
    }
    if (this.#looks.get(key) === lookAgain) this.#onPassed();
    else if (this.#looks.size > 0) this.#wait();
  }
}
