// One actor's bounded queue: messages wait here in order of arrival and are handed over one at a time. `depth` counts
// waiting messages and asks not yet answered, so a slow actor fills its mailbox instead of its memory; what it is told finds
// room beside asks that it has been handed and not answered, since their answers may wait for it.
import type { Actor, Protocol, Reply } from '../actor.ts';
import type { Clock } from '../environment.ts';
import type { OrchError } from '../errors.ts';
import type { HistogramSeries } from '../metrics/metrics.ts';
import { NO_REQUEST, turn } from '../turn.ts';
import type { Delivery, Drainable } from './delivery.ts';
import { actorDown, overloaded } from './pending-ask.ts';

/** The way back of one message in a mailbox: the asker's answer, or nothing for a tell. */
export interface Inbound extends Reply {
  /** About to be handled. False: nobody waits any more, drop it unhandled. */
  begin(): boolean;
  /** The handler has returned. */
  end(): void;
  /** The mailbox was closed before the message was handled. */
  drop(error: OrchError): void;
}

/** What an actor's mailbox has seen, for statistics. */
export interface MailboxStats {
  readonly depth: number;
  /** Asks handed to the actor and not yet answered. */
  readonly unanswered: number;
  readonly handled: number;
  /** Batches drained. */
  readonly turns: number;
  /** The longest batch. */
  readonly turnMsMax: number;
  /** Batches that waited, and how long their first messages did; both 0 where waits are not measured. */
  readonly waits: number;
  readonly waitMs: number;
}

type Handler = Pick<Actor<Protocol>, 'onMessage'>;
type Message = Parameters<Actor<Protocol>['onMessage']>[0];

/** Places that a message takes in the queue. */
const SLOTS = 3;
/** How far the dead front of the queue may grow before the rest moves up. */
const DEAD_SLOTS_MAX = 1024 * SLOTS;

export class Mailbox implements Drainable {
  readonly name: string;
  readonly max: number;
  /** Waiting messages and unanswered asks. */
  depth = 0;
  private readonly delivery: Delivery;
  private readonly clock: Clock;
  private readonly onThrow: (error: unknown, message: object, inbound: Inbound) => void;
  /** Message, Inbound and request number in turns, from `head`. */
  private queue: (object | number | undefined)[] = [];
  private head = 0;
  private handler: Handler | undefined;
  private closed = false;
  /** Its actor's handler is running. */
  private busy = false;
  private scheduled = false;
  private handled = 0;
  /** Where the length of each turn is counted. */
  turnSeconds: HistogramSeries | undefined = undefined;
  private turns = 0;
  private turnMsMax = 0;
  private readonly measuresWaits: boolean;
  private scheduledMs = 0;
  private waits = 0;
  private waitMs = 0;

  /**
   * `onThrow` is told what a handler threw, after which the next message follows. With `measuresWaits` the clock is read
   * once more for each batch.
   */
  constructor(
    name: string,
    max: number,
    delivery: Delivery,
    clock: Clock,
    onThrow: (error: unknown, message: object, inbound: Inbound) => void,
    measuresWaits = false,
  ) {
    this.name = name;
    this.max = max;
    this.delivery = delivery;
    this.clock = clock;
    this.onThrow = onThrow;
    this.measuresWaits = measuresWaits;
  }

  /** Why an ask cannot be taken now; undefined when it can. */
  refusal(): OrchError | undefined {
    if (this.closed) return actorDown(this.name);
    return this.depth >= this.max ? overloaded(this.name) : undefined;
  }

  /** Whether an ask can be taken now: the cheap form of `refusal`. */
  hasRoom(): boolean {
    return this.depth < this.max && !this.closed;
  }

  /** Whether a tell can be taken now. Asks that are handled and not answered do not count: they may wait for what is told. */
  hasRoomToBeTold(): boolean {
    return this.queue.length - this.head < this.max * SLOTS && !this.closed;
  }

  /** Queues a message. The caller has asked for room, or has bounded the sender by a window. */
  accept(message: object, inbound: Inbound, requestNumber: number): void {
    if (this.closed) {
      inbound.drop(actorDown(this.name));
      return;
    }
    this.depth++;
    this.queue.push(message, inbound, requestNumber);
    if (!this.scheduled && this.handler !== undefined) this.schedule();
  }

