// The queue that performs what a controller plans: one worker a key, retries with backoff, bounds.
import test from 'ava';
import type { Controller, Due, Plan, Write } from '../../../actors/controllers/controller.ts';
import { WorkQueue } from '../../../actors/controllers/work-queue.ts';
import { Writer } from '../../../actors/controllers/writer.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { fakeContext } from './fake-context.ts';
import { VirtualTime } from './virtual-time.ts';

function write(name: string): Write {
  return {
    verb: 'delete',
    target: { group: '', version: 'v1', resource: 'things', subresource: '', namespace: '', name },
  };
}

interface Bench {
  /** What the controller says is due when it is asked. */
  readonly all: string[];
  /** The value of a metric, or how many observations it has. */
  readonly metric: (name: string) => number;
  readonly time: VirtualTime;
  readonly queue: WorkQueue;
  /** Keys in the order they were planned, with the time. */
  readonly planned: [key: string, atMs: number][];
  /** Writes not answered yet. */
  readonly open: Map<string, (code: number) => void>;
}

function bench(plan: (key: string, due: Due) => Plan, keysInFlightMax = 2, more: Partial<Controller> = {}): Bench {
  const time = new VirtualTime();
  const planned: [string, number][] = [];
  const open = new Map<string, (code: number) => void>();
  const all: string[] = [];
  const context = fakeContext(time, (_actor, message) => {
    const { name } = (message as unknown as { target: { name: string } }).target;
    return new Promise((resolve) =>
      open.set(name, (code) => {
        open.delete(name);
        resolve({ code, body: {} });
      }),
    );
  });
  const metrics = new MetricsRegistry();
  const writer = new Writer(context, { inFlightMax: 100, deadlineMs: 1_000 });
  const queue: WorkQueue = new WorkQueue(
    { ...context, metrics },
    writer,
    (due): Controller => ({
      name: 'test',
      identity: { user: { name: 'u', uid: '', groups: [], extra: {} }, userAgent: 'test' },
      wants: [],
      keysInFlightMax,
      reset: () => {},
      onEvent: () => {},
      onSynced: () => {
        for (const key of all) queue.add(key);
      },
      plan: (key) => {
        planned.push([key, time.clock.monotonicMs()]);
        return plan(key, due);
      },
      ...more,
    }),
  );
  const metric = (name: string): number => {
    const [series] = metrics.reading().find((family) => family.name === name)?.series ?? [];
    return series?.counts?.reduce((total, count) => total + count, 0) ?? series?.value ?? Number.NaN;
  };
  return { all, time, queue, planned, open, metric };
}

test('nothing is planned before the queue is open', async (t) => {
  const { time, queue, planned } = bench(() => ({ writes: [] }));
  queue.add('a');
  await time.advance(1_000);
  t.deepEqual(planned, []);
  queue.open();
  await time.settle();
  t.deepEqual(planned, [['a', 0 + 1_000]]);
});

test('a queue that rests keeps no keys, not those of writes that fail either; when it begins, what is due then is planned', async (t) => {
  const { all, time, queue, planned, open } = bench((key) => ({
    writes: key === 'a' ? [write(key)] : [],
    againAfterMs: 500,
  }));
  queue.begin();
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await time.settle();
  queue.rest();
  queue.add('d');
  open.get('a')?.(500);
  await time.advance(100_000);
  t.deepEqual(
    planned.map(([key]) => key),
    ['a', 'b', 'c'],
  );
  all.push('e');
  queue.begin();
  await time.settle();
  t.deepEqual(
    planned.map(([key]) => key),
    ['a', 'b', 'c', 'e'],
  );
});

test('a controller that acts on absence rests while it cannot read all, whoever begins it, and begins when it can', async (t) => {
  const { all, time, queue, planned } = bench(() => ({ writes: [] }), 2, { countsAbsence: true });
  all.push('a');
  queue.setBlind(true);
  queue.begin();
  queue.add('b');
  await time.settle();
  t.deepEqual(planned, []);
  queue.setBlind(false);
  await time.settle();
  t.is(planned.length, 1);
  queue.setBlind(true);
  queue.add('c');
  queue.rest();
  queue.setBlind(false);
  await time.settle();
  t.is(planned.length, 1, 'another server does the work');
  queue.begin();
  await time.settle();
  t.is(planned.length, 2);
});

