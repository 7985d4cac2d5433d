import test from 'ava';
import { FilterRun } from '../../../../actors/scheduler/core/filter-run.ts';
import { Nominations } from '../../../../actors/scheduler/core/nominations.ts';
import { interPodAffinity } from '../../../../actors/scheduler/plugins/inter-pod-affinity.ts';
import { readPod } from '../../../../actors/scheduler/pods/pod-info.ts';
import { boundPod, newCore, node, type PodParts, pod } from '../objects.ts';
import { clusterFilterCases, clusterOf, clusterScoreCases, podOf } from './cluster-cases.ts';

const plugin = interPodAffinity({ hardPodAffinityWeight: 1 });
const NEAR = "node(s) didn't match pod affinity rules";
const AWAY = "node(s) didn't match pod anti-affinity rules";
const OTHERS = "node(s) didn't satisfy existing pods anti-affinity rules";
const HOST = 'host';

const term = (app: string, topologyKey = 'zone', more: object = {}) => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
  ...more,
});
type Term = ReturnType<typeof term>;

function affinity(kind: 'podAffinity' | 'podAntiAffinity', terms: readonly Term[], labels: object = {}): PodParts {
  const spec = { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
  return { spec, metadata: { labels } };
}
const near = (terms: readonly Term[], labels: object = {}) => affinity('podAffinity', terms, labels);
const away = (terms: readonly Term[], labels: object = {}) => affinity('podAntiAffinity', terms, labels);

function preferring(weighted: readonly (readonly [weight: number, term: Term])[], labels: object = {}): PodParts {
  const of = (wanted: boolean) =>
    weighted
      .filter(([weight]) => weight > 0 === wanted)
      .map(([weight, podAffinityTerm]) => ({ weight: Math.abs(weight), podAffinityTerm }));
  const spec = {
    affinity: {
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: of(true) },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: of(false) },
    },
  };
  return { spec, metadata: { labels } };
}

const app = (name: string, namespace = 'default'): PodParts => ({
  namespace,
  metadata: { namespace, labels: { app: name } },
});
const a1 = { labels: { zone: 'a', host: 'a1' } };
const a2 = { labels: { zone: 'a', host: 'a2' } };
const b1 = { labels: { zone: 'b', host: 'b1' } };
const nodes = { a1, a2, b1 };

