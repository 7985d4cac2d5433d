import test from 'ava';
import {
  type Choice,
  feasibleNodesWanted,
  NodeChooser,
  UNFINISHED,
} from '../../../actors/scheduler/core/node-choice.ts';
import { spreadOverZones } from '../../../actors/scheduler/core/node-order.ts';
import { Nominations } from '../../../actors/scheduler/core/nominations.ts';
import type { FilterPlugin, Profile, ScorePlugin } from '../../../actors/scheduler/framework/framework.ts';
import type { NodeInfo } from '../../../actors/scheduler/nodes/node-info.ts';
import { ClusterEvent } from '../../../actors/scheduler/objects/cluster-event.ts';
import { prioritySort } from '../../../actors/scheduler/plugins/priority-sort.ts';
import type { PodInfo } from '../../../actors/scheduler/pods/pod-info.ts';
import type { Status } from '../../../actors/scheduler/status.ts';
import { refusal } from '../../../actors/scheduler/status.ts';
import { defaultProfile, dialect, nodeInfo, podInfo, seededRandom, viewOf, zoneOf } from './objects.ts';

const EMPTY_PROFILE: Profile = {
  schedulerName: 'default-scheduler',
  queueSort: prioritySort,
  filters: [],
  scores: [],
  postFilters: [],
  reserves: [],
  permits: [],
  preBinds: [],
  binds: [],
  postBinds: [],
};

class Chooser {
  private readonly profile: Profile;
  private readonly chooser: NodeChooser;

  constructor(profile: Profile, seed: number, prefersNominatedNode = false) {
    this.profile = profile;
    this.chooser = new NodeChooser(seededRandom(seed), { sampledPercent: 0, prefersNominatedNode });
  }

  get nodesExamined(): number {
    return this.chooser.nodesExamined;
  }

  choose(pod: PodInfo, nodes: readonly NodeInfo[], nominations = new Nominations()): Choice {
    const choice = this.chooser.choose(pod, this.profile, viewOf(nodes), nominations);
    if (choice === UNFINISHED) throw new Error('so few nodes were to be looked at in one turn');
    return choice;
  }
}

function nodesNamed(count: number): NodeInfo[] {
  return Array.from({ length: count }, (_, at) => nodeInfo(`n${at}`));
}

function filterBy(status: (node: NodeInfo) => Status | null): FilterPlugin {
  return { name: 'Test', prepareFilter: () => status };
}

function scoreBy(score: (node: NodeInfo) => number, normalize: 'none' | 'highest' | 'lowest' = 'none'): ScorePlugin {
  return { name: 'Test', prepareScore: () => ({ score, normalize }) };
}

const WANTED: readonly (readonly [nodes: number, percent: number, wanted: number])[] = [
  [0, 0, 0],
  [99, 0, 99],
  [100, 0, 100],
  [150, 0, 100],
  [1_000, 0, 420],
  [5_000, 0, 500],
  [6_000, 0, 300],
  [20_000, 0, 1_000],
  [1_000, 70, 700],
  [1_000, 1, 100],
  [1_000, 100, 1_000],
  [1_000, 101, 1_000],
];

for (const [nodes, percent, wanted] of WANTED) {
  test(`of ${nodes} nodes at ${percent} percent, ${wanted} feasible ones are enough`, (t) => {
    t.is(feasibleNodesWanted(nodes, percent), wanted);
  });
}

test('the filters behind the one that refuses a node are heard where the profile asks all', (t) => {
  const filters = [
    filterBy(() => ({ code: 'unschedulable', helpedBy: 1, reasons: ['too full'] })),
    filterBy(() => null),
    filterBy(() => ({ code: 'unresolvable', helpedBy: 2, reasons: ['too far', 'too old'] })),
  ];
  const choiceOf = (asksAllFilters: boolean) =>
    new Chooser({ ...EMPTY_PROFILE, filters, asksAllFilters }, 1).choose(podInfo('p'), nodesNamed(2));
  t.like(choiceOf(false), { message: '0/2 nodes are available: 2 too full.', helpedBy: 1 });
  t.like(choiceOf(true), { message: '0/2 nodes are available: 2 too far, 2 too full, 2 too old.', helpedBy: 3 });
});

