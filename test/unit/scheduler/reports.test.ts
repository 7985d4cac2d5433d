import test from 'ava';
import { BestEffortWrites } from '../../../actors/scheduler/driver/best-effort-writes.ts';
import type { ClusterPort } from '../../../actors/scheduler/driver/cluster-port.ts';
import { ConditionWriter } from '../../../actors/scheduler/driver/condition-writer.ts';
import { EventRecorder } from '../../../actors/scheduler/driver/event-recorder.ts';
import { Pace } from '../../../actors/scheduler/driver/pace.ts';
import type { PodInfo } from '../../../actors/scheduler/pods/pod-info.ts';
import { RecordedMetrics, settlePromises, VirtualTime } from './fake-context.ts';
import { podInfo, seededRandom } from './objects.ts';

type Body = Readonly<Record<string, unknown>>;

/** A port that records what it is given and answers with `code`. */
class RecordingPort implements ClusterPort {
  code = 200;
  readonly patches: Body[] = [];
  readonly created: Body[] = [];
  readonly repeated: (readonly [name: string, body: Body])[] = [];

  async bind() {
    return [];
  }

  async patchPodStatus(_namespace: string, _name: string, patch: object) {
    this.patches.push(patch as Body);
    return this.code;
  }

  async patchObject() {
    return undefined;
  }

  async deletePod() {
    return this.code;
  }

  async createEvent(_namespace: string, event: object) {
    this.created.push(event as Body);
    return this.code;
  }

  async patchEvent(_namespace: string, name: string, patch: object) {
    this.repeated.push([name, patch as Body]);
    return this.code;
  }
}

function setUp(limits = { inFlightMax: 2, queuedMax: 3 }, host = 'here') {
  const time = new VirtualTime();
  const port = new RecordingPort();
  const metrics = new RecordedMetrics();
  const dropped = metrics.counter('dropped', '');
  const writes = new BestEffortWrites(limits, time, dropped, metrics.counter('failed', ''));
  const failurePace = new Pace({ perSecond: 2, burst: 9 }, time);
  const pods = new Map<string, PodInfo>();
  const queuedPod = (key: string, uid: string) => (pods.get(key)?.uid === uid ? pods.get(key) : undefined);
  const random = seededRandom(1);
  const events = new EventRecorder({ port, clock: time, timers: time, random, host, writes, failurePace, dropped });
  const conditions = new ConditionWriter({ port, clock: time, timers: time, writes, queuedPod });
  const queue = (pod: PodInfo) => {
    pods.set(pod.key, pod);
    return pod;
  };
  return { time, port, metrics, writes, events, conditions, pods, queue };
}

const SERIES = { series: { count: 4, lastObservedTime: '2026-01-01T00:00:10.000000Z' } };

const nameOf = (event: Body | undefined) => (event!.metadata as { readonly name: string }).name;

test('a failure that repeats makes a series of its event, written at most every ten seconds', async (t) => {
  const { time, port, events } = setUp();
  const pod = podInfo('a');
  for (const atMs of [0, 4_000, 4_000, 1_999, 1, 5_000]) {
    await time.advance(atMs);
    events.failed(pod, 'no room');
  }
  await settlePromises();
  t.is(port.created.length, 1);
  t.deepEqual(port.repeated, [[nameOf(port.created[0]), SERIES]]);
});

test('a failure that repeats before anybody has taken its event is only counted: the event is told first', async (t) => {
  const { time, port, events, writes } = setUp({ inFlightMax: 1, queuedMax: 3 });
  const pod = podInfo('a');
  let end = (): void => {};
  writes.offer('slow', () => new Promise((resolve) => (end = () => resolve(true))));
  events.failed(pod, 'no room');
  await time.advance(11_000);
  events.failed(pod, 'no room');
  t.is(port.created.length + port.repeated.length, 0);
  end();
  await settlePromises();
  t.is(port.created.length, 1);
  events.failed(pod, 'no room');
  await settlePromises();
  const lastObservedTime = '2026-01-01T00:00:11.000000Z';
  t.deepEqual(port.repeated, [[nameOf(port.created[0]), { series: { count: 2, lastObservedTime } }]]);
});

