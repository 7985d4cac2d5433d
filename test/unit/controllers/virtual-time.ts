// A clock and timers that stand still until a test advances them. Between steps everything already due is carried out:
// turns asked for by `soon`, and the promises that hang on them.
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';

interface Scheduled {
  dueAtMs: number;
  readonly everyMs: number | undefined;
  readonly callback: () => void;
}

const WALL_START_MS = Date.parse('2026-01-01T00:00:00Z');

export class VirtualTime {
  #elapsedMs = 0;
  #scheduled: Scheduled[] = [];
  #soon: (() => void)[] = [];

  readonly clock: Clock = {
    nowMs: () => WALL_START_MS + this.#elapsedMs,
    monotonicMs: () => this.#elapsedMs,
  };

  readonly timers: Timers = {
    after: (delayMs, callback) => this.#schedule(delayMs, undefined, callback),
    every: (intervalMs, callback) => this.#schedule(intervalMs, intervalMs, callback),
    soon: (callback) => {
      this.#soon.push(callback);
    },
  };

  get timersWaiting(): number {
    return this.#scheduled.length;
  }

  /** Forgets every timer, as when a thread ends. */
  forget(): void {
    this.#scheduled = [];
    this.#soon = [];
  }

  /** Carries out everything that needs no time to pass. */
  async settle(): Promise<void> {
    let idleRounds = 0;
    while (idleRounds < 3) {
      await new Promise((resolve) => setImmediate(resolve));
      const soon = this.#soon;
      this.#soon = [];
      for (const callback of soon) callback();
      idleRounds = soon.length > 0 ? 0 : idleRounds + 1;
    }
  }

  /** Lets time pass, firing timers in order, each with everything that follows from it. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await this.settle();
    for (;;) {
      const next = this.#scheduled.reduce<Scheduled | undefined>(
        (first, item) =>
          item.dueAtMs <= endMs && (first === undefined || item.dueAtMs < first.dueAtMs) ? item : first,
        undefined,
      );
      if (next === undefined) break;
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueAtMs);
      if (next.everyMs === undefined) this.#scheduled = this.#scheduled.filter((item) => item !== next);
      else next.dueAtMs += next.everyMs;
      next.callback();
      await this.settle();
    }
    this.#elapsedMs = endMs;
  }

  #schedule(delayMs: number, everyMs: number | undefined, callback: () => void): Timer {
    const item = { dueAtMs: this.#elapsedMs + delayMs, everyMs, callback };
    this.#scheduled.push(item);
    return {
      cancel: () => {
        this.#scheduled = this.#scheduled.filter((other) => other !== item);
      },
    };
  }
}
