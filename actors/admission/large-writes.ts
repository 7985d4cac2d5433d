// Writes whose steps take some milliseconds each, so that others have their turn between them.
import type { ActorContext } from '../../runtime/actor.ts';
import { nextTurn } from '../../runtime/next-turn.ts';

interface WithTimers {
  readonly context: Pick<ActorContext, 'timers'>;
}

/** Of an object, as it is sent or as it is stored. */
const LARGE_BYTES = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES;
}

/** What is done next is done in a turn of its own, after those that wait. */
export async function afterOthers({ context: { timers } }: WithTimers): Promise<void> {
  await nextTurn(timers);
  // A first one still comes before the events of I/O that wait, where one of them led here.
  await nextTurn(timers);
}
