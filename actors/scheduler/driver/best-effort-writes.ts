// Writes that are worth making but never worth waiting for: a bounded number under way, a bounded number waiting, the
// rest dropped and counted; at a pace, where one is given. A failed write is counted and forgotten.
import type { Timer, Timers } from '../../../runtime/environment.ts';
import type { Series } from '../../../runtime/metrics/metrics.ts';
import type { Pace } from './pace.ts';

export interface BestEffortLimits {
  readonly inFlightMax: number;
  readonly queuedMax: number;
  /** How often one may begin; absent: whenever one has ended. */
  readonly pace?: Pace;
}

export class BestEffortWrites {
  private readonly limits: BestEffortLimits;
  private readonly timers: Timers;
  private resting: Timer | undefined;
  private readonly dropped: Series;
  private readonly failed: Series;
  /** In order of arrival. */
  private readonly queued = new Map<string, () => Promise<boolean>>();
  private inFlight = 0;
  private stopped = false;

  constructor(limits: BestEffortLimits, timers: Timers, dropped: Series, failed: Series) {
    this.limits = limits;
    this.timers = timers;
    this.dropped = dropped;
    this.failed = failed;
  }

  /**
   * Takes a write to be made soon, or drops it (false). One that still waits under the same key is replaced, so `write`
   * should read the newest state when it is called. It answers whether all went well.
   */
  offer(key: string, write: () => Promise<boolean>): boolean {
    const mustWait = this.inFlight >= this.limits.inFlightMax || this.resting !== undefined;
    const full = mustWait && this.queued.size >= this.limits.queuedMax;
    if (this.stopped || (full && !this.queued.has(key))) {
      this.dropped.add(1);
      return false;
    }
    this.queued.set(key, write);
    this.startNext();
    return true;
  }

  /** Drops what waits; what is under way ends by itself. */
  stop(): void {
    this.stopped = true;
    this.resting?.cancel();
    this.queued.clear();
  }

  private startNext(): void {
    while (this.inFlight < this.limits.inFlightMax && this.resting === undefined) {
      const [first] = this.queued;
      if (first === undefined) return;
      const restMs = this.limits.pace?.take() ?? 0;
      if (restMs > 0) {
        this.rest(restMs);
        return;
      }
      this.queued.delete(first[0]);
      this.inFlight++;
      void this.perform(first[1]);
    }
  }

  private rest(ms: number): void {
    this.resting = this.timers.after(ms, () => {
      this.resting = undefined;
      this.startNext();
    });
  }

  private async perform(write: () => Promise<boolean>): Promise<void> {
    const written = await write().catch(() => false);
    if (!written) this.failed.add(1);
    this.inFlight--;
    this.startNext();
  }
}
