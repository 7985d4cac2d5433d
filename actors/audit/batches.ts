// Audit events on their way to a backend that nobody waits for: gathered, sent in batches no faster than is allowed, and counted
// where there is no room for them. Bounded by number and by bytes.
import type { AuditEvent } from '../../api/audit/event.ts';
import type { Clock, Timer, Timers } from '../../runtime/environment.ts';
import type { AuditSink } from './sinks.ts';

export interface BatchLimits {
  /** Events that wait; a batch of them in any case. */
  readonly bufferMax: number;
  readonly batchMax: number;
  /** A batch that is not full goes after this; 0: with the events that came together. */
  readonly waitMs: number;
  /** Batches a second, and as many more at once after a rest; undefined: as they come. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
  /** Batches that are sent at the same time. */
  readonly underWayMax: number;
}

/** What a thread may send where as many of them together keep to the throttle of the server: an even share. */
export function throttleOfOne(
  [perSecond, burst]: readonly [perSecond: number, burst: number],
  threads: number,
): NonNullable<BatchLimits['throttle']> {
  return { perSecond: perSecond / threads, burst: Math.max(1, burst / threads) };
}

export interface BatchParts {
  readonly sink: AuditSink;
  readonly limits: BatchLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Pick<Timers, 'after'>;
  /**
   * What the bodies of the events in the buffer and under way may take of the heap together: a backend that hangs holds each of its batches
   * for minutes.
   */
  readonly heapBytesMax: number;
  /** Told of events for which there is no room: they are lost. */
  readonly onOverflow: () => void;
  /** Told of those that the backend did not take. */
  readonly onFailed: (count: number, error: unknown) => void;
}

/**
 * A backend that takes events at once is given those of so many batches together: each write of a file costs as much as the events
 * in it, and the log's batches hold one event unless the operator says otherwise.
 */
const JOINED_MAX = 64;

interface Waiting {
  readonly event: AuditEvent;
  readonly heapBytes: number;
}

export class Batches {
  readonly #parts: BatchParts;
  #waiting: Waiting[] = [];
  #heapBytes = 0;
  #underWay = 0;
  #tokens: number;
  #tokensAtMs: number;
  /** Of the batch that is gathered, and of the next that may go. */
  #deadline: Timer | undefined;
  #pause: Timer | undefined;
  #isDue = false;
  #emptied: (() => void) | undefined;

  constructor(parts: BatchParts) {
    this.#parts = parts;
    this.#tokens = parts.limits.throttle?.burst ?? 0;
    this.#tokensAtMs = parts.clock.monotonicMs();
  }

  /** Takes events that came together. `heapBytesOf`: what the bodies of the event at a place take of the heap. */
  add(events: readonly AuditEvent[], heapBytesOf: (at: number) => number): void {
    const { limits, heapBytesMax, onOverflow } = this.#parts;
    // The batch that is gathered does not go before it is full or due, however small the buffer is that the operator wants.
    const waitingMax = Math.max(limits.bufferMax, limits.batchMax);
    for (const [at, event] of events.entries()) {
      if (this.#waiting.length >= waitingMax) this.#go();
      const heapBytes = heapBytesOf(at);
      if (this.#waiting.length >= waitingMax || this.#heapBytes + heapBytes > heapBytesMax) {
        onOverflow();
        continue;
      }
      this.#waiting.push({ event, heapBytes });
      this.#heapBytes += heapBytes;
    }
    // A timer for each batch would cost more than its write.
    if (limits.waitMs === 0) this.#isDue = true;
    if (this.#waiting.length > 0) this.#go();
  }

  /** Resolves when everything has been sent, however little it is. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#emptied = resolve;
      this.#isDue = true;
      this.#go();
    });
  }

  #go(): void {
    const { limits } = this.#parts;
    while (this.#isNextDue(0)) {
      if (this.#underWay >= limits.underWayMax) return;
      const waitMs = this.#tokenWaitMs();
      if (waitMs > 0) {
        this.#pauseFor(waitMs);
        return;
      }
      this.#send();
    }
    if (this.#waiting.length > 0) this.#gather(limits.waitMs);
    else if (this.#emptied === undefined) this.#isDue = false;
    if (this.#waiting.length === 0 && this.#underWay === 0) this.#emptied?.();
  }

  /** Whether there is a batch to go behind the first events. */
  #isNextDue(first: number): boolean {
    const rest = this.#waiting.length - first;
    return rest >= this.#parts.limits.batchMax || (this.#isDue && rest > 0);
  }

  /** How many events go now, of which the first batch may. */
  #countToGo(): number {
    const { sink, limits } = this.#parts;
    let count = limits.batchMax;
    if (sink.isImmediate)
      while (count < JOINED_MAX && this.#isNextDue(count) && this.#tokenWaitMs() === 0) count += limits.batchMax;
    return count;
  }

  #send(): void {
    const { sink, onFailed } = this.#parts;
    const batch = this.#waiting.splice(0, this.#countToGo());
    const count = batch.length;
    const heapBytes = batch.reduce((total, one) => total + one.heapBytes, 0);
    const fail = (error: unknown): void => onFailed(count, error);
    let sent: Promise<void> | undefined;
    try {
      sent = sink.write(batch.map(({ event }) => event));
    } catch (error) {
      fail(error);
    }
    if (sent === undefined) {
      this.#heapBytes -= heapBytes;
      return;
    }
    this.#underWay++;
    void sent.catch(fail).then(() => {
      this.#underWay--;
      this.#heapBytes -= heapBytes;
      this.#go();
    });
  }

  /** 0: a batch may go, and its token is spent. */
  #tokenWaitMs(): number {
    const { throttle } = this.#parts.limits;
    if (throttle === undefined || this.#emptied !== undefined) return 0;
    const nowMs = this.#parts.clock.monotonicMs();
    const earned = ((nowMs - this.#tokensAtMs) * throttle.perSecond) / 1000;
    this.#tokens = Math.min(throttle.burst, this.#tokens + earned);
    this.#tokensAtMs = nowMs;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) * 1000) / throttle.perSecond);
    this.#tokens--;
    return 0;
  }

  #pauseFor(ms: number): void {
    this.#pause ??= this.#parts.timers.after(ms, () => {
      this.#pause = undefined;
      this.#go();
    });
  }

  #gather(ms: number): void {
    this.#deadline ??= this.#parts.timers.after(ms, () => {
      this.#deadline = undefined;
      this.#isDue = true;
      this.#go();
    });
  }
}