test('a controller that does not act on absence goes on beside what cannot be read', async (t) => {
  const { all, time, queue, planned } = bench(() => ({ writes: [] }));
  all.push('a');
  queue.setBlind(true);
  queue.begin();
  await time.settle();
  t.is(planned.length, 1);
});

test('a key that is due twice is planned once', async (t) => {
  const { time, queue, planned } = bench(() => ({ writes: [] }));
  queue.open();
  queue.add('a');
  queue.add('a');
  await time.settle();
  t.is(planned.length, 1);
});

test('as many keys are worked on at once as the controller allows', async (t) => {
  const { time, queue, open } = bench((key) => ({ writes: [write(key)] }));
  queue.open();
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await time.settle();
  t.deepEqual([...open.keys()], ['a', 'b']);
  open.get('a')?.(200);
  await time.settle();
  t.deepEqual([...open.keys()], ['b', 'c']);
});

test('a key added while its writes are under way is planned again, but only when they have ended', async (t) => {
  const { time, queue, planned, open } = bench((key) => ({ writes: [write(key)] }));
  queue.open();
  queue.add('a');
  await time.settle();
  queue.add('a');
  await time.settle();
  t.is(planned.length, 1);
  open.get('a')?.(200);
  await time.settle();
  t.is(planned.length, 2);
});

test('the pause after each failure is twice the one before, up to half a minute', async (t) => {
  const { time, queue, planned, open } = bench((key) => ({ writes: [write(key)] }));
  queue.open();
  queue.add('a');
  for (let i = 0; i < 16; i += 1) {
    await time.settle();
    open.get('a')?.(503);
    await time.advance(30_000);
  }
  const times = planned.map(([, atMs]) => atMs);
  // Each step of 30 s begins with the failure; 0.75 is what the fixed random number makes of the backoff.
  const pauses = times.slice(1).map((atMs, index) => atMs - index * 30_000);
  t.deepEqual(pauses.slice(0, 4), [7.5, 15, 30, 60]);
  t.deepEqual(pauses.slice(-3), [22_500, 22_500, 22_500]);
});

test('the pause is no longer than its controller says', async (t) => {
  const { time, queue, planned, open } = bench((key) => ({ writes: [write(key)] }), 1, { backoffMaxMs: 2000 });
  queue.open();
  queue.add('a');
  for (let i = 0; i < 16; i += 1) {
    await time.settle();
    open.get('a')?.(503);
    await time.advance(30_000);
  }
  const times = planned.map(([, atMs]) => atMs);
  t.is(times.at(-1)! - 15 * 30_000, 1500);
});

test('a success ends the backoff', async (t) => {
  const { time, queue, planned, open } = bench((key) => ({ writes: [write(key)] }));
  queue.open();
  queue.add('a');
  for (const code of [503, 503, 200]) {
    await time.advance(1_000);
    open.get('a')?.(code);
  }
  await time.advance(1_000);
  t.is(planned.length, 3);
  const beforeMs = time.clock.monotonicMs();
  queue.add('a');
  await time.settle();
  open.get('a')?.(503);
  await time.advance(1_000);
  t.deepEqual(planned.at(-1), ['a', beforeMs + 7.5]);
});

test('a key is planned again after the time its plan names', async (t) => {
  let isFirst = true;
  const { time, queue, planned } = bench(() => {
    const plan = isFirst ? { writes: [], againAfterMs: 5_000 } : { writes: [] };
    isFirst = false;
    return plan;
  });
  queue.open();
  queue.add('a');
  await time.advance(60_000);
  t.deepEqual(planned, [
    ['a', 0],
    ['a', 5_000],
  ]);
});

test('of many keys that are due at once all are planned, though nothing is to be written for them', async (t) => {
  const { time, queue, planned } = bench(() => ({ writes: [] }));
  for (let key = 0; key < 1700; key++) queue.add(`${key}`);
  queue.open();
  await time.settle();
  t.is(planned.length, 1700);
});