  /** Whether messages wait, the one that is handled now left out. */
  hasWaiting(): boolean {
    return this.head < this.queue.length;
  }

  /** Whether a message can be handed over within the sender's turn: nothing waits before it, and the handler is not running. */
  isIdle(): boolean {
    const isFree = this.handler !== undefined && !this.busy && !this.hasWaiting();
    return isFree && this.hasRoom() && this.delivery.handsOverAtOnce(this);
  }

  /** Hands a message to the idle actor, in the sender's turn. */
  handOver(message: object, inbound: Inbound, requestNumber: number): void {
    const ofSender = turn.requestNumber;
    this.depth++;
    this.busy = true;
    this.handle(this.handler!, message as Message, inbound, requestNumber);
    this.busy = false;
    turn.requestNumber = ofSender;
  }

  /** An ask was answered or a tell handled: its place is free. Called once for each accepted message. */
  release(): void {
    this.depth--;
  }

  /** Hands over messages from now on, beginning with those that wait. */
  open(handler: Handler): void {
    this.handler = handler;
    if (!this.scheduled && this.hasWaiting()) this.schedule();
  }

  /** Takes and hands over nothing more. Waiting asks fail with ActorDown. */
  close(): void {
    this.closed = true;
    const { queue, head } = this;
    this.queue = [];
    this.head = 0;
    for (let slot = head + 1; slot < queue.length; slot += SLOTS) {
      this.depth--;
      (queue[slot] as Inbound).drop(actorDown(this.name));
    }
  }

  drain(messagesMax: number): number {
    this.scheduled = false;
    const handler = this.handler;
    if (handler === undefined) return 0;
    const startedMs = this.clock.monotonicMs();
    if (this.measuresWaits) {
      this.waits++;
      this.waitMs += startedMs - this.scheduledMs;
    }
    const handledBefore = this.handled;
    const end = Math.min(this.queue.length, this.head + SLOTS * messagesMax);
    this.busy = true;
    while (this.head < end && !this.closed) this.handleNext(handler);
    this.busy = false;
    turn.requestNumber = NO_REQUEST;
    this.turns++;
    const turnMs = this.clock.monotonicMs() - startedMs;
    if (turnMs > this.turnMsMax) this.turnMsMax = turnMs;
    this.turnSeconds?.observe(turnMs / 1000);
    this.dropDeadSlots();
    if (!this.scheduled && this.hasWaiting()) this.schedule();
    return this.handled - handledBefore;
  }

  stats(): MailboxStats {
    const { depth, handled, turns, turnMsMax, waits, waitMs } = this;
    const waiting = (this.queue.length - this.head) / SLOTS;
    return { depth, unanswered: Math.max(0, depth - waiting), handled, turns, turnMsMax, waits, waitMs };
  }

  private handleNext(handler: Handler): void {
    const { queue, head } = this;
    const message = queue[head] as Message;
    const inbound = queue[head + 1] as Inbound;
    const requestNumber = queue[head + 2] as number;
    queue[head] = undefined;
    queue[head + 1] = undefined;
    this.head = head + SLOTS;
    if (inbound.begin()) this.handle(handler, message, inbound, requestNumber);
  }

  private handle(handler: Handler, message: Message, inbound: Inbound, requestNumber: number): void {
    this.handled++;
    turn.requestNumber = requestNumber;
    try {
      handler.onMessage(message, inbound);
    } catch (error) {
      this.onThrow(error, message, inbound);
    }
    inbound.end();
  }

  private dropDeadSlots(): void {
    if (this.head === this.queue.length) {
      this.queue.length = 0;
      this.head = 0;
    } else if (this.head > DEAD_SLOTS_MAX) {
      this.queue.splice(0, this.head);
      this.head = 0;
    }
  }

  private schedule(): void {
    this.scheduled = true;
    if (this.measuresWaits) this.scheduledMs = this.clock.monotonicMs();
    this.delivery.schedule(this);
  }
}
