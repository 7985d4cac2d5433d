import test from 'ava';
import { FilterRun } from '../../../../actors/scheduler/core/filter-run.ts';
import { Nominations } from '../../../../actors/scheduler/core/nominations.ts';
import type { ScorePlugin } from '../../../../actors/scheduler/framework/framework.ts';
import { DEFAULT_GATES } from '../../../../actors/scheduler/framework/gates.ts';
import { imageLocality } from '../../../../actors/scheduler/plugins/image-locality.ts';
import { nodeAffinity } from '../../../../actors/scheduler/plugins/node-affinity.ts';
import { nodeLabel } from '../../../../actors/scheduler/plugins/node-label.ts';
import { nodePreferAvoidPods } from '../../../../actors/scheduler/plugins/node-prefer-avoid-pods.ts';
import { nodeResourcesFit } from '../../../../actors/scheduler/plugins/node-resources-fit.ts';
import { podTopologySpread } from '../../../../actors/scheduler/plugins/pod-topology-spread.ts';
import { requestedToCapacityRatio } from '../../../../actors/scheduler/plugins/requested-to-capacity-ratio.ts';
import { leastAllocated, mostAllocated } from '../../../../actors/scheduler/plugins/resource-scores.ts';
import { runtimeClass } from '../../../../actors/scheduler/plugins/runtime-class.ts';
import { selectorSpread } from '../../../../actors/scheduler/plugins/selector-spread.ts';
import { serviceAffinity } from '../../../../actors/scheduler/plugins/service-affinity.ts';
import { PLUGIN_ARGS } from '../../../../actors/scheduler/profiles/plugin-args.ts';
import { PLUGINS } from '../../../../actors/scheduler/profiles/plugin-table.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { dialect, type PodParts } from '../objects.ts';
import { clusterFilterCases, clusterOf, clusterScoreCases, podOf } from './cluster-cases.ts';

const sized = (cpu: string, memory = '0', more: object = {}): PodParts => ({ requests: { cpu, memory, ...more } });
const ten = { allocatable: { cpu: '10', memory: '10000Mi' } };
const nodes = { n: ten };
const scored = (n: number) => ({ n });

clusterScoreCases(mostAllocated(), [
  { title: 'an empty node and a pod of no size score 0', nodes, pod: sized('0'), scores: scored(0) },
  { title: 'half of both used scores 50', nodes, pod: sized('5', '5000Mi'), scores: scored(50) },
  { title: 'the shares are averaged and rounded down', nodes, pod: sized('2500m'), scores: scored(12) },
  {
    title: 'pods on the node count',
    nodes,
    placed: { 'n/o': sized('3', '3000Mi') },
    pod: sized('2', '2000Mi'),
    scores: scored(50),
  },
  { title: 'more than the capacity scores 0', nodes, pod: sized('11', '10001Mi'), scores: scored(0) },
  {
    title: 'a node without capacity scores 0',
    nodes: { n: { allocatable: { cpu: '0', memory: '0' } } },
    pod: sized('0'),
    scores: scored(0),
  },
]);

const gpu = { allocatable: { cpu: '10', memory: '10000Mi', 'example.com/gpu': '4', 'ephemeral-storage': '100Gi' } };
const gpus = [
  { name: 'example.com/gpu', weight: 3 },
  { name: 'cpu', weight: 1 },
];
clusterScoreCases(leastAllocated(gpus), [
  {
    title: 'resources weigh as the profile says',
    nodes: { n: gpu },
    pod: sized('5', '0', { 'example.com/gpu': '1' }),
    scores: scored(68),
  },
  { title: 'a node without the resource scores 0 for it', nodes: { n: ten }, pod: sized('0'), scores: scored(25) },
]);
const NAMED_TWICE = [
  { name: 'cpu', weight: 9 },
  { name: 'memory', weight: 1 },
  { name: 'cpu', weight: 1 },
];
const least = PLUGINS.get('NodeResourcesLeastAllocated')!;
const namedTwice = { ...PLUGIN_ARGS, NodeResourcesLeastAllocated: { resources: NAMED_TWICE } };
clusterScoreCases(least.create(namedTwice, dialect, DEFAULT_GATES) as ScorePlugin, [
  {
    title: 'a resource that is named twice counts once, by the weight that is told last',
    nodes: { n: { allocatable: { cpu: '10', memory: '10Gi' } } },
    pod: { requests: { cpu: '10', memory: '0' } },
    scores: { n: 50 },
  },
]);
clusterScoreCases(leastAllocated([{ name: 'ephemeral-storage', weight: 1 }]), [
  {
    title: 'ephemeral storage counts where it is named',
    nodes: { n: gpu },
    pod: sized('0', '0', { 'ephemeral-storage': '25Gi' }),
    scores: scored(75),
  },
]);

