// Fair queues against a slow reference that does what the definition says, and the properties that fairness is for.
import test from 'ava';
import fc from 'fast-check';
import { QueueSet, type Refusal, type SeatLender, Ticket } from '../../../../actors/ingress/fairness/queue-set.ts';

class Seats implements SeatLender {
  limit: number;
  taken = 0;
  waiting = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  take(): boolean {
    if (this.taken >= this.limit) return false;
    this.taken++;
    return true;
  }

  giveBack(): void {
    this.taken--;
  }

  setWaiting(flows: number): void {
    this.waiting = flows;
  }
}

const WAIT_MAX_MS = 1000;
const QUEUING = { queues: 4, handSize: 2, queueLengthLimit: 2 };

interface SlowQueue {
  virtualStart: number;
  waiting: number[];
  running: number;
}

/** Every queue is there from the start, and looked at each time. */
class SlowSet {
  readonly log: string[] = [];
  readonly #queues: SlowQueue[];
  readonly #limit: number;
  readonly #of = new Map<number, { queue: SlowQueue; arrivedMs: number; startedMs: number }>();
  #virtual = 0;
  #robin = 0;
  #nowMs = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#queues = Array.from({ length: QUEUING.queues }, () => ({ virtualStart: 0, waiting: [], running: 0 }));
  }

  get running(): number {
    return this.#queues.reduce((sum, { running }) => sum + running, 0);
  }

  tick(nowMs: number): void {
    const active = this.#queues.filter(({ waiting, running }) => waiting.length > 0 || running > 0).length;
    const seconds = (nowMs - this.#nowMs) / 1000;
    if (active > 0) this.#virtual += (seconds * Math.min(this.running, this.#limit)) / active;
    this.#nowMs = nowMs;
  }

  arrive(id: number, hand: readonly number[]): void {
    this.expire();
    let queue = this.#queues[hand[0]!]!;
    for (const index of hand)
      if (this.#queues[index]!.waiting.length < queue.waiting.length) queue = this.#queues[index]!;
    if (this.running >= this.#limit && queue.waiting.length >= QUEUING.queueLengthLimit) {
      this.log.push(`${id} queue-full`);
      return;
    }
    if (queue.waiting.length === 0 && queue.running === 0) queue.virtualStart = this.#virtual;
    queue.waiting.push(id);
    this.#of.set(id, { queue, arrivedMs: this.#nowMs, startedMs: Number.NaN });
    this.#dispatch();
  }

  finish(id: number): void {
    const { queue, startedMs } = this.#of.get(id)!;
    queue.running--;
    queue.virtualStart -= 60 - (this.#nowMs - startedMs) / 1000;
    this.#dispatch();
  }

  cancel(id: number): void {
    const { queue } = this.#of.get(id)!;
    queue.waiting = queue.waiting.filter((one) => one !== id);
    this.log.push(`${id} cancelled`);
  }

  expire(): void {
    const late = [...this.#of.entries()].filter(
      ([id, { queue, arrivedMs }]) => queue.waiting.includes(id) && arrivedMs + WAIT_MAX_MS <= this.#nowMs,
    );
    for (const [id, { queue }] of late) {
      queue.waiting = queue.waiting.filter((one) => one !== id);
      this.log.push(`${id} time-out`);
    }
  }

  #dispatch(): void {
    while (this.running < this.#limit && this.#queues.some(({ waiting }) => waiting.length > 0)) {
      let best = -1;
      for (let step = 1; step <= this.#queues.length; step++) {
        const index = (this.#robin + step) % this.#queues.length;
        const queue = this.#queues[index]!;
        if (queue.waiting.length === 0) continue;
        if (best < 0 || queue.virtualStart < this.#queues[best]!.virtualStart) best = index;
      }
      const queue = this.#queues[best]!;
      this.#robin = best;
      const id = queue.waiting.shift()!;
      queue.running++;
      queue.virtualStart += 60;
      this.#of.get(id)!.startedMs = this.#nowMs;
      this.log.push(`${id} runs`);
    }
  }
}

/** The set under test, telling the same. */
class Told {
  readonly log: string[] = [];
  readonly seats: Seats;
  readonly set: QueueSet<number>;
  readonly tickets = new Map<number, Ticket<number>>();
  nowMs = 0;

  constructor(limit: number, queuing = QUEUING) {
    this.seats = new Seats(limit);
    this.set = new QueueSet(this.seats, queuing, WAIT_MAX_MS, 0);
  }

  arrive(id: number, hand: readonly number[]): void {
    const answer = this.set.arrive(id, hand, this.nowMs);
    if (typeof answer === 'string') {
      this.#settled(id, answer);
      return;
    }
    this.tickets.set(id, answer);
    if (answer.isRunning) this.log.push(`${id} runs`);
    else answer.onDecided = (refusal) => this.#settled(id, refusal);
  }

  #settled(id: number, refusal: Refusal | undefined): void {
    if (refusal !== undefined) this.tickets.delete(id);
    this.log.push(`${id} ${refusal ?? 'runs'}`);
  }

  /** Time passes in as many parts as in the reference: sums are rounded alike then, and queues that are tied there are tied here. */
  tick(): void {
    this.set.cancel(new Ticket(-1, this.nowMs, undefined), this.nowMs);
  }

  /** In order of arrival. */
  idsThat(areRunning: boolean): number[] {
    return [...this.tickets].filter(([, { isRunning }]) => isRunning === areRunning).map(([id]) => id);
  }

  finish(id: number): void {
    const ticket = this.tickets.get(id)!;
    this.tickets.delete(id);
    this.set.finish(ticket, this.nowMs);
  }
}

type Step =
  | { readonly kind: 'arrive'; readonly flow: number }
  | { readonly kind: 'finish' | 'cancel'; readonly pick: number }
  | { readonly kind: 'expire' };

const HANDS = [
  [0, 1],
  [1, 2],
  [3, 0],
  [2, 3],
  [1, 0],
];

const step: fc.Arbitrary<Step & { readonly afterMs: number }> = fc
  .tuple(
    fc.oneof(
      // More than leave, so that queues are full and equals take turns.
      { weight: 9, arbitrary: fc.record({ kind: fc.constant('arrive' as const), flow: fc.nat(HANDS.length - 1) }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('finish' as const), pick: fc.nat(100) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(100) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
    ),
    fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(700) }),
  )
  .map(([one, afterMs]) => ({ ...one, afterMs }));

/** Does one step on both, with whoever it falls on. */
function both(quick: Told, slow: SlowSet, id: number, one: Step): void {
  if (one.kind === 'arrive') {
    quick.arrive(id, HANDS[one.flow]!);
    slow.arrive(id, HANDS[one.flow]!);
    return;
  }
  if (one.kind === 'expire') {
    quick.set.expire(quick.nowMs);
    slow.expire();
    return;
  }
  const ids = quick.idsThat(one.kind === 'finish');
  if (ids.length === 0) return;
  const chosen = ids[one.pick % ids.length]!;
  if (one.kind === 'finish') {
    quick.finish(chosen);
    slow.finish(chosen);
  } else {
    quick.set.cancel(quick.tickets.get(chosen)!, quick.nowMs);
    slow.cancel(chosen);
  }
}

test('whatever comes, the same run, wait and are refused as by the definition, and seats are never more than the limit', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 80 }), (limit, steps) => {
      const quick = new Told(limit);
      const slow = new SlowSet(limit);
      for (const [id, one] of steps.entries()) {
        quick.nowMs += one.afterMs;
        quick.tick();
        slow.tick(quick.nowMs);
        both(quick, slow, id, one);
        t.deepEqual(quick.log, slow.log);
        t.true(quick.seats.taken <= limit);
        t.is(quick.seats.taken, quick.set.running);
        t.is(quick.set.waiting, quick.idsThat(false).length);
        t.is(quick.seats.waiting, quick.set.queues.filter(({ waiting }) => waiting.size > 0).length);
        // Work is conserved: nobody waits beside a free seat.
        t.true(quick.set.waiting === 0 || quick.seats.taken === limit);
      }
      return true;
    }),
    { numRuns: 300 },
  );
});

