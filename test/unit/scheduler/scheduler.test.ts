import test from 'ava';
import type { BindingOutcome } from '../../../actors/admission/protocol.ts';
import { defaultConfiguration } from '../../../actors/scheduler/configuration/defaults.ts';
import type { SchedulerStatus } from '../../../actors/scheduler/protocol.ts';
import {
  createScheduler,
  type Scheduler,
  type SchedulerOptions,
  schedulerActor,
} from '../../../actors/scheduler/scheduler.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { OrchError, type OrchErrorCode } from '../../../runtime/errors.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { emptyPresent, FakeCluster, feedEvent } from './fake-context.ts';
import { boundPod, dialect, node, pod } from './objects.ts';

const OPTIONS = { dialect, host: 'here' };
const podEvent = (object: JsonObject, type: FeedEvent['type'] = 'put') => feedEvent(type, 'core/pods', object);
const nodeEvent = (object: JsonObject, type: FeedEvent['type'] = 'put') => feedEvent(type, 'core/nodes', object);
const manyPods = (count: number) => Array.from({ length: count }, (_, at) => podEvent(pod(`p${at}`)));
const roomy = (name: string) =>
  nodeEvent(node(name, { allocatable: { pods: '10000', cpu: '1000', memory: '9999Gi' } }));

interface Running {
  readonly cluster: FakeCluster;
  readonly scheduler: Scheduler;
  /** Sends the next batch of the store, and lets everything that follows from it happen. */
  readonly feed: (...events: readonly FeedEvent[]) => Promise<void>;
  readonly status: () => SchedulerStatus;
}

/** A scheduler that follows a store with these objects. */
async function running(
  listed: FeedEvent[],
  prepare: (cluster: FakeCluster) => void = () => {},
  settings = {},
  options: SchedulerOptions = OPTIONS,
  own?: ReadonlyMap<string, () => object>,
): Promise<Running> {
  const cluster = new FakeCluster();
  cluster.listed = listed;
  prepare(cluster);
  const scheduler = createScheduler(cluster.context(settings), options, cluster.feedFactory, own);
  await scheduler.start();
  await cluster.time.advance();
  let sequence = 0;
  const feed = async (...events: readonly FeedEvent[]) => {
    scheduler.onMessage(cluster.batch(++sequence, events), { isAwaited: false, send() {}, fail() {} });
    await cluster.time.advance();
  };
  return { cluster, scheduler, feed, status: () => statusOf(scheduler) };
}

function statusOf(scheduler: Scheduler): SchedulerStatus {
  let status: SchedulerStatus | undefined;
  scheduler.onMessage(
    { type: 'status' },
    { isAwaited: true, send: (value) => (status = value as SchedulerStatus), fail() {} },
  );
  return status!;
}

test('pods of the present state and pods that come later are bound, as the scheduler user', async (t) => {
  const { cluster, feed } = await running([podEvent(pod('a'), 'present'), nodeEvent(node('n'), 'present')]);
  await feed(podEvent(pod('b')));
  t.deepEqual(cluster.binds, [
    [{ namespace: 'default', name: 'a', uid: 'uid-a', node: 'n' }],
    [{ namespace: 'default', name: 'b', uid: 'uid-b', node: 'n' }],
  ]);
  t.deepEqual([...new Set(cluster.bindUsers)], [dialect.spell('system:@short-scheduler')]);
  t.is(cluster.metrics.read('scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}'), 2);
});

test('a pod for another scheduler is not even parsed, and counts once it is bound', async (t) => {
  const small = node('n', { allocatable: { pods: '1' } });
  const { cluster, feed } = await running([nodeEvent(small, 'present')]);
  const theirs = podEvent(pod('theirs', { spec: { schedulerName: 'another' } }));
  await feed({ ...theirs, object: () => t.fail('parsed') as never });
  await feed(podEvent(boundPod('theirs', 'n', { spec: { schedulerName: 'another' } })));
  await feed(podEvent(pod('ours')));
  t.deepEqual(cluster.binds, []);
  t.is(cluster.events('FailedScheduling').length, 1);
});