const packing = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];
const valley = [
  { utilization: 0, score: 10 },
  { utilization: 50, score: 0 },
  { utilization: 100, score: 10 },
];
clusterScoreCases(requestedToCapacityRatio(packing), [
  { title: 'a rising line fills nodes up', nodes, pod: sized('5', '5000Mi'), scores: scored(50) },
  { title: 'more than the capacity is full', nodes, pod: sized('11', '11000Mi'), scores: scored(100) },
  { title: 'a resource that scores nothing is left out of the mean', nodes, pod: sized('5'), scores: scored(50) },
  { title: 'nothing used scores nothing', nodes, pod: sized('0'), scores: scored(0) },
]);
clusterScoreCases(requestedToCapacityRatio(valley), [
  { title: 'a line of several pieces is followed', nodes, pod: sized('2500m', '7500Mi'), scores: scored(50) },
  { title: 'its lowest point scores nothing', nodes, pod: sized('5', '5000Mi'), scores: scored(0) },
]);
clusterScoreCases(requestedToCapacityRatio(packing, gpus), [
  {
    title: 'extended resources weigh as they are told to',
    nodes: { n: gpu },
    pod: sized('4', '0', { 'example.com/gpu': '4' }),
    scores: scored(85),
  },
]);

const MIB = 1024 * 1024;
const withImages = (...images: readonly (readonly [name: string, mib: number])[]) => ({
  images: images.map(([name, mib]) => ({ names: [name], sizeBytes: mib * MIB })),
});
const running = (...images: string[]): PodParts => ({
  spec: { containers: images.map((image) => ({ name: 'c', image })) },
});
clusterScoreCases(imageLocality, [
  {
    title: 'an image that no node has makes no difference',
    nodes: { n: {}, m: {} },
    pod: running('web:1'),
    scores: null,
  },
  {
    title: 'a node with the image scores by its size, less as fewer nodes have it',
    nodes: { n: withImages(['web:1', 1000]), m: {} },
    pod: running('web:1'),
    scores: { n: 48, m: 0 },
  },
  {
    title: 'an image without a tag is its latest',
    nodes: { n: withImages(['registry:5000/web:latest', 500]) },
    pod: running('registry:5000/web'),
    scores: scored(48),
  },
  {
    title: 'small images count for nothing, and large ones only up to a limit',
    nodes: { n: withImages(['web:1', 20], ['db:1', 5000]) },
    pod: running('web:1', 'db:1'),
    scores: scored(100),
  },
  {
    title: 'the limit grows with the containers',
    nodes: { n: withImages(['db:1', 1000]) },
    pod: running('web:1', 'db:1'),
    scores: scored(49),
  },
]);

const AVOID = dialect.spell('scheduler.alpha.@label/preferAvoidPods');
const avoiding = (annotation: string) => ({ annotations: { [AVOID]: annotation } });
const avoids = (kind: string, uid: string) =>
  avoiding(JSON.stringify({ preferAvoidPods: [{ podSignature: { podController: { kind, uid } } }] }));
