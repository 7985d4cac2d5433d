// When watchers that go by themselves get chunks that take long, those that have to be rendered or are a part of a large fan-out: a few
// at a time, in turn, with the thread's other work between them.
import type { Clock, Timers } from '../../../runtime/environment.ts';

/** What may be made and sent before others have their turn: a chunk that is begun is ended. */
const TURN_MS = 5;

export interface CatchUpPaceOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Makes and sends the watcher's next chunk, if it is still to have one. */
  readonly next: (watcher: number) => void;
}

export class CatchUpPace {
  readonly #options: CatchUpPaceOptions;
  readonly #due = new Set<number>();
  #isScheduled = false;

  constructor(options: CatchUpPaceOptions) {
    this.#options = options;
  }

  /** The watcher is to have its next chunk, never within this turn. */
  due(watcher: number): void {
    this.#due.add(watcher);
    this.#schedule();
  }

  /** Watchers wait for their turn. */
  get isBusy(): boolean {
    return this.#due.size > 0;
  }

  /** The watcher is to have none, until it is due again. */
  forget(watcher: number): void {
    this.#due.delete(watcher);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.timers.soon(this.#turn);
  }

  readonly #turn = (): void => {
    const { clock, next } = this.#options;
    this.#isScheduled = false;
    const endMs = clock.monotonicMs() + TURN_MS;
    try {
      for (const watcher of this.#due) {
        this.#due.delete(watcher);
        next(watcher);
        if (clock.monotonicMs() >= endMs) break;
      }
    } finally {
      if (this.#due.size > 0) this.#schedule();
    }
  };
}