test('a bound pod gets an event that says where it went', async (t) => {
  const { cluster } = await running([podEvent(pod('a')), nodeEvent(node('n'))]);
  const [event] = cluster.events('Scheduled');
  const { metadata, ...told } = event!;
  t.deepEqual(told, {
    kind: 'Event',
    apiVersion: 'events.orch.io/v1',
    type: 'Normal',
    reason: 'Scheduled',
    action: 'Binding',
    note: 'Successfully assigned default/a to n',
    reportingController: 'default-scheduler',
    reportingInstance: 'default-scheduler-here',
    eventTime: '2026-01-01T00:00:00.000000Z',
    regarding: {
      kind: 'Pod',
      apiVersion: 'v1',
      namespace: 'default',
      name: 'a',
      uid: 'uid-a',
      resourceVersion: '7',
    },
  });
  const { name, namespace } = metadata as { name: string; namespace: string };
  t.regex(name, /^a\.[0-9a-f]{16}$/);
  t.is(namespace, 'default');
  t.like(cluster.writes[0]?.request, {
    verb: 'create',
    contentType: 'application/json',
    target: {
      ...{ group: 'events.orch.io', version: 'v1', resource: 'events', subresource: '' },
      ...{ namespace: 'default', name: '' },
    },
  });
});

test('one batch is under way while the next gathers, and none is larger than allowed', async (t) => {
  const answers: (() => void)[] = [];
  const { cluster, status } = await running([roomy('n'), ...manyPods(900)], (fake) => {
    fake.onBind = (bindings) =>
      new Promise((resolve) => answers.push(() => resolve(bindings.map(() => ({ bound: true })))));
  });
  t.deepEqual(
    cluster.binds.map(({ length }) => length),
    [100],
  );
  t.is(status().assumed, 100 + 256, 'no more is decided than two batches hold');
  const underWay = 'scheduler_scheduler_goroutines{work="binding"}';
  t.is(cluster.metrics.read(underWay), 100 + 256);
  // However long that takes: what waits behind it has its place.
  await cluster.time.advance(60_000);
  while (answers.length > 0) {
    answers.shift()!();
    await cluster.time.advance();
  }
  t.deepEqual(
    cluster.binds.map(({ length }) => length),
    [100, 256, 256, 256, 32],
  );
  t.is(new Set(cluster.binds.flat().map(({ name }) => name)).size, 900);
  t.is(cluster.metrics.read('scheduler_binding_batch_size'), 5);
  t.is(cluster.metrics.read('scheduler_binding_batch_size_sum'), 900);
  t.is(cluster.metrics.read(underWay), 0);
});

test('a turn decides about a bounded number of pods', async (t) => {
  const cluster = new FakeCluster();
  cluster.listed = [roomy('n'), ...manyPods(250)];
  const turns: number[] = [];
  const soon = cluster.time.soon.bind(cluster.time);
  let scheduler: Scheduler | undefined;
  cluster.time.soon = (callback) =>
    soon(() => {
      callback();
      turns.push(statusOf(scheduler!).active);
    });
  scheduler = createScheduler(
    cluster.context({ slicePodsMax: 100, presentObjectsMax: 300 }),
    OPTIONS,
    cluster.feedFactory,
  );
  await scheduler.start();
  await cluster.time.advance();
  t.deepEqual(turns.slice(0, 3), [150, 50, 0]);
});

test('a turn looks at a bounded number of nodes', async (t) => {
  const nodes = Array.from({ length: 50 }, (_, at) => roomy(`n${at}`));
  const { cluster } = await running([...nodes, ...manyPods(20)], () => {}, { sliceNodesMax: 100 });
  t.is(cluster.binds[0]?.length, 2);
  t.is(cluster.binds.flat().length, 20);
});

test('bindings that came too late are not repeated, and a failed one is after its backoff', async (t) => {
  const outcomes: Record<string, BindingOutcome> = {
    a: { bound: false, reason: 'taken', message: 'bound already' },
    b: { bound: false, reason: 'gone', message: 'no such pod' },
    c: { bound: false, reason: 'failed', message: 'no quorum' },
  };
  const { cluster, status } = await running(
    [nodeEvent(node('n')), ...['a', 'b', 'c'].map((name) => podEvent(pod(name)))],
    (fake) => {
      fake.onBind = (bindings) => bindings.map(({ name }) => outcomes[name]!);
    },
  );
  t.like(status(), { active: 0, backoff: 1, assumed: 0, placed: 0 });
  await cluster.time.advance(999);
  t.is(cluster.binds.length, 1);
  await cluster.time.advance(1);
  t.deepEqual(
    cluster.binds[1]?.map(({ name }) => name),
    ['c'],
  );
  t.is(cluster.events('Scheduled').length, 0);
  const message = 'binding rejected: running Bind plugin "DefaultBinder": no quorum';
  t.is(cluster.events('FailedScheduling')[0]?.note, message);
  const condition = cluster.writes.find(({ request }) => request.target.subresource === 'status');
  t.like(condition?.body, { status: { conditions: [{ reason: 'SchedulerError', message }] } });
});

