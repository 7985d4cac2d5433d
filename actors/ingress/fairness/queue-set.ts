// The waiting requests of one priority level on this thread: queues that take turns (fair queuing by virtual time, as
// Kubernetes 1.21's: each request is taken to last a minute until it has ended). Decides who runs next and who is refused; has
// no clock and no timers: the time is given to it. Seats are counted by whoever lends them (seats.ts).
import type { Queuing } from '../../../api/flow-control/configuration.ts';

/** Of a request that has not ended yet. */
const ESTIMATED_SECONDS = 60;

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** Where seats are lent. */
export interface SeatLender {
  /** Takes a seat, unless all are taken or another thread's requests come first. `flows`: of this thread that want one. */
  take(flows: number): boolean;
  giveBack(): void;
  /** How many flows of this thread wait; none: nobody has to be told of a free seat. */
  setWaiting(flows: number): void;
  /** The most seats that there are, for all threads. */
  readonly limit: number;
}

/** Who hears of each change of how many run and wait here. */
export interface QueueObserver {
  running(count: number, nowMs: number): void;
  waiting(count: number, nowMs: number): void;
}

/** Of those that run at once. */
const UNHEARD = (): void => {};

/** One request in the set. */
export class Ticket<T> {
  readonly item: T;
  readonly arrivedMs: number;
  readonly queue: Queue<T> | undefined;
  /** NaN while it waits. */
  startedMs = Number.NaN;
  /** Called once, for a ticket that had to wait: it runs, or is refused. */
  onDecided: (refusal: Refusal | undefined) => void = UNHEARD;

  constructor(item: T, arrivedMs: number, queue: Queue<T> | undefined) {
    this.item = item;
    this.arrivedMs = arrivedMs;
    this.queue = queue;
  }

  get isRunning(): boolean {
    return !Number.isNaN(this.startedMs);
  }
}

/** Of the queues without requests, so many are kept: one for each request would be most of what the request costs here. */
const IDLE_MAX = 256;

/** A queue. One without requests begins anew with the next. */
class Queue<T> {
  readonly index: number;
  /** In order of arrival. */
  readonly waiting = new Set<Ticket<T>>();
  running = 0;
  /** Virtual seconds. */
  virtualStart = 0;

  constructor(index: number) {
    this.index = index;
  }

  get isIdle(): boolean {
    return this.running === 0 && this.waiting.size === 0;
  }
}

export class QueueSet<T> {
  readonly #seats: SeatLender;
  readonly #waitMaxMs: number;
  /** Undefined: nobody waits. */
  #queuing: Queuing | undefined;
  readonly #queues = new Map<number, Queue<T>>();
  /** Queues that have requests. */
  #active = 0;
  /** Of all queues, in order of arrival: the first has waited longest. */
  readonly #waiting = new Set<Ticket<T>>();
  #queuesWaiting = 0;
  #running = 0;
  #virtualTime = 0;
  #syncedMs: number;
  /** The queue whose turn it was last. */
  #robin = 0;
  readonly #observer: QueueObserver | undefined;

  constructor(
    seats: SeatLender,
    queuing: Queuing | undefined,
    waitMaxMs: number,
    nowMs: number,
    observer?: QueueObserver,
  ) {
    this.#seats = seats;
    this.#observer = observer;
    this.#queuing = queuing;
    this.#waitMaxMs = waitMaxMs;
    this.#syncedMs = nowMs;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#running;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.size === 0;
  }

