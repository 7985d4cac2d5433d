import test from 'ava';
import type { FailDecision } from '../../../../actors/scheduler/core/decision.ts';
import type { SchedulingCore } from '../../../../actors/scheduler/core/scheduling-core.ts';
import { boundPod, type NodeParts, newCore, node, type PodParts, pod } from '../objects.ts';

/** cpu in use, priority and what else matters of a pod that runs. */
interface Running {
  readonly cpu: number;
  readonly priority?: number;
  /** In minutes. */
  readonly startedAt?: number;
  readonly labels?: object;
  readonly spec?: object;
  readonly deleting?: boolean;
}

interface Case {
  readonly title: string;
  /** By node and name. */
  readonly running: Readonly<Record<string, Running>>;
  readonly nodes?: Readonly<Record<string, NodeParts>>;
  /** Budgets by name: the app they guard, the disruptions they allow, and a pod that they have allowed to go already. */
  readonly budgets?: Readonly<Record<string, readonly [app: string, allowed: number, going?: string]>>;
  readonly pod?: PodParts;
  /** The node promised, and who must leave it, in order; undefined: nothing is done. */
  readonly expected: readonly [node: string, ...victims: string[]] | undefined;
}

function coreOf({ running, nodes = {}, budgets = {} }: Omit<Case, 'title' | 'expected'>): SchedulingCore {
  const core = newCore();
  const names = new Set([...Object.keys(nodes), ...Object.keys(running).map((path) => path.split('/')[0]!)]);
  for (const name of names) core.setNode(name, node(name, nodes[name]));
  for (const [path, { cpu, priority = 0, startedAt = 0, labels = {}, spec = {}, deleting }] of Object.entries(
    running,
  )) {
    const [onto = '', name = ''] = path.split('/');
    const startTime = new Date(Date.UTC(2026, 0, 1, 0, startedAt)).toISOString();
    const metadata = { labels, ...(deleting === true ? { deletionTimestamp: startTime } : {}) };
    const parts = { requests: { cpu: `${cpu}` }, metadata, spec: { priority, ...spec }, status: { startTime } };
    core.setPod(boundPod(name, onto, parts), 0);
  }
  for (const [name, [app, disruptionsAllowed, going]] of Object.entries(budgets)) {
    core.setObject('policy/poddisruptionbudgets', 'default', name, {
      apiVersion: 'policy/v1',
      spec: { selector: { matchLabels: { app } } },
      status: { disruptionsAllowed, disruptedPods: going === undefined ? {} : { [going]: '2026-01-01T00:00:00Z' } },
    });
  }
  return core;
}

function attempt(core: SchedulingCore, nowMs = 0): FailDecision {
  core.advance(nowMs);
  const decision = core.decide(nowMs);
  if (decision === undefined || decision.kind === 'bind') throw new Error('the pod was expected to fit nowhere');
  return decision;
}

const wants = (cpu: number, spec: object = {}): PodParts => ({
  requests: { cpu: `${cpu}` },
  spec: { priority: 100, ...spec },
});
const guarded = (app: string) => ({ app });

