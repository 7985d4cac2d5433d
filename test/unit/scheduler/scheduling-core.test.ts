import test from 'ava';
import type { Decision } from '../../../actors/scheduler/core/decision.ts';
import type { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import type { FilterPlugin } from '../../../actors/scheduler/framework/framework.ts';
import { ClusterEvent } from '../../../actors/scheduler/objects/cluster-event.ts';
import { podTopologySpread } from '../../../actors/scheduler/plugins/pod-topology-spread.ts';
import { refusal } from '../../../actors/scheduler/status.ts';
import { boundPod, defaultProfile, dialect, newCore, node, type PodParts, pod, seededRandom } from './objects.ts';

type Bind = Decision & { readonly kind: 'bind' };

/** Decides until no pod is active. */
function decideAll(core: SchedulingCore, nowMs: number): Decision[] {
  core.advance(nowMs);
  const decisions: Decision[] = [];
  for (let next = core.decide(nowMs); next !== undefined; next = core.decide(nowMs)) decisions.push(next);
  return decisions;
}

function bindsOf(decisions: readonly Decision[]): Bind[] {
  return decisions.filter((decision): decision is Bind => decision.kind === 'bind');
}

/** A core with one node that takes one pod of 4 cpu, and that pod decided. */
function oneAssumed(): { readonly core: SchedulingCore; readonly bind: Bind } {
  const core = newCore();
  core.setNode('n', node('n'));
  core.setPod(pod('a', { requests: { cpu: '4' } }), 0);
  const [bind] = bindsOf(decideAll(core, 0));
  return { core, bind: bind! };
}

const placeable = (core: SchedulingCore, nowMs: number) => {
  core.setPod(pod('probe', { requests: { cpu: '4' }, spec: { priority: 1_000 } }), nowMs);
  core.advance(nowMs);
  const kind = core.decide(nowMs)?.kind;
  core.removePod('default', 'probe');
  return kind === 'bind';
};

/** What pods have taken, counted apart from the core: by node, in milli-cpu, MiB and pods. */
class Ledger {
  private readonly free = new Map<string, number[]>();

  addNode(name: string, room: readonly number[]): void {
    this.free.set(name, [...room]);
  }

  take(name: string, size: readonly number[], sign: 1 | -1 = 1): void {
    const free = this.free.get(name)!;
    size.forEach((amount, at) => {
      free[at]! -= sign * amount;
    });
  }

  overcommitted(): string[] {
    return [...this.free].filter(([, free]) => free.some((left) => left < 0)).map(([name, free]) => `${name}: ${free}`);
  }
}

test('5,000 pods over 200 nodes never overcommit a node, whatever comes and goes in between', (t) => {
  const random = seededRandom(11);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random.next() * of.length)]!;
  const core = newCore({ random: seededRandom(2) });
  const ledger = new Ledger();
  for (let at = 0; at < 200; at++) {
    const [cpu, memory, pods] = [pick([2, 4, 8]), pick([2, 8]), pick([8, 30])];
    ledger.addNode(`n${at}`, [cpu * 1000, memory * 1024, pods]);
    core.setNode(`n${at}`, node(`n${at}`, { allocatable: { cpu: `${cpu}`, memory: `${memory}Gi`, pods: `${pods}` } }));
  }
  const sizes = new Map<string, readonly number[]>();
  const requestsOf = (name: string) => ({ cpu: `${sizes.get(name)![0]}m`, memory: `${sizes.get(name)![1]}Mi` });
  const running = new Map<string, string>();
  let bound = 0;
  let unfit = 0;
  for (let at = 0; at < 5_000; at++) {
    sizes.set(`p${at}`, [pick([50, 100, 333, 1000]), pick([64, 96, 300]), 1]);
    core.setPod(pod(`p${at}`, { requests: requestsOf(`p${at}`) }), at);
    const decisions = decideAll(core, at);
    unfit += decisions.length - bindsOf(decisions).length;
    for (const decision of bindsOf(decisions)) {
      const { name } = decision.pod;
      bound++;
      ledger.take(decision.node.name, sizes.get(name)!);
      const draw = random.next();
      if (draw < 0.1) {
        core.settleBinding(decision.pod, { bound: false, reason: 'failed', message: '' }, at);
        ledger.take(decision.node.name, sizes.get(name)!, -1);
      } else if (draw < 0.8) {
        core.settleBinding(decision.pod, { bound: true }, at);
        core.setPod(boundPod(name, decision.node.name, { requests: requestsOf(name) }), at);
        running.set(name, decision.node.name);
      }
    }
    const [oldest] = random.next() < 0.2 ? running : [];
    if (oldest !== undefined) {
      core.removePod('default', oldest[0]);
      ledger.take(oldest[1], sizes.get(oldest[0])!, -1);
      running.delete(oldest[0]);
    }
    if (at % 100 === 99) t.deepEqual(ledger.overcommitted(), []);
  }
  t.true(bound > 1_500, `only ${bound} pods were bound`);
  t.true(unfit > 500, `only ${unfit} times no node had room`);
});

