// Goal: a pod about which extenders are asked is never lost, bound twice or put where there is no room any more, whatever happens
// while they think.
import test from 'ava';
import type { NodeAnswer, NodeQuestion, VictimQuestion } from '../../../actors/scheduler/core/decision.ts';
import type { Outsiders } from '../../../actors/scheduler/core/open-questions.ts';
import type { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import { boundPod, newCore, node, pod } from './objects.ts';

const asksAbout = (name: string): boolean => name.startsWith('asked');
const OUTSIDERS: Outsiders = {
  judgeNodes: ({ name }) => asksAbout(name),
  judgeVictims: ({ name }) => asksAbout(name),
  seeNodes: true,
  seeVictims: true,
};

function coreWith(...nodes: readonly string[]): SchedulingCore {
  const core = newCore({ outsiders: OUTSIDERS });
  for (const name of nodes) core.setNode(name, node(name));
  return core;
}

const cpu = (amount: number) => ({ requests: { cpu: String(amount) } });
const all = ({ feasible }: NodeQuestion): NodeAnswer => ({ kept: feasible, rejections: [], scores: new Map() });

function question(core: SchedulingCore, nowMs = 0): NodeQuestion {
  core.advance(nowMs);
  const asked = core.decide(nowMs, true);
  if (asked?.kind !== 'nodes') throw new Error(`a question was expected, not ${asked?.kind}`);
  return asked;
}

test('the node that extenders prefer wins over what plug-ins say', (t) => {
  const core = coreWith('a', 'b', 'c');
  core.setPod(pod('asked'), 0);
  const asked = question(core);
  t.deepEqual(asked.feasible.map(({ name }) => name).sort(), ['a', 'b', 'c']);
  t.truthy(asked.pod.object);
  t.truthy(asked.feasible[0]!.object);
  const decision = core.answer(asked, { ...all(asked), scores: new Map([['b', 1000]]) }, 0);
  t.is(decision?.kind === 'bind' && decision.node.name, 'b');
  t.like(core.counts(), { active: 0, assumed: 1 });
});

test('other pods are decided meanwhile, and the next that has to be asked about waits for its turn', (t) => {
  const core = coreWith('a');
  core.setPod(pod('asked-1', { spec: { priority: 3 } }), 0);
  core.setPod(pod('plain', { spec: { priority: 2 } }), 0);
  core.setPod(pod('asked-2', { spec: { priority: 1 } }), 0);
  const asked = question(core);
  t.is(core.decide(0, false)?.pod.name, 'plain');
  t.is(core.decide(0, false), undefined);
  t.is(core.counts().active, 1);
  t.is(core.answer(asked, all(asked), 0)?.kind, 'bind');
  t.is(core.decide(0, true)?.pod.name, 'asked-2');
});

test('room that was taken meanwhile is not given away twice', (t) => {
  const core = coreWith('a');
  core.setPod(pod('asked', { ...cpu(3), spec: { priority: 5 } }), 0);
  core.setPod(pod('plain', cpu(3)), 0);
  const asked = question(core);
  t.is(core.decide(0, false)?.kind, 'bind');
  const decision = core.answer(asked, all(asked), 0);
  t.is(decision?.kind, 'victims', 'the pod is more important: it may have the room of the other');
  t.like(core.counts(), { assumed: 1, placed: 1 });
});

test('a pod whose room went, with nobody to evict, is tried again after its backoff', (t) => {
  const core = coreWith('a');
  core.setPod(pod('asked', cpu(3)), 0);
  const asked = question(core);
  core.setPod(boundPod('other', 'a', cpu(3)), 0);
  const decision = core.answer(asked, all(asked), 0);
  t.is(decision?.kind === 'unschedulable' && decision.message, '0/1 nodes are available: 1 Insufficient cpu.');
  t.like(core.counts(), { backoff: 1, unschedulable: 0 }, 'what changed meanwhile might have helped');
});

for (const [what, change] of [
  ['room that was promised to another is left', (core) => core.removePod('default', 'great')],
  ['a pod goes', (core) => core.removePod('default', 'there')],
  ['a node comes', (core) => core.setNode('c', node('c'))],
  ['a node has more room', (core) => core.setNode('a', node('a', { allocatable: { cpu: '8', pods: '10' } }))],
  ['a node goes', (core) => core.removeNode('a')],
  ['an object comes', (core) => core.setObject('core/persistentvolumeclaims', 'default', 'c', {})],
  ['an object goes', (core) => core.removeObject('core/services', 'default', 's')],
] as readonly (readonly [string, (core: SchedulingCore) => void])[]) {
  test(`a pod that nobody takes is tried again after its backoff where meanwhile ${what}`, (t) => {
    const core = coreWith('a', 'b');
    core.setObject('core/services', 'default', 's', { metadata: { name: 's', namespace: 'default' } });
    core.setPod({ ...pod('great', { ...cpu(3), spec: { priority: 9 } }), status: { nominatedNodeName: 'a' } }, 0);
    core.setPod(boundPod('there', 'a', { ...cpu(3), spec: { priority: 1 } }), 0);
    core.setPod(pod('asked', { ...cpu(1), spec: { priority: 10 } }), 0);
    const asked = question(core);
    change(core);
    core.advance(0);
    core.answer(asked, { kept: [], rejections: [], scores: new Map() }, 0);
    t.like(core.counts(), { backoff: 1, unschedulable: 0 });
  });
}

test('a promise that is taken back while its pod is asked about is over', (t) => {
  const core = coreWith('a');
  core.setPod({ ...pod('asked'), status: { nominatedNodeName: 'a' } }, 0);
  question(core);
  t.is(core.promisedNode('default/asked'), 'a');
  core.setPod(pod('asked'), 0);
  t.is(core.promisedNode('default/asked'), undefined);
});

test('an error of an extender is the error of the attempt', (t) => {
  const core = coreWith('a');
  core.setPod(pod('asked'), 0);
  const decision = core.answer(question(core), new Error('no extender'), 0);
  t.like(decision, { kind: 'error', message: 'no extender' });
  t.is(core.counts().backoff, 1);
});

test('what extenders refuse is said with what plug-ins refuse', (t) => {
  const core = coreWith('a', 'b');
  core.setNode('c', node('c', { unschedulable: true }));
  core.setPod(pod('asked'), 0);
  const asked = question(core);
  const rejections = asked.feasible.map((each) => ({
    node: each,
    status: { code: 'unresolvable' as const, reasons: ['has no licence'], helpedBy: 1 },
  }));
  const decision = core.answer(asked, { kept: [], rejections, scores: new Map() }, 0);
  t.like(decision, {
    kind: 'unschedulable',
    message: '0/3 nodes are available: 1 node(s) were unschedulable, 2 has no licence.',
  });
  t.is(core.counts().unschedulable, 1);
});

test('where extenders refuse the only node that a pod names, the other nodes are told of as well', (t) => {
  const core = coreWith('a', 'b');
  core.setNode('c', node('c', { unschedulable: true }));
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['a'] }];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  core.setPod(pod('asked', { spec: { affinity: { nodeAffinity: required } } }), 0);
  const asked = question(core);
  const [only] = asked.feasible;
  const status = { code: 'unschedulable' as const, reasons: ['has no licence'], helpedBy: 1 };
  const decision = core.answer(asked, { kept: [], rejections: [{ node: only!, status }], scores: new Map() }, 0);
  t.like(decision, {
    kind: 'unschedulable',
    message:
      "0/3 nodes are available: 1 has no licence, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable.",
  });
});