clusterFilterCases(plugin, [
  { title: 'a pod without terms goes anywhere', nodes, placed: { 'a1/web': app('web') }, refused: {} },
  {
    title: 'required affinity takes the whole domain of a matching pod',
    nodes,
    placed: { 'a1/web': app('web') },
    pod: near([term('web')]),
    refused: { b1: NEAR },
  },
  {
    title: 'required affinity by host takes that host alone',
    nodes,
    placed: { 'a1/web': app('web') },
    pod: near([term('web', HOST)]),
    refused: { a2: NEAR, b1: NEAR },
  },
  {
    title: 'pods of another namespace are not near',
    nodes,
    placed: { 'a1/web': app('web', 'other') },
    pod: near([term('web')]),
    refused: { a1: NEAR, a2: NEAR, b1: NEAR },
  },
  {
    title: 'a term that names their namespace finds them',
    nodes,
    placed: { 'a1/web': app('web', 'other') },
    pod: near([term('web', 'zone', { namespaces: ['other'] })]),
    refused: { b1: NEAR },
  },
  {
    title: 'all terms must be met by the same pod',
    nodes,
    placed: { 'a1/web': app('web'), 'a1/db': app('db') },
    pod: near([term('web'), term('db')]),
    refused: { a1: NEAR, a2: NEAR, b1: NEAR },
  },
  {
    title: 'one pod that meets two terms serves each by its own key',
    nodes,
    placed: { 'a1/web': { metadata: { labels: { app: 'web', tier: 'front' } } } },
    pod: near([term('web', HOST), { topologyKey: 'zone', labelSelector: { matchLabels: { tier: 'front' } } } as never]),
    refused: { a2: NEAR, b1: NEAR },
  },
  {
    title: 'the first of a series that wants to be near its like goes anywhere',
    nodes,
    pod: near([term('web')], { app: 'web' }),
    refused: {},
  },
  {
    title: 'the first of a series still needs the label of the key',
    nodes: { ...nodes, bare: {} },
    pod: near([term('web')], { app: 'web' }),
    refused: { bare: NEAR },
  },
  {
    title: 'the second of the series goes where the first is',
    nodes,
    placed: { 'b1/web': app('web') },
    pod: near([term('web')], { app: 'web' }),
    refused: { a1: NEAR, a2: NEAR },
  },
  {
    title: 'a pod on a node without the label is near to nobody',
    nodes: { ...nodes, bare: {} },
    placed: { 'bare/web': app('web') },
    pod: near([term('web')]),
    refused: { a1: NEAR, a2: NEAR, b1: NEAR, bare: NEAR },
  },
  {
    title: 'required anti-affinity refuses the whole domain',
    nodes,
    placed: { 'a1/web': app('web') },
    pod: away([term('web')]),
    refused: { a1: AWAY, a2: AWAY },
  },
  {
    title: 'each anti-affinity term refuses for itself',
    nodes,
    placed: { 'a1/web': app('web'), 'b1/db': app('db') },
    pod: away([term('web', HOST), term('db', HOST)]),
    refused: { a1: AWAY, b1: AWAY },
  },
  {
    title: 'a node without the label of an anti-affinity term will do',
    nodes: { a1, bare: {} },
    placed: { 'a1/web': app('web'), 'bare/web': app('web') },
    pod: away([term('web')]),
    refused: { a1: AWAY },
  },
  {
    title: 'the anti-affinity of a placed pod holds for those that come',
    nodes,
    placed: { 'a1/db': away([term('web')], { app: 'db' }) },
    pod: app('web'),
    refused: { a1: OTHERS, a2: OTHERS },
  },
  {
    title: 'the anti-affinity of a placed pod leaves others alone',
    nodes,
    placed: { 'a1/db': away([term('web')], { app: 'db' }) },
    pod: app('cache'),
    refused: {},
  },
  {
    title: 'the anti-affinity of a placed pod speaks of its own namespace',
    nodes,
    placed: { 'a1/db': away([term('web')], { app: 'db' }) },
    pod: app('web', 'other'),
    refused: {},
  },
  {
    title: 'what the pod itself wants is said before what others want',
    nodes: { a1, b1 },
    placed: { 'a1/db': away([term('web')], { app: 'db' }), 'b1/db': away([term('web')], { app: 'db' }) },
    pod: away([term('db')], { app: 'web' }),
    refused: { a1: AWAY, b1: AWAY },
  },
  {
    title: 'expressions select as match labels do',
    nodes,
    placed: { 'a1/web': app('web') },
    pod: away([
      { topologyKey: HOST, labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } as never,
    ]),
    refused: { a1: AWAY },
  },
  {
    title: 'a term without a selector means no pod',
    nodes,
    placed: { 'a1/web': app('web') },
    pod: away([{ topologyKey: HOST } as never]),
    refused: {},
  },
  {
    title: 'a term with an empty selector means every pod of the namespace',
    nodes,
    placed: { 'a1/web': app('web'), 'b1/x': app('x', 'other') },
    pod: away([{ topologyKey: HOST, labelSelector: {} } as never]),
    refused: { a1: AWAY },
  },
]);

clusterScoreCases(plugin, [
  { title: 'without preferences anywhere the pod is skipped', nodes, placed: { 'a1/web': app('web') }, scores: null },
  {
    title: 'a preference is worth the whole domain',
    nodes,
    placed: { 'a1/web': app('web') },
    pod: preferring([[5, term('web')]]),
    scores: { a1: 100, a2: 100, b1: 0 },
  },
  {
    title: 'each matching pod counts',
    nodes,
    placed: { 'a1/w1': app('web'), 'a1/w2': app('web'), 'b1/w3': app('web') },
    pod: preferring([[5, term('web')]]),
    scores: { a1: 100, a2: 100, b1: 50 },
  },
  {
    title: 'a preference against pods lowers their domain',
    nodes,
    placed: { 'a1/web': app('web') },
    pod: preferring([[-5, term('web')]]),
    scores: { a1: 0, a2: 0, b1: 100 },
  },
  {
    title: 'preferences for and against add up',
    nodes,
    placed: { 'a1/web': app('web'), 'a2/db': app('db') },
    pod: preferring([
      [4, term('web')],
      [-4, term('db', HOST)],
    ]),
    scores: { a1: 100, a2: 0, b1: 0 },
  },
  {
    title:
      'of preferences about one kind of domain each counts by its weight, and twice where a pod is spoken of twice',
    nodes,
    placed: { 'a1/web': app('web'), 'b1/db': app('db'), 'a2/db': app('db') },
    pod: preferring([
      [4, term('web', HOST)],
      [3, term('db', HOST)],
      [5, { ...term('', HOST), labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } as never],
      [-8, { ...term('', HOST), labelSelector: { matchLabels: { app: 'db' } } }],
    ]),
    scores: { a1: 100, a2: 0, b1: 0 },
  },
  {
    title: 'a placed pod that prefers this one draws it near',
    nodes,
    placed: { 'b1/db': preferring([[7, term('web')]], { app: 'db' }) },
    pod: app('web'),
    scores: { a1: 0, a2: 0, b1: 100 },
  },
  {
    title: 'a placed pod that would rather be without this one keeps it off',
    nodes,
    placed: { 'b1/db': preferring([[-7, term('web')]], { app: 'db' }) },
    pod: app('web'),
    scores: { a1: 100, a2: 100, b1: 0 },
  },
  {
    title: 'a placed pod that requires this one draws it near with the weight of the profile',
    nodes,
    placed: { 'b1/db': near([term('web')], { app: 'db' }), 'a1/x': preferring([[2, term('web', HOST)]], { app: 'x' }) },
    pod: app('web'),
    scores: { a1: 100, a2: 0, b1: 50 },
  },
]);

