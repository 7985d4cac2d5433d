import test from 'ava';
import { NO_TIMING } from '../../../actors/scheduler/core/cycle-timing.ts';
import type { BindDecision } from '../../../actors/scheduler/core/decision.ts';
import { type PermitWaits, WaitingPods } from '../../../actors/scheduler/core/waiting-pods.ts';
import { admissionPort } from '../../../actors/scheduler/driver/admission-port.ts';
import { BindingCycle } from '../../../actors/scheduler/driver/binding-cycle.ts';
import { schedulerMetrics } from '../../../actors/scheduler/driver/scheduler-metrics.ts';
import type { PreBindWork, Profile } from '../../../actors/scheduler/framework/framework.ts';
import { refusal } from '../../../actors/scheduler/status.ts';
import { FakeCluster } from './fake-context.ts';
import { defaultProfile, dialect, newCore, nodeInfo, podInfo } from './objects.ts';

function setUp(profile: Partial<Profile> = {}, waits?: PermitWaits) {
  const cluster = new FakeCluster();
  const waiting = new WaitingPods();
  const { time, metrics } = cluster;
  const cycle = new BindingCycle({
    port: admissionPort(cluster.context().ref('admission'), dialect),
    clock: time,
    timers: time,
    waiting,
    extenders: undefined,
    metrics: schedulerMetrics(metrics, newCore()),
    timing: NO_TIMING,
  });
  const decision = {
    kind: 'bind',
    pod: podInfo('p'),
    node: nodeInfo('n'),
    profile: { ...defaultProfile(dialect), ...profile },
    waits,
  } as unknown as BindDecision;
  return { cluster, cycle, decision, waiting, time };
}

const work = (parts: Partial<PreBindWork> = {}): PreBindWork => ({
  writes: [],
  progress: () => 'done',
  timeoutMs: 5_000,
  ...parts,
});
const preBinding = (...works: (PreBindWork | null)[]) => ({
  preBinds: works.map((each, at) => ({ name: `W${at}`, preBind: () => each })),
});

test('a pod with nothing to go through is for the next batch at once', (t) => {
  const { cycle, decision } = setUp();
  t.is(cycle.begin(decision), 'default');
});

test('a pod waits for every permit, and then goes on', async (t) => {
  const { cycle, decision, waiting } = setUp(
    {},
    new Map([
      ['A', { waitMs: 1_000 }],
      ['B', { waitMs: 9_000 }],
    ]),
  );
  const end = cycle.begin(decision);
  waiting.allow('uid-p', 'A');
  t.is(waiting.size, 1);
  waiting.allow('uid-p', 'A');
  waiting.allow('uid-p', 'B');
  t.is(await end, 'default');
  t.is(waiting.size, 0);
});

test('a pod that waits too long for a permit, or is rejected, is not bound', async (t) => {
  const { cycle, decision, waiting } = setUp({}, new Map([['A', { waitMs: 1_000 }]]));
  const late = cycle.begin(decision);
  t.is(waiting.nextDueMs(), 1_000);
  waiting.expire(999);
  t.is(waiting.size, 1);
  waiting.expire(1_000);
  t.like(await late, {
    bound: false,
    reason: 'rejected',
    message: 'rejected due to timeout after waiting 1s at plugin A',
  });
  const rejected = cycle.begin(decision);
  t.true(waiting.reject('uid-p', 'no'));
  t.false(waiting.reject('uid-p', 'no'));
  t.like(await rejected, { bound: false, reason: 'rejected', message: 'no' });
});

test('a plug-in that makes a pod wait has its word for this wait, and none for the next', async (t) => {
  const words: ((status: ReturnType<typeof refusal> | null) => void)[] = [];
  const begin = (answer: (typeof words)[number]): void => void words.push(answer);
  const { cycle, decision, waiting } = setUp({}, new Map([['A', { waitMs: 1_000, begin }]]));
  const rejected = cycle.begin(decision);
  words[0]!(refusal('unschedulable', 0, 'not now'));
  t.like(await rejected, { bound: false, reason: 'rejected', message: 'not now' });
  const allowed = cycle.begin(decision);
  words[0]!(null);
  t.is(waiting.size, 1);
  words[1]!(null);
  t.is(await allowed, 'default');
});

test('what is to be written before the binding is, and what is to be waited for is', async (t) => {
  let asked = 0;
  const progress = () => (++asked < 3 ? 'waiting' : 'done');
  const writes = [{ resource: 'persistentvolumes', namespace: '', name: 'v', patch: { spec: {} } }];
  const { cycle, decision, cluster, time } = setUp(preBinding(null, work({ writes, progress })));
  const end = cycle.begin(decision);
  await time.advance(10_000);
  t.is(await end, 'default');
  t.is(asked, 3);
  t.like(cluster.writes[0]?.request, { verb: 'patch', target: { resource: 'persistentvolumes', name: 'v' } });
});

test('a write that fails, work that fails and work that takes too long each end the binding', async (t) => {
  const write = { resource: 'persistentvolumes', namespace: '', name: 'v', patch: {} };
  const cases: readonly (readonly [PreBindWork, string])[] = [
    [work({ writes: [write] }), 'the hook is against it'],
    [work({ progress: () => refusal('error', 0, 'broken') }), 'broken'],
    [work({ progress: () => 'waiting' }), 'timed out waiting for the condition'],
    [work({ progress: () => 'waiting', waitsFor: 'a disk' }), 'a disk: timed out waiting for the condition'],
  ];
  for (const [each, message] of cases) {
    const { cycle, decision, cluster, time } = setUp(preBinding(each));
    // The least of the codes that refuse.
    cluster.onWrite = () => 400;
    cluster.writeBody = { message: 'the hook is against it' };
    const end = cycle.begin(decision);
    await time.advance(20_000);
    t.like(await end, { bound: false, reason: 'failed', message: `running PreBind plugin "W0": ${message}` });
  }
});

test('a plug-in that binds itself is not in the batch, and one that skips leaves it to the next', async (t) => {
  const own = (status: ReturnType<typeof refusal> | null) => ({
    binds: [
      { name: 'Skips', bind: () => 'skip' as const },
      { name: 'Own', bind: () => (done: (status: ReturnType<typeof refusal> | null) => void) => done(status) },
    ],
  });
  const good = setUp(own(null));
  t.deepEqual(await good.cycle.begin(good.decision), { bound: true });
  const bad = setUp(own(refusal('error', 0, 'refused')));
  t.like(await bad.cycle.begin(bad.decision), {
    bound: false,
    message: 'binding rejected: running Bind plugin "Own": refused',
  });
  const nobody = setUp({ binds: [] });
  t.like(nobody.cycle.begin(nobody.decision), { bound: false, message: 'no bind plug-in takes the pod' });
});