test('a key that is to be planned again in months is not planned again and again until then', async (t) => {
  const delays: number[] = [];
  const time = new VirtualTime();
  const context = fakeContext(time, () => Promise.resolve({ code: 200, body: {} }));
  const timers = {
    ...context.timers,
    soon: (callback: () => void) => context.timers.soon(callback),
    after: (delayMs: number, callback: () => void) => {
      delays.push(delayMs);
      return context.timers.after(delayMs, callback);
    },
  };
  const queue = new WorkQueue(
    { ...context, timers, metrics: new MetricsRegistry() },
    new Writer(context, { inFlightMax: 100, deadlineMs: 1_000 }),
    (): Controller => ({
      name: 'test',
      identity: { user: { name: 'u', uid: '', groups: [], extra: {} }, userAgent: 'test' },
      wants: [],
      keysInFlightMax: 1,
      reset: () => {},
      onEvent: () => {},
      onSynced: () => {},
      plan: () => ({ writes: [], againAfterMs: 90 * 24 * 3600 * 1000 }),
    }),
  );
  queue.open();
  queue.add('a');
  await time.settle();
  t.is(delays.length, 1);
  // A timer that is set for longer than 31 bits of milliseconds fires at once.
  t.true(delays[0]! > 3_600_000 && delays[0]! < 2 ** 31, String(delays[0]));
  await queue.stop();
});

test('a key that becomes due earlier does not keep its later appointment', async (t) => {
  let plans = 0;
  const { time, queue, planned } = bench(() => ({ writes: [], ...(plans++ === 0 ? { againAfterMs: 5_000 } : {}) }));
  queue.open();
  queue.add('a');
  await time.advance(1_000);
  queue.add('a');
  await time.advance(60_000);
  t.deepEqual(planned, [
    ['a', 0],
    ['a', 1_000],
  ]);
});

test('a plan that throws is tried again, and others are not held up', async (t) => {
  let throws = true;
  const { time, queue, planned } = bench((key) => {
    if (key === 'a' && throws) {
      throws = false;
      throw new Error('stumbled');
    }
    return { writes: [] };
  });
  queue.open();
  queue.add('a');
  queue.add('b');
  await time.advance(1_000);
  t.deepEqual(
    planned.map(([key]) => key),
    ['a', 'b', 'a'],
  );
});

test('a delete of what is gone counts as done', async (t) => {
  const { time, queue, planned, open } = bench((key) => ({ writes: [write(key)] }));
  queue.open();
  queue.add('a');
  await time.settle();
  open.get('a')?.(404);
  await time.advance(60_000);
  t.is(planned.length, 1);
});

test('stopping waits for the writes under way, and plans nothing more', async (t) => {
  const { time, queue, planned, open } = bench((key) => ({ writes: [write(key)] }), 1);
  queue.open();
  queue.add('a');
  queue.add('b');
  await time.settle();
  let isStopped = false;
  const stopped = queue.stop().then(() => {
    isStopped = true;
  });
  await time.settle();
  t.false(isStopped);
  open.get('a')?.(503);
  await stopped;
  queue.add('c');
  await time.advance(60_000);
  t.deepEqual(
    planned.map(([key]) => key),
    ['a'],
  );
  t.is(time.timersWaiting, 0);
});

test('the writer has a bounded number of writes in flight, and serves those who wait in order', async (t) => {
  const time = new VirtualTime();
  const answers: [name: string, answer: () => void][] = [];
  const context = fakeContext(time, (_actor, message) => {
    const { name } = (message as unknown as { target: { name: string } }).target;
    return new Promise((resolve) => answers.push([name, () => resolve({ code: 200, body: {} })]));
  });
  const writer = new Writer(context, { inFlightMax: 2, deadlineMs: 1_000 });
  const identity = { user: { name: 'u', uid: '', groups: [], extra: {} }, userAgent: 'test' };
  const names = ['a', 'b', 'c', 'd', 'e'];
  const done = names.map((name) => writer.write(identity, write(name)));
  for (let answered = 0; answered < names.length; answered += 1) {
    await time.settle();
    t.deepEqual(
      answers.map(([name]) => name),
      names.slice(0, answered + 2),
    );
    answers[answered]?.[1]();
  }
  t.true((await Promise.all(done)).every(({ ok }) => ok));
});

test('keys are counted and timed from when they are due to the end of their writes', async (t) => {
  const { time, queue, open, metric } = bench((key) => ({ writes: [write(key)] }));
  queue.add('a');
  queue.add('a');
  t.is(metric('workqueue_adds_total'), 1);
  await time.advance(1_000);
  queue.open();
  await time.advance(2_000);
  t.is(metric('workqueue_queue_duration_seconds'), 1);
  t.is(metric('workqueue_unfinished_work_seconds'), 2);
  t.is(metric('workqueue_longest_running_processor_seconds'), 2);
  open.get('a')?.(200);
  await time.settle();
  t.is(metric('workqueue_unfinished_work_seconds'), 0);
  t.is(metric('workqueue_work_duration_seconds'), 1);
});