test('InterPodAffinity: a trial counts pods that come and go on the node in question', (t) => {
  const parts = { nodes, placed: { 'a1/web': app('web') }, pod: away([term('web')], { app: 'lone' }) };
  const cluster = clusterOf(parts);
  const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
  const target = cluster.node('a1')!;
  const web = cluster.placed('default/a1-web')!.pod;
  t.not(run.check(target), null);
  run.change(web, target, -1);
  t.is(run.check(target), null, 'the pod that stands in the way is gone');
  const other = readPod(boundPod('o', 'a1', away([term('lone')], { app: 'other' })));
  run.change(other, target, 1);
  t.is(run.check(target)?.reasons.at(-1), OTHERS, 'a pod that comes does not want this one');
  run.change(other, target, -1);
  t.is(run.check(target), null);
  run.reset();
  t.is(run.check(target)?.reasons.at(-1), AWAY, 'everything is as it was');
});

test('InterPodAffinity: a trial asks nothing of the terms of a pod about pods that are placed, however many terms it has', (t) => {
  const terms = Array.from({ length: 100 }, (_, at) => term(`app-${at}`));
  const all = Object.fromEntries([...'abc'].map((name, at) => [`a1/${name}`, app(`app-${at}`)]));
  for (const pod of [near(terms), away(terms)]) {
    const parts = { nodes, placed: all, pod };
    const cluster = clusterOf(parts);
    const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
    let asked = 0;
    const { topology } = cluster;
    const termMatches = topology.termMatches.bind(topology);
    topology.termMatches = (...about) => {
      asked++;
      return termMatches(...about);
    };
    const target = cluster.node('a1')!;
    for (const other of target.pods.values()) run.change(other, target, -1);
    run.check(target);
    t.is(asked, 0);
  }
});

test('InterPodAffinity: very many placed pods that each want this one away from their node count there until they are gone', (t) => {
  const lone = app('lone');
  const unwelcoming = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`a1/${at}`, away([term('lone', 'zone'), term('lone', `kind-${at}`)], lone)]),
  );
  const named = Array.from({ length: 20 }, (_, at): [string, PodParts] => [
    `a2/other-${at}`,
    away([term('lone', 'zone', { namespaces: ['default', `team-${at}`] })]),
  ]);
  const parts = { nodes, placed: { ...unwelcoming, ...Object.fromEntries(named) }, pod: lone };
  const cluster = clusterOf(parts);
  const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
  const [a1, a2] = [cluster.node('a1')!, cluster.node('a2')!];
  t.is(run.check(a1)?.reasons.at(-1), OTHERS);
  for (const other of a1.pods.values()) run.change(other, a1, -1);
  t.is(run.check(a1)?.reasons.at(-1), OTHERS, 'those on the other node of the zone still stand in the way');
  run.reset();
  for (const other of [...a1.pods.values(), ...a2.pods.values()]) run.change(other, a2, -1);
  t.is(run.check(a2), null);
  run.reset();
  t.is(run.check(a2)?.reasons.at(-1), OTHERS);
});

/** Says how many counts of pods have been asked for from now on. */
function countsMade({ topology }: ReturnType<typeof clusterOf>): () => number {
  let counts = 0;
  const counted = topology.counted.bind(topology);
  topology.counted = (...asked) => {
    counts++;
    return counted(...asked);
  };
  return () => counts;
}

test('InterPodAffinity: however many terms speak of one kind of domain, their pods are counted once', (t) => {
  const terms = Array.from({ length: 1000 }, (_, at) => term(`app-${at}`));
  const weighted = terms.map((each): [number, Term] => [1, each]);
  for (const pod of [near(terms), away(terms), preferring(weighted)]) {
    const parts = { nodes, placed: { 'a1/web': app('app-7') }, pod };
    const cluster = clusterOf(parts);
    const counts = countsMade(cluster);
    new FilterRun(podOf(parts), cluster, [plugin], new Nominations()).check(cluster.node('b1')!);
    plugin.prepareScore(podOf(parts), cluster, []);
    t.is(counts(), 1);
  }
});

