// Gives back the memory that a busy time has left behind. V8 lets a thread's heap grow while there is much to do and collects
// it when there is too much of it again: a server that has nothing to do would keep what its last burst took. This runs in
// real threads only, beside the actors, and knows nothing of them.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const CHECK_MS = 2000;
/** A thread that uses less of its time than this has nothing to do. */
const IDLE_SHARE_MAX = 0.1;
/** So many checks in a row must find it idle before its young objects are collected, which takes a millisecond or two. */
const IDLE_CHECKS_YOUNG = 2;
/**
 * And so many before all are. V8 gives back the room of young objects in a full collection only, and only when few were
 * made in the five seconds before it or since the last collection, which is why there was one of the young ones then.
 */
const IDLE_CHECKS_ALL = 5;
/** Milliseconds of work after which there is something to collect: some ten thousand requests' worth, or a start's. */
const WORK_MS_MIN = 200;
/** A larger heap takes longer to collect (about a millisecond a MiB) than who comes next should wait. */
const HEAP_BYTES_MAX = 64 * 1024 * 1024;

/** What there is to collect. */
export type Due = 'nothing' | 'young' | 'all';

/** When a thread is to be collected, told by how much it worked between checks. */
export class IdleWatch {
  #workMs = 0;
  #idleChecks = 0;

  /** `activeMs` of the last `passedMs` were work. */
  check(activeMs: number, passedMs: number): Due {
    this.#workMs += activeMs;
    this.#idleChecks = activeMs < passedMs * IDLE_SHARE_MAX ? this.#idleChecks + 1 : 0;
    if (this.#workMs < WORK_MS_MIN) return 'nothing';
    if (this.#idleChecks < IDLE_CHECKS_ALL) return this.#idleChecks === IDLE_CHECKS_YOUNG ? 'young' : 'nothing';
    this.#workMs = 0;
    this.#idleChecks = 0;
    return 'all';
  }
}

/** To be called before threads are made, whose global object then has what `collectWhenIdle` needs. */
export function allowCollection(): void {
  setFlagsFromString('--expose-gc');
}

/** Collects this thread's heap whenever it has worked and has nothing to do any more. */
export function collectWhenIdle(): void {
  const { gc } = globalThis as { gc?: (options?: { readonly type: 'minor' }) => void };
  if (gc === undefined) return;
  const watch = new IdleWatch();
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { active, idle } = performance.eventLoopUtilization(now, before);
    before = now;
    const due = watch.check(active, active + idle);
    if (due === 'young') gc({ type: 'minor' });
    else if (due === 'all' && getHeapStatistics().used_heap_size <= HEAP_BYTES_MAX) gc();
  }, CHECK_MS).unref();
}
