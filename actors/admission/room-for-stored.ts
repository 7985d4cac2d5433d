// The room on the heap that a write takes for what is stored: how much is known when it has been found, and is parsed after that.
import type { Attributes } from './attributes.ts';
import { tooLateToCommit } from './commit.ts';
import { heapBytesOfStored } from './heap-room.ts';
import type { WriteContext } from './write-context.ts';

/**
 * Resolves when there is room on the heap for what is stored as so many bytes, which the write has until it is over (attempts.ts). Rejects
 * where nobody waits for it any more.
 */
export async function roomForStored(write: WriteContext, attributes: Attributes, bytes: number): Promise<void> {
  const { heapRoom, hasHeapRoom, context, endsMs } = write;
  attributes.giveRoomBack ??= await heapRoom.more(heapBytesOfStored(bytes), hasHeapRoom);
  if (endsMs <= context.clock.monotonicMs()) throw tooLateToCommit();
}