test('every attempt is counted and timed by how it ended, and every time that room was looked for', async (t) => {
  const { cluster } = await running([
    nodeEvent(node('n')),
    podEvent(pod('a')),
    podEvent(pod('b', { requests: { cpu: '99' } })),
  ]);
  for (const result of ['scheduled', 'unschedulable']) {
    const labels = `{profile="default-scheduler",result="${result}"}`;
    t.is(cluster.metrics.read(`scheduler_schedule_attempts_total${labels}`), 1);
    t.is(cluster.metrics.read(`scheduler_e2e_scheduling_duration_seconds${labels}`), 1);
  }
  t.is(cluster.metrics.read('scheduler_preemption_attempts_total'), 1);
  t.is(cluster.metrics.read('scheduler_scheduling_algorithm_duration_seconds'), 1, 'of those that found a node');
});

/** A scheduler with a plug-in of one's own at a point. */
function runningWith(point: 'permit' | 'postBind', plugin: object): Promise<Running> {
  const configuration = defaultConfiguration(dialect);
  const [profile] = configuration.profiles;
  const sets = { ...profile!.sets, [point]: [{ name: 'Mine', weight: 1 }] };
  const options = { ...OPTIONS, configuration: { ...configuration, profiles: [{ ...profile!, sets }] } };
  return running([roomy('n')], undefined, {}, options, new Map([['Mine', () => plugin]]));
}

/** Throws about one of the pods. */
function throwing({ name }: { readonly name: string }): null {
  if (name === 'p1') throw new Error('no licence');
  return null;
}

test('where a plug-in throws about a pod, those decided before it and those behind it are bound', async (t) => {
  const { cluster, feed } = await runningWith('permit', { permit: throwing });
  await t.throwsAsync(feed(...manyPods(4)), { message: 'no licence' });
  await cluster.time.advance();
  const bound = cluster.binds.flat().map(({ name }) => name);
  t.deepEqual(bound, ['p0', 'p2', 'p3']);
});

test('where a plug-in throws about a pod that is bound, it ends no thread, and all bindings of the batch are told of', async (t) => {
  const { cluster, feed } = await runningWith('postBind', { postBind: throwing });
  await t.throwsAsync(feed(...manyPods(4)), { message: 'no licence' });
  await cluster.time.advance();
  t.deepEqual(cluster.crashes, []);
  t.is(cluster.events('Scheduled').length, 4);
});

test('the wait of a pod that is deleted, or bound by somebody else, ends with its reservation', async (t) => {
  const configuration = defaultConfiguration(dialect);
  const [profile] = configuration.profiles;
  const sets = { ...profile!.sets, permit: [{ name: 'Mine', weight: 1 }] };
  const own = new Map([['Mine', () => ({ permit: () => ({ waitMs: 600_000 }) })]]);
  const { cluster, feed, status } = await running(
    [nodeEvent(node('n')), podEvent(pod('a')), podEvent(pod('b'))],
    undefined,
    {},
    { ...OPTIONS, configuration: { ...configuration, profiles: [{ ...profile!, sets }] } },
    own,
  );
  const rejected = () => cluster.metrics.read('scheduler_permit_wait_duration_seconds{result="Unschedulable"}');
  await cluster.time.advance(300_000);
  t.deepEqual([status().assumed, rejected()], [2, 0], 'they may wait so long');
  await feed(podEvent(pod('a'), 'delete'));
  t.is(status().assumed, 1);
  t.is(rejected(), 1);
  await feed(podEvent(boundPod('b', 'n')));
  t.is(rejected(), 2);
  t.deepEqual(cluster.binds, []);
  t.is(cluster.events('FailedScheduling').filter(({ note }) => note === 'removed').length, 2);
});

