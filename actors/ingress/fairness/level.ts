// One priority level on this thread: its seats, its queues, and the timer that ends waiting. Tells another thread of a free seat
// that is owed to it.
import type { LevelSpec } from '../../../api/flow-control/configuration.ts';
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';
import { QueueSet, type Refusal, type Ticket } from './queue-set.ts';
import type { LevelSamples } from './sampled-count.ts';
import type { Seats } from './seats.ts';

export interface LevelParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly waitMaxMs: number;
  /** Tells the ingress of another thread that a seat is free. */
  readonly wake: (thread: number) => void;
}

/** Whoever waits looks for seats by itself as often as this, in case nobody could tell it. */
const LOOK_AGAIN_MS = 100;

export class Level<T> {
  spec: LevelSpec;
  /** It is not wanted any more, but has requests yet. */
  isQuiescing = false;
  /** Undefined: exempt. */
  readonly seats: Seats | undefined;
  readonly queues: QueueSet<T> | undefined;
  /** Undefined: exempt, or there are too many levels. */
  readonly #samples: LevelSamples | undefined;
  readonly #parts: LevelParts;
  #timer: Timer | undefined;

  constructor(
    spec: LevelSpec,
    seats: Seats | undefined,
    parts: LevelParts,
    samples: LevelSamples | undefined = undefined,
  ) {
    this.spec = spec;
    this.seats = seats;
    this.#samples = samples;
    this.#parts = parts;
    const { clock, waitMaxMs } = parts;
    this.queues = seats && new QueueSet(seats, spec.queuing, waitMaxMs, clock.monotonicMs(), samples);
  }

  get isIdle(): boolean {
    return this.queues?.isIdle ?? true;
  }

  /** Other shares or queues for the same name. */
  reconfigure(spec: LevelSpec, limit: number): void {
    this.spec = spec;
    if (this.seats === undefined) return;
    this.seats.limit = limit;
    this.#samples?.setLimits(spec, limit, this.#nowMs());
    this.queues!.reconfigure(spec.queuing);
    this.look();
  }

  /** The samples of the time until now are added. */
  settleSamples(nowMs: number): void {
    this.#samples?.settle(nowMs);
  }

  /** A request comes; see QueueSet.arrive. Undefined for an exempt level. */
  arrive(request: T, hand: readonly number[], nowMs: number): Ticket<T> | Refusal | undefined {
    if (this.queues === undefined) return undefined;
    const answer = this.queues.arrive(request, hand, nowMs);
    if (this.queues.waiting > 0) this.#settle();
    return answer;
  }

  finish(ticket: Ticket<T>, nowMs: number): void {
    this.queues!.finish(ticket, nowMs);
    this.#settle();
  }

  cancel(ticket: Ticket<T>): void {
    this.queues!.cancel(ticket, this.#nowMs());
    this.#settle();
  }

  /** There may be seats: begins what can begin, and refuses what has waited too long. */
  look(): void {
    if (this.queues === undefined || this.queues.waiting === 0) return;
    const nowMs = this.#nowMs();
    this.queues.expire(nowMs);
    this.queues.dispatch(nowMs);
    this.#settle();
  }

  /** Passes on what is owed elsewhere, and looks again when the next request will have waited too long. */
  #settle(): void {
    const owed = this.seats!.owedTo();
    if (owed !== undefined) this.#parts.wake(owed);
    const refusalMs = this.queues!.nextRefusalMs;
    if (refusalMs === undefined) {
      this.#timer?.cancel();
      this.#timer = undefined;
      return;
    }
    if (this.#timer !== undefined) return;
    const untilMs = Math.max(1, refusalMs - this.#nowMs());
    this.#timer = this.#parts.timers.after(Math.min(untilMs, LOOK_AGAIN_MS), () => {
      this.#timer = undefined;
      this.look();
    });
  }

  #nowMs(): number {
    return this.#parts.clock.monotonicMs();
  }
}