test('the same seed makes the same bindings, and another seed others', (t) => {
  const run = (seed: number): string[] => {
    const core = newCore({ random: seededRandom(seed) });
    for (let at = 0; at < 120; at++) core.setNode(`n${at}`, node(`n${at}`));
    for (let at = 0; at < 400; at++) core.setPod(pod(`p${at}`, { requests: { cpu: '100m' } }), at);
    return bindsOf(decideAll(core, 500)).map((bind) => `${bind.pod.name} ${bind.node.name}`);
  };
  t.is(run(7).length, 400);
  t.deepEqual(run(7), run(7));
  t.notDeepEqual(run(7), run(8));
});

test('a pod spreads to the node with more room', (t) => {
  const core = newCore();
  core.setNode('busy', node('busy'));
  core.setNode('idle', node('idle'));
  core.setPod(boundPod('other', 'busy', { requests: { cpu: '1', memory: '2Gi' } }), 0);
  core.setPod(pod('a', { requests: { cpu: '1', memory: '2Gi' } }), 0);
  t.deepEqual(
    bindsOf(decideAll(core, 0)).map((bind) => bind.node.name),
    ['idle'],
  );
});

const SKIPPED: readonly (readonly [title: string, object: ReturnType<typeof pod>])[] = [
  ['of another scheduler', pod('a', { spec: { schedulerName: 'mine' } })],
  ['bound already', boundPod('a', 'n')],
  ['being deleted', pod('a', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
  ['that succeeded', pod('a', { status: { phase: 'Succeeded' } })],
  ['that failed', pod('a', { status: { phase: 'Failed' } })],
];

for (const [title, object] of SKIPPED) {
  test(`a pod ${title} is left alone`, (t) => {
    const core = newCore();
    core.setNode('n', node('n'));
    core.setPod(object, 0);
    t.deepEqual(decideAll(core, 0), []);
  });

  test(`a queued pod that turns out to be one ${title} leaves the queue`, (t) => {
    const core = newCore();
    core.setPod(pod('a'), 0);
    core.setPod(object, 0);
    core.setNode('n', node('n'));
    t.deepEqual(decideAll(core, 0), []);
  });
}

test('a scheduler of another name takes the pods of that name', (t) => {
  const core = newCore({ profiles: [defaultProfile(dialect, 'mine')] });
  core.setNode('n', node('n'));
  core.setPod(pod('a'), 0);
  core.setPod(pod('b', { spec: { schedulerName: 'mine' } }), 0);
  t.deepEqual(
    decideAll(core, 0).map((decision) => decision.pod.name),
    ['b'],
  );
});

test('a bound pod that finishes frees its node for a pod that found no room', (t) => {
  const core = newCore();
  core.setNode('n', node('n'));
  core.setPod(boundPod('done', 'n', { requests: { cpu: '4' } }), 0);
  core.setPod(pod('a', { requests: { cpu: '1' } }), 0);
  t.like(decideAll(core, 0), [{ kind: 'unschedulable', message: '0/1 nodes are available: 1 Insufficient cpu.' }]);
  core.setPod(boundPod('done', 'n', { requests: { cpu: '4' }, status: { phase: 'Succeeded' } }), 100);
  t.deepEqual(decideAll(core, 100), []);
  t.is(core.nextDueMs(), 1_000);
  t.is(bindsOf(decideAll(core, 1_000))[0]?.node.name, 'n');
});

test('to try what would be without other pods is work, of which a turn does only so much', (t) => {
  const core = newCore();
  const pods = 30;
  core.setNode('n', node('n'));
  for (let at = 0; at < pods; at++) core.setPod(boundPod(`p${at}`, 'n', { requests: { cpu: '100m' } }), 0);
  core.setPod(pod('never', { requests: { cpu: '5' }, spec: { priority: 10, preemptionPolicy: 'Never' } }), 0);
  t.like(decideAll(core, 0), [{ kind: 'unschedulable' }]);
  t.is(core.nodesExamined, 1);
  core.setPod(pod('great', { requests: { cpu: '5' }, spec: { priority: 10 } }), 0);
  t.like(decideAll(core, 0), [{ kind: 'unschedulable' }]);
  t.true(core.nodesExamined >= 2 + pods, String(core.nodesExamined));
});

test('an event that changes nothing for an unschedulable pod does not try it again', (t) => {
  const core = newCore();
  core.setNode('n', node('n'));
  core.setPod(pod('a', { spec: { nodeSelector: { disk: 'fast' } } }), 0);
  t.like(decideAll(core, 0), [{ kind: 'unschedulable' }]);
  core.setNode('n', node('n', { allocatable: { cpu: '64' } }));
  t.deepEqual(decideAll(core, 5_000), []);
  core.setNode('n', node('n', { labels: { disk: 'fast' } }));
  t.like(decideAll(core, 5_000), [{ kind: 'bind' }]);
});

test('an assumed pod occupies its node until the binding fails', (t) => {
  const { core, bind } = oneAssumed();
  t.false(placeable(core, 0));
  core.settleBinding(bind.pod, { bound: false, reason: 'failed', message: '' }, 10);
  t.deepEqual(core.counts(), { active: 0, backoff: 1, unschedulable: 0, assumed: 0, placed: 0, nodes: 1 });
  t.true(placeable(core, 10));
});

for (const reason of ['taken', 'gone'] as const) {
  test(`a binding that came too late (${reason}) frees the node and does not try again`, (t) => {
    const { core, bind } = oneAssumed();
    core.settleBinding(bind.pod, { bound: false, reason, message: '' }, 10);
    t.deepEqual(core.counts(), { active: 0, backoff: 0, unschedulable: 0, assumed: 0, placed: 0, nodes: 1 });
    t.true(placeable(core, 10));
  });
}

for (const reason of ['taken', 'gone'] as const) {
  test(`a pod whose binding came too late (${reason}), of which no news comes, is tried again`, (t) => {
    const { core, bind } = oneAssumed();
    core.settleBinding(bind.pod, { bound: false, reason, message: '' }, 10);
    core.advance(10);
    t.is(core.nextDueMs(), 30_010);
    core.advance(30_009);
    t.deepEqual(decideAll(core, 30_009), []);
    core.advance(30_010);
    t.is(core.counts().backoff, 1);
    t.like(decideAll(core, 40_000), [{ kind: 'bind', pod: { uid: bind.pod.uid } }]);
  });
}

for (const [news, tell] of [
  ['is gone', (core: SchedulingCore) => core.removePod('default', 'a')],
  ['is bound', (core: SchedulingCore) => core.setPod(boundPod('a', 'n'), 20)],
  ['is being deleted', (core: SchedulingCore) => core.setPod(pod('a', { metadata: { deletionTimestamp: 'now' } }), 20)],
  [
    'is not in a new list',
    (core: SchedulingCore) => {
      core.beginList();
      core.setNode('n', node('n'));
      core.endList();
    },
  ],
] as const) {
  test(`a pod whose binding came too late is not tried again when it ${news}`, (t) => {
    const { core, bind } = oneAssumed();
    core.settleBinding(bind.pod, { bound: false, reason: 'taken', message: '' }, 10);
    tell(core);
    core.advance(1_000_000);
    t.deepEqual(decideAll(core, 1_000_000), []);
    t.is(core.counts().backoff, 0);
  });
}

test('a pod whose binding came too late is tried again at once, and once, when it shows to be without a node', (t) => {
  const { core, bind } = oneAssumed();
  core.settleBinding(bind.pod, { bound: false, reason: 'taken', message: '' }, 10);
  core.setPod(pod('a', { requests: { cpu: '4' } }), 20);
  t.is(bindsOf(decideAll(core, 20)).length, 1);
  core.hold(bind.pod);
  core.advance(1_000_000);
  t.like(core.counts(), { active: 0, backoff: 0, unschedulable: 0, assumed: 1 });
});

test('what is gone again is not kept while a list is read, however long that takes', (t) => {
  const core = newCore();
  core.beginList();
  for (let at = 0; at < 100; at++) {
    core.setNode(`n${at}`, node(`n${at}`));
    core.setPod(boundPod(`p${at}`, `n${at}`), 0);
    core.setObject('core/services', 'default', `s${at}`, {});
    core.removePod('default', `p${at}`);
    core.removeNode(`n${at}`);
    core.removeObject('core/services', 'default', `s${at}`);
  }
  core.setNode('n', node('n'));
  t.is(core.listed.size, 1);
  core.endList();
  t.is(core.counts().nodes, 1);
  t.is(core.listed.size, 0);
});

test('a pod that is asked about before its node is seen counts when the node comes', (t) => {
  const core = newCore();
  core.setPod(boundPod('a', 'n', { requests: { cpu: '4' } }), 0);
  core.explain(boundPod('a', 'n', { requests: { cpu: '4' } }));
  core.setNode('n', node('n', { allocatable: { cpu: '4' } }));
  core.setPod(pod('b', { requests: { cpu: '1' } }), 0);
  t.like(decideAll(core, 0), [{ kind: 'unschedulable', message: '0/1 nodes are available: 1 Insufficient cpu.' }]);
});

test('a pod that another scheduler took counts on the node it was bound to', (t) => {
  const { core, bind } = oneAssumed();
  core.setNode('m', node('m'));
  core.setPod(boundPod('a', 'm', { requests: { cpu: '4' } }), 5);
  core.settleBinding(bind.pod, { bound: false, reason: 'taken', message: '' }, 10);
  t.is(core.cluster.node('m')?.podCount, 1);
  t.is(core.cluster.node('n')?.podCount, 0);
});

test('the event that confirms a binding may come before its answer or after', (t) => {
  for (const eventFirst of [true, false]) {
    const { core, bind } = oneAssumed();
    const steps = [
      () => core.setPod(boundPod('a', 'n', { requests: { cpu: '4' } }), 5),
      () => core.settleBinding(bind.pod, { bound: true }, 5),
    ];
    for (const step of eventFirst ? steps : steps.reverse()) step();
    core.advance(1_000_000);
    t.deepEqual(core.counts(), { active: 0, backoff: 0, unschedulable: 0, assumed: 0, placed: 1, nodes: 1 });
    t.is(core.cluster.node('n')?.requestedMilliCpu, 4_000);
  }
});

test('an assumption whose binding is never answered expires, and the pod tries again', (t) => {
  const { core } = oneAssumed();
  t.is(core.nextDueMs(), 30_000);
  core.advance(29_999);
  t.is(core.counts().assumed, 1);
  core.advance(30_000);
  t.like(core.counts(), { assumed: 0, placed: 0, backoff: 1 });
  t.like(decideAll(core, 31_000), [{ kind: 'bind', queued: { attempts: 2 } }]);
});

test('an unanswered binding keeps its place until it expires, since it may have been carried out', (t) => {
  const { core, bind } = oneAssumed();
  core.settleBinding(bind.pod, { bound: false, reason: 'unanswered' }, 10_000);
  core.advance(39_999);
  t.false(placeable(core, 39_999));
  core.advance(40_000);
  t.is(core.counts().assumed, 0);
});

test('a binding that took long and is never answered expires as any other', (t) => {
  const { core, bind } = oneAssumed();
  core.hold(bind.pod);
  // The usual time passes while it is held.
  core.advance(30_000);
  t.is(core.counts().assumed, 1);
  core.settleBinding(bind.pod, { bound: false, reason: 'unanswered' }, 40_000);
  t.is(core.nextDueMs(), 70_000);
  core.advance(69_999);
  t.is(core.counts().assumed, 1);
  core.advance(70_000);
  t.like(core.counts(), { assumed: 0, backoff: 1 });
});

test('an assumption expires in time whatever bindings of others are under way', (t) => {
  const core = newCore();
  core.setNode('n', node('n'));
  for (const name of ['a', 'b']) core.setPod(pod(name), 0);
  const [first, second] = bindsOf(decideAll(core, 0));
  core.settleBinding(first!.pod, { bound: false, reason: 'unanswered' }, 10);
  core.hold(second!.pod);
  t.is(core.nextDueMs(), 30_000);
  core.advance(30_010);
  t.like(core.counts(), { backoff: 1, assumed: 1 });
});

test('of two that could be evicted the one goes that began later, also where that is known only since it was bound', (t) => {
  for (const [later, earlier] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    const core = newCore();
    const running = (on: string, more: PodParts = {}) =>
      core.setPod(boundPod(`on-${on}`, on, { requests: { cpu: '4' }, ...more }), 0);
    for (const name of [later, earlier].sort()) {
      core.setNode(name, node(name));
      running(name);
    }
    running(later, { status: { phase: 'Running', startTime: '2026-01-01T00:10:00Z' } });
    running(earlier, { status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z' } });
    core.setPod(pod('great', { requests: { cpu: '4' }, spec: { priority: 10 } }), 0);
    const [decision] = decideAll(core, 0);
    t.is(decision?.kind === 'unschedulable' && decision.preemption?.node, later);
  }
});

test('nobody is evicted where a pod on another node keeps the pod away all the same', (t) => {
  const core = newCore();
  const labels = { app: 'db' };
  for (const name of ['a', 'b', 'c']) {
    core.setNode(name, node(name, { labels: { zone: name === 'c' ? 'y' : 'z' } }));
    core.setPod(boundPod(`on-${name}`, name, { requests: { cpu: '4' }, metadata: { labels } }), 0);
  }
  const term = { topologyKey: 'zone', labelSelector: { matchLabels: labels } };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  core.setPod(pod('apart', { spec: { affinity, priority: 10, nodeSelector: { zone: 'z' } } }), 0);
  core.setPod(pod('alone', { spec: { affinity, priority: 9, nodeSelector: { zone: 'y' } } }), 0);
  const evicted = decideAll(core, 0).map(
    (decision) => decision.kind === 'unschedulable' && decision.preemption?.victims.map(({ name }) => name),
  );
  t.deepEqual(evicted, [undefined, ['on-c']]);
});

test('an update of an assumed pod that does not know of the binding yet changes nothing', (t) => {
  const { core, bind } = oneAssumed();
  core.setPod(pod('a', { requests: { cpu: '4' }, metadata: { labels: { x: 'y' } } }), 5);
  t.deepEqual(decideAll(core, 5), []);
  t.is(core.cluster.node('n')?.podCount, 1);
  core.settleBinding(bind.pod, { bound: false, reason: 'failed', message: '' }, 10);
  t.like(core.counts(), { backoff: 1, placed: 0 });
});

test('a pod that is deleted while its binding is under way is forgotten, and its successor starts afresh', (t) => {
  const { core, bind } = oneAssumed();
  core.removePod('default', 'a');
  t.is(core.cluster.node('n')?.podCount, 0);
  core.setPod(pod('a', { uid: 'second', requests: { cpu: '4' } }), 20);
  const [second] = bindsOf(decideAll(core, 20));
  t.is(second?.pod.uid, 'second');
  core.settleBinding(bind.pod, { bound: false, reason: 'gone', message: '' }, 30);
  t.is(core.counts().assumed, 1);
});

test('a successor under the same name replaces an assumed pod even when the deletion was not seen', (t) => {
  const { core } = oneAssumed();
  core.setPod(pod('a', { uid: 'second', requests: { cpu: '4' } }), 20);
  t.like(decideAll(core, 20), [{ kind: 'bind', pod: { uid: 'second' } }]);
  t.is(core.cluster.node('n')?.podCount, 1);
});

test('a new list removes what it does not hold, and keeps queue and assumptions', (t) => {
  const core = newCore();
  core.setNode('n', node('n', { allocatable: { cpu: '1' } }));
  core.setNode('gone', node('gone', { allocatable: { cpu: '1' } }));
  core.setPod(boundPod('kept', 'n'), 0);
  core.setPod(boundPod('left', 'n'), 0);
  core.setPod(pod('assumed', { requests: { cpu: '500m' } }), 0);
  core.setPod(pod('unfit', { requests: { cpu: '2' } }), 0);
  core.setPod(pod('withdrawn', { requests: { cpu: '2' } }), 0);
  decideAll(core, 0);
  t.like(core.counts(), { unschedulable: 2, assumed: 1, placed: 3, nodes: 2 });

  core.beginList();
  core.setPod(boundPod('kept', 'n'), 50);
  core.setPod(pod('assumed', { requests: { cpu: '500m' } }), 50);
  core.setPod(pod('unfit', { requests: { cpu: '2' } }), 50);
  core.setNode('n', node('n', { allocatable: { cpu: '1' } }));
  core.endList();
  t.like(core.counts(), { unschedulable: 1, assumed: 1, placed: 2, nodes: 1 });
});

test('a refused reservation gives everything back, the last first', (t) => {
  const calls: string[] = [];
  const reserving = (name: string, refuses: boolean) => ({
    name,
    reserve() {
      calls.push(`${name} reserves`);
      return refuses ? refusal('unschedulable', ClusterEvent.nodeAdded, 'no disk left') : null;
    },
    unreserve() {
      calls.push(`${name} gives back`);
    },
  });
  const profile = { ...defaultProfile(dialect), reserves: [reserving('a', false), reserving('b', true)] };
  const core = newCore({ profiles: [profile] });
  core.setNode('n', node('n'));
  core.setPod(pod('p', { requests: { cpu: '4' } }), 0);
  t.like(decideAll(core, 0), [{ kind: 'unschedulable', message: 'no disk left' }]);
  t.deepEqual(calls, ['a reserves', 'b reserves', 'b gives back', 'a gives back']);
  t.is(core.cluster.node('n')?.podCount, 0);
});

test('a permit plugin that cannot decide sends the pod to backoff', (t) => {
  const permit = () => refusal('error', 0, 'no answer');
  const core = newCore({ profiles: [{ ...defaultProfile(dialect), permits: [{ name: 'Test', permit }] }] });
  core.setNode('n', node('n'));
  core.setPod(pod('p'), 0);
  t.like(decideAll(core, 0), [{ kind: 'error', message: 'no answer' }]);
  t.like(core.counts(), { backoff: 1, assumed: 0, placed: 0 });
});

test('a binding that fails undoes the reservation, and one that is confirmed does not', (t) => {
  let given = 0;
  const reserves = [{ name: 'Test', reserve: () => null, unreserve: () => void given++ }];
  const core = newCore({ profiles: [{ ...defaultProfile(dialect), reserves }] });
  core.setNode('n', node('n'));
  core.setPod(pod('a'), 0);
  core.setPod(pod('b'), 0);
  const [a, b] = bindsOf(decideAll(core, 0));
  core.settleBinding(a!.pod, { bound: true }, 1);
  core.setPod(boundPod('a', 'n'), 1);
  t.is(given, 0);
  core.settleBinding(b!.pod, { bound: false, reason: 'failed', message: '' }, 1);
  t.is(given, 1);
});

test('what was reserved for a pod is given back when another scheduler has bound it elsewhere, or another of its name', (t) => {
  for (const [bound, back] of [
    [boundPod('a', 'm'), ['n']],
    [boundPod('a', 'n', { uid: 'next' }), ['n']],
    [boundPod('a', 'n'), []],
  ] as const) {
    const given: string[] = [];
    const reserves = [
      {
        name: 'Test',
        reserve: () => null,
        unreserve: (_pod: unknown, at: { name: string }) => void given.push(at.name),
      },
    ];
    const core = newCore({ profiles: [{ ...defaultProfile(dialect), reserves }] });
    core.setNode('n', node('n'));
    core.setPod(pod('a'), 0);
    t.is(bindsOf(decideAll(core, 0)).length, 1);
    core.setNode('m', node('m'));
    core.setPod(bound, 1);
    t.deepEqual(given, back);
  }
});

for (const [state, news] of [
  ['is being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ['has finished', { status: { phase: 'Failed' } }],
] as const) {
  test(`a pod that ${state} is not tried again when its binding fails, or came too late`, (t) => {
    for (const reason of ['failed', 'gone', 'taken'] as const) {
      const { core, bind } = oneAssumed();
      core.setPod(pod('a', { ...news, requests: { cpu: '4' } }), 5);
      core.settleBinding(bind.pod, { bound: false, reason, message: '' }, 10);
      core.advance(1_000_000);
      t.like(core.counts(), { active: 0, backoff: 0, unschedulable: 0, assumed: 0 }, reason);
    }
  });
}

test('a pod that wants to be near others is tried again when such a pod is placed, and not for any other', (t) => {
  const core = newCore();
  core.setNode('n', node('n', { labels: { zone: 'a' } }));
  const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } };
  const spec = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
  core.setPod(pod('near', { spec }), 0);
  t.is(decideAll(core, 0)[0]?.kind, 'unschedulable');
  core.setPod(boundPod('other', 'n', { metadata: { labels: { app: 'db' } } }), 2_000);
  t.deepEqual(decideAll(core, 2_000), []);
  core.setPod(pod('web', { metadata: { labels: { app: 'web' } } }), 3_000);
  t.deepEqual(
    bindsOf([...decideAll(core, 3_000), ...decideAll(core, 3_000)]).map((bind) => bind.pod.name),
    ['web', 'near'],
  );
});

/** A plug-in that refuses while no pod is on any node. */
const notAlone = (helpedBy: number): FilterPlugin => ({
  name: 'NotAlone',
  prepareFilter: () => (node) => (node.pods.size > 0 ? null : refusal('unschedulable', helpedBy, 'alone')),
});

test('a pod that asks for no others itself, and waits for one by its profile, is tried again when a pod comes to its namespace', (t) => {
  const profile = { ...defaultProfile(dialect), filters: [notAlone(ClusterEvent.podAdded)] };
  const core = newCore({ profiles: [profile] });
  core.setNode('n', node('n'));
  core.setPod(pod('waits'), 0);
  t.is(decideAll(core, 0)[0]?.kind, 'unschedulable');
  core.setPod(boundPod('elsewhere', 'm', { metadata: { namespace: 'other' } }), 2_000);
  t.deepEqual(decideAll(core, 2_000), []);
  core.setPod(boundPod('first', 'n'), 3_000);
  t.deepEqual(
    bindsOf(decideAll(core, 3_000)).map((bind) => bind.pod.name),
    ['waits'],
  );
});

test('a pod that the default constraints keep off is tried again when a service comes, and when its own goes', (t) => {
  const constraint = { topologyKey: 'zone', maxSkew: 1, required: true };
  const spread = podTopologySpread({ defaultConstraints: [constraint], systemDefaults: false, hostnameLabel: 'host' });
  const core = newCore({ profiles: [{ ...defaultProfile(dialect), filters: [spread] }] });
  core.setNode('n', node('n'));
  const service = (app: string) => ({ metadata: { namespace: 'default', name: app }, spec: { selector: { app } } });
  core.setObject('core/services', 'default', 'a', service('a'));
  core.setPod(pod('p', { metadata: { labels: { app: 'a' } } }), 0);
  t.is(decideAll(core, 0)[0]?.kind, 'unschedulable');
  core.setObject('core/services', 'default', 'b', service('b'));
  t.is(decideAll(core, 5_000).length, 1);
  core.removeObject('core/services', 'default', 'a');
  t.is(bindsOf(decideAll(core, 20_000)).length, 1);
});

test('a pod that wants to be near its like is tried again when the last of them goes, and when a node with them does', (t) => {
  const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'a' } } };
  const like = { metadata: { labels: { app: 'a' } } };
  const near = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const apart = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const waiting = (affinity: object, otherZone: string) => {
    const core = newCore();
    core.setNode('n', node('n', { labels: { zone: 'z' } }));
    core.setNode('m', node('m', { labels: { zone: otherZone } }));
    core.setPod(boundPod('other', 'm', like), 0);
    core.setPod(pod('p', { ...like, spec: { affinity, nodeSelector: { zone: 'z' } } }), 0);
    decideAll(core, 0);
    t.is(core.counts().unschedulable, 1);
    return core;
  };
  const first = waiting(near, 'y');
  first.removePod('default', 'other');
  t.is(bindsOf(decideAll(first, 5_000)).length, 1, 'there is none of its like any more');
  const alone = waiting(apart, 'z');
  alone.removeNode('m');
  t.is(bindsOf(decideAll(alone, 5_000)).length, 1, 'the pods of the node that went count no more');
});