const LOST: readonly (readonly [code: OrchErrorCode, after: Partial<SchedulerStatus>, againMs: number])[] = [
  ['Overloaded', { backoff: 2, assumed: 0, placed: 0 }, 1_000],
  ['ActorDown', { backoff: 2, assumed: 0, placed: 0 }, 1_000],
  ['Refused', { backoff: 2, assumed: 0, placed: 0 }, 1_000],
  ['DeadlineExceeded', { backoff: 0, assumed: 2, placed: 2 }, 31_000],
];

for (const [code, after, againMs] of LOST) {
  test(`a batch without an answer (${code}) is tried again after ${againMs} ms`, async (t) => {
    const { cluster, status } = await running(
      [nodeEvent(node('n')), podEvent(pod('a')), podEvent(pod('b'))],
      (fake) => {
        fake.onBind = () => Promise.reject(new OrchError(code, 'test'));
      },
    );
    t.like(status(), after);
    cluster.onBind = (bindings) => bindings.map(() => ({ bound: true }));
    await cluster.time.advance(againMs - 1);
    t.is(cluster.binds.length, 1);
    await cluster.time.advance(1);
    t.deepEqual(
      cluster.binds
        .at(-1)
        ?.map(({ name }) => name)
        .sort(),
      ['a', 'b'],
    );
    t.is(cluster.binds.length, 2);
  });
}

test('an answer with too few outcomes leaves the rest assumed', async (t) => {
  const { cluster, status } = await running([nodeEvent(node('n')), podEvent(pod('a')), podEvent(pod('b'))], (fake) => {
    fake.onBind = () => [{ bound: false, reason: 'failed', message: '' }];
  });
  t.like(status(), { backoff: 1, assumed: 1 });
  t.deepEqual(cluster.crashes, []);
});

test('a pod that fits nowhere gets a condition and an event, and is bound when a node comes', async (t) => {
  const { cluster, feed } = await running([podEvent(pod('a', { requests: { cpu: '8' } })), nodeEvent(node('n'))]);
  const message = '0/1 nodes are available: 1 Insufficient cpu.';
  const condition = cluster.writes.find(({ request }) => request.target.subresource === 'status');
  t.like(condition?.request, {
    verb: 'patch',
    contentType: 'application/merge-patch+json',
    target: { group: '', version: 'v1', resource: 'pods', subresource: 'status', namespace: 'default', name: 'a' },
  });
  t.deepEqual(condition?.body, {
    metadata: { uid: 'uid-a', resourceVersion: '7' },
    status: {
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          lastProbeTime: null,
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'Unschedulable',
          message,
        },
      ],
    },
  });
  t.like(cluster.events('FailedScheduling'), [{ type: 'Warning', action: 'Scheduling', note: message }]);
  await cluster.time.advance(2_000);
  await feed(nodeEvent(node('big', { allocatable: { cpu: '16' } })));
  t.deepEqual(
    cluster.binds.flat().map((binding) => binding.node),
    ['big'],
  );
});

test('the bindings go on while event writes hang, and the events beyond the bound are dropped and counted', async (t) => {
  const { cluster } = await running(
    [roomy('n'), ...manyPods(2_000)],
    (fake) => {
      fake.onWrite = () => new Promise(() => {});
    },
    { eventsInFlightMax: 4, eventsQueuedMax: 10 },
  );
  t.is(cluster.binds.flat().length, 2_000);
  t.is(cluster.writes.length, 4);
  t.is(cluster.metrics.read('scheduler_best_effort_writes_total{kind="event",result="dropped"}'), 2_000 - 4 - 10);
});

test('event writes that fail are counted and nothing else', async (t) => {
  const { cluster, status } = await running([nodeEvent(node('n')), podEvent(pod('a'))], (fake) => {
    fake.onWrite = () => Promise.reject(new OrchError('Overloaded', 'test'));
  });
  t.is(cluster.metrics.read('scheduler_best_effort_writes_total{kind="event",result="failed"}'), 1);
  t.is(status().assumed, 1);
  t.deepEqual(cluster.crashes, []);
});

test('the gauges say how many pods are in which queue', async (t) => {
  const { cluster } = await running([podEvent(pod('a', { requests: { cpu: '99' } })), nodeEvent(node('n'))]);
  cluster.metrics.reading();
  t.is(cluster.metrics.read('scheduler_pending_pods{queue="unschedulable"}'), 1);
  t.is(cluster.metrics.read('scheduler_pending_pods{queue="active"}'), 0);
});