test('two busy flows get the same time, however long the requests of each take', (t) => {
  const told = new Told(1, { queues: 2, handSize: 1, queueLengthLimit: 1000 });
  const durations = [30, 90];
  for (let id = 0; id < 400; id++) told.arrive(id, [id % 2]);
  const spentMs = [0, 0];
  while (told.nowMs < 6000) {
    const [id] = told.idsThat(true);
    const flow = id! % 2;
    told.nowMs += durations[flow]!;
    spentMs[flow]! += durations[flow]!;
    // Nothing waits too long here.
    told.finish(id!);
  }
  t.true(Math.abs(spentMs[0]! - spentMs[1]!) <= 200, spentMs.join(' '));
});

test('a mouse is next behind an elephant of any length', (t) => {
  const told = new Told(1, { queues: 8, handSize: 1, queueLengthLimit: 1000 });
  for (let id = 0; id < 200; id++) told.arrive(id, [5]);
  told.nowMs = 10;
  told.arrive(1000, [2]);
  told.finish(0);
  const first = told.idsThat(true)[0]!;
  told.nowMs = 20;
  told.finish(first);
  t.true(first === 1000 || told.idsThat(true)[0] === 1000);
});

test('as many wait in a queue as it may hold, and the next is refused', (t) => {
  const told = new Told(1, { queues: 1, handSize: 1, queueLengthLimit: 2 });
  for (let id = 0; id < 4; id++) told.arrive(id, [0]);
  t.deepEqual(told.log, ['0 runs', '3 queue-full']);
  t.is(told.set.waiting, 2);
});

test('a level without queues refuses what finds no seat', (t) => {
  const seats = new Seats(2);
  const set = new QueueSet<string>(seats, undefined, WAIT_MAX_MS, 0);
  const [one, two, three] = ['a', 'b', 'c'].map((item) => set.arrive(item, [], 0));
  t.is(three, 'concurrency-limit');
  set.finish(one as Ticket<string>, 5);
  t.is(typeof set.arrive('d', [], 6), 'object');
  set.finish(two as Ticket<string>, 7);
  t.is(seats.taken, 1);
});

test('who waits is told when it would be refused, and the longest comes first', (t) => {
  const told = new Told(1);
  told.arrive(0, [0]);
  t.is(told.set.nextRefusalMs, undefined);
  told.nowMs = 100;
  told.arrive(1, [1]);
  told.nowMs = 200;
  told.arrive(2, [0]);
  t.is(told.set.nextRefusalMs, 1100);
  told.set.expire(1100);
  t.is(told.log.at(-1), '1 time-out');
  t.is(told.set.nextRefusalMs, 1200);
});

test('queues that are taken away are emptied all the same', (t) => {
  const told = new Told(1);
  for (const id of [0, 1, 2]) told.arrive(id, [3]);
  told.set.reconfigure({ queues: 1, handSize: 1, queueLengthLimit: 1 });
  told.finish(0);
  told.finish(1);
  told.finish(2);
  t.true(told.set.isIdle);
  t.deepEqual(told.set.queues, []);
});
