// When what has come goes out to the watches. Where that takes the thread a short time: at once, so that a watch has a change
// before who made it is answered. Behind a fan-out that took long: a little later. What is committed meanwhile shares the next
// fan-out: for a thousand watches the sends cost far more than the bytes.
import type { Clock, Timers } from '../../../runtime/environment.ts';

/** A fan-out that kept the thread no longer than this is followed by the next without a rest. */
const SHORT_MS = 2;
/** The rest after a longer one, as a part of it: what a delivery may come later, and time for writers to write in. */
const REST_SHARE = 0.25;
const REST_MS_MAX = 10;

export interface FanOutPaceOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Sends out what has come since it was last called. True: something was sent. */
  readonly fanOut: () => boolean;
  /** What is done behind fan-outs, in a turn of its own, once for all that was due in one. */
  readonly behind: () => void;
}

export class FanOutPace {
  readonly #options: FanOutPaceOptions;
  #isDue = false;
  /** One was sent, and how long that takes the thread is not known yet. */
  #isSending = false;
  #notBeforeMs = 0;
  /** The last one kept its own turn long. */
  #isLong = false;

  constructor(options: FanOutPaceOptions) {
    this.#options = options;
  }

  /** Something has come that watches are to be sent: now, unless a fan-out waits already or the last one took long. */
  came(): void {
    if (!this.#isDue && !this.#isSending && !this.#isLong) this.#rest(this.#send() ?? 0);
    this.due();
  }

  /** Answers for how long sending kept this turn; undefined: there was nothing to send. */
  #send(): number | undefined {
    const { clock, fanOut } = this.#options;
    const startedMs = clock.monotonicMs();
    if (!fanOut()) return undefined;
    const heldMs = clock.monotonicMs() - startedMs;
    this.#isLong = heldMs > SHORT_MS;
    return heldMs;
  }

  /** Something is to be done: once for all that comes until then, and never within this turn. */
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
    const { clock, timers, behind } = this.#options;
    this.#isDue = false;
    const startedMs = clock.monotonicMs();
    const isSent = this.#send() !== undefined;
    behind();
    if (!isSent) return;
    this.#isSending = true;
    // The ingress may send behind this turn: only the next tells how long that took.
    timers.soon(() => this.#sent(clock.monotonicMs() - startedMs));
  };

  #sent(tookMs: number): void {
    this.#isSending = false;
    this.#rest(tookMs);
    if (!this.#isDue) return;
    if (this.#notBeforeMs === 0) this.#fanOut();
    else this.#schedule();
  }

  #rest(tookMs: number): void {
    if (tookMs <= SHORT_MS) return;
    this.#notBeforeMs = this.#options.clock.monotonicMs() + Math.min(tookMs * REST_SHARE, REST_MS_MAX);
  }
}