test('batches that arrive before the present state are applied after it, and older ones not', async (t) => {
  const cluster = new FakeCluster();
  let answer = () => {};
  cluster.onSubscribe = () => new Promise((resolve) => (answer = () => resolve(emptyPresent(5))));
  cluster.listed = [nodeEvent(node('n'), 'present'), podEvent(pod('a'), 'present')];
  const scheduler = createScheduler(cluster.context(), OPTIONS, cluster.feedFactory);
  await scheduler.start();
  const silent = { isAwaited: false, send() {}, fail() {} };
  scheduler.onMessage(cluster.batch(5, [podEvent(pod('old'))]), silent);
  scheduler.onMessage(cluster.batch(6, [podEvent(pod('new'))]), silent);
  t.false(statusOf(scheduler).following);
  answer();
  await cluster.time.advance();
  t.true(statusOf(scheduler).following);
  t.deepEqual(
    cluster.binds.flat().map(({ name }) => name),
    ['a', 'new'],
  );
});

test('when the store is lost the scheduler lists again, and forgets what is not there any more', async (t) => {
  const { cluster, scheduler, status } = await running([
    nodeEvent(node('n')),
    nodeEvent(node('m')),
    podEvent(boundPod('a', 'n')),
    podEvent(boundPod('b', 'n')),
  ]);
  t.like(status(), { nodes: 2, placed: 2 });
  cluster.listed = [nodeEvent(node('n')), podEvent(boundPod('b', 'n'))];
  scheduler.onMessage({ type: 'storeLost' }, { isAwaited: false, send() {}, fail() {} });
  await cluster.time.advance();
  t.is(cluster.subscriptions, 2);
  t.like(status(), { following: true, nodes: 1, placed: 1 });
});

test('a gap in the batches and a restarted store make the scheduler subscribe again', async (t) => {
  const { cluster, scheduler } = await running([nodeEvent(node('n'))]);
  scheduler.onMessage(cluster.batch(3, []), { isAwaited: false, send() {}, fail() {} });
  await cluster.time.advance();
  t.is(cluster.subscriptions, 2);
  scheduler.peerRestarted('hub/1');
  t.is(cluster.subscriptions, 2);
  scheduler.peerRestarted('store');
  t.is(cluster.subscriptions, 3);
});

test('a subscription that fails is tried again', async (t) => {
  const { cluster, status } = await running([nodeEvent(node('n'))], (fake) => {
    fake.onSubscribe = () => Promise.reject(new OrchError('ActorDown', 'test'));
  });
  t.false(status().following);
  cluster.onSubscribe = async () => emptyPresent(0);
  await cluster.time.advance(1_000);
  t.true(status().following);
  t.is(cluster.subscriptions, 2);
});

test('stopping waits for the bindings under way and decides nothing more', async (t) => {
  let answer = () => {};
  const { cluster, scheduler, feed } = await running([nodeEvent(node('n')), podEvent(pod('a'))], (fake) => {
    fake.onBind = (bindings) =>
      new Promise((resolve) => (answer = () => resolve(bindings.map(() => ({ bound: true })))));
  });
  let stopped = false;
  const stopping = scheduler.stop().then(() => {
    stopped = true;
  });
  await feed(podEvent(pod('b')));
  t.false(stopped);
  answer();
  await stopping;
  await cluster.time.advance(60_000);
  t.is(cluster.binds.length, 1);
  t.deepEqual(cluster.unsubscribed, ['scheduler']);
  t.is(cluster.writes.length, 0);
});

test('a broken invariant ends the thread', async (t) => {
  const { cluster } = await running([nodeEvent(node('n'))], (fake) => {
    const factory = fake.feedFactory;
    Object.assign(fake, {
      feedFactory: (...args: Parameters<typeof factory>) => ({
        ...factory(...args),
        begin: () => {
          throw new Error('slab 3 was never published to this thread');
        },
      }),
    });
  });
  t.deepEqual(
    cluster.crashes.map(({ message }) => message),
    ['slab 3 was never published to this thread'],
  );
});