  /** Those that have requests, by index. */
  get queues(): readonly Queue<T>[] {
    return [...this.#queues.values()].filter(({ isIdle }) => !isIdle).sort((a, b) => a.index - b.index);
  }

  /** When the next request will have waited too long; undefined: none waits. */
  get nextRefusalMs(): number | undefined {
    if (this.#waiting.size === 0) return undefined;
    const [oldest] = this.#waiting;
    return oldest === undefined ? undefined : oldest.arrivedMs + this.#waitMaxMs;
  }

  /** From now on. Those that wait stay where they are. */
  reconfigure(queuing: Queuing | undefined): void {
    this.#queuing = queuing;
  }

  /** A request comes: it is refused, runs at once (`isRunning`), or waits until `onDecided`. `hand`: queues it may wait in. */
  arrive(item: T, hand: readonly number[], nowMs: number): Ticket<T> | Refusal {
    this.#sync(nowMs);
    const queuing = this.#queuing;
    if (queuing === undefined) {
      if (!this.#seats.take(1)) return 'concurrency-limit';
      const ticket = new Ticket(item, nowMs, undefined);
      this.#begin(ticket, nowMs);
      return ticket;
    }
    this.expire(nowMs);
    const queue = this.#shortest(hand);
    const ticket = new Ticket(item, nowMs, queue);
    if (this.#waiting.size === 0 && this.#seats.take(this.#flowsWith(queue))) {
      this.#robin = queue.index;
      this.#begin(ticket, nowMs);
      return ticket;
    }
    // Every seat is taken, or is somebody else's: after what is owed to those who wait, is there room behind them?
    this.dispatch(nowMs);
    if (queue.waiting.size >= queuing.queueLengthLimit) {
      this.#rest(queue);
      return 'queue-full';
    }
    this.#wait(ticket, queue);
    this.dispatch(nowMs);
    return ticket;
  }

  /** A request that ran has ended; its seat goes to whoever is next here. */
  finish(ticket: Ticket<T>, nowMs: number): void {
    this.#sync(nowMs);
    const { queue, startedMs } = ticket;
    this.#running--;
    this.#observer?.running(this.#running, nowMs);
    this.#seats.giveBack();
    if (queue !== undefined) {
      queue.running--;
      queue.virtualStart -= ESTIMATED_SECONDS - (nowMs - startedMs) / 1000;
      this.#rest(queue);
    }
    this.dispatch(nowMs);
  }

  /** Whoever asked has gone. Nothing for a request that runs, or that was refused. */
  cancel(ticket: Ticket<T>, nowMs: number): void {
    this.#sync(nowMs);
    if (this.#waiting.has(ticket)) this.#refuse(ticket, 'cancelled');
  }

  /** Refuses what has waited too long. */
  expire(nowMs: number): void {
    this.#sync(nowMs);
    if (this.#waiting.size === 0) return;
    for (const ticket of this.#waiting) {
      if (ticket.arrivedMs + this.#waitMaxMs > nowMs) break;
      this.#refuse(ticket, 'time-out');
    }
  }

  /** Begins what there are seats for. */
  dispatch(nowMs: number): void {
    if (this.#waiting.size === 0) return;
    this.#sync(nowMs);
    while (this.#waiting.size > 0 && this.#seats.take(this.#queuesWaiting)) {
      const queue = this.#next();
      const [ticket] = queue.waiting;
      this.#leave(ticket!);
      this.#robin = queue.index;
      this.#begin(ticket!, nowMs);
      ticket!.onDecided(undefined);
    }
  }

  /** Virtual time goes as fast as each queue that has requests gets seats. */
  #sync(nowMs: number): void {
    const seconds = (nowMs - this.#syncedMs) / 1000;
    this.#syncedMs = nowMs;
    const active = this.#active;
    if (active > 0) this.#virtualTime += (seconds * Math.min(this.#running, this.#seats.limit)) / active;
  }

  #flowsWith(queue: Queue<T>): number {
    return this.#queuesWaiting + (queue.waiting.size === 0 ? 1 : 0);
  }

  /** Of a hand, the queue in which the fewest wait; the first dealt of several. */
  #shortest(hand: readonly number[]): Queue<T> {
    const best = this.#waiting.size === 0 ? hand[0]! : this.#leastWaiting(hand);
    let queue = this.#queues.get(best);
    if (queue === undefined) {
      queue = new Queue(best);
      this.#queues.set(best, queue);
    }
    if (queue.isIdle) {
      queue.virtualStart = this.#virtualTime;
      this.#active++;
    }
    return queue;
  }

  #leastWaiting(hand: readonly number[]): number {
    let best = hand[0]!;
    let bestLength = Number.POSITIVE_INFINITY;
    for (const index of hand) {
      const length = this.#queues.get(index)?.waiting.size ?? 0;
      if (length >= bestLength) continue;
      best = index;
      bestLength = length;
    }
    return best;
  }

  #wait(ticket: Ticket<T>, queue: Queue<T>): void {
    if (queue.waiting.size === 0) this.#queuesWaiting++;
    queue.waiting.add(ticket);
    this.#waiting.add(ticket);
    this.#seats.setWaiting(this.#queuesWaiting);
    this.#observer?.waiting(this.#waiting.size, this.#syncedMs);
  }

  /** Takes a ticket out of its queue. */
  #leave(ticket: Ticket<T>): void {
    this.#waiting.delete(ticket);
    ticket.queue!.waiting.delete(ticket);
    if (ticket.queue!.waiting.size === 0) this.#queuesWaiting--;
    this.#seats.setWaiting(this.#queuesWaiting);
    this.#observer?.waiting(this.#waiting.size, this.#syncedMs);
  }

  #refuse(ticket: Ticket<T>, refusal: Refusal): void {
    this.#leave(ticket);
    this.#rest(ticket.queue!);
    ticket.onDecided(refusal);
  }

  #begin(ticket: Ticket<T>, nowMs: number): void {
    ticket.startedMs = nowMs;
    this.#running++;
    this.#observer?.running(this.#running, nowMs);
    const { queue } = ticket;
    if (queue === undefined) return;
    queue.running++;
    queue.virtualStart += ESTIMATED_SECONDS;
  }

  /** Something that was in the queue is there no more. */
  #rest(queue: Queue<T>): void {
    if (!queue.isIdle) return;
    this.#active--;
    if (this.#queues.size - this.#active > IDLE_MAX) this.#queues.delete(queue.index);
  }

  /** The queue whose next request would end first, in virtual time; of equals the next in turn. */
  #next(): Queue<T> {
    let best: Queue<T> | undefined;
    for (const queue of this.#queues.values()) {
      if (queue.waiting.size === 0) continue;
      if (best === undefined || queue.virtualStart < best.virtualStart) best = queue;
      else if (queue.virtualStart === best.virtualStart && this.#turnOf(queue) < this.#turnOf(best)) best = queue;
    }
    return best!;
  }

  /** How long until a queue's turn: those above the last come first. */
  #turnOf({ index }: Queue<T>): number {
    return index > this.#robin ? index - this.#robin : index - this.#robin + Number.MAX_SAFE_INTEGER / 2;
  }
}