const ownedBy = (kind: string, uid: string, apiVersion = 'apps/v1'): PodParts => ({
  metadata: { ownerReferences: [{ apiVersion, kind, name: 'owner', uid, controller: true }] },
});
clusterScoreCases(nodePreferAvoidPods, [
  {
    title: 'where no node asks for it the pod is skipped',
    nodes: { n: {} },
    pod: ownedBy('ReplicaSet', 'u'),
    scores: null,
  },
  { title: 'a pod of nobody is skipped', nodes: { n: avoids('ReplicaSet', 'u') }, scores: null },
  {
    title: 'a pod of another kind of controller is skipped',
    nodes: { n: avoids('StatefulSet', 'u') },
    pod: ownedBy('StatefulSet', 'u'),
    scores: null,
  },
  {
    title: 'a node is spared the pods it names',
    nodes: { n: avoids('ReplicaSet', 'u'), m: {} },
    pod: ownedBy('ReplicaSet', 'u'),
    scores: { n: 0, m: 100 },
  },
  {
    title: 'the pods of another controller are not meant',
    nodes: { n: avoids('ReplicaSet', 'x'), m: {} },
    pod: ownedBy('ReplicaSet', 'u'),
    scores: { n: 100, m: 100 },
  },
  {
    title: 'an old controller counts as well',
    nodes: { n: avoids('ReplicationController', 'u') },
    pod: ownedBy('ReplicationController', 'u', 'v1'),
    scores: scored(0),
  },
  {
    title: 'an annotation that cannot be read asks for nothing',
    nodes: { n: avoiding('{'), m: avoids('ReplicaSet', 'u') },
    pod: ownedBy('ReplicaSet', 'u'),
    scores: { n: 100, m: 0 },
  },
]);

const labels = nodeLabel({
  presentLabels: ['in'],
  absentLabels: ['out'],
  presentLabelsPreference: ['good'],
  absentLabelsPreference: ['bad'],
});
const WRONG = "node(s) didn't have the requested labels";
const labelled = {
  yes: { labels: { in: '', good: '1' } },
  no: { labels: { bad: '' } },
  out: { labels: { in: '', out: '' } },
};
clusterFilterCases(labels, [
  { title: 'labels that must and must not be there', nodes: labelled, refused: { no: WRONG, out: WRONG } },
]);
clusterScoreCases(labels, [
  { title: 'labels that had better be there, or not', nodes: labelled, scores: { yes: 100, no: 0, out: 50 } },
]);