test('settings of the scheduler can be overridden', (t) => {
  t.is(schedulerActor.actor, 'scheduler');
  t.is(schedulerActor.settings?.bindingBatchMax, 256);
});

const UNMET: readonly (readonly [title: string, spec: JsonObject, reason: string])[] = [
  [
    'a claim that does not exist',
    { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
    'persistentvolumeclaim "c" not found',
  ],
  ['a runtime class that does not exist', { runtimeClassName: 'sandboxed' }, 'there is no runtime class "sandboxed"'],
];

for (const [title, spec, reason] of UNMET) {
  test(`a pod with ${title} waits, and its condition says why`, async (t) => {
    const { cluster, status } = await running([nodeEvent(node('n')), podEvent(pod('a', { spec }))]);
    t.deepEqual(cluster.binds, []);
    t.is(status().unschedulable, 1);
    const [write] = cluster.writes.filter(({ request }) => request.target.subresource === 'status');
    const message = `0/1 nodes are available: 1 ${reason}.`;
    t.like(write?.body, {
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
    });
  });
}

test('victims are deleted, the pod is promised their place, and gets it when they are gone', async (t) => {
  const minor = (name: string) => podEvent(boundPod(name, 'n', { requests: { cpu: '2' } }));
  const { cluster, feed } = await running([nodeEvent(node('n')), minor('a'), minor('b')]);
  await feed(podEvent(pod('p', { requests: { cpu: '3' }, spec: { priority: 10 } })));
  const deleted = cluster.writes.filter(({ request }) => request.verb === 'delete');
  t.deepEqual(deleted.map(({ request, body }) => [request.target.name, body.preconditions]).sort(), [
    ['a', { uid: 'uid-a' }],
    ['b', { uid: 'uid-b' }],
  ]);
  t.is(cluster.events('Preempted').length, 2);
  t.like(cluster.events('Preempted')[0], {
    type: 'Normal',
    action: 'Preempting',
    note: 'Preempted by default/p on node n',
    related: { kind: 'Pod', name: 'p', namespace: 'default' },
  });
  const statuses = cluster.writes.filter(({ request }) => request.target.subresource === 'status');
  t.like(statuses[0]?.body, { status: { nominatedNodeName: 'n' } });
  t.is(cluster.metrics.read('scheduler_preemption_attempts_total'), 1);
  t.deepEqual(cluster.binds, []);
  await feed(minor('a'), podEvent(boundPod('a', 'n'), 'delete'), podEvent(boundPod('b', 'n'), 'delete'));
  await cluster.time.advance(2_000);
  t.deepEqual(
    cluster.binds.flat().map(({ name }) => name),
    ['p'],
  );
});

test('a victim that cannot be deleted takes the promise back, and the pod tries again', async (t) => {
  const { cluster, feed, status } = await running(
    [nodeEvent(node('n')), podEvent(boundPod('a', 'n', { requests: { cpu: '2' } }))],
    (fake) => {
      fake.onWrite = ({ verb }) => (verb === 'delete' ? 403 : 200);
    },
  );
  await feed(podEvent(pod('p', { requests: { cpu: '3' }, spec: { priority: 10 } })));
  t.is(status().backoff, 1);
  await cluster.time.advance(1_500);
  t.is(cluster.writes.filter(({ request }) => request.verb === 'delete').length, 2);
});

test('a pod is promised nothing in its status while a victim may not be deleted, and others get the room beside that victim', async (t) => {
  const { cluster, feed } = await running(
    [nodeEvent(node('n')), podEvent(boundPod('a', 'n', { requests: { cpu: '2' } }))],
    (fake) => {
      fake.onWrite = ({ verb }) => (verb === 'delete' ? 403 : 200);
    },
  );
  const great = { requests: { cpu: '3' }, spec: { priority: 10 } };
  await feed(podEvent(pod('great', great)));
  const [told] = cluster.writes.filter(({ request }) => request.target.subresource === 'status');
  const status = told?.body.status as JsonObject;
  t.like(status, { conditions: [{ type: 'PodScheduled', status: 'False' }] });
  t.is(status.nominatedNodeName, undefined);
  await feed(podEvent(pod('great', { ...great, status })), podEvent(pod('small', { requests: { cpu: '1' } })));
  t.deepEqual(
    cluster.binds.flat().map(({ name }) => name),
    ['small'],
  );
});
