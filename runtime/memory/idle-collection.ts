// Gives back the memory that a start or a busy time has left behind. V8 lets a thread's heap grow while there is much to do and
// collects it when there is too much of it again: a server that has nothing to do would keep what its last burst took. This runs
// in real threads only, beside the actors, and knows nothing of them.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { collectHeap } from './heap-collection.ts';

const CHECK_MS = 1000;
/** A thread that uses less of its time than this has nothing to do. */
const IDLE_SHARE_MAX = 0.1;
/** So many checks in a row must find it idle. */
const IDLE_CHECKS = 10;
/** The first time it is what the start has left, which nothing that comes later is made from: there is no reason to wait. */
const START_CHECKS = 2;
/** Milliseconds of work after which there is something to collect: some ten thousand requests' worth, or a start's. */
const WORK_MS_MIN = 200;
/** And at a start, of which each thread has its share. */
const START_WORK_MS_MIN = 50;
/** A larger heap takes longer to collect (about two milliseconds a MiB) than who comes next should wait. */
const HEAP_BYTES_MAX = 64 * 1024 * 1024;

/** When a thread is to be collected, told by how much it worked between checks. */
export class IdleWatch {
  #workMs = 0;
  #idleChecks = 0;
  #isStart = true;

  /** `activeMs` of the last `passedMs` were work. True when there is something to collect, and the time for it. */
  check(activeMs: number, passedMs: number): boolean {
    this.#workMs += activeMs;
    this.#idleChecks = activeMs < passedMs * IDLE_SHARE_MAX ? this.#idleChecks + 1 : 0;
    const [work, checks] = this.#isStart ? [START_WORK_MS_MIN, START_CHECKS] : [WORK_MS_MIN, IDLE_CHECKS];
    if (this.#workMs < work || this.#idleChecks < checks) return false;
    this.#workMs = 0;
    this.#idleChecks = 0;
    this.#isStart = false;
    return true;
  }
}

/**
 * Collects this thread's heap whenever it has worked and has nothing to do any more.
 * @param onCheck told each second how much of the heap is used, and how large it may be.
 */
export function collectWhenIdle(onCheck: (usedBytes: number, limitBytes: number) => void = () => {}): void {
  const watch = new IdleWatch();
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { active, idle } = performance.eventLoopUtilization(now, before);
    before = now;
    const { used_heap_size: usedBytes, heap_size_limit: limitBytes } = getHeapStatistics();
    onCheck(usedBytes, limitBytes);
    if (watch.check(active, active + idle) && usedBytes <= HEAP_BYTES_MAX) collectHeap();
  }, CHECK_MS).unref();
}