const web: PodParts = { metadata: { labels: { app: 'web' } } };
const service = (name: string, selector: object | undefined): JsonObject => ({
  metadata: { namespace: 'default', name },
  spec: { selector },
});
const SERVICES = { 'core/services': [service('web', { app: 'web' })] };
const places = {
  a1: { labels: { region: 'a', rack: '1', host: 'a1' } },
  a2: { labels: { region: 'a', rack: '2', host: 'a2' } },
  b1: { labels: { region: 'b', rack: '1', host: 'b1' } },
};
const together = serviceAffinity({ affinityLabels: ['region'], antiAffinityLabelsPreference: ['rack'] }, 'host');
const ELSEWHERE = "node(s) didn't match service affinity";
clusterFilterCases(together, [
  { title: 'the first pod of a service goes anywhere', nodes: places, objects: SERVICES, pod: web, refused: {} },
  {
    title: 'the next ones go where the first is',
    nodes: places,
    objects: SERVICES,
    placed: { 'a1/w': web },
    pod: web,
    refused: { b1: ELSEWHERE },
  },
  {
    title: 'also where the first is being deleted, as long as it is there',
    nodes: places,
    objects: SERVICES,
    placed: { 'a1/w': { metadata: { ...web.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } },
    pod: web,
    refused: { b1: ELSEWHERE },
  },
  { title: 'a pod of no service goes anywhere', nodes: places, placed: { 'a1/w': web }, pod: web, refused: {} },
  {
    title: 'a pod that names the value itself is taken at its word',
    nodes: places,
    objects: SERVICES,
    placed: { 'a1/w': web },
    pod: { ...web, spec: { nodeSelector: { region: 'b' } } },
    refused: { a1: ELSEWHERE, a2: ELSEWHERE },
  },
]);
test('ServiceAffinity: where the pod that the others follow would have to leave, they follow the next one', (t) => {
  const cluster = clusterOf({ nodes: places, placed: { 'a1/w': web, 'b1/w': web }, objects: SERVICES });
  const run = new FilterRun(podOf({ nodes: places, pod: web }), cluster, [together], new Nominations());
  const letIn = () => Object.keys(places).filter((name) => run.check(cluster.node(name)!) === null);
  t.deepEqual(letIn(), ['a1', 'a2']);
  const a1 = cluster.node('a1')!;
  const [first] = a1.pods.values();
  run.change(first!, a1, -1);
  t.deepEqual(letIn(), ['b1']);
  run.change(first!, a1, 1);
  t.deepEqual(letIn(), ['a1', 'a2']);
  run.change(first!, a1, -1);
  run.reset();
  t.deepEqual(letIn(), ['a1', 'a2']);
});

test('ServiceAffinity: a pod of the service that is promised room binds the next one to its values', (t) => {
  const cluster = clusterOf({ nodes: places, objects: SERVICES });
  const run = new FilterRun(podOf({ nodes: places, pod: web }), cluster, [together], new Nominations());
  run.change(podOf({ nodes: places, pod: web }), cluster.node('b1')!, 1);
  t.is(run.check(cluster.node('b1')!), null);
  t.deepEqual(run.check(cluster.node('a1')!)?.reasons, [ELSEWHERE]);
});

clusterScoreCases(together, [
  {
    title: 'without pods of the service all values are alike',
    nodes: places,
    objects: SERVICES,
    pod: web,
    scores: { a1: 100, a2: 100, b1: 100 },
  },
  {
    title: 'the value with fewer pods of the service scores higher',
    nodes: places,
    objects: SERVICES,
    placed: { 'a1/w': web, 'b1/w': web, 'a2/w': web, 'a1/w2': web },
    pod: web,
    scores: { a1: 25, a2: 75, b1: 25 },
  },
  {
    title: 'shares are rounded as the original rounds them',
    nodes: places,
    objects: SERVICES,
    placed: Object.fromEntries(
      Array.from({ length: 100 }, (_, count) => [`${count < 29 ? 'a1' : 'a2'}/w${count}`, web] as const),
    ),
    pod: web,
    scores: { a1: 71, a2: 28, b1: 71 },
  },
  {
    title: 'a node without the label scores nothing',
    nodes: { a1: places.a1, bare: {} },
    objects: SERVICES,
    placed: { 'a1/w': web },
    pod: web,
    scores: { a1: 0, bare: 0 },
  },
]);

const ZONE = dialect.spell('topology.@label/zone');
const HOST = dialect.spell('@label/hostname');
const at = (zone: string, host: string) => ({ labels: { [HOST]: host, ...(zone === '' ? {} : { [ZONE]: zone }) } });
const zones = { x1: at('x', 'x1'), x2: at('x', 'x2'), y1: at('y', 'y1') };
const replicaSet = (name: string, matchLabels: object): JsonObject => ({
  metadata: { namespace: 'default', name },
  spec: { selector: { matchLabels } },
});
const ofSet: PodParts = {
  metadata: { labels: { app: 'web' }, ownerReferences: ownedBy('ReplicaSet', 'u').metadata!.ownerReferences },
};
clusterScoreCases(selectorSpread(dialect), [
  { title: 'a pod that nobody selects is skipped', nodes: zones, pod: web, scores: null },
  {
    title: 'a pod with constraints of its own is skipped',
    nodes: zones,
    objects: SERVICES,
    pod: { ...web, spec: { topologySpreadConstraints: [{ maxSkew: 1 }] } },
    scores: null,
  },
  {
    title: 'an empty cluster is even',
    nodes: zones,
    objects: SERVICES,
    pod: web,
    scores: { x1: 100, x2: 100, y1: 100 },
  },
  {
    title: 'zones count for two thirds',
    nodes: zones,
    objects: SERVICES,
    placed: { 'x1/w': web },
    pod: web,
    scores: { x1: 0, x2: 33, y1: 100 },
  },
  {
    title: 'shares are rounded as the original rounds them',
    nodes: { a: at('', 'a'), b: at('', 'b') },
    objects: SERVICES,
    placed: Object.fromEntries(
      Array.from({ length: 171 }, (_, count) => [`${count < 100 ? 'a' : 'b'}/w${count}`, web] as const),
    ),
    pod: web,
    scores: { a: 0, b: 28 },
  },
  {
    title: 'without zones nodes count alone',
    nodes: { a: at('', 'a'), b: at('', 'b') },
    objects: SERVICES,
    placed: { 'a/w': web },
    pod: web,
    scores: { a: 0, b: 100 },
  },
  {
    title: 'what owns the pod selects as well',
    nodes: { a: at('', 'a'), b: at('', 'b') },
    objects: { 'apps/replicasets': [replicaSet('owner', { app: 'web' })] },
    placed: { 'a/w': web },
    pod: ofSet,
    scores: { a: 0, b: 100 },
  },
]);

const system = podTopologySpread({
  defaultConstraints: [
    { topologyKey: HOST, maxSkew: 3, required: false },
    { topologyKey: ZONE, maxSkew: 5, required: false },
  ],
  systemDefaults: true,
  hostnameLabel: HOST,
});
clusterScoreCases(system, [
  { title: 'the defaults are for pods that somebody selects', nodes: zones, pod: web, scores: null },
  {
    title: 'the defaults spread over zones and hosts',
    nodes: zones,
    objects: SERVICES,
    placed: { 'x1/w': web, 'x2/w': web },
    pod: web,
    scores: { x1: 60, x2: 60, y1: 100 },
  },
  {
    title: 'in a cluster without zones hosts count all the same',
    nodes: { a: at('', 'a'), b: at('', 'b') },
    objects: SERVICES,
    placed: { 'a/w': web },
    pod: web,
    scores: { a: 66, b: 100 },
  },
]);
const must = podTopologySpread({
  defaultConstraints: [{ topologyKey: ZONE, maxSkew: 1, required: true }],
  systemDefaults: false,
  hostnameLabel: HOST,
});
clusterFilterCases(must, [
  {
    title: 'defaults can be a must',
    nodes: zones,
    objects: SERVICES,
    placed: { 'x1/w': web },
    pod: web,
    refused: {
      x1: "node(s) didn't match pod topology spread constraints",
      x2: "node(s) didn't match pod topology spread constraints",
    },
  },
  { title: 'and are none for pods that nobody selects', nodes: zones, placed: { 'x1/w': web }, pod: web, refused: {} },
]);

const expression = (key: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator: 'In', values }],
  matchFields: [],
});
const enforced = nodeAffinity({
  addedRequired: [expression('pool', 'a')],
  addedPreferred: [{ weight: 7, term: expression('disk', 'ssd') }],
});
const pools = {
  a: { labels: { pool: 'a', disk: 'ssd' } },
  a2: { labels: { pool: 'a' } },
  b: { labels: { pool: 'b' } },
};
clusterFilterCases(enforced, [
  {
    title: 'what the profile adds holds for every pod',
    nodes: pools,
    refused: { b: "node(s) didn't match scheduler-enforced node affinity" },
  },
  {
    title: 'and beside what the pod asks for itself',
    nodes: pools,
    pod: { spec: { nodeSelector: { disk: 'ssd' } } },
    refused: {
      a2: "node(s) didn't match Pod's node affinity/selector",
      b: "node(s) didn't match scheduler-enforced node affinity",
    },
  },
]);
clusterScoreCases(enforced, [
  { title: 'what the profile prefers is added', nodes: pools, scores: { a: 100, a2: 0, b: 0 } },
]);