test('a failure that comes again after six minutes is another event, and sooner it is not', async (t) => {
  const { time, port, events } = setUp();
  const pod = podInfo('a');
  for (const atMs of [0, 5 * 60_000, 5 * 60_000, 6 * 60_000]) {
    await time.advance(atMs);
    events.failed(pod, 'no room');
  }
  await settlePromises();
  t.deepEqual(
    port.created.map(({ eventTime }) => eventTime),
    ['2026-01-01T00:00:00.000000Z', '2026-01-01T00:16:00.000000Z'],
  );
  t.deepEqual(
    port.repeated.map(([, { series }]) => (series as { readonly count: number }).count),
    [1, 2],
  );
});

test('what an event says is cut to what it may say, in whole characters', async (t) => {
  const { port, events } = setUp(undefined, 'h'.repeat(200));
  for (const [name, message] of [
    ['a', 'x'.repeat(1024)],
    ['b', 'x'.repeat(1025)],
    ['c', `x${'ü'.repeat(512)}`],
  ] as const)
    events.failed(podInfo(name), message);
  await settlePromises();
  t.deepEqual(
    port.created.map(({ note }) => note),
    ['x'.repeat(1024), `${'x'.repeat(1020)} ...`, `x${'ü'.repeat(509)} ...`],
  );
  t.is(`${port.created[0]?.reportingInstance}`.length, 128);
});

test('another failure of the same pod is another event at once: it may not be tried again for long', async (t) => {
  const { time, port, events } = setUp();
  const pod = podInfo('a');
  events.failed(pod, 'no room');
  await time.advance(1_000);
  events.failed(pod, 'no node');
  await time.advance(1);
  events.failed(pod, 'no node');
  await settlePromises();
  t.deepEqual(
    port.created.map(({ note }) => note),
    ['no room', 'no node'],
  );
  t.not(nameOf(port.created[0]), nameOf(port.created[1]));
});

test('a list by name tells the events of a pod in the order in which they happened', async (t) => {
  const { time, port, events } = setUp();
  const pod = podInfo('a');
  for (let i = 0; i < 8; i++) {
    events.failed(pod, `no room ${i}`);
    await time.advance(10_000);
  }
  events.scheduled(pod, 'n');
  await settlePromises();
  const names = port.created.map(nameOf);
  t.is(names.length, 9);
  t.deepEqual(names, [...names].sort());
});

test('the events of one pod do not hold back those of another', async (t) => {
  const { port, events } = setUp();
  events.failed(podInfo('a'), 'no room');
  events.failed(podInfo('b'), 'no room');
  await settlePromises();
  t.is(port.created.length, 2);
});

for (const [title, code] of [
  ['was refused', 422],
  ['has expired', 404],
] as const) {
  test(`an event that ${title} is made anew the next time`, async (t) => {
    const { time, port, events, metrics } = setUp();
    const pod = podInfo('a');
    port.code = code === 422 ? 422 : 201;
    events.failed(pod, 'no room');
    await time.advance(10_000);
    port.code = code === 404 ? 404 : 201;
    events.failed(pod, 'no room');
    await time.advance(10_000);
    port.code = 201;
    events.failed(pod, 'no room');
    await settlePromises();
    t.is(port.created.length, 2);
    t.is(metrics.read('failed'), 1);
  });
}

for (const code of [0, 429, 503]) {
  test(`an event that a server in trouble (${code}) did not take is told again, even if nobody tries the pod again`, async (t) => {
    const { time, port, events, metrics } = setUp();
    port.code = code;
    events.failed(podInfo('a'), 'no room');
    await time.advance(60_000);
    t.true(port.created.length > 1 && port.created.length < 14, String(port.created.length));
    // A try that was not answered may have made it.
    port.code = 409;
    await time.advance(60_000);
    t.is(new Set(port.created.map(nameOf)).size, 1);
    const tries = port.created.length;
    await time.advance(600_000);
    t.is(port.created.length, tries);
    t.is(metrics.read('failed'), tries - 1);
  });
}

test('an event that nobody takes for some minutes is lost, and told anew when it happens again', async (t) => {
  const { time, port, events, metrics } = setUp();
  const pod = podInfo('a');
  port.code = 503;
  events.failed(pod, 'no room');
  await time.advance(180_000);
  t.is(port.created.length, 12);
  t.is(metrics.read('failed'), 12);
  port.code = 201;
  events.failed(pod, 'no room');
  await settlePromises();
  t.is(new Set(port.created.map(nameOf)).size, 2);
});

