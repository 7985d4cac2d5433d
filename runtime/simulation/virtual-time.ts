// Time that stands still until it is told to move: the clock and timers of a simulation. Timers that fall due at the same
// moment fire in the order they were set, so that a run under one seed is always the same run.
import type { Clock, Timer, Timers } from '../environment.ts';

interface Due {
  readonly atMs: number;
  /** Breaks ties: set earlier, fired earlier. */
  readonly sequence: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** Guards a run against callbacks that set themselves again without time passing. */
const STEPS_MAX = 1_000_000;

export class VirtualTime implements Clock, Timers {
  private readonly startMs: number;
  private elapsedMs = 0;
  private setMs = 0;
  private sequence = 0;
  /** A binary heap, soonest first. */
  private readonly heap: Due[] = [];
  private waitingSoon: (() => void)[] = [];

  /** `startMs` is the wall time at the beginning, milliseconds since 1970. */
  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.startMs = startMs;
  }

  nowMs(): number {
    return this.startMs + this.setMs + Math.floor(this.elapsedMs);
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  /** Somebody sets the clock on the wall, forward or back. */
  setWall(byMs: number): void {
    this.setMs += byMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const due = { atMs: this.elapsedMs + Math.max(0, delayMs), sequence: this.sequence++, callback, cancelled: false };
    push(this.heap, due);
    return {
      cancel: () => {
        due.cancelled = true;
      },
    };
  }

  every(intervalMs: number, callback: () => void): Timer {
    const stepMs = Math.max(1, intervalMs);
    let current: Timer;
    let cancelled = false;
    const fire = (): void => {
      current = this.after(stepMs, fire);
      callback();
      if (cancelled) current.cancel();
    };
    current = this.after(stepMs, fire);
    return {
      cancel: () => {
        cancelled = true;
        current.cancel();
      },
    };
  }

  soon(callback: () => void): void {
    this.waitingSoon.push(callback);
  }

  /** When the next timer is due, in monotonic milliseconds; undefined when none is set. */
  get nextDueMs(): number | undefined {
    while (this.heap[0]?.cancelled) pop(this.heap);
    return this.heap[0]?.atMs;
  }

  /**
   * Lets `ms` milliseconds pass: every timer that falls due fires at its moment, and all that follows from it at that
   * moment (messages, promises, `soon`) happens before the next. Rejects with what a callback threw.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.elapsedMs + ms;
    await this.runUntilIdle();
    for (let steps = 0; (this.nextDueMs ?? Number.POSITIVE_INFINITY) <= untilMs; steps++) {
      if (steps > STEPS_MAX) throw new Error('timers keep firing without end');
      const due = pop(this.heap)!;
      this.elapsedMs = Math.max(this.elapsedMs, due.atMs);
      due.callback();
      await this.runUntilIdle();
    }
    this.elapsedMs = untilMs;
  }

  /** Lets everything happen that needs no time to pass: messages, promises, `soon`. The clock stands still. */
  async runUntilIdle(): Promise<void> {
    for (let steps = 0; ; steps++) {
      if (steps > STEPS_MAX) throw new Error('the actors never come to rest');
      await microtasksDone();
      if (this.waitingSoon.length === 0) return;
      const callbacks = this.waitingSoon;
      this.waitingSoon = [];
      for (const callback of callbacks) callback();
    }
  }
}

/** A real turn of the event loop: Node empties the microtask queue before it. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(left: Due, right: Due): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.sequence < right.sequence);
}

function push(heap: Due[], due: Due): void {
  let at = heap.push(due) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(due, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = due;
}

function pop(heap: Due[]): Due | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