const ignoring = nodeResourcesFit({
  ignoredResources: ['example.com/foo', 'hugepages-2Mi'],
  ignoredResourceGroups: ['other.com'],
});
clusterFilterCases(ignoring, [
  {
    title: 'resources that something else looks after are not counted',
    nodes,
    pod: sized('1', '0', { 'example.com/foo': '9', 'other.com/bar': '9' }),
    refused: {},
  },
  {
    title: 'huge pages are, whoever is said to look after them',
    nodes,
    pod: sized('1', '0', { 'hugepages-2Mi': '9Mi' }),
    refused: { n: 'Insufficient hugepages-2Mi' },
  },
  {
    title: 'others of the same group are',
    nodes,
    pod: sized('1', '0', { 'example.com/bar': '9' }),
    refused: { n: 'Insufficient example.com/bar' },
  },
]);
clusterFilterCases(nodeResourcesFit(), [
  {
    title: 'the largest init container counts where it is more than the rest',
    nodes,
    pod: {
      spec: {
        containers: [{ resources: { requests: { cpu: '1' } } }],
        initContainers: [{ resources: { requests: { cpu: '11' } } }],
      },
    },
    refused: { n: 'Insufficient cpu' },
  },
  {
    title: 'init containers run one after the other',
    nodes,
    pod: {
      spec: {
        containers: [],
        initContainers: [{ resources: { requests: { cpu: '6' } } }, { resources: { requests: { cpu: '7' } } }],
      },
    },
    refused: {},
  },
  {
    title: 'the overhead comes on top',
    nodes,
    pod: {
      requests: { cpu: '10' },
      spec: { containers: [{ resources: { requests: { cpu: '10' } } }], overhead: { cpu: '1m' } },
    },
    refused: { n: 'Insufficient cpu' },
  },
  {
    title: 'huge pages are counted by size',
    nodes: { n: { allocatable: { 'hugepages-2Mi': '4Mi' } } },
    placed: { 'n/o': sized('0', '0', { 'hugepages-2Mi': '2Mi' }) },
    pod: sized('0', '0', { 'hugepages-2Mi': '4Mi' }),
    refused: { n: 'Insufficient hugepages-2Mi' },
  },
]);

