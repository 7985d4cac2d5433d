// What writes take of the heap. Each holds its objects there until it is answered, in turns between which the others go on, or while a
// webhook thinks about it. Begun all together, thirty bodies of many small values, as many patches of one object that is stored with as
// many, or a thousand small ones that wait for a slow webhook, fill the heap of a thread, which ends the process.
import type { HeapShare } from '../../runtime/memory/heap-share.ts';
import { heapBytesAtMost } from '../../transport/heap-of-body.ts';
import type { StoredObject } from './stored/stored-object.ts';

/** To look through less costs more than it is worth, unless there are very many of them. */
const COUNTED_BYTES_MIN = 32 * 1024;

/** True of the body of a write that is begun without being looked through. */
export function isBegunUncounted(share: HeapShare, bodyBytes: number): boolean {
  return bodyBytes < COUNTED_BYTES_MIN && share.keepSmall(heapBytesAtMost(bodyBytes));
}

/** True of a stored object that is read in the turn in which it was found; of any other it is to be read in when there is room for it. */
export function isReadAtOnce(share: HeapShare, stored: StoredObject): boolean {
  if (stored.isLarge) return false;
  if (stored.bytes < COUNTED_BYTES_MIN && share.borrowSmall(heapBytesAtMost(stored.bytes))) return true;
  return share.borrowNow(stored.heapBytes);
}
