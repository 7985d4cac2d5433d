// How often something may be done: so many times a second on average, and a number of times at once after a pause.
import type { Clock } from '../../../runtime/environment.ts';

export interface PaceLimits {
  readonly perSecond: number;
  readonly burst: number;
}

export class Pace {
  private readonly limits: PaceLimits;
  private readonly clock: Clock;
  private left: number;
  private countedMs: number;

  constructor(limits: PaceLimits, clock: Clock) {
    this.limits = limits;
    this.clock = clock;
    this.left = limits.burst;
    this.countedMs = clock.monotonicMs();
  }

  /** Takes one turn if there is one; else answers in how many ms there will be. */
  take(): 0 | number {
    const nowMs = this.clock.monotonicMs();
    const { perSecond, burst } = this.limits;
    this.left = Math.min(burst, this.left + ((nowMs - this.countedMs) * perSecond) / 1000);
    this.countedMs = nowMs;
    if (this.left >= 1) {
      this.left--;
      return 0;
    }
    return Math.max(1, Math.ceil(((1 - this.left) * 1000) / perSecond));
  }
}