test('of the events that wait to be told again there are no more than a thousand', async (t) => {
  const { time, port, events, metrics } = setUp({ inFlightMax: 2_000, queuedMax: 2_000 });
  port.code = 503;
  for (let at = 0; at < 1_200; at++) events.scheduled(podInfo(`p${at}`), 'n');
  await settlePromises();
  t.is(metrics.read('failed'), 1_200);
  port.code = 201;
  port.created.length = 0;
  await time.advance(60_000);
  t.is(port.created.length, 1_000);
});

test('of very many pods that fit nowhere, only so many a second are written about', async (t) => {
  const { time, port, events, metrics } = setUp({ inFlightMax: 100, queuedMax: 100 });
  const fail = (from: number) => {
    for (let at = from; at < from + 50; at++) events.failed(podInfo(`p${at}`), 'no room');
  };
  fail(0);
  await settlePromises();
  t.is(port.created.length, 9);
  t.is(metrics.read('dropped'), 41);
  await time.advance(3_000);
  fail(50);
  await settlePromises();
  t.is(port.created.length, 15);
});

test('writes that have a pace begin no faster, and all are made', async (t) => {
  const { time, metrics } = setUp();
  const pace = new Pace({ perSecond: 10, burst: 2 }, time);
  const limits = { inFlightMax: 9, queuedMax: 99, pace };
  const paced = new BestEffortWrites(limits, time, metrics.counter('dropped', ''), metrics.counter('failed', ''));
  const startedMs: number[] = [];
  for (let at = 0; at < 5; at++) paced.offer(`${at}`, async () => startedMs.push(time.monotonicMs()) > 0);
  await time.advance(1_000);
  t.deepEqual(startedMs, [0, 0, 100, 200, 300]);
  for (let at = 0; at < 4; at++) paced.offer(`${at}`, async () => startedMs.push(time.monotonicMs()) > 0);
  paced.stop();
  await time.advance(1_000);
  t.is(startedMs.length, 7, 'what still rests when it stops is not made');
});

test('of writes that wait for their pace, no more are kept than may wait', async (t) => {
  const { time, metrics } = setUp();
  const limits = { inFlightMax: 9, queuedMax: 2, pace: new Pace({ perSecond: 10, burst: 1 }, time) };
  const paced = new BestEffortWrites(limits, time, metrics.counter('dropped', ''), metrics.counter('failed', ''));
  const made: number[] = [];
  const taken = [0, 1, 2, 3].map((at) => paced.offer(`${at}`, async () => made.push(at) > 0));
  await time.advance(1_000);
  t.deepEqual(
    [taken, made],
    [
      [true, true, true, false],
      [0, 1, 2],
    ],
  );
});

const NAMES: readonly (readonly [title: string, pod: string, expected: RegExp])[] = [
  ['short', 'web-0', /^web-0\.[0-9a-f]{16}$/],
  ['as long as allowed', 'a'.repeat(253), /^a{236}\.[0-9a-f]{16}$/],
  ['cut at a dot', `${'a'.repeat(235)}.${'b'.repeat(17)}`, /^a{235}\.[0-9a-f]{16}$/],
];

for (const [title, name, expected] of NAMES) {
  test(`the name of an event is valid for a pod whose name is ${title}`, async (t) => {
    const { port, events } = setUp();
    events.scheduled(podInfo(name), 'n');
    await settlePromises();
    t.regex(nameOf(port.created[0]), expected);
  });
}

test('beyond what may be under way and waiting, writes are dropped and counted', async (t) => {
  const { writes, metrics } = setUp({ inFlightMax: 2, queuedMax: 3 });
  const finish: (() => void)[] = [];
  const started: number[] = [];
  const taken = [1, 2, 3, 4, 5, 6, 7].map((id) =>
    writes.offer(`${id}`, () => {
      started.push(id);
      return new Promise((resolve) => finish.push(() => resolve(true)));
    }),
  );
  t.deepEqual(taken, [true, true, true, true, true, false, false]);
  t.is(metrics.read('dropped'), 2);
  t.deepEqual(started, [1, 2]);
  finish.shift()!();
  await settlePromises();
  t.deepEqual(started, [1, 2, 3]);
});

test('a write that still waits is replaced by a newer one under the same key, even when the queue is full', async (t) => {
  const { writes } = setUp({ inFlightMax: 1, queuedMax: 1 });
  const made: string[] = [];
  let finish = () => {};
  writes.offer('busy', () => new Promise((resolve) => (finish = () => resolve(true))));
  const write = (text: string) => async () => made.push(text) > 0;
  t.true(writes.offer('a', write('old')));
  t.true(writes.offer('a', write('new')));
  finish();
  await settlePromises();
  t.deepEqual(made, ['new']);
});

