// API priority and fairness (SPEC.md "Limits"; Kubernetes 1.21): every request that is no long-running one belongs to a flow of
// a priority level, and runs, waits or is refused by the level's seats. Owns the levels of this thread; the configuration is told
// to it, and until it is, the mandatory levels hold.
import {
  concurrencyLimit,
  type FlowConfiguration,
  type FlowSchema,
  flowConfiguration,
  type LevelSpec,
} from '../../../api/flow-control/configuration.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { RequestAborted } from '../../../transport/http.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FlowDump } from '../protocol.ts';
import {
  Classifier,
  type Flow,
  type FlowLevel,
  type FlowRequest,
  flowHeaders,
  type SchemaInUse,
  schemasInUse,
} from './classifier.ts';
import { dumpOf } from './dump.ts';
import { FlowMetrics } from './flow-metrics.ts';
import type { FlowObjects } from './followed-flows.ts';
import { Level, type LevelParts } from './level.ts';
import { LevelSeat } from './level-seat.ts';
import type { Refusal, Ticket } from './queue-set.ts';
import { type Counted, countOut, type RequestCounts } from './request-counts.ts';
import { type Seat, UNCOUNTED } from './seat.ts';
import type { SharedSeats } from './seats.ts';

export interface FairnessParts {
  readonly context: ActorContext;
  readonly dialect: Dialect;
  readonly seats: SharedSeats;
  /** Of all levels and threads together. */
  readonly seatsMax: number;
  /** How long a request waits at most. */
  readonly waitMaxMs: number;
  readonly counts: RequestCounts;
  readonly wake: (thread: number) => void;
}

export class Fairness {
  readonly #parts: FairnessParts;
  readonly #levelParts: LevelParts;
  readonly #levels = new Map<string, FlowLevel>();
  readonly #metrics: FlowMetrics;
  readonly #headerPrefix: string;
  readonly #onLeft = (level: FlowLevel): void => this.#forgetIfDone(level);
  #classifier!: Classifier;
  #isTold = false;

