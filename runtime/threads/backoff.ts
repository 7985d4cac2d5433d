// How long to wait before a thread is started again: doubling, bounded, and forgotten after a spell of health.

export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Running this long makes the next failure the first again. */
  readonly healthyMs: number;
}

export const RESTART_BACKOFF: BackoffOptions = { firstMs: 100, maxMs: 10_000, healthyMs: 60_000 };

export class Backoff {
  private readonly options: BackoffOptions;
  private failures = 0;

  constructor(options: BackoffOptions) {
    this.options = options;
  }

  /** The wait after a failure that came `ranMs` after the start before it. */
  nextDelayMs(ranMs: number): number {
    if (ranMs >= this.options.healthyMs) this.failures = 0;
    const delayMs = Math.min(this.options.maxMs, this.options.firstMs * 2 ** Math.min(this.failures, 30));
    this.failures++;
    return delayMs;
  }
}
