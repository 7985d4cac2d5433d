// How long an answer may take that is made while its client takes it. Until it is out it has its request's seat, and what it is made of is
// held: of a large object in a room on the heap that others wait for.
import { StatusError } from '../../../api/status/status.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { tooLate } from '../../error-status.ts';
import type { Exchange } from '../exchange/exchange.ts';

/**
 * Settles as `sending`, unless the time is over before: an answer that has begun is cut off then, so that `sending` comes to its end; of
 * one that has not, rejects with 504.
 */
export function inTime(
  sending: Promise<void>,
  exchange: Pick<Exchange, 'isAnswered' | 'cutOff'>,
  timers: Pick<Timers, 'after'>,
  forMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const patience = timers.after(forMs, () => {
      if (exchange.isAnswered) exchange.cutOff();
      else reject(new StatusError(tooLate()));
    });
    sending.finally(() => patience.cancel()).then(resolve, reject);
  });
}
