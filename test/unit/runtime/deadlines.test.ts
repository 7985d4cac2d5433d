import test from 'ava';
import { type DeadlineEntry, Deadlines } from '../../../runtime/messages/deadlines.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

class Entry implements DeadlineEntry {
  previous: DeadlineEntry | undefined;
  next: DeadlineEntry | undefined;
  expiryTick = 0;
  expiredAtMs: number | undefined;
  private readonly time: VirtualTime;

  constructor(time: VirtualTime) {
    this.time = time;
  }

  expire(): void {
    this.expiredAtMs = this.time.monotonicMs();
  }
}

const setup = () => {
  const time = new VirtualTime();
  return { time, deadlines: new Deadlines(time, time) };
};

// The wheel has 512 slots of 50 ms: 25.6 s a revolution.
for (const delayMs of [0, 1, 49, 50, 51, 999, 10_000, 25_599, 25_600, 25_601, 120_000]) {
  test(`a deadline of ${delayMs} ms never expires early, and within two ticks`, async (t) => {
    const { time, deadlines } = setup();
    await time.advance(37);
    const entry = new Entry(time);
    deadlines.add(entry, delayMs);
    await time.advance(delayMs + 200);
    t.true(entry.expiredAtMs! >= 37 + delayMs, `expired at ${entry.expiredAtMs}`);
    t.true(entry.expiredAtMs! <= 37 + delayMs + 100, `expired at ${entry.expiredAtMs}`);
    t.is(deadlines.pending, 0);
  });
}

test('an entry that was removed does not expire, and may be removed twice', async (t) => {
  const { time, deadlines } = setup();
  const [kept, removed] = [new Entry(time), new Entry(time)];
  deadlines.add(removed, 100);
  deadlines.add(kept, 100);
  deadlines.remove(removed);
  deadlines.remove(removed);
  t.is(deadlines.pending, 1);
  await time.advance(300);
  t.is(removed.expiredAtMs, undefined);
  t.not(kept.expiredAtMs, undefined);
});

test('an entry that the expiry of another removes does not expire, and those behind it do', async (t) => {
  const { time, deadlines } = setup();
  const [first, removed, last] = [new Entry(time), new Entry(time), new Entry(time)];
  const expire = first.expire.bind(first);
  first.expire = () => {
    expire();
    deadlines.remove(removed);
  };
  for (const entry of [first, removed, last]) deadlines.add(entry, 100);
  await time.advance(300);
  t.not(first.expiredAtMs, undefined);
  t.is(removed.expiredAtMs, undefined);
  t.not(last.expiredAtMs, undefined);
  t.is(deadlines.pending, 0);
});

test('the timer runs only while entries are pending', async (t) => {
  const { time, deadlines } = setup();
  t.is(time.nextDueMs, undefined);
  const entry = new Entry(time);
  deadlines.add(entry, 1000);
  t.not(time.nextDueMs, undefined);
  deadlines.remove(entry);
  await time.advance(50);
  t.is(time.nextDueMs, undefined);

  const later = new Entry(time);
  deadlines.add(later, 20);
  await time.advance(200);
  t.not(later.expiredAtMs, undefined);
  t.is(time.nextDueMs, undefined);
});

test('after a stall longer than a revolution everything that is due expires at once', (t) => {
  let nowMs = 0;
  let tick = () => {};
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const time = new VirtualTime();
  const timers = {
    after: time.after.bind(time),
    soon: time.soon.bind(time),
    every: (_intervalMs: number, callback: () => void) => {
      tick = callback;
      return { cancel: () => {} };
    },
  };
  const deadlines = new Deadlines(clock, timers);
  // One for each tick, so that each slot is looked at.
  const entries = Array.from({ length: 1200 }, () => new Entry(time));
  entries.forEach((entry, at) => {
    deadlines.add(entry, at * 50);
  });
  nowMs = 30_000;
  tick();
  t.is(entries.filter((entry) => entry.expiredAtMs !== undefined).length, 601);
  nowMs = 60_000;
  tick();
  t.is(deadlines.pending, 0);
});

test('what is due when it is added expires with the next tick, also where it is added just at one', async (t) => {
  const { time, deadlines } = setup();
  const other = new Entry(time);
  deadlines.add(other, 10_000);
  for (const delayMs of [0, -70]) {
    await time.advance(1000);
    const entry = new Entry(time);
    deadlines.add(entry, delayMs);
    await time.advance(100);
    t.not(entry.expiredAtMs, undefined, `${delayMs}`);
    await time.advance(900);
  }
});

test('an infinite deadline never expires', async (t) => {
  const { time, deadlines } = setup();
  const entry = new Entry(time);
  deadlines.add(entry, Number.POSITIVE_INFINITY);
  await time.advance(60_000);
  t.is(entry.expiredAtMs, undefined);
  t.is(deadlines.pending, 1);
});