const CASES: readonly Case[] = [
  { title: 'pods of equal priority stay', running: { 'n/a': { cpu: 4, priority: 100 } }, expected: undefined },
  { title: 'a pod of lower priority leaves', running: { 'n/a': { cpu: 4 } }, expected: ['n', 'a'] },
  {
    title: 'a pod that never preempts waits',
    running: { 'n/a': { cpu: 4 } },
    pod: wants(4, { preemptionPolicy: 'Never' }),
    expected: undefined,
  },
  {
    title: 'no more leave than must, the most important stay',
    running: { 'n/a': { cpu: 2, priority: 3 }, 'n/b': { cpu: 2, priority: 1 } },
    pod: wants(2),
    expected: ['n', 'b'],
  },
  {
    title: 'among equals those that began first stay',
    running: { 'n/late': { cpu: 2, startedAt: 9 }, 'n/early': { cpu: 2, startedAt: 1 } },
    pod: wants(2),
    expected: ['n', 'late'],
  },
  {
    title: 'a small pod stays where it leaves room enough',
    running: { 'n/small': { cpu: 1 }, 'n/large': { cpu: 3, priority: 1 } },
    pod: wants(3),
    expected: ['n', 'large'],
  },
  {
    title: 'a pod that would not fit on an empty node drives nobody out',
    running: { 'n/a': { cpu: 4 } },
    pod: wants(5),
    expected: undefined,
  },
  {
    title: 'a node that refuses the pod for its labels is left alone',
    running: { 'n/a': { cpu: 4 }, 'm/b': { cpu: 4 } },
    nodes: { m: { labels: { disk: 'ssd' } } },
    pod: wants(4, { nodeSelector: { disk: 'ssd' } }),
    expected: ['m', 'b'],
  },
  {
    title: 'a node where no budget is broken comes first',
    running: { 'm/a': { cpu: 4, labels: guarded('web') }, 'n/b': { cpu: 4, priority: 50 } },
    budgets: { web: ['web', 0] },
    expected: ['n', 'b'],
  },
  {
    title: 'a budget is broken where there is no other way',
    running: { 'm/a': { cpu: 4, labels: guarded('web') } },
    budgets: { web: ['web', 0] },
    expected: ['m', 'a'],
  },
  {
    title: 'a budget that allows one disruption is kept by one victim',
    running: { 'm/a': { cpu: 4, labels: guarded('web') }, 'n/b': { cpu: 4, priority: 50 } },
    budgets: { web: ['web', 1] },
    expected: ['m', 'a'],
  },
  {
    title: 'a pod that its budget has allowed to go already breaks it no more',
    running: { 'm/a': { cpu: 4, labels: guarded('web') }, 'n/b': { cpu: 4, priority: 50 } },
    budgets: { web: ['web', 0, 'a'] },
    expected: ['m', 'a'],
  },
  {
    title: 'of pods that one budget guards, as many stay as it can spare no more',
    running: { 'm/a': { cpu: 2, labels: guarded('web') }, 'm/b': { cpu: 2, priority: 1 } },
    budgets: { web: ['web', 0] },
    pod: wants(2),
    expected: ['m', 'b'],
  },
  {
    title: 'the lowest of the highest victims decides',
    running: { 'm/a': { cpu: 4, priority: 5 }, 'n/b': { cpu: 4, priority: 4 } },
    expected: ['n', 'b'],
  },
  {
    title: 'then the lowest sum of priorities',
    running: {
      'm/a': { cpu: 2, priority: 5 },
      'm/b': { cpu: 2, priority: 5 },
      'n/c': { cpu: 2, priority: 5 },
      'n/d': { cpu: 2 },
    },
    expected: ['n', 'c', 'd'],
  },
  {
    title: 'then the fewest victims',
    running: { 'm/a': { cpu: 2, priority: 5 }, 'm/b': { cpu: 2, priority: -5 }, 'n/c': { cpu: 4, priority: 5 } },
    expected: ['n', 'c'],
  },
  {
    title: 'then the latest start of the most important',
    running: { 'm/a': { cpu: 4, startedAt: 1 }, 'n/b': { cpu: 4, startedAt: 2 } },
    expected: ['n', 'b'],
  },
  {
    title: 'a pod whose anti-affinity stands in the way leaves',
    running: {
      'n/a': {
        cpu: 1,
        labels: { app: 'a' },
        spec: {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'host', labelSelector: {} }],
            },
          },
        },
      },
      'n/b': { cpu: 1 },
    },
    nodes: { n: { labels: { host: 'n' } } },
    pod: wants(1),
    expected: ['n', 'a'],
  },
  {
    title: 'pods that skew a spread leave',
    running: { 'a/w1': { cpu: 1, labels: { app: 'web' } }, 'a/w2': { cpu: 1, labels: { app: 'web' } } },
    nodes: { a: { labels: { zone: 'a' } }, b: { labels: { zone: 'b' }, allocatable: { cpu: '0' } } },
    pod: {
      ...wants(1, {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
      }),
      metadata: { labels: { app: 'web' } },
    },
    expected: ['a', 'w1', 'w2'],
  },
];

for (const each of CASES) {
  test(`DefaultPreemption: ${each.title}`, (t) => {
    const core = coreOf(each);
    core.setPod(pod('p', each.pod ?? wants(4)), 0);
    const { preemption } = attempt(core);
    const actual = preemption && [preemption.node, ...preemption.victims.map(({ name }) => name)];
    t.deepEqual(actual, each.expected);
  });
}

