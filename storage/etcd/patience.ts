// How long a server asks an etcd cluster again what nobody answered. What may be asked twice without harm only; for batches see
// counted-writer.ts.
import type { Timers } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { EtcdError } from './etcd-cluster.ts';

const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 1000;
/** Of a start: so many tries, some two thirds of a second, go by before a line says what it waits for. */
const SILENT_TRIES = 5;

export class Patience {
  readonly #timers: Timers;
  readonly #warn: (text: string) => void;
  #isOver = false;

  constructor(timers: Timers, warn: (text: string) => void) {
    this.#timers = timers;
    this.#warn = warn;
  }

  /** Nothing is asked again from here on. */
  end(): void {
    this.#isOver = true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Between two tries: the longer the more there were. */
  pause(tries: number): Promise<void> {
    const delayMs = Math.min(RETRY_FIRST_MS * 2 ** Math.min(tries, 10), RETRY_MAX_MS);
    return new Promise((resolve) => {
      this.#timers.after(delayMs, resolve);
    });
  }

  /** Until it is answered. Rejects as the cluster does with what is no use to ask again. */
  async persistently<T>(ask: () => Promise<T>, isLate = (): boolean => false): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        if (this.#isOver || isLate() || !(error instanceof EtcdError) || error.kind !== 'unknown') throw error;
        await this.pause(tries);
      }
    }
  }

  /** What a start asks, as `asked` does. One line says that it waits, and for what, long before it is given up. */
  atStart<T>(forMs: number, ask: () => Promise<T>): Promise<T> {
    let tries = 0;
    return this.asked(forMs, async () => {
      try {
        return await ask();
      } catch (error) {
        tries += 1;
        if (tries === SILENT_TRIES && error instanceof EtcdError)
          this.#warn(`the start waits up to ${forMs / 1000} s for the store's cluster: ${error.message}`);
        throw error;
      }
    });
  }

  /** Until it is answered, or for so long. Rejects with OrchError StoreUnusable. */
  async asked<T>(forMs: number, ask: () => Promise<T>): Promise<T> {
    let isLate = false;
    const timer = this.#timers.after(forMs, () => {
      isLate = true;
    });
    try {
      return await this.persistently(ask, () => isLate);
    } catch (error) {
      if (error instanceof EtcdError) throw new OrchError('StoreUnusable', error.message);
      throw error;
    } finally {
      timer.cancel();
    }
  }
}
