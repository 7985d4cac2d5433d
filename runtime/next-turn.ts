// Waiting for a turn of the event loop, in code that awaits.
import type { Timers } from './environment.ts';

type Soon = Pick<Timers, 'soon'>;

/** Resolves behind the I/O and the messages that wait now (`Timers.soon`). */
export function nextTurn(timers: Soon): Promise<void> {
  return new Promise((resolve) => {
    timers.soon(resolve);
  });
}

/** Steps of long work that wait, by the timers that they wait for: the first come goes first. */
const queues = new WeakMap<Soon, (() => void)[]>();

/** Resolves in a turn that no other step of long work has, however many wait: behind the I/O and the messages before each. */
export function ownTurn(timers: Soon): Promise<void> {
  return new Promise((resolve) => {
    let queue = queues.get(timers);
    if (queue === undefined) {
      queue = [];
      queues.set(timers, queue);
    }
    if (queue.push(resolve) === 1) goOn(timers, queue);
  });
}

function goOn(timers: Soon, queue: (() => void)[]): void {
  const take = (): void => {
    queue.shift()!();
    if (queue.length > 0) goOn(timers, queue);
  };
  // A first turn still comes before the events of I/O that wait, where one of them led here.
  timers.soon(() => timers.soon(take));
}
