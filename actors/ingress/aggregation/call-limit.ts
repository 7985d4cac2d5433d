// The time that a call of an extension server may take, with finding the server: when it is over, the call is given up, however far it is.
import type { Timer, Timers } from '../../../runtime/environment.ts';

export class CallLimit {
  readonly #timer: Timer;
  #isLate = false;
  #giveUp = (): void => {};

  constructor(timers: Timers, forMs: number) {
    this.#timer = timers.after(forMs, () => {
      this.#isLate = true;
      this.#giveUp();
    });
  }

  /** The time is over. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Told, as the call is sent, what gives it up: that is done at once where finding the server has taken all of the time. */
  readonly onSent = (giveUp: () => void): void => {
    this.#giveUp = giveUp;
    if (this.#isLate) giveUp();
  };

  /** There is nothing more to be given up. */
  end(): void {
    this.#timer.cancel();
  }
}