test('a filter that cannot decide ends the attempt, also behind one that refuses the node', (t) => {
  const filters = [
    filterBy(() => ({ code: 'unschedulable', reasons: ['too full'] })),
    filterBy(() => ({ code: 'error', reasons: ['cannot say'] })),
  ];
  const chooser = new Chooser({ ...EMPTY_PROFILE, filters, asksAllFilters: true }, 1);
  t.like(chooser.choose(podInfo('p'), nodesNamed(1)), { code: 'error', message: 'cannot say' });
});

test('a sample begins where the last one ended, so that every node gets its turn', (t) => {
  const nodes = nodesNamed(250);
  const seen: NodeInfo[] = [];
  const watch = filterBy((node) => {
    seen.push(node);
    return null;
  });
  const chooser = new Chooser({ ...EMPTY_PROFILE, filters: [watch] }, 1);
  for (let round = 0; round < 5; round++) chooser.choose(podInfo('p'), nodes);
  t.is(seen.length, 600);
  t.deepEqual(
    seen.map(({ name }) => name),
    Array.from({ length: 600 }, (_, at) => `n${at % 250}`),
  );
  t.is(chooser.nodesExamined, 600);
});

test('the sample goes on past nodes that do not fit', (t) => {
  const nodes = nodesNamed(200);
  const last = filterBy((node) => (node.name === 'n199' ? null : refusal('unschedulable', 0, 'no')));
  const chooser = new Chooser({ ...EMPTY_PROFILE, filters: [last] }, 1);
  t.is(chooser.choose(podInfo('p'), nodes).node?.name, 'n199');
});

test('the node with the highest weighted score is chosen', (t) => {
  const nodes = nodesNamed(3);
  const scores = [
    { plugin: scoreBy((node) => (node.name === 'n1' ? 60 : 0)), weight: 1 },
    { plugin: scoreBy((node) => (node.name === 'n2' ? 40 : 0)), weight: 2 },
  ];
  const chooser = new Chooser({ ...EMPTY_PROFILE, scores }, 1);
  t.is(chooser.choose(podInfo('p'), nodes).node?.name, 'n2');
});

const NORMALIZED: readonly (readonly ['none' | 'highest' | 'lowest', string])[] = [
  ['none', 'n0'],
  ['highest', 'n2'],
  ['lowest', 'n0'],
];

for (const [how, expected] of NORMALIZED) {
  test(`raw scores normalized by '${how}' weigh as they should against another plugin`, (t) => {
    const nodes = nodesNamed(3);
    const raw = [1, 2, 4];
    const scores = [
      { plugin: scoreBy((node) => raw[nodes.indexOf(node)]!, how), weight: 1 },
      { plugin: scoreBy((node) => (node.name === 'n0' ? 40 : 0)), weight: 1 },
    ];
    const chooser = new Chooser({ ...EMPTY_PROFILE, scores }, 1);
    t.is(chooser.choose(podInfo('p'), nodes).node?.name, expected);
  });
}

test('among equally good nodes every one is drawn, and no other', (t) => {
  const nodes = nodesNamed(5);
  const scores = [{ plugin: scoreBy((node) => (node.name === 'n3' ? 1 : 2)), weight: 1 }];
  const chooser = new Chooser({ ...EMPTY_PROFILE, scores }, 5);
  const drawn = new Set<string>();
  for (let round = 0; round < 200; round++) {
    drawn.add(chooser.choose(podInfo('p'), nodes).node?.name ?? 'none');
  }
  t.deepEqual([...drawn].sort(), ['n0', 'n1', 'n2', 'n4']);
});

test('when nothing fits, the reasons are counted over the nodes and listed in order', (t) => {
  const taints = [{ key: 'role', value: 'db', effect: 'NoSchedule' }];
  const nodes = [nodeInfo('a', { allocatable: { cpu: '1' } }), nodeInfo('b', { taints }), nodeInfo('c', { taints })];
  const chooser = new Chooser(defaultProfile(dialect), 1);
  t.deepEqual(chooser.choose(podInfo('p', { requests: { cpu: '2' } }), nodes), {
    node: null,
    code: 'unschedulable',
    message:
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had taint {role: db}, that the pod didn't tolerate.",
    helpedBy: ClusterEvent.nodeAdded | ClusterEvent.nodeTaints | ClusterEvent.nodeAllocatable | ClusterEvent.podRemoved,
    soughtRoom: true,
  });
});

