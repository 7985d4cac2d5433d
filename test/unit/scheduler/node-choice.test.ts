import test from 'ava';
import type { NodeAnswer } from '../../../actors/scheduler/core/decision.ts';
import {
  type Choice,
  feasibleNodesWanted,
  NodeChooser,
  UNFINISHED,
} from '../../../actors/scheduler/core/node-choice.ts';
import { spreadOverZones } from '../../../actors/scheduler/core/node-order.ts';
import { Nominations } from '../../../actors/scheduler/core/nominations.ts';
import type {
  FilterPlugin,
  PreparedFilter,
  Profile,
  Rejection,
  ScorePlugin,
} from '../../../actors/scheduler/framework/framework.ts';
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

/** A chooser that others are asked beside; `prepare`: what the one filter makes of a pod, each time. */
function askedChooser(prepare: () => PreparedFilter | Status | null, profile: Partial<Profile> = {}) {
  const plugin: FilterPlugin = { name: 'Test', prepareFilter: prepare };
  const whole: Profile = { ...EMPTY_PROFILE, filters: [plugin], ...profile };
  const chooser = new NodeChooser(seededRandom(1), { sampledPercent: 0, prefersNominatedNode: true });
  const pod = podInfo('p');
  return {
    chooser,
    sift: (nodes: readonly NodeInfo[], nominations = new Nominations()) =>
      chooser.sift(pod, whole, viewOf(nodes), nominations),
    answered: (
      nodes: readonly NodeInfo[],
      answer: Partial<NodeAnswer>,
      { nominations = new Nominations(), before = [] as readonly Rejection[] } = {},
    ): Choice =>
      chooser.chooseAnswered(pod, whole, viewOf(nodes), nominations, before, {
        kept: [],
        rejections: [],
        scores: new Map(),
        ...answer,
      }),
  };
}

const LETS_ALL = (): PreparedFilter => ({ check: () => null });

function promisedOn(node: string): Nominations {
  const nominations = new Nominations();
  nominations.set(podInfo('p'), node);
  return nominations;
}

const siftedNames = (sifted: ReturnType<NodeChooser['sift']>): string[] =>
  sifted !== UNFINISHED && 'feasible' in sifted ? sifted.feasible.map(({ name }) => name) : [];

test('where there are no nodes nobody is asked about them', (t) => {
  t.like(askedChooser(LETS_ALL).sift([]), { code: 'unschedulable', message: 'no nodes available to schedule pods' });
});

test('others are asked about the node on which room is promised as well, whether or not the sample has it', (t) => {
  const nodes = nodesNamed(250);
  t.is(siftedNames(askedChooser(LETS_ALL).sift(nodes)).length, 120);
  for (const promised of ['n3', 'n249']) {
    const names = siftedNames(askedChooser(LETS_ALL).sift(nodes, promisedOn(promised)));
    t.is(names.filter((name) => name === promised).length, 1);
    t.is(names.length, promised === 'n3' ? 120 : 121);
  }
});

test('of the nodes that others keep a pod goes to the one that was promised to it, and to no other that they like better', (t) => {
  const nodes = nodesNamed(3);
  const scores = new Map([['n0', 10]]);
  const chosen = (kept: readonly NodeInfo[], nominations: Nominations) =>
    askedChooser(LETS_ALL).answered(nodes, { kept, scores }, { nominations }).node?.name;
  t.is(chosen(nodes, promisedOn('n2')), 'n2');
  t.is(chosen(nodes.slice(0, 2), promisedOn('n2')), 'n0');
  t.is(chosen(nodes, promisedOn('gone')), 'n0');
  t.is(chosen(nodes, new Nominations()), 'n0');
});

test('a node that has gone while others were asked is not gone to', (t) => {
  const nodes = nodesNamed(2);
  nodes[0]!.present = false;
  const nominations = promisedOn('n0');
  t.is(askedChooser(LETS_ALL).answered(nodes, { kept: nodes }, { nominations }).node?.name, 'n1');
});

test('a pod that a plug-in refuses as such by the time that others have answered is told why', (t) => {
  const nodes = nodesNamed(3);
  const lost = askedChooser(() => refusal('unresolvable', ClusterEvent.nodeLabels, 'a volume is missing'));
  t.like(lost.answered(nodes, { kept: nodes.slice(0, 2) }, { before: [] }), {
    code: 'unschedulable',
    message: '0/3 nodes are available: 3 a volume is missing.',
    helpedBy: ClusterEvent.nodeLabels,
  });
  const broken = askedChooser(() => refusal('error', 0, 'no answer'));
  t.like(broken.answered(nodes, { kept: nodes }), { code: 'error', message: 'no answer' });
});

