// How many requests an ingress works on at once: by priority and fairness, or by the two in-flight limits alone. Owns this
// thread's view of the seats that all ingresses share, and answers the messages about them.
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext, MessageOf, Reply } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { unreachable } from '../../../runtime/unreachable.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FlowDump, FlowProtocol } from '../protocol.ts';
import { Fairness } from './fairness.ts';
import { FollowedFlows } from './followed-flows.ts';
import { InFlight } from './in-flight.ts';
import { RequestCounts } from './request-counts.ts';
import type { Seat } from './seat.ts';
import { SEAT_THREADS_MAX, SharedSeats, seatMemory } from './seats.ts';

export interface RequestLimitOptions {
  /** For all ingresses together. */
  readonly readsInFlightMax: number;
  readonly writesInFlightMax: number;
  /** Requests wait for their turn instead of being refused beyond the limits. */
  readonly fairness: boolean;
  /** Where the ingresses count together (seats.ts); absent: there is one ingress. */
  readonly requestSeats?: SharedArrayBuffer | undefined;
  readonly requestTimeoutMs: number;
}

/** Of a request's time, how much it may wait for its turn. */
const WAIT_PART = 4;

export class RequestLimits {
  readonly #context: ActorContext;
  readonly #options: RequestLimitOptions;
  readonly #counts: RequestCounts;
  readonly #limits: Fairness | InFlight;
  /** Where requests wait for their turn. */
  readonly #flows: FollowedFlows | undefined;

  /** Throws OrchError BadConfiguration where there are more ingresses than can count together. */
  constructor(context: ActorContext, options: RequestLimitOptions, dialect: Dialect) {
    this.#context = context;
    this.#options = options;
    const { readsInFlightMax: readsMax, writesInFlightMax: writesMax } = options;
    // Where each kind has a limit of its own, its samples are parts of it.
    const parts = options.fairness
      ? { readOnly: 1, mutating: 1 }
      : { readOnly: readsMax || 1, mutating: writesMax || 1 };
    this.#counts = new RequestCounts(context.metrics, context.clock, parts);
    const seats = this.#seats();
    if (options.fairness) {
      const fairness = this.#fairness(seats, dialect);
      this.#limits = fairness;
      this.#flows = new FollowedFlows(context, dialect, (objects) => fairness.configure(objects));
    } else this.#limits = new InFlight({ readsMax, writesMax }, seats, this.#counts);
  }

  /** Begins to follow what requests wait by. */
  start(): void {
    this.#flows?.start();
  }

  stop(): void {
    this.#flows?.stop();
  }

  /** A restarted store knows none of its subscribers. */
  onStoreLost(): void {
    this.#flows?.onStoreLost();
  }

  /** Requests that wait or are worked on, without long-running ones. */
  get count(): number {
    return this.#counts.count;
  }

  /** Requests wait for their turn; otherwise they are refused beyond the limits. */
  get isFair(): boolean {
    return this.#options.fairness;
  }

  /** What requests wait by is known; true where they do not wait. */
  get isTold(): boolean {
    return !(this.#limits instanceof Fairness) || this.#limits.isTold;
  }

  /** Seats a request when there is room for it. Throws, or rejects with, Overloaded where there is not. */
  enter(exchange: Exchange, nowMs: number): Seat | Promise<Seat> {
    return this.#limits.enter(exchange, nowMs);
  }

  onMessage(message: MessageOf<FlowProtocol>, reply: Reply): void {
    const fairness = this.#limits instanceof Fairness ? this.#limits : undefined;
    switch (message.type) {
      case 'storeBatch':
        this.#flows?.onStoreBatch(message);
        return;
      case 'storeLost':
        this.onStoreLost();
        return;
      case 'seatFree':
        fairness?.onSeatFree();
        return;
      case 'dumpFlows':
        reply.send(fairness?.dump() ?? { levels: [] });
        return;
      default:
        unreachable(message);
    }
  }

  /** What waits and runs on each thread; undefined: nothing ever waits. */
  async dumps(): Promise<readonly FlowDump[] | undefined> {
    if (!this.#options.fairness) return undefined;
    const ask = { deadlineMs: this.#options.requestTimeoutMs };
    const ingresses = this.#context.refs('ingress');
    return Promise.all(ingresses.map((ingress) => ingress.ask<'dumpFlows'>({ type: 'dumpFlows' }, ask)));
  }

  #seats(): SharedSeats {
    const { index } = this.#context;
    const ingresses = this.#context.refs('ingress').length;
    const { requestSeats } = this.#options;
    if (ingresses > SEAT_THREADS_MAX || (ingresses > 1 && requestSeats === undefined))
      throw new OrchError('BadConfiguration', `${ingresses} ingresses cannot count requests together`);
    return new SharedSeats(requestSeats ?? seatMemory(), index, ingresses);
  }

  #fairness(seats: SharedSeats, dialect: Dialect): Fairness {
    const { readsInFlightMax, writesInFlightMax, requestTimeoutMs } = this.#options;
    const ingresses = this.#context.refs('ingress');
    return new Fairness({
      context: this.#context,
      dialect,
      seats,
      seatsMax: readsInFlightMax + writesInFlightMax,
      waitMaxMs: requestTimeoutMs / WAIT_PART,
      counts: this.#counts,
      wake: (thread) => void ingresses[thread]?.tell<'seatFree'>({ type: 'seatFree' }),
    });
  }
}
