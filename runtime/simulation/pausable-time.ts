// The time of one process among several under one virtual time: it can stand still, as a stopped process does, while the clock
// goes on. What falls due meanwhile happens when the process goes on, in the order in which it was due.
import type { Clock, Timer, Timers } from '../environment.ts';

export class PausableTime implements Clock, Timers {
  readonly #time: Clock & Timers;
  #isPaused = false;
  #held: (() => void)[] = [];

  constructor(time: Clock & Timers) {
    this.#time = time;
  }

  nowMs(): number {
    return this.#time.nowMs();
  }

  monotonicMs(): number {
    return this.#time.monotonicMs();
  }

  after(delayMs: number, callback: () => void): Timer {
    let isCancelled = false;
    const timer = this.#time.after(delayMs, () => {
      this.whenRunning(() => {
        if (!isCancelled) callback();
      });
    });
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  every(intervalMs: number, callback: () => void): Timer {
    const stepMs = Math.max(1, intervalMs);
    let current: Timer;
    let isCancelled = false;
    const fire = (): void => {
      current = this.after(stepMs, fire);
      callback();
      if (isCancelled) current.cancel();
    };
    current = this.after(stepMs, fire);
    return {
      cancel: () => {
        isCancelled = true;
        current.cancel();
      },
    };
  }

  soon(callback: () => void): void {
    this.#time.soon(() => this.whenRunning(callback));
  }

  /** At once, or when the process goes on. */
  whenRunning(callback: () => void): void {
    if (this.#isPaused) this.#held.push(callback);
    else callback();
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Everything that was held follows, one thing after the other. */
  goOn(): void {
    this.#isPaused = false;
    const held = this.#held;
    this.#held = [];
    for (const callback of held) this.after(0, callback);
  }
}