test('a plug-in that cannot decide any more about a node that others keep ends the attempt', (t) => {
  const nodes = nodesNamed(2);
  const broken = askedChooser(() => ({
    check: ({ name }) => (name === 'n1' ? refusal('error', 0, 'no answer') : null),
  }));
  t.like(broken.answered(nodes, { kept: nodes }), { code: 'error', message: 'no answer' });
});

test('the reasons of the nodes that are out of the question are asked for once all others are refused, each once', (t) => {
  const nodes = nodesNamed(3);
  const reasons = ['full', 'far', 'old'];
  const asked: string[] = [];
  const check = ({ name }: NodeInfo): Status => {
    asked.push(name);
    return refusal('unschedulable', 0, reasons[Number(name.slice(1))]!);
  };
  const { answered, chooser } = askedChooser(() => ({ check, only: ['n0'] }));
  const before = [{ node: nodes[0]!, status: refusal('unschedulable', 0, 'no licence') }];
  const answer = answered(nodes, {}, { before });
  t.like(answer, { message: '0/3 nodes are available: 1 far, 1 no licence, 1 old.', soughtRoom: false });
  t.deepEqual(asked, ['n1', 'n2']);
  t.is(chooser.nodesExamined, 2);
  const broken = askedChooser(() => ({ check: () => refusal('error', 0, 'no answer'), only: ['n0'] }));
  t.like(broken.answered(nodes, {}, { before }), { code: 'error', message: 'no answer' });
});

test('where a plug-in knows the only nodes that can do, no others are looked at unless those will not', (t) => {
  const nodes = nodesNamed(4);
  nodes[3]!.present = false;
  const asked: string[] = [];
  const choice = (fits: string) => {
    asked.length = 0;
    const check = ({ name }: NodeInfo): Status | null => {
      asked.push(name);
      return name === fits ? null : refusal('unschedulable', 0, `${name} is full`);
    };
    const only = ['n2', 'n2', 'gone', 'n3', 'n1'];
    const plugin: FilterPlugin = { name: 'Test', prepareFilter: () => ({ check, only }) };
    return new Chooser({ ...EMPTY_PROFILE, filters: [plugin] }, 1).choose(podInfo('p'), nodes);
  };
  t.is(choice('n1').node?.name, 'n1');
  t.deepEqual(asked, ['n2', 'n1']);
  t.like(choice('none'), {
    message: '0/4 nodes are available: 1 n0 is full, 1 n1 is full, 1 n2 is full, 1 n3 is full.',
  });
});

test('where a pod was promised room it does not go if a plug-in refuses it as such, or the node has gone', (t) => {
  const scores = [{ plugin: scoreBy(({ name }) => (name === 'n0' ? 100 : 0)), weight: 1 }];
  const lost = refusal('unresolvable', 0, 'a volume is missing');
  const refusing = new Chooser({ ...EMPTY_PROFILE, filters: [{ name: 'Test', prepareFilter: () => lost }] }, 1, true);
  t.is(refusing.choose(podInfo('p'), nodesNamed(3), promisedOn('n2')).node, null);
  const nodes = nodesNamed(3);
  nodes[2]!.present = false;
  t.is(
    new Chooser({ ...EMPTY_PROFILE, scores }, 1, true).choose(podInfo('p'), nodes, promisedOn('n2')).node?.name,
    'n0',
  );
});

test('a promised node that the sample has refused is told of once, and one that nobody can decide about ends the attempt', (t) => {
  const nodes = nodesNamed(3);
  const refuses = (status: Status) => () => ({ check: ({ name }: NodeInfo) => (name === 'n1' ? status : null) });
  const sifted = askedChooser(refuses(refusal('unschedulable', 0, 'full'))).sift(nodes, promisedOn('n1'));
  t.deepEqual(sifted !== UNFINISHED && 'rejections' in sifted && sifted.rejections.map(({ node }) => node.name), [
    'n1',
  ]);
  t.deepEqual(siftedNames(sifted), ['n0', 'n2']);
  t.like(askedChooser(refuses(refusal('error', 0, 'no answer'))).sift(nodes), { code: 'error', message: 'no answer' });
});
