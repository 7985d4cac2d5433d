// Waiting for a turn of the event loop, in code that awaits.
import type { Timers } from './environment.ts';

/** Resolves behind the I/O and the messages that wait now (`Timers.soon`). */
export function nextTurn(timers: Pick<Timers, 'soon'>): Promise<void> {
  return new Promise((resolve) => {
    timers.soon(resolve);
  });
}
