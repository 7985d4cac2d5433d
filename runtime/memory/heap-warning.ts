// Says that the heap of a thread is nearly full, while somebody can still do something about it: a thread that runs out of heap ends the
// process, and nobody is told why. This runs in real threads only, beside the actors, and knows nothing of them.
import { getHeapSpaceStatistics } from 'node:v8';
import type { Logger } from 'pino';

/**
 * Of the heap of a thread, for what was made last: Node's own limit. Half of it costs a tenth more CPU for each write, which
 * makes some 60 KB of garbage; a thread that is idle gives back what it has taken (idle-collection.ts).
 */
export const YOUNG_HEAP_MAX_MIB = 48;
const MIB = 1024 * 1024;

const NEARLY_FULL_SHARE = 0.85;
/** What has been told is told again after there was more room than this. */
const ROOM_SHARE = 0.75;
/** So many checks in a row must find it nearly full: what is garbage has been collected by then. */
const FULL_CHECKS = 5;

/** When it is to be told, by how much of the heap is used at each check. */
class HeapWatch {
  #fullChecks = 0;
  #isTold = false;

  /** True when it is to be told. */
  check(usedBytes: number, limitBytes: number): boolean {
    if (usedBytes < limitBytes * ROOM_SHARE) this.#isTold = false;
    this.#fullChecks = usedBytes < limitBytes * NEARLY_FULL_SHARE ? 0 : this.#fullChecks + 1;
    if (this.#isTold || this.#fullChecks < FULL_CHECKS) return false;
    this.#isTold = true;
    return true;
  }
}

/**
 * To be called about once a second, with what is used of the whole heap, and its limit. What was made last has its own part, which is always
 * filled and emptied: it is left out, and asked for only where that matters.
 */
export function warningOfFullHeap(
  log: Pick<Logger, 'warn'>,
  youngBytes: () => number = usedYoungBytes,
): (usedBytes: number, limitBytes: number) => void {
  const watch = new HeapWatch();
  return (usedBytes, allBytes) => {
    const limitBytes = allBytes - YOUNG_HEAP_MAX_MIB * MIB;
    const heapBytes = usedBytes < limitBytes * ROOM_SHARE ? usedBytes : usedBytes - youngBytes();
    if (!watch.check(heapBytes, limitBytes)) return;
    const text =
      'the heap of this thread is nearly full, and the process ends when it is: see what holds it with orch bundle, or start with NODE_OPTIONS=--max-old-space-size=MiB';
    log.warn({ heapBytes, limitBytes }, text);
  };
}

function usedYoungBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_used_size ?? 0;
}