test('InterPodAffinity: kinds of domains that no node is in are not counted where a pod speaks of very many', (t) => {
  const terms = Array.from({ length: 1000 }, (_, at) => term('web', at === 0 ? 'zone' : `kind-${at}`));
  const weighted = terms.map((each): [number, Term] => [1, each]);
  const cases = [
    { pod: near(terms), refused: true, counted: 0 },
    { pod: away(terms), refused: true, counted: 1 },
    { pod: preferring(weighted), refused: false, counted: 1 },
  ];
  for (const { pod, refused, counted } of cases) {
    const parts = { nodes, placed: { 'a1/web': app('web') }, pod };
    const cluster = clusterOf(parts);
    const counts = countsMade(cluster);
    t.is(
      new FilterRun(podOf(parts), cluster, [plugin], new Nominations()).check(cluster.node('a1')!) !== null,
      refused,
    );
    plugin.prepareScore(podOf(parts), cluster, []);
    t.is(counts(), counted);
  }
});

test('InterPodAffinity: a trial counts a pod that several terms keep away until it is gone', (t) => {
  const parts = { nodes, placed: { 'a1/web': app('web'), 'a2/db': app('db') }, pod: away([term('web'), term('db')]) };
  const cluster = clusterOf(parts);
  const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
  const target = cluster.node('a1')!;
  run.change(cluster.placed('default/a1-web')!.pod, target, -1);
  t.is(run.check(target)?.reasons.at(-1), AWAY);
  run.change(cluster.placed('default/a2-db')!.pod, target, -1);
  t.is(run.check(target), null);
});

test('InterPodAffinity: counts follow pods that go, nodes that change their labels, and nodes that leave', (t) => {
  const parts = { nodes, placed: { 'a1/web': app('web') }, pod: near([term('web')]) };
  const cluster = clusterOf(parts);
  const fits = () => {
    const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
    return Object.keys(nodes).filter((name) => run.check(cluster.node(name)!) === null);
  };
  t.deepEqual(fits(), ['a1', 'a2']);
  cluster.setNode('a1', node('a1', { labels: { zone: 'b' } }));
  t.deepEqual(fits(), ['a1', 'b1']);
  cluster.setBound(readPod(boundPod('b1-web', 'a2', app('web'))));
  t.deepEqual(fits(), ['a1', 'a2', 'b1']);
  cluster.removePod('default/a1-web');
  t.deepEqual(fits(), ['a2']);
  cluster.removeNode('a2');
  cluster.setNode('a2', node('a2', a2));
  t.deepEqual(fits(), ['a2'], 'the pods of a node that comes back count again');
});

const ofTeam = { namespaceSelector: { matchLabels: { team: 'x' } } };
const TEAM = { team: 'x' };
const DB = { metadata: { labels: { app: 'db' } } };
/** What keeps a pod from the one node there is, and the labels of the namespace `other` before and when that is over. */
const BY_LABELS: Readonly<Record<string, readonly [wants: PodParts, placed: PodParts, before: object, then: object]>> =
  {
    'it wants to be near come into its terms': [near([term('db', 'zone', ofTeam)]), DB, {}, TEAM],
    'it wants to be away from go out of its terms': [away([term('db', 'zone', ofTeam)]), DB, TEAM, {}],
  };

for (const [title, [wants, placed, before, then]] of Object.entries(BY_LABELS)) {
  test(`a pod is tried again when by the labels of their namespace those that ${title}`, (t) => {
    const core = newCore();
    core.setNode('n', node('n', { labels: { zone: 'a' } }));
    core.setObject('core/namespaces', '', 'other', { metadata: { name: 'other', labels: before } });
    core.setPod(boundPod('db', 'n', { namespace: 'other', ...placed }), 0);
    core.setPod(pod('p', wants), 0);
    core.advance(0);
    t.is(core.decide(0)?.kind, 'unschedulable');
    core.setObject('core/namespaces', '', 'other', { metadata: { name: 'other', labels: then } });
    core.advance(20_000);
    t.is(core.decide(20_000)?.kind, 'bind');
  });
}

test('a pod is tried again when by the labels of its namespace others do not want it away any more', (t) => {
  const core = newCore();
  for (const zone of ['a', 'b']) core.setNode(zone, node(zone, { labels: { zone } }));
  core.setObject('core/namespaces', '', 'default', { metadata: { name: 'default', labels: TEAM } });
  core.setPod(boundPod('lone', 'a', { namespace: 'other', ...away([term('web', 'zone', ofTeam)]) }), 0);
  const metadata = { labels: { app: 'web' } };
  // What speaks of pods like it has been asked before.
  core.setPod(boundPod('like', 'b', { metadata }), 0);
  core.setPod(pod('p', { metadata, spec: { nodeSelector: { zone: 'a' } } }), 0);
  core.advance(0);
  t.is(core.decide(0)?.kind, 'unschedulable');
  core.setObject('core/namespaces', '', 'default', { metadata: { name: 'default', labels: {} } });
  core.advance(20_000);
  t.is(core.decide(20_000)?.kind, 'bind');
});
