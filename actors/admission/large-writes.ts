// Writes whose steps take some milliseconds each, so that others have their turn between them.
import type { InParts } from '../../api/in-parts.ts';
import type { ActorContext } from '../../runtime/actor.ts';

type Timers = Pick<ActorContext['timers'], 'soon'>;

interface WithTimers {
  readonly context: { readonly timers: Timers };
}

/** Of an object, as it is sent or as it is stored. */
const LARGE_BYTES = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES;
}

/** Steps that wait, by the timers that they wait for: the first come goes first. */
const queues = new WeakMap<Timers, (() => void)[]>();

/** What is done next is done in a turn of its own, after those that wait: one step a turn, however many writes there are. */
export function afterOthers({ context: { timers } }: WithTimers): Promise<void> {
  return new Promise((resolve) => {
    let queue = queues.get(timers);
    if (queue === undefined) {
      queue = [];
      queues.set(timers, queue);
    }
    if (queue.push(resolve) === 1) next(timers, queue);
  });
}

function next(timers: Timers, queue: (() => void)[]): void {
  const go = (): void => {
    queue.shift()!();
    if (queue.length > 0) next(timers, queue);
  };
  // A first turn still comes before the events of I/O that wait, where one of them led here.
  timers.soon(() => timers.soon(go));
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