test('DefaultPreemption: room that was promised is kept from pods of lower priority, and given to the pod', (t) => {
  const core = coreOf({ running: { 'n/a': { cpu: 4 } } });
  core.setPod(pod('p', wants(4)), 0);
  t.is(attempt(core).preemption?.node, 'n');
  core.removePod('default', 'a');
  core.setPod(pod('low', { requests: { cpu: '1' }, spec: { priority: 1 } }), 2_000);
  core.setPod(pod('q', { requests: { cpu: '1' }, spec: { priority: 200 } }), 2_000);
  core.advance(2_000);
  const decisions = [core.decide(2_000), core.decide(2_000), core.decide(2_000)];
  t.deepEqual(
    decisions.map((decision) => `${decision?.pod.name} ${decision?.kind}`),
    ['q bind', 'p unschedulable', 'low unschedulable'],
    'one of higher priority may take the room, and then it is short for the pod it was promised to',
  );
});

test('DefaultPreemption: while its victims leave, a pod drives out nobody else', (t) => {
  const core = coreOf({ running: { 'n/a': { cpu: 4 }, 'm/b': { cpu: 4, priority: 50 } } });
  core.setPod(pod('p', wants(4)), 0);
  t.is(attempt(core).preemption?.node, 'n');
  core.setPod(
    boundPod('a', 'n', { requests: { cpu: '4' }, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    1,
  );
  core.setNode('o', node('o', { allocatable: { cpu: '1' } }));
  t.is(attempt(core, 2_000).preemption, undefined);
});

test('DefaultPreemption: a pod whose promised node is gone looks for room elsewhere, whoever is still leaving there', (t) => {
  const core = coreOf({ running: { 'n/a': { cpu: 4 }, 'm/b': { cpu: 4, priority: 50 } } });
  core.setPod(pod('p', wants(4)), 0);
  t.is(attempt(core).preemption?.node, 'n');
  core.setPod(
    boundPod('a', 'n', { requests: { cpu: '4' }, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    1,
  );
  core.removeNode('n');
  core.setNode('o', node('o', { allocatable: { cpu: '1' } }));
  t.like(attempt(core, 2_000).preemption, { node: 'm', victims: [{ name: 'b' }] });
});

test('DefaultPreemption: a promise that cannot be kept any more is taken back', (t) => {
  const core = coreOf({ running: { 'n/a': { cpu: 4 } } });
  core.setPod(pod('p', wants(4)), 0);
  t.is(attempt(core).preemption?.node, 'n');
  core.removeNode('n');
  core.setNode('n', node('n', { taints: [{ key: 'gone', effect: 'NoSchedule' }] }));
  t.deepEqual(attempt(core, 2_000).preemption, { node: '', victims: [], displaced: [] });
});

test('DefaultPreemption: a pod of higher priority that is promised the same node takes the promise of another', (t) => {
  const core = coreOf({ running: { 'n/a': { cpu: 2 }, 'n/b': { cpu: 2, priority: 60 } } });
  core.setPod(pod('p', { requests: { cpu: '2' }, spec: { priority: 50 } }), 0);
  t.is(attempt(core).preemption?.node, 'n');
  core.setPod(pod('q', wants(4)), 0);
  const { preemption } = attempt(core);
  t.deepEqual(
    preemption?.displaced.map(({ name }) => name),
    ['p'],
  );
});

test('DefaultPreemption: a pod that finds room to make only once another pod has come is tried again when that one comes', (t) => {
  const core = coreOf({ running: { 'n/a': { cpu: 4 } } });
  const near = { labelSelector: { matchLabels: guarded('db') }, topologyKey: 'kubernetes.io/hostname' };
  core.setNode('n', node('n', { labels: { 'kubernetes.io/hostname': 'n' } }));
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } };
  core.setPod(pod('p', wants(2, { affinity })), 0);
  const first = attempt(core);
  t.is(first.message, '0/1 nodes are available: 1 Insufficient cpu.');
  t.is(first.preemption, undefined);
  core.setPod(boundPod('other', 'n', { spec: { priority: 100 } }), 5_000);
  core.advance(5_000);
  t.is(core.decide(5_000), undefined, 'this one is not what it waits for');
  core.setPod(boundPod('db', 'n', { metadata: { labels: guarded('db') }, spec: { priority: 100 } }), 5_000);
  t.like(attempt(core, 5_000).preemption, { node: 'n', victims: [{ name: 'a' }] });
});
