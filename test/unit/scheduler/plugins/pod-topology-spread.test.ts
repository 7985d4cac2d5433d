import test from 'ava';
import { FilterRun } from '../../../../actors/scheduler/core/filter-run.ts';
import { Nominations } from '../../../../actors/scheduler/core/nominations.ts';
import { podTopologySpread } from '../../../../actors/scheduler/plugins/pod-topology-spread.ts';
import { readPod } from '../../../../actors/scheduler/pods/pod-info.ts';
import type { Status } from '../../../../actors/scheduler/status.ts';
import { boundPod, node, type PodParts } from '../objects.ts';
import { clusterFilterCases, clusterOf, clusterScoreCases, podOf } from './cluster-cases.ts';

const plugin = podTopologySpread({ defaultConstraints: [], systemDefaults: false, hostnameLabel: 'host' });
const SKEWED = "node(s) didn't match pod topology spread constraints";
const NO_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)";

const selector = { matchLabels: { app: 'web' } };
const must = (maxSkew: number, topologyKey: string, labelSelector: object = selector) => ({
  maxSkew,
  topologyKey,
  labelSelector,
  whenUnsatisfiable: 'DoNotSchedule',
});
const may = (maxSkew: number, topologyKey: string, labelSelector: object = selector) => ({
  ...must(maxSkew, topologyKey, labelSelector),
  whenUnsatisfiable: 'ScheduleAnyway',
});
const web: PodParts = { metadata: { labels: { app: 'web' } } };
const spread = (constraints: readonly object[], spec: object = {}): PodParts => ({
  ...web,
  spec: { topologySpreadConstraints: constraints, ...spec },
});
const nodes = {
  a1: { labels: { zone: 'a', host: 'a1', disk: 'ssd' } },
  a2: { labels: { zone: 'a', host: 'a2' } },
  b1: { labels: { zone: 'b', host: 'b1' } },
  b2: { labels: { zone: 'b', host: 'b2', disk: 'ssd' } },
};

clusterFilterCases(plugin, [
  { title: 'a pod without constraints goes anywhere', nodes, pod: web, refused: {} },
  { title: 'an empty cluster is even', nodes, pod: spread([must(1, 'zone')]), refused: {} },
  {
    title: 'a zone that is ahead is refused',
    nodes,
    placed: { 'a1/w': web },
    pod: spread([must(1, 'zone')]),
    refused: { a1: SKEWED, a2: SKEWED },
  },
  {
    title: 'a larger skew allows it',
    nodes,
    placed: { 'a1/w': web },
    pod: spread([must(2, 'zone')]),
    refused: {},
  },
  {
    title: 'a pod that the selector does not match adds nothing itself',
    nodes,
    placed: { 'a1/w': web },
    pod: { spec: { topologySpreadConstraints: [must(1, 'zone')] } },
    refused: {},
  },
  {
    title: 'pods of another namespace do not count',
    nodes,
    placed: { 'a1/w': { ...web, namespace: 'other' } },
    pod: spread([must(1, 'zone')]),
    refused: {},
  },
  {
    title: 'pods that are being deleted do not count',
    nodes,
    placed: { 'a1/w': { metadata: { labels: { app: 'web' }, deletionTimestamp: '2026-01-01T00:00:00Z' } } },
    pod: spread([must(1, 'zone')]),
    refused: {},
  },
  {
    title: 'a node without the label is refused for that',
    nodes: { ...nodes, bare: {} },
    pod: spread([must(1, 'zone')]),
    refused: { bare: NO_LABEL },
  },
  {
    title: 'a node that lacks the label of one constraint does not count for the other',
    nodes: { a1: nodes.a1, b1: { labels: { zone: 'b' } } },
    placed: { 'a1/w': web },
    pod: spread([must(1, 'zone'), must(1, 'host')]),
    refused: { b1: NO_LABEL },
  },
  {
    title: 'every constraint must hold',
    nodes,
    placed: { 'a1/w': web, 'b1/w': web },
    pod: spread([must(1, 'zone'), must(1, 'host')]),
    refused: { a1: SKEWED, b1: SKEWED },
  },
  {
    title: 'the least is taken over nodes that the node selector allows',
    nodes,
    placed: { 'a1/w': web },
    pod: spread([must(1, 'host')], { nodeSelector: { zone: 'a' } }),
    refused: { a1: SKEWED },
  },
  {
    title: 'pods on nodes that the node selector leaves out count in zones that have others',
    nodes,
    placed: { 'a1/w1': web, 'b1/w': web, 'b1/w3': web },
    pod: spread([must(1, 'zone')], { nodeSelector: { disk: 'ssd' } }),
    refused: { b1: SKEWED, b2: SKEWED },
  },
  {
    title: 'a zone of nodes that the node selector leaves out is not among the least',
    nodes: { ...nodes, c1: { labels: { zone: 'c', host: 'c1' } } },
    placed: { 'a1/w1': web, 'b1/w': web },
    pod: spread([must(1, 'zone')], { nodeSelector: { disk: 'ssd' } }),
    refused: {},
  },
  {
    title: 'pods on nodes that lack the label of one constraint count for the other in zones that have other nodes',
    nodes: { a1: nodes.a1, b1: { labels: { zone: 'b' } }, b2: nodes.b2 },
    placed: { 'b1/w': web },
    pod: spread([must(1, 'zone'), must(1, 'host')]),
    refused: { b1: SKEWED, b2: SKEWED },
  },
  {
    title: 'preferences refuse nothing',
    nodes,
    placed: { 'a1/w': web, 'a1/w2': web },
    pod: spread([may(1, 'zone')]),
    refused: {},
  },
  {
    title: 'a constraint without a selector counts nobody',
    nodes,
    placed: { 'a1/w': web, 'a1/w2': web },
    pod: { ...web, spec: { topologySpreadConstraints: [{ ...must(1, 'zone'), labelSelector: undefined }] } },
    refused: {},
  },
]);

