// Says which threads still turn. Each thread bumps its own counter in shared memory; the supervisor counts its own checks
// without a bump, so that a pause of the whole process is nobody's silence.
import type { Timer, Timers } from './environment.ts';

/** One counter for each thread. */
export function heartbeatMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT);
}

/** Bumps a thread's counter now and every `intervalMs`. */
export function beat(memory: SharedArrayBuffer, thread: number, intervalMs: number, timers: Timers): Timer {
  const counters = new Int32Array(memory);
  Atomics.add(counters, thread, 1);
  return timers.every(intervalMs, () => Atomics.add(counters, thread, 1));
}

export class HeartbeatMonitor {
  private readonly counters: Int32Array;
  private readonly seen: number[];
  private readonly silentChecks: number[];
  private readonly checksMax: number;

  /** `check` is called every `intervalMs`; a thread is silent after `hangTimeoutMs` of checks without a bump. */
  constructor(memory: SharedArrayBuffer, intervalMs: number, hangTimeoutMs: number) {
    this.counters = new Int32Array(memory);
    this.seen = Array.from(this.counters, () => 0);
    this.silentChecks = Array.from(this.counters, () => 0);
    this.checksMax = Math.max(2, Math.ceil(hangTimeoutMs / intervalMs));
  }

  /** The threads of `watched` (by index) that have been silent for too long. */
  check(watched: readonly number[]): readonly number[] {
    return watched.filter((thread) => {
      const count = Atomics.load(this.counters, thread);
      const silent = count === this.seen[thread] ? this.silentChecks[thread]! + 1 : 0;
      this.seen[thread] = count;
      this.silentChecks[thread] = silent;
      return silent >= this.checksMax;
    });
  }

  /** A new thread took the place of one that ended. */
  forget(thread: number): void {
    this.silentChecks[thread] = 0;
  }
}