test('without nodes there is nothing to count', (t) => {
  const chooser = new Chooser(defaultProfile(dialect), 1);
  t.deepEqual(chooser.choose(podInfo('p'), []), {
    node: null,
    code: 'unschedulable',
    message: 'no nodes available to schedule pods',
    helpedBy: ClusterEvent.nodeAdded,
  });
});

test('a plugin that refuses the pod as such is counted for every node', (t) => {
  const plugin: FilterPlugin = {
    name: 'Test',
    prepareFilter: () => refusal('unresolvable', ClusterEvent.nodeLabels, 'a volume is missing'),
  };
  const chooser = new Chooser({ ...EMPTY_PROFILE, filters: [plugin] }, 1);
  const choice = chooser.choose(podInfo('p'), nodesNamed(4));
  t.is(choice.node === null && choice.message, '0/4 nodes are available: 4 a volume is missing.');
});

test('a plugin that cannot decide ends the attempt, even where other nodes fit', (t) => {
  const broken = filterBy((node) => (node.name === 'n1' ? refusal('error', 0, 'no answer') : null));
  const chooser = new Chooser({ ...EMPTY_PROFILE, filters: [broken] }, 1);
  const choice = chooser.choose(podInfo('p'), nodesNamed(3));
  t.like(choice, { node: null, code: 'error', message: 'no answer' });
});

test('post-filter plugins see every refusal, and what they would do is part of the choice', (t) => {
  const seen: string[] = [];
  const profile: Profile = {
    ...EMPTY_PROFILE,
    filters: [filterBy(() => refusal('unschedulable', ClusterEvent.nodeAdded, 'full'))],
    postFilters: [
      {
        name: 'Test',
        postFilter({ pod, rejections }) {
          seen.push(...rejections.map(({ node, status }) => `${pod.name} ${node.name} ${status.reasons.join()}`));
          return { node: 'n1', victims: [] };
        },
      },
    ],
  };
  const choice = new Chooser(profile, 1).choose(podInfo('p'), nodesNamed(2));
  t.deepEqual(seen, ['p n0 full', 'p n1 full']);
  t.deepEqual(choice.node === null && choice.room, { node: 'n1', victims: [] });
});

test('nodes are tried zone by zone in turn', (t) => {
  const zones = { a: 'x', b: 'x', c: 'x', d: 'y', e: 'z', f: 'z' };
  const label = dialect.spell('topology.@label/zone');
  const nodes = Object.entries(zones).map(([name, zone]) => nodeInfo(name, { labels: { [label]: zone } }));
  t.is(
    spreadOverZones(nodes, zoneOf)
      .map(({ name }) => name)
      .join(''),
    'adebfc',
  );
});

test('a pod goes where it was promised room while it fits there, where nominated nodes are preferred', (t) => {
  const scores = [{ plugin: scoreBy(({ name }) => (name === 'n0' ? 100 : 0)), weight: 1 }];
  const nodes = nodesNamed(3);
  const promised = (node: string): Nominations => {
    const nominations = new Nominations();
    nominations.set(podInfo('p'), node);
    return nominations;
  };
  const chosen = (prefers: boolean, node: string, filters: readonly FilterPlugin[] = []) => {
    const chooser = new Chooser({ ...EMPTY_PROFILE, filters, scores }, 1, prefers);
    return chooser.choose(podInfo('p'), nodes, promised(node)).node?.name;
  };
  const full = filterBy(({ name }) => (name === 'n2' ? refusal('unschedulable', 0, 'full') : null));
  t.is(chosen(true, 'n2'), 'n2');
  t.is(chosen(false, 'n2'), 'n0');
  t.is(chosen(true, 'n2', [full]), 'n0');
  t.is(chosen(true, 'gone'), 'n0');
});
