// How fast each client connection may be sent to (`--max-connection-bytes-per-sec`): long-running answers on it share one
// allowance. Counts and says how long to wait; whoever writes does the waiting.
import type { Clock } from '../../../runtime/environment.ts';

/** What a connection that was quiet may be sent at once, as time of its rate. */
const BURST_MS = 1000;

export class ConnectionThrottle {
  readonly #bytesPerSecond: number;
  readonly #clock: Clock;
  /** When what each connection was sent is paid off. */
  readonly #paidOffMs = new WeakMap<object, number>();

  constructor(bytesPerSecond: number, clock: Clock) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
  }

  /** Counts bytes that were sent on a connection. Returns the milliseconds until more may be. */
  spend(connection: object, bytes: number): number {
    const nowMs = this.#clock.monotonicMs();
    const fromMs = Math.max(this.#paidOffMs.get(connection) ?? Number.NEGATIVE_INFINITY, nowMs - BURST_MS);
    const paidOffMs = fromMs + (bytes * 1000) / this.#bytesPerSecond;
    this.#paidOffMs.set(connection, paidOffMs);
    return Math.max(0, Math.ceil(paidOffMs - nowMs));
  }
}