clusterScoreCases(plugin, [
  { title: 'without preferences the pod is skipped', nodes, pod: spread([must(1, 'zone')]), scores: null },
  {
    title: 'an empty cluster scores alike',
    nodes,
    pod: spread([may(1, 'zone')]),
    scores: { a1: 100, a2: 100, b1: 100, b2: 100 },
  },
  {
    title: 'the zone with fewer pods scores higher',
    nodes,
    placed: { 'a1/w1': web, 'a1/w2': web, 'b1/w': web },
    pod: spread([may(1, 'zone')]),
    scores: { a1: 50, a2: 50, b1: 100, b2: 100 },
  },
  {
    title: 'the host with fewer pods scores higher',
    nodes,
    placed: { 'a1/w1': web, 'a1/w2': web, 'a2/w': web },
    pod: spread([may(1, 'host')]),
    scores: { a1: 0, a2: 66, b1: 100, b2: 100 },
  },
  {
    title: 'nodes without the label score nothing',
    nodes: { ...nodes, bare: {} },
    placed: { 'a1/w1': web },
    pod: spread([may(1, 'zone')]),
    scores: { a1: 0, a2: 0, b1: 100, b2: 100, bare: 0 },
  },
  {
    title: 'a larger skew is worth less, but the order stays',
    nodes: { a1: nodes.a1, b1: nodes.b1 },
    placed: { 'a1/w1': web, 'a1/w2': web },
    pod: spread([may(3, 'zone')]),
    scores: { a1: 50, b1: 100 },
  },
]);

test('PodTopologySpread: a trial counts pods that come and go on the node in question', (t) => {
  const parts = { nodes, placed: { 'a1/w': web, 'a2/w': web, 'b1/w': web }, pod: spread([must(1, 'zone')]) };
  const cluster = clusterOf(parts);
  const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
  const target = cluster.node('a1')!;
  const placed = cluster.placed('default/a1-w')!.pod;
  t.is(run.check(target)?.reasons[0], SKEWED);
  run.change(placed, target, -1);
  t.is(run.check(target), null);
  run.change(placed, target, 1);
  t.is(run.check(target)?.reasons[0], SKEWED);
  run.change(placed, target, -1);
  run.reset();
  t.is(run.check(target)?.reasons[0], SKEWED);
  t.is(run.check(cluster.node('b1')!), null);
});

test('PodTopologySpread: domains come with their first node and go with their last', (t) => {
  const parts = { nodes, placed: { 'a1/w': web, 'b1/w': web }, pod: spread([must(1, 'zone')]) };
  const cluster = clusterOf(parts);
  const refused = () => {
    const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
    return ['a1', 'b1', 'c1'].filter((name) => cluster.node(name)?.present && run.check(cluster.node(name)!) !== null);
  };
  t.deepEqual(refused(), []);
  cluster.setNode('c1', node('c1', { labels: { zone: 'c' } }));
  t.deepEqual(refused(), ['a1', 'b1'], 'the new zone has none yet');
  cluster.setBound(readPod(boundPod('c', 'c1', web)));
  t.deepEqual(refused(), []);
  cluster.removePod('default/c');
  cluster.removeNode('c1');
  t.deepEqual(refused(), []);
  cluster.setNode('b1', node('b1', { labels: { zone: 'a' } }));
  t.deepEqual(refused(), ['a1', 'b1'], 'zone b has b2 left, and no pod');
});

