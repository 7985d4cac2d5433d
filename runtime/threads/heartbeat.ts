// Says which threads still turn. Each thread bumps its own counter in shared memory; the supervisor counts its own checks
// without a bump, so that a pause of the whole process is nobody's silence, and the CPU time that the process has had, so
// that a thread is not given up because the machine has no time for it.
import type { Timer, Timers } from '../environment.ts';

/** How much longer a silence may last on a machine that gives the process no time. */
const STARVED_FACTOR = 10;

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
  /** The process's CPU time when each thread was last heard of. */
  private readonly heardAtCpuMs: number[];
  private readonly hangTimeoutMs: number;
  private readonly checksMax: number;

  /**
   * `check` is called every `intervalMs`; a thread is silent after `hangTimeoutMs` of checks without a bump, in which the
   * process has had as much CPU time: a thread that spins takes that. One that waits for ever is silent after
   * `STARVED_FACTOR` times as many checks.
   */
  constructor(memory: SharedArrayBuffer, intervalMs: number, hangTimeoutMs: number) {
    this.counters = new Int32Array(memory);
    this.seen = Array.from(this.counters, () => 0);
    this.silentChecks = Array.from(this.counters, () => 0);
    this.heardAtCpuMs = Array.from(this.counters, () => 0);
    this.hangTimeoutMs = hangTimeoutMs;
    this.checksMax = Math.max(2, Math.ceil(hangTimeoutMs / intervalMs));
  }

  /** The threads of `watched` (by index) that have been silent for too long. `cpuMs`: the process's CPU time so far. */
  check(watched: readonly number[], cpuMs: number): readonly number[] {
    return watched.filter((thread) => {
      const count = Atomics.load(this.counters, thread);
      const silent = count === this.seen[thread] ? this.silentChecks[thread]! + 1 : 0;
      this.seen[thread] = count;
      this.silentChecks[thread] = silent;
      if (silent === 0) this.heardAtCpuMs[thread] = cpuMs;
      if (silent < this.checksMax) return false;
      return silent >= STARVED_FACTOR * this.checksMax || cpuMs - this.heardAtCpuMs[thread]! >= this.hangTimeoutMs;
    });
  }

  /** A new thread took the place of one that ended. */
  forget(thread: number): void {
    this.silentChecks[thread] = 0;
    this.heardAtCpuMs[thread] = Number.POSITIVE_INFINITY;
  }
}
