// Room that a pod was promised, and what becomes of those who leave it to the pod when it is promised no longer.
import test from 'ava';
import type { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import { createScheduler } from '../../../actors/scheduler/scheduler.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { FakeCluster, feedEvent } from './fake-context.ts';
import { boundPod, dialect, newCore, node, pod } from './objects.ts';

const NOW = 0;
/** After any backoff, and before pods are tried again without a reason. */
const LATER = 20_000;

const wanting = (name: string, priority = 0, more: JsonObject = {}): JsonObject =>
  pod(name, { requests: { cpu: '4' }, spec: { priority, ...more } });

/** Decides about all that is to be tried; answers who goes where, and who nowhere. */
function decideAll(core: SchedulingCore, nowMs: number): { readonly [pod: string]: string; readonly least?: string } {
  const said: Record<string, string> = {};
  do {
    core.advance(nowMs);
    for (let next = core.decide(nowMs); next !== undefined; next = core.decide(nowMs))
      said[next.pod.name] = next.kind === 'bind' ? next.node.name : next.kind;
  } while ((core.nextDueMs() ?? Number.POSITIVE_INFINITY) <= nowMs);
  return said;
}

/** `great` was promised the node that `small` was evicted from, and `least` waits for that. */
function promised(): SchedulingCore {
  const core = newCore();
  core.setNode('n', node('n'));
  core.setNode('m', node('m', { labels: { better: 'yes' }, taints: [{ key: 'better', effect: 'NoSchedule' }] }));
  core.setPod(boundPod('small', 'n', { requests: { cpu: '4' } }), NOW);
  core.setPod(wanting('great', 10), NOW);
  core.advance(NOW);
  const decision = core.decide(NOW);
  if (decision?.kind !== 'unschedulable' || decision.preemption?.node !== 'n') throw new Error('nobody is evicted');
  core.removePod('default', 'small');
  core.setPod(wanting('least'), NOW);
  return core;
}

test('a pod has the room that it was promised, though one like it was refused there before', (t) => {
  const core = newCore();
  core.setNode('n', node('n'));
  core.setPod(wanting('twin', 10), NOW);
  core.setPod({ ...wanting('great', 10), status: { phase: 'Pending', nominatedNodeName: 'n' } }, NOW);
  t.deepEqual(decideAll(core, NOW), { twin: 'unschedulable', great: 'n' });
});

for (const [who, names] of [
  ['before', ['twin', 'great']],
  ['after', ['great', 'twin']],
] as const) {
  test(`a pod is promised the same room again, and one like it that was tried ${who} it is not`, (t) => {
    const core = newCore();
    core.setNode('n', node('n'));
    core.setPod(boundPod('small', 'n', { requests: { cpu: '4' } }), NOW);
    for (const name of names) {
      const nominatedNodeName = name === 'great' ? 'n' : undefined;
      core.setPod({ ...wanting(name, 10), status: { phase: 'Pending', nominatedNodeName } }, NOW);
    }
    core.advance(NOW);
    for (const name of names) {
      const decision = core.decide(NOW);
      t.is(decision?.pod.name, name);
      t.is(decision?.kind === 'unschedulable' && decision.preemption?.node, name === 'great' ? 'n' : undefined);
    }
  });
}

test('a pod that wants to be near another does not go where that one is only promised room, nor beside it', (t) => {
  const core = newCore();
  for (const name of ['a', 'b']) core.setNode(name, node(name, { labels: { zone: 'z' } }));
  const labels = { app: 'web' };
  const term = { topologyKey: 'zone', labelSelector: { matchLabels: labels } };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  core.setPod(pod('near', { spec: { affinity, priority: 10 } }), NOW);
  const web = pod('web', { metadata: { labels }, spec: { priority: 10 } });
  core.setPod({ ...web, status: { phase: 'Pending', nominatedNodeName: 'a' } }, NOW);
  t.is(core.decide(NOW)?.kind, 'unschedulable');
  core.setPod(boundPod('web', 'a', { metadata: { labels } }), NOW);
  t.regex(decideAll(core, LATER).near ?? '', /^[ab]$/);
});

for (const [what, end] of Object.entries<(core: SchedulingCore) => void>({
  'is deleted': (core) => core.removePod('default', 'great'),
  'is being deleted': (core) =>
    core.setPod(pod('great', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), NOW),
  'is another one by now': (core) => core.setPod(pod('great', { uid: 'other', requests: { cpu: '9' } }), NOW),
  'is bound to another node by somebody else': (core) => core.setPod(boundPod('great', 'elsewhere'), NOW),
  'no longer says that it was': (core) => {
    core.setPod({ ...wanting('great', 10), status: { phase: 'Pending', nominatedNodeName: 'n' } }, NOW);
    core.setPod(wanting('great', 10, { nodeSelector: { nowhere: 'x' } }), NOW);
  },
})) {
  test(`who leaves room to a pod is tried again when the pod that was promised it ${what}`, (t) => {
    const core = promised();
    t.deepEqual(decideAll(core, NOW), { least: 'unschedulable' });
    end(core);
    t.is(decideAll(core, LATER).least, 'n');
  });
}

test('who leaves room to a pod is tried again when that pod goes elsewhere, and not when it takes the room', (t) => {
  const core = promised();
  t.deepEqual(decideAll(core, NOW), { least: 'unschedulable' });
  core.setPod(wanting('great', 10, { nodeSelector: { better: 'yes' }, tolerations: [{ operator: 'Exists' }] }), NOW);
  t.deepEqual(decideAll(core, LATER), { great: 'm', least: 'n' });

  const other = promised();
  t.deepEqual(decideAll(other, NOW), { least: 'unschedulable' });
  t.deepEqual(decideAll(other, LATER), { great: 'n' });
});

for (const end of [
  { bound: false, reason: 'failed', message: '' },
  { bound: false, reason: 'rejected', message: '' },
  { bound: false, reason: 'unanswered' },
] as const) {
  test(`a pod whose binding came to nothing (${end.reason}) keeps the room that others have left for it`, (t) => {
    const core = promised();
    core.setPod({ ...wanting('great', 10), status: { phase: 'Pending', nominatedNodeName: 'n' } }, NOW);
    core.removePod('default', 'least');
    core.advance(LATER);
    const decision = core.decide(LATER);
    if (decision?.kind !== 'bind') throw new Error('it is not bound');
    core.settleBinding(decision.pod, end, LATER);
    const failedMs = Math.max(LATER, core.nextDueMs() ?? 0);
    core.advance(failedMs);
    core.setPod(wanting('least'), failedMs);
    t.deepEqual(decideAll(core, failedMs), { least: 'unschedulable' });
    t.deepEqual(decideAll(core, failedMs + LATER), { great: 'n' });
  });
}

test('a pod is told of the room that it was promised by the first status that can be written, however often it has failed', async (t) => {
  const cluster = new FakeCluster();
  let isAway = true;
  cluster.onWrite = ({ target }) => (isAway && target.subresource === 'status' ? 503 : 200);
  const small = boundPod('small', 'n', { requests: { cpu: '4' } });
  cluster.listed = [
    feedEvent('present', 'core/nodes', node('n')),
    feedEvent('present', 'core/pods', small),
    feedEvent('present', 'core/pods', wanting('great', 10)),
  ];
  const scheduler = createScheduler(cluster.context(), { dialect, host: 'here' }, cluster.feedFactory);
  await scheduler.start();
  await cluster.time.advance();
  const leaving = { ...small, metadata: { ...(small.metadata as object), deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const noReply = { isAwaited: false, send() {}, fail() {} };
  scheduler.onMessage(cluster.batch(1, [feedEvent('put', 'core/pods', leaving)]), noReply);
  await cluster.time.advance(LATER);
  t.is(cluster.metrics.read('scheduler_preemption_attempts_total'), 2, 'it has failed once more');
  isAway = false;
  cluster.writes.length = 0;
  await cluster.time.advance(60_000);
  const [status] = cluster.writes.filter(({ request }) => request.target.subresource === 'status');
  t.like(status?.body, { status: { nominatedNodeName: 'n' } });
});
