// Writes whose steps take some milliseconds each, so that others have their turn between them.
import { type InParts, inOneGo } from '../../api/in-parts.ts';
import type { Timers } from '../../runtime/environment.ts';
import { ownTurn } from '../../runtime/next-turn.ts';

interface WithTimers {
  readonly context: { readonly timers: Pick<Timers, 'soon'> };
}

/** What is done next is done in a turn of its own, after those that wait: one step a turn, however many writes there are. */
export function afterOthers({ context: { timers } }: WithTimers): Promise<void> {
  return ownTurn(timers);
}

/** What work comes to: at once, or of something large each part in a turn of its own, but for the first. */
export function done<T>(within: WithTimers, isOfLarge: boolean, parts: InParts<T>): T | Promise<T> {
  return isOfLarge ? inTurns(within, parts) : inOneGo(parts);
}

async function inTurns<T>(within: WithTimers, parts: InParts<T>): Promise<T> {
  let part = parts.next();
  while (!part.done) {
    await afterOthers(within);
    part = parts.next();
  }
  return part.value;
}