test('PodTopologySpread: a zone is one from its first node that the node selector allows, with the pods of its other nodes', (t) => {
  const zoneC = { zone: 'c', host: 'c1' };
  const parts = {
    nodes: { a1: nodes.a1, a2: nodes.a2, c1: { labels: zoneC } },
    placed: { 'a1/w': web, 'c1/w1': web, 'c1/w2': web },
    pod: spread([must(1, 'zone')], { nodeSelector: { disk: 'ssd' } }),
  };
  const cluster = clusterOf(parts);
  const refused = () => {
    const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
    return ['a1', 'a2', 'c1'].filter((name) => run.check(cluster.node(name)!) !== null);
  };
  t.deepEqual(refused(), [], 'zone c is none');
  cluster.setNode('c1', node('c1', { labels: { ...zoneC, disk: 'ssd' } }));
  t.deepEqual(refused(), ['c1'], 'it has more than zone a');
  cluster.removePod('default/c1-w1');
  cluster.removePod('default/c1-w2');
  t.deepEqual(refused(), ['a1', 'a2'], 'it has the least');
  cluster.setBound(readPod(boundPod('late', 'a2', web)));
  cluster.setNode('c1', node('c1', { labels: zoneC }));
  t.deepEqual(refused(), [], 'zone a is the only one');
});

test('PodTopologySpread: nodes without a label of the built-in defaults are one domain of it more', (t) => {
  const defaultConstraints = [{ maxSkew: 1, topologyKey: 'zone', required: false }];
  const defaults = podTopologySpread({ defaultConstraints, systemDefaults: true, hostnameLabel: 'host' });
  const scoresWith = (more: Readonly<Record<string, object>>) => {
    const placed = { 'a1/w1': web, 'a1/w2': web, 'a1/w3': web, 'b1/w': web };
    const parts = { nodes: { a1: nodes.a1, b1: nodes.b1, ...more }, placed, pod: web };
    const cluster = clusterOf(parts);
    cluster.objects.set('core/services', 'default', 'web', { spec: { selector: web.metadata?.labels } });
    const all = [...cluster.nodes];
    const scorer = defaults.prepareScore(podOf(parts), cluster, all)!;
    return Object.fromEntries(all.map((each) => [each.name, scorer.score(each)]));
  };
  t.deepEqual(scoresWith({}), { a1: Math.trunc(3 * Math.log(4)), b1: Math.trunc(Math.log(4)) });
  const withBare = { a1: Math.trunc(3 * Math.log(5)), b1: Math.trunc(Math.log(5)), bare: 0, bare2: 0 };
  t.deepEqual(scoresWith({ bare: {}, bare2: {} }), withBare);
});

test('PodTopologySpread: a must whose selector cannot be read fails the attempt, a wish is passed over', (t) => {
  const unreadable = { matchExpressions: [{ key: 'app', operator: 'In', values: ['not a value'] }] };
  const prepared = (constraint: object) => {
    const parts = { nodes, pod: spread([constraint]) };
    return plugin.prepareFilter(podOf(parts), clusterOf(parts));
  };
  const status = prepared(must(1, 'zone', unreadable)) as Status;
  t.is(status.code, 'error');
  const told = `running PreFilter plugin "PodTopologySpread": obtaining pod's hard topology spread constraints: label selector: `;
  t.true(status.reasons[0]?.startsWith(told), status.reasons[0]);
  t.is(prepared(may(1, 'zone', unreadable)), null);
});

test('PodTopologySpread: keys that no node has are not counted by, however many of them a pod names', (t) => {
  const keys = Array.from({ length: 1000 }, (_, at) => `kind-${at}`);
  for (const constraint of [must, may]) {
    const pod = spread([constraint(1, 'zone'), ...keys.map((key) => constraint(1, key))]);
    const parts = { nodes, placed: { 'a1/w': web }, pod };
    const cluster = clusterOf(parts);
    const { topology } = cluster;
    let counts = 0;
    const spreadCounts = topology.spreadCounts.bind(topology);
    topology.spreadCounts = (...asked) => {
      counts++;
      return spreadCounts(...asked);
    };
    const all = [...cluster.nodes];
    const run = new FilterRun(podOf(parts), cluster, [plugin], new Nominations());
    const refused = all.filter((each) => run.check(each) !== null).length;
    t.is(refused, constraint === must ? all.length : 0);
    const scorer = plugin.prepareScore(podOf(parts), cluster, all);
    for (const each of all) scorer?.score(each);
    t.true(counts <= 1, `${counts}`);
  }
});
