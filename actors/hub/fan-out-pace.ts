// When the hub's turns end: what came in a turn goes out behind it, and after a fan-out that took the thread long, a little
// later. What is committed meanwhile shares the next fan-out: for a thousand watches the sends cost far more than the bytes.
import type { Clock, Timers } from '../../runtime/environment.ts';

/** A fan-out that kept the thread no longer than this is followed by the next at once. */
const SHORT_MS = 2;
/** The rest after a longer one, as a part of it: what a delivery may come later, and time for writers to write in. */
const REST_SHARE = 0.25;
const REST_MS_MAX = 10;

export interface FanOutPaceOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Sends out what has come since it was last called. True: something was sent. */
  readonly fanOut: () => boolean;
}

export class FanOutPace {
  readonly #options: FanOutPaceOptions;
  #isDue = false;
  /** One was sent, and how long that takes the thread is not known yet. */
  #isSending = false;
  #notBeforeMs = 0;

  constructor(options: FanOutPaceOptions) {
    this.#options = options;
  }

  /** Something has come that `fanOut` is for. It is called once for all that comes until then, and never within this turn. */
  due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    if (!this.#isSending) this.#schedule();
  }

  #schedule(): void {
    const { clock, timers } = this.#options;
    const restMs = this.#notBeforeMs === 0 ? 0 : this.#notBeforeMs - clock.monotonicMs();
    this.#notBeforeMs = 0;
    if (restMs > 0) timers.after(restMs, this.#fanOut);
    else timers.soon(this.#fanOut);
  }

  readonly #fanOut = (): void => {
    const { clock, timers, fanOut } = this.#options;
    this.#isDue = false;
    const startedMs = clock.monotonicMs();
    if (!fanOut()) return;
    this.#isSending = true;
    // The ingress sends behind this turn: only the next tells how long that took.
    timers.soon(() => this.#sent(clock.monotonicMs() - startedMs));
  };

  #sent(tookMs: number): void {
    this.#isSending = false;
    if (tookMs > SHORT_MS) {
      this.#notBeforeMs = this.#options.clock.monotonicMs() + Math.min(tookMs * REST_SHARE, REST_MS_MAX);
      if (this.#isDue) this.#schedule();
    } else if (this.#isDue) this.#fanOut();
  }
}