/** What happens to the pod while it is asked about, and how many pods are then in the core's hands. */
const MEANWHILE: Readonly<
  Record<string, readonly [happen: (core: SchedulingCore) => void, active: number, placed: number]>
> = {
  'is deleted': [(core) => core.removePod('default', 'asked'), 0, 0],
  'is bound by another scheduler': [(core) => core.setPod(boundPod('asked', 'a'), 0), 0, 1],
  'is replaced by another of its name': [(core) => core.setPod(pod('asked', { uid: 'new' }), 0), 1, 0],
  'is on its way out': [
    (core) => core.setPod(pod('asked', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), 0),
    0,
    0,
  ],
  'is not in a new list': [
    (core) => {
      core.beginList();
      core.setNode('a', node('a'));
      core.endList();
    },
    0,
    0,
  ],
};

for (const [what, [happen, active, placed]] of Object.entries(MEANWHILE)) {
  test(`nothing comes of the answers about a pod that ${what}`, (t) => {
    const core = coreWith('a');
    core.setPod(pod('asked'), 0);
    const asked = question(core);
    happen(core);
    t.is(core.answer(asked, all(asked), 0), undefined);
    t.like(core.counts(), { active, placed, backoff: 0, unschedulable: 0 });
  });
}

test('a pod that is changed meanwhile is decided as it is now, once', (t) => {
  const core = coreWith('a');
  core.setPod(pod('asked'), 0);
  const asked = question(core);
  core.setPod(pod('asked', { metadata: { labels: { new: 'yes' } } }), 0);
  t.is(core.counts().active, 0);
  const decision = core.answer(asked, all(asked), 0);
  t.is(decision?.kind === 'bind' && decision.pod.labels.new, 'yes');
});

