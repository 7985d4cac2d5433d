// Writes whose steps take some milliseconds each, so that others have their turn between them.
import type { InParts } from '../../api/in-parts.ts';
import type { Timers } from '../../runtime/environment.ts';
import { ownTurn } from '../../runtime/next-turn.ts';

interface WithTimers {
  readonly context: { readonly timers: Pick<Timers, 'soon'> };
}

/** Of an object, as it is sent or as it is stored. */
const LARGE_BYTES = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES;
}

/** What is done next is done in a turn of its own, after those that wait: one step a turn, however many writes there are. */
export function afterOthers({ context: { timers } }: WithTimers): Promise<void> {
  return ownTurn(timers);
}

/** What work on something large comes to: each part of it in a turn of its own, but for the first. */
export async function inTurns<T>(within: WithTimers, parts: InParts<T>): Promise<T> {
  let part = parts.next();
  while (!part.done) {
    await afterOthers(within);
    part = parts.next();
  }
  return part.value;
}