test('the condition is added to those the pod has, and keeps its transition time while the status stays', async (t) => {
  const { port, conditions, queue } = setUp();
  const other = { type: 'Initialized', status: 'True' };
  const before = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: 'old',
    lastTransitionTime: 'T',
  };
  conditions.unscheduled(queue(podInfo('a', { status: { conditions: [other] } })), 'Unschedulable', 'new', undefined);
  conditions.unscheduled(
    queue(podInfo('b', { status: { conditions: [before, other] } })),
    'Unschedulable',
    'new',
    undefined,
  );
  await settlePromises();
  const after = { type: 'PodScheduled', status: 'False', lastProbeTime: null, reason: 'Unschedulable', message: 'new' };
  t.deepEqual(
    port.patches.map(({ status }) => status),
    [
      { conditions: [other, { ...after, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
      { conditions: [{ ...after, lastTransitionTime: 'T' }, other] },
    ],
  );
});

test('a condition that says so already is not written', async (t) => {
  const { port, conditions, queue } = setUp();
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' };
  const pod = queue(podInfo('a', { status: { conditions: [condition] } }));
  conditions.unscheduled(pod, 'Unschedulable', 'no room', undefined);
  await settlePromises();
  t.is(port.patches.length, 0);
  conditions.unscheduled(pod, 'SchedulerError', 'no room', undefined);
  await settlePromises();
  t.is(port.patches.length, 1);
});

test('a pod that left the queue before its turn gets no condition', async (t) => {
  const { port, conditions, pods, queue, writes } = setUp({ inFlightMax: 1, queuedMax: 9 });
  let finish = () => {};
  writes.offer('busy', () => new Promise((resolve) => (finish = () => resolve(true))));
  conditions.unscheduled(queue(podInfo('a')), 'Unschedulable', 'no room', undefined);
  conditions.unscheduled(queue(podInfo('b')), 'Unschedulable', 'no room', undefined);
  pods.delete('default/a');
  pods.set('default/b', podInfo('b', { uid: 'successor' }));
  finish();
  await settlePromises();
  t.is(port.patches.length, 0);
});

test('a conflict is tried again from the newer state of the pod, a few times', async (t) => {
  const { time, port, conditions, queue } = setUp();
  port.code = 409;
  conditions.unscheduled(queue(podInfo('a')), 'Unschedulable', 'no room', undefined);
  await time.advance();
  queue(podInfo('a', { metadata: { resourceVersion: '8' } }));
  await time.advance(60_000);
  t.deepEqual(
    port.patches.map(({ metadata }) => (metadata as { readonly resourceVersion: string }).resourceVersion),
    ['7', '8', '8'],
  );
});

for (const code of [0, 429, 503]) {
  test(`a condition that cannot be written (${code}) is written later, even if nobody tries the pod again`, async (t) => {
    const { time, port, conditions, queue } = setUp();
    port.code = code;
    conditions.unscheduled(queue(podInfo('a')), 'Unschedulable', 'no room', undefined);
    await time.advance(120_000);
    t.true(port.patches.length < 10, String(port.patches.length));
    port.code = 200;
    port.patches.length = 0;
    await time.advance(120_000);
    t.is(port.patches.length, 1);
    t.like(port.patches[0], { status: { conditions: [{ reason: 'Unschedulable', message: 'no room' }] } });
  });
}

test('a condition that could not be written is given up when it is no longer so, and when the pod no longer waits', async (t) => {
  const { time, port, conditions, pods, queue } = setUp();
  port.code = 503;
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' };
  const told = queue(podInfo('a', { status: { conditions: [condition] } }));
  conditions.unscheduled(told, 'Unschedulable', 'a taint', undefined);
  conditions.unscheduled(queue(podInfo('b')), 'Unschedulable', 'no room', undefined);
  await time.advance();
  t.is(port.patches.length, 2);
  conditions.unscheduled(told, 'Unschedulable', 'no room', undefined);
  pods.delete('default/b');
  port.code = 200;
  await time.advance(120_000);
  t.is(port.patches.length, 2);
});

test('a condition that is refused is not written again', async (t) => {
  const { time, port, conditions, queue } = setUp();
  port.code = 403;
  conditions.unscheduled(queue(podInfo('a')), 'Unschedulable', 'no room', undefined);
  await time.advance(120_000);
  t.is(port.patches.length, 1);
});