test('a node that went meanwhile is no choice', (t) => {
  const core = coreWith('a', 'b');
  core.setPod(pod('asked'), 0);
  const asked = question(core);
  core.removeNode('a');
  const decision = core.answer(asked, { ...all(asked), scores: new Map([['a', 1000]]) }, 0);
  t.is(decision?.kind === 'bind' && decision.node.name, 'b');
});

test('room on a node that extenders alone refuse is promised to nobody, and pods elsewhere are evicted', (t) => {
  const core = coreWith('a', 'b');
  core.setPod(boundPod('on-a', 'a', cpu(1)), 0);
  core.setPod(boundPod('on-b', 'b', cpu(4)), 0);
  core.setPod(pod('asked', { ...cpu(2), spec: { priority: 9 } }), 0);
  const asked = question(core);
  t.deepEqual(
    asked.feasible.map(({ name }) => name),
    ['a'],
  );
  const status = { code: 'unschedulable' as const, reasons: ['has no licence'], helpedBy: 1 };
  const rejections = asked.feasible.map((each) => ({ node: each, status }));
  const next = core.answer(asked, { kept: [], rejections, scores: new Map() }, 0);
  if (next?.kind !== 'victims') return t.fail(`victims were expected, not ${next?.kind}`);
  t.deepEqual(
    next.offer.candidates.map((each) => each.node.name),
    ['b'],
  );
  t.is(core.answerVictims(next, next.offer.candidates, 0)?.preemption?.node, 'b');
});

function victimQuestion(): { readonly core: SchedulingCore; readonly asked: VictimQuestion } {
  const core = coreWith('a', 'b');
  for (const name of ['a', 'b']) core.setPod(boundPod(`on-${name}`, name, cpu(4)), 0);
  core.setPod(pod('asked', { ...cpu(2), spec: { priority: 9 } }), 0);
  core.advance(0);
  const asked = core.decide(0, true);
  if (asked?.kind !== 'victims') throw new Error(`victims were expected, not ${asked?.kind}`);
  return { core, asked };
}

test('who is evicted is what extenders leave of the candidates', (t) => {
  const { core, asked } = victimQuestion();
  const kept = asked.offer.candidates.filter((each) => each.node.name === 'b');
  const decision = core.answerVictims(asked, kept, 0);
  t.is(decision?.preemption?.node, 'b');
  t.deepEqual(
    decision?.preemption?.victims.map(({ name }) => name),
    ['on-b'],
  );
});

test('nobody is evicted where extenders leave nothing, or could not be asked', (t) => {
  for (const answer of [[], undefined]) {
    const { core, asked } = victimQuestion();
    const decision = core.answerVictims(asked, answer, 0);
    t.like(decision, { kind: 'unschedulable', message: '0/2 nodes are available: 2 Insufficient cpu.' });
    t.is(decision?.preemption, undefined);
  }
});

test('who has left meanwhile is not evicted', (t) => {
  const { core, asked } = victimQuestion();
  core.removePod('default', 'on-a');
  core.removePod('default', 'on-b');
  const decision = core.answerVictims(asked, asked.offer.candidates, 0);
  t.is(decision?.preemption, undefined);
  t.is(core.counts().backoff, 1);
});

test("a pod that nobody takes is tried again when an annotation changes, which may be an extender's business", (t) => {
  const core = coreWith('n');
  core.setPod(pod('asked', cpu(99)), 0);
  core.advance(0);
  t.is(core.decide(0, true)?.kind, 'unschedulable');
  core.setPod(pod('asked', { ...cpu(99), status: { message: 'seen' } }), 5_000);
  core.advance(5_000);
  t.is(core.decide(5_000, true), undefined);
  core.setPod(pod('asked', { ...cpu(99), metadata: { annotations: { team: 'a' } } }), 6_000);
  core.advance(6_000);
  t.is(core.decide(6_000, true)?.kind, 'unschedulable');
});