const CLASS_KEY = dialect.spell('node.@group/runtimeclasses');
const sandboxed = (more: object): JsonObject => ({ metadata: { name: 'sandbox' }, handler: 'x', ...more });
const inClass = (spec: object = {}): PodParts => ({ spec: { runtimeClassName: 'sandbox', ...spec } });
const NOT_APPLIED = 'the pod was admitted without what its runtime class "sandbox" adds to it';
clusterFilterCases(runtimeClass, [
  { title: 'a pod without one goes anywhere', nodes, refused: {} },
  { title: 'a class that is not there', nodes, pod: inClass(), refused: { n: 'there is no runtime class "sandbox"' } },
  {
    title: 'a class that asks for nothing',
    nodes,
    objects: { [CLASS_KEY]: [sandboxed({})] },
    pod: inClass(),
    refused: {},
  },
  {
    title: 'a class whose node selector the pod does not carry',
    nodes,
    objects: { [CLASS_KEY]: [sandboxed({ scheduling: { nodeSelector: { kind: 'safe' } } })] },
    pod: inClass(),
    refused: { n: NOT_APPLIED },
  },
  {
    title: 'a class whose demands the pod carries',
    nodes,
    objects: {
      [CLASS_KEY]: [
        sandboxed({
          overhead: { podFixed: { cpu: '1' } },
          scheduling: { nodeSelector: { kind: 'safe' }, tolerations: [{ key: 'k', operator: 'Equal', value: 'v' }] },
        }),
      ],
    },
    pod: inClass({ nodeSelector: { kind: 'safe' }, tolerations: [{ key: 'k', value: 'v' }], overhead: { cpu: '1' } }),
    refused: {},
  },
  {
    title: 'a class whose overhead the pod does not carry',
    nodes,
    objects: { [CLASS_KEY]: [sandboxed({ overhead: { podFixed: { cpu: '1' } } })] },
    pod: inClass(),
    refused: { n: NOT_APPLIED },
  },
]);
