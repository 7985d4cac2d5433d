// How many requests are worked on at once where there is no fairness (SPEC.md "Limits"): reads and writes have a limit each, for
// all threads together; long-running requests and the superusers' group are exempt. What is over a limit is refused at once.

import { SUPERUSERS } from '../../../api/authorization/attributes.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { countOut, kindOf, type RequestCounts, type RequestKind } from './request-counts.ts';
import { type Seat, UNCOUNTED } from './seat.ts';
import type { Seats, SharedSeats } from './seats.ts';

export interface InFlightLimits {
  /** Not writing; 0: no limit. */
  readonly readsMax: number;
  readonly writesMax: number;
}

export class InFlight {
  readonly #seats: Readonly<Record<RequestKind, Seats>>;
  readonly #counts: RequestCounts;

  constructor({ readsMax, writesMax }: InFlightLimits, seats: SharedSeats, counts: RequestCounts) {
    this.#counts = counts;
    this.#seats = {
      readOnly: seats.of('reads', readsMax || Number.POSITIVE_INFINITY),
      mutating: seats.of('writes', writesMax || Number.POSITIVE_INFINITY),
    };
  }

  /** Seats a request inside the limit that applies. Throws Overloaded when it is reached. */
  enter(exchange: Exchange, nowMs: number): Seat {
    if (exchange.longRunning) return UNCOUNTED;
    const seats = this.#seats[kindOf(exchange)];
    const isSeated = seats.take(1);
    if (!isSeated && !exchange.user.groups.includes(SUPERUSERS)) {
      this.#counts.drop(exchange);
      throw new OrchError('Overloaded', 'too many requests in flight');
    }
    const counted = this.#counts.begin(exchange, nowMs);
    return {
      leave: (leftMs) => {
        countOut(counted, leftMs);
        if (isSeated) seats.giveBack();
      },
    };
  }
}
