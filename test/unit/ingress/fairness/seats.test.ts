// Seats that threads share: never more than the limit, none left free beside somebody who waits, and each thread its part.
import test from 'ava';
import fc from 'fast-check';
import { QueueSet, type Ticket } from '../../../../actors/ingress/fairness/queue-set.ts';
import { type Seats, SharedSeats, seatMemory } from '../../../../actors/ingress/fairness/seats.ts';

const QUEUING = { queues: 16, handSize: 1, queueLengthLimit: 1000 };

/** Threads whose messages to each other arrive when the test says so. */
class Threads {
  readonly memory = seatMemory();
  readonly limit: number;
  readonly lives: Thread[];
  /** Threads that have been told of a seat and have not heard yet. */
  readonly told: number[] = [];
  /** On which thread each request was begun, in that order. */
  readonly begun: number[] = [];

  constructor(count: number, limit: number) {
    this.limit = limit;
    this.lives = Array.from({ length: count }, (_, index) => new Thread(this, index, count));
  }

  get taken(): number {
    return this.lives[0]!.seats.taken;
  }

  restart(index: number): void {
    this.lives[index] = new Thread(this, index, this.lives.length);
  }

  /** Delivers everything that is under way, and what follows from it. */
  deliver(): void {
    for (let to = this.told.shift(); to !== undefined; to = this.told.shift()) this.lives[to]!.look();
  }
}

class Thread {
  readonly seats: Seats;
  readonly set: QueueSet<number>;
  readonly running = new Set<Ticket<number>>();
  readonly #threads: Threads;
  readonly #index: number;

  constructor(threads: Threads, index: number, count: number) {
    this.#threads = threads;
    this.#index = index;
    this.seats = new SharedSeats(threads.memory, index, count).of('a level', threads.limit);
    this.set = new QueueSet(this.seats, QUEUING, 1e9, 0);
  }

  arrive(flow: number): void {
    const ticket = this.set.arrive(flow, [flow], 0);
    if (typeof ticket === 'string') throw new Error(ticket);
    if (ticket.isRunning) this.#begin(ticket);
    else ticket.onDecided = () => this.#begin(ticket);
    this.#pass();
  }

  finish(pick: number): void {
    const ticket = [...this.running][pick % this.running.size];
    if (ticket === undefined) return;
    this.running.delete(ticket);
    this.set.finish(ticket, 0);
    this.#pass();
  }

  look(): void {
    this.set.dispatch(0);
    this.#pass();
  }

  #begin(ticket: Ticket<number>): void {
    this.running.add(ticket);
    this.#threads.begun.push(this.#index);
  }

  #pass(): void {
    const owed = this.seats.owedTo();
    if (owed !== undefined) this.#threads.told.push(owed);
  }
}

const step = fc.record({
  kind: fc.constantFrom('arrive', 'arrive', 'arrive', 'finish', 'finish', 'deliver', 'restart'),
  thread: fc.nat(3),
  pick: fc.nat(15),
});

test('whatever the threads do, seats are never more than the limit, and when all have heard nobody waits beside a free one', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 9 }),
      fc.array(step, { maxLength: 150 }),
      (count, limit, steps) => {
        const threads = new Threads(count, limit);
        for (const { kind, thread, pick } of steps) {
          const on = threads.lives[thread % count]!;
          if (kind === 'arrive') on.arrive(pick);
          else if (kind === 'finish') on.finish(pick);
          else if (kind === 'deliver') threads.deliver();
          else if (pick === 0) threads.restart(thread % count);
          const running = threads.lives.reduce((sum, one) => sum + one.running.size, 0);
          t.is(threads.taken, running);
          t.true(running <= limit);
        }
        // What a thread that ended had held is free without anybody's being told; whoever waits looks for itself.
        for (const one of threads.lives) one.look();
        threads.deliver();
        const waiting = threads.lives.some(({ set }) => set.waiting > 0);
        t.true(!waiting || threads.taken === limit);
        return true;
      },
    ),
    { numRuns: 300 },
  );
});

test('a thread with one flow does not starve beside one with many requests', (t) => {
  const threads = new Threads(2, 4);
  const [busy, quiet] = threads.lives as [Thread, Thread];
  for (let id = 0; id < 100; id++) busy.arrive(0);
  quiet.arrive(7);
  quiet.arrive(7);
  t.is(quiet.running.size, 0);
  for (let turn = 0; turn < 4; turn++) {
    busy.finish(0);
    threads.deliver();
  }
  t.is(quiet.running.size, 2);
});

