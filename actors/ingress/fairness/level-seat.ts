// The seat that a priority level has given to a request, until the request has been served.
import type { Flow, FlowLevel, FlowRequest } from './classifier.ts';
import type { Ticket } from './queue-set.ts';
import { type Counted, countOut } from './request-counts.ts';
import type { Seat } from './seat.ts';

/** One object for each request that runs, without a closure. */
export class LevelSeat implements Seat {
  readonly #flow: Flow;
  /** Undefined: the level is exempt. */
  readonly #ticket: Ticket<FlowRequest> | undefined;
  readonly #counted: Counted;
  readonly #startedMs: number;
  readonly #onLeft: (level: FlowLevel) => void;

  /** Counts the request as running from now on. `onLeft` is called when the level has its seat again. */
  constructor(
    flow: Flow,
    ticket: Ticket<FlowRequest> | undefined,
    counted: Counted,
    startedMs: number,
    onLeft: (level: FlowLevel) => void,
  ) {
    this.#flow = flow;
    this.#ticket = ticket;
    this.#counted = counted;
    this.#startedMs = startedMs;
    this.#onLeft = onLeft;
    flow.series.running++;
    flow.series.dispatched.add(1);
  }

  leave(endedMs: number): void {
    const { level, series } = this.#flow;
    countOut(this.#counted, endedMs);
    series.running--;
    series.executionSeconds.observe((endedMs - this.#startedMs) / 1000);
    if (this.#ticket !== undefined) level.finish(this.#ticket, endedMs);
    this.#onLeft(level);
  }
}