  constructor(parts: FairnessParts) {
    const { context, dialect, waitMaxMs, wake } = parts;
    this.#parts = parts;
    this.#levelParts = { clock: context.clock, timers: context.timers, waitMaxMs, wake };
    this.#metrics = new FlowMetrics(context.metrics);
    const { brand } = dialect;
    this.#headerPrefix = `X-${brand[0]!.toUpperCase()}${brand.slice(1)}`;
    context.metrics.beforeReading(() => {
      const nowMs = context.clock.monotonicMs();
      for (const level of this.#levels.values()) level.settleSamples(nowMs);
    });
    this.#goBy({ schemas: [], levels: [] });
  }

  /** The configuration of the cluster is known; until then the mandatory levels hold. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** What waits and runs on this thread. */
  dump(): FlowDump {
    const { clock } = this.#parts.context;
    return dumpOf(this.#levels.values(), { wallMs: clock.nowMs(), ms: clock.monotonicMs() });
  }

  /** Goes by these objects from now on. Requests that wait or run stay where they are. */
  configure(objects: FlowObjects): void {
    this.#goBy(objects);
    this.#isTold = true;
  }

  #goBy({ schemas, levels }: FlowObjects): void {
    const configuration = flowConfiguration(this.#parts.dialect, schemas, levels);
    this.#adopt(configuration);
    const make = (schema: FlowSchema, level: FlowLevel): SchemaInUse => ({
      schema,
      level,
      headers: flowHeaders(this.#headerPrefix, schema, level.spec.uid),
      series: this.#metrics.of(level.spec.name, schema.name),
    });
    this.#classifier = new Classifier(schemasInUse(configuration, this.#levels, make));
  }

  /** Seats may have become free that other threads held. */
  onSeatFree(): void {
    for (const level of this.#levels.values()) level.look();
  }

  /** Seats a request when its level has a seat for it. Throws, or rejects with, Overloaded where it is refused. */
  enter(exchange: Exchange, nowMs: number): Seat | Promise<Seat> {
    if (exchange.longRunning) return UNCOUNTED;
    const flow = this.#classifier.flowOf(exchange.user, exchange.info);
    exchange.flowHeaders = flow.headers;
    const ticket = flow.level.arrive({ flow, exchange }, flow.hand, nowMs);
    if (typeof ticket === 'string') throw this.#refused(exchange, flow, ticket);
    if (ticket?.queue === undefined) return this.#seated(exchange, flow, ticket, ticket?.startedMs ?? nowMs);
    flow.series.queueLength.observe(ticket.isRunning ? 1 : ticket.queue.waiting.size);
    if (ticket.isRunning) return this.#taken(exchange, flow, ticket);
    return this.#waited(exchange, flow, ticket);
  }

  /** A seat that a queue gave. */
  #taken(exchange: Exchange, flow: Flow, ticket: Ticket<FlowRequest>): Seat {
    flow.series.waited(ticket.startedMs - ticket.arrivedMs, true);
    return this.#seated(exchange, flow, ticket, ticket.startedMs);
  }

  #seated(exchange: Exchange, flow: Flow, ticket: Ticket<FlowRequest> | undefined, startedMs: number): Seat {
    return new LevelSeat(flow, ticket, this.#parts.counts.begin(exchange, startedMs), startedMs, this.#onLeft);
  }

  /**
   * The seat, when the request may run. Rejects with Overloaded, or RequestAborted where whoever asked has gone. There may be thousands:
   * one promise each, and one scope for the two closures.
   */
  #waited(exchange: Exchange, flow: Flow, ticket: Ticket<FlowRequest>): Promise<Seat> {
    const counted = this.#parts.counts.wait(exchange, ticket.arrivedMs);
    flow.series.waiting++;
    return new Promise((resolve, reject) => {
      ticket.onDecided = (refusal) => {
        this.#waitedFor(exchange, flow, counted);
        if (refusal === undefined) resolve(this.#taken(exchange, flow, ticket));
        else reject(this.#notSeated(exchange, flow, ticket, refusal));
      };
      const leave = (): void => flow.level.cancel(ticket);
      exchange.onGivenUp = leave;
      exchange.response.onAborted(leave);
    });
  }

  #waitedFor(exchange: Exchange, { series }: Flow, counted: Counted): void {
    countOut(counted, this.#parts.context.clock.monotonicMs());
    series.waiting--;
    exchange.onGivenUp = undefined;
  }

  #notSeated(exchange: Exchange, flow: Flow, ticket: Ticket<FlowRequest>, refusal: Refusal): Error {
    flow.series.waited(this.#parts.context.clock.monotonicMs() - ticket.arrivedMs, false);
    this.#forgetIfDone(flow.level);
    const overloaded = this.#refused(exchange, flow, refusal);
    return refusal === 'cancelled' ? new RequestAborted() : overloaded;
  }

  #refused(exchange: Exchange, { level, series }: Flow, refusal: Refusal): OrchError {
    series.refused(refusal);
    this.#parts.counts.drop(exchange);
    return new OrchError('Overloaded', `no seat at priority level ${level.spec.name}: ${refusal}`);
  }

  /** Makes the levels those of the configuration, and shares the seats out. What has requests yet goes on until it has none. */
  #adopt({ levels }: FlowConfiguration): void {
    const wanted = new Set(levels.map(({ name }) => name));
    for (const [name, level] of this.#levels) {
      level.isQuiescing = !wanted.has(name);
      this.#forgetIfDone(level);
    }
    const quiescing = [...this.#levels.values()].filter(({ isQuiescing }) => isQuiescing).map(({ spec }) => spec);
    const sharing = [...levels, ...quiescing];
    const shares = sharing.reduce((sum, spec) => sum + (spec.shares ?? 0), 0);
    for (const spec of sharing) this.#share(spec, shares);
  }

  #share(spec: LevelSpec, allShares: number): void {
    const { seats, seatsMax } = this.#parts;
    const limit = spec.shares === undefined ? 0 : concurrencyLimit(seatsMax, spec.shares, allShares);
    if (spec.shares !== undefined) this.#metrics.limit(spec.name, limit);
    const level = this.#levels.get(spec.name);
    if (level !== undefined) {
      level.reconfigure(spec, limit);
      return;
    }
    if (spec.shares === undefined) {
      this.#levels.set(spec.name, new Level(spec, undefined, this.#levelParts));
      return;
    }
    const samples = this.#metrics.samples(spec, limit, this.#parts.context.clock.monotonicMs());
    const own = seats.of(`level ${spec.name}`, limit);
    this.#levels.set(spec.name, new Level(spec, own, this.#levelParts, samples));
  }

  #forgetIfDone(level: FlowLevel): void {
    if (!level.isQuiescing || !level.isIdle || this.#levels.get(level.spec.name) !== level) return;
    this.#levels.delete(level.spec.name);
    if (level.seats !== undefined) this.#parts.seats.leave(level.seats);
  }
}