test('while two threads have requests that wait, each has seats by its flows', (t) => {
  const threads = new Threads(2, 8);
  const [one, three] = threads.lives as [Thread, Thread];
  for (let id = 0; id < 200; id++) {
    one.arrive(0);
    three.arrive(id % 3);
  }
  for (let turn = 0; turn < 60; turn++) {
    threads.lives[turn % 2]!.finish(turn);
    threads.deliver();
  }
  t.deepEqual([one.running.size, three.running.size], [2, 6]);
});

for (const [limit, flows] of [
  [1, [1, 1, 1]],
  [2, [1, 1, 1]],
  [1, [4, 1]],
  [2, [3, 1]],
  [3, [5, 1, 1]],
  [10, [19, 1]],
] as const)
  test(`of ${limit} seats threads where ${flows.join(', ')} flows wait have what they are owed, although it is part of a seat`, (t) => {
    const threads = new Threads(flows.length, limit);
    for (let id = 0; id < 400; id++) threads.lives.forEach((one, index) => void one.arrive(id % flows[index]!));
    const all = flows.reduce((sum, count) => sum + count, 0);
    const served = flows.map(() => 0);
    for (let ended = 0; ended < 20 * all; ended++) {
      const index = threads.begun.shift()!;
      served[index]!++;
      threads.lives[index]!.finish(0);
      threads.deliver();
    }
    // A fifth, and what the first thread began before the others had anything.
    for (const [index, count] of flows.entries())
      t.true(Math.abs(served[index]! - 20 * count) <= 4 * count + limit, `${served} by ${flows}`);
  });

test('what a thread held when it ended is free when it has started again, and late words of it count for nothing', (t) => {
  const threads = new Threads(2, 3);
  const before = threads.lives[0]!;
  for (let id = 0; id < 3; id++) before.arrive(id);
  threads.lives[1]!.arrive(0);
  t.is(threads.taken, 3);
  threads.restart(0);
  t.is(threads.taken, 0);
  threads.lives[1]!.look();
  t.is(threads.lives[1]!.running.size, 1);
  before.finish(0);
  t.is(threads.taken, 1);
});

test('names have seats of their own, are left, and beyond those that there is room for each thread has its part', (t) => {
  const memory = seatMemory();
  const [one, other] = [0, 1].map((index) => new SharedSeats(memory, index, 2)) as [SharedSeats, SharedSeats];
  const a = one.of('a', 1);
  t.true(a.take(1));
  t.false(other.of('a', 1).take(1));
  t.true(other.of('b', 1).take(1));
  a.giveBack();
  const many = Array.from({ length: 600 }, (_, index) => one.of(`level ${index}`, 4));
  const last = many.at(-1)!;
  t.deepEqual([last.take(1), last.take(1), last.take(1)], [true, true, false]);
  for (const seats of many) one.leave(seats);
  const again = one.of('again', 4);
  t.deepEqual(
    Array.from({ length: 5 }, () => again.take(1)),
    [true, true, true, true, false],
  );
});

test('where there is no limit there is always a seat', (t) => {
  const seats = new SharedSeats(seatMemory(), 0, 1).of('any', Number.POSITIVE_INFINITY);
  for (let count = 0; count < 1000; count++) t.true(seats.take(1));
  t.is(seats.owedTo(), undefined);
});

test('seats of more names than threads can share are a part on each thread, and are given back', (t) => {
  const [NAMES, LIMIT] = [600, 4];
  const memory = seatMemory();
  const threads = [0, 1].map((thread) => new SharedSeats(memory, thread, 2));
  for (let name = 0; name < NAMES; name++) {
    const all = threads.map((seats) => seats.of(`level ${name}`, LIMIT));
    for (let again = 0; again < 2; again++) {
      const taken = all.map((seats) => {
        let count = 0;
        while (count < LIMIT && seats.take(1)) count++;
        return count;
      });
      t.is(taken[0]! + taken[1]!, LIMIT, `level ${name}`);
      for (const [thread, seats] of all.entries()) for (let left = taken[thread]!; left > 0; left--) seats.giveBack();
    }
  }
});
