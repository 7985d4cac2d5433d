import test from 'ava';
import { FilterRun } from '../../../../actors/scheduler/core/filter-run.ts';
import { Nominations } from '../../../../actors/scheduler/core/nominations.ts';
import type { FilterPlugin, ScorePlugin } from '../../../../actors/scheduler/framework/framework.ts';
import { balancedAllocation } from '../../../../actors/scheduler/plugins/balanced-allocation.ts';
import { nodeAffinity } from '../../../../actors/scheduler/plugins/node-affinity.ts';
import { nodeName } from '../../../../actors/scheduler/plugins/node-name.ts';
import { nodePorts } from '../../../../actors/scheduler/plugins/node-ports.ts';
import { nodeResourcesFit } from '../../../../actors/scheduler/plugins/node-resources-fit.ts';
import { nodeUnschedulable } from '../../../../actors/scheduler/plugins/node-unschedulable.ts';
import { leastAllocated } from '../../../../actors/scheduler/plugins/resource-scores.ts';
import { taintToleration } from '../../../../actors/scheduler/plugins/taint-toleration.ts';
import { dialect, type NodeParts, nodeInfo, type PodParts, podInfo, viewOf } from '../objects.ts';

interface FilterCase {
  readonly title: string;
  readonly pod?: PodParts;
  readonly node?: NodeParts;
  /** Pods on the node already. */
  readonly others?: readonly PodParts[];
  /** Empty: the node will do. */
  readonly reasons: readonly string[];
}

/** The reasons with which the plugin refuses the node `n1`; none when it will do. */
function refusalOf(plugin: FilterPlugin, { pod = {}, node = {}, others = [] }: FilterCase): readonly string[] {
  const pods = others.map((parts, at) => podInfo(`other-${at}`, parts));
  const target = nodeInfo('n1', node, pods);
  const run = new FilterRun(podInfo('p', pod), viewOf([target]), [plugin], new Nominations());
  return (run.refused ?? run.check(target))?.reasons ?? [];
}

function filterCases(plugin: FilterPlugin, cases: readonly FilterCase[]): void {
  for (const each of cases) {
    test(`${plugin.name}: ${each.title}`, (t) => {
      t.deepEqual(refusalOf(plugin, each), each.reasons);
    });
  }
}

const one = { requests: { cpu: '1', memory: '1Gi' } };
const small: NodeParts = { allocatable: { cpu: '2', memory: '2Gi', 'ephemeral-storage': '1Gi', pods: '2' } };

filterCases(nodeResourcesFit(), [
  { title: 'a pod that fills the node exactly fits', pod: one, node: small, others: [one], reasons: [] },
  {
    title: 'a thousandth of a cpu too much does not fit',
    pod: { requests: { cpu: '1001m' } },
    node: small,
    others: [one],
    reasons: ['Insufficient cpu'],
  },
  {
    title: 'a byte too much does not fit',
    pod: { requests: { memory: '1073741825' } },
    node: small,
    others: [one],
    reasons: ['Insufficient memory'],
  },
  {
    title: 'every resource that is short is named',
    pod: { requests: { cpu: '3', memory: '3Gi', 'ephemeral-storage': '2Gi' } },
    node: small,
    reasons: ['Insufficient cpu', 'Insufficient memory', 'Insufficient ephemeral-storage'],
  },
  {
    title: 'pods count against the number that the node takes',
    pod: {},
    node: small,
    others: [{}, {}],
    reasons: ['Too many pods'],
  },
  {
    title: 'too many pods and too little cpu are both named',
    pod: one,
    node: small,
    others: [one, one],
    reasons: ['Too many pods', 'Insufficient cpu', 'Insufficient memory'],
  },
  {
    title: 'a pod that requests nothing fits on a node that is overcommitted',
    pod: {},
    node: { allocatable: { cpu: '1' } },
    others: [{ requests: { cpu: '2' } }],
    reasons: [],
  },
  {
    title: 'an extended resource is counted',
    pod: { requests: { 'example.com/gpu': '2' } },
    node: { allocatable: { 'example.com/gpu': '2' } },
    others: [{ requests: { 'example.com/gpu': '1' } }],
    reasons: ['Insufficient example.com/gpu'],
  },
  {
    title: 'an extended resource that the node lacks is named beside the others',
    pod: { requests: { cpu: '9', 'example.com/gpu': '1' } },
    reasons: ['Insufficient cpu', 'Insufficient example.com/gpu'],
  },
  {
    title: 'an extended resource that is free fits',
    pod: { requests: { 'example.com/gpu': '1' } },
    node: { allocatable: { 'example.com/gpu': '2' } },
    others: [{ requests: { 'example.com/gpu': '1' } }],
    reasons: [],
  },
  {
    title: 'a node whose allocatable has no pods takes none',
    pod: {},
    node: { allocatable: { pods: '0' } },
    reasons: ['Too many pods'],
  },
]);

filterCases(nodeResourcesFit(undefined, false), [
  {
    title: 'where its gate is shut, local storage counts for nothing, and cpu does',
    pod: { requests: { cpu: '3', 'ephemeral-storage': '2Gi' } },
    node: small,
    reasons: ['Insufficient cpu'],
  },
  {
    title: 'where its gate is shut, a pod that asks for nothing but local storage fits',
    pod: { requests: { 'ephemeral-storage': '2Gi' } },
    node: small,
    reasons: [],
  },
  {
    title: 'where its gate is shut, what others have taken of the local storage counts for nothing either',
    pod: { requests: { cpu: '1', 'ephemeral-storage': '2Gi' } },
    node: small,
    others: [{ requests: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '5Gi' } }],
    reasons: [],
  },
]);

filterCases(nodeName, [
  { title: 'a pod without a node name goes anywhere', reasons: [] },
  { title: 'a pod goes to the node it names', pod: { spec: { nodeName: 'n1' } }, reasons: [] },
  {
    title: 'a pod goes to no other node than the one it names',
    pod: { spec: { nodeName: 'n2' } },
    reasons: ["node(s) didn't match the requested hostname"],
  },
]);

const cordonedReason = ['node(s) were unschedulable'];
const cordon = { unschedulable: true };
const unschedulableKey = dialect.spell('node.@label/unschedulable');

filterCases(nodeUnschedulable(dialect), [
  { title: 'a node that is not cordoned will do', reasons: [] },
  { title: 'a cordoned node is refused', node: cordon, reasons: cordonedReason },
  {
    title: 'the toleration of the unschedulable taint lets a pod in',
    pod: { spec: { tolerations: [{ key: unschedulableKey, operator: 'Exists', effect: 'NoSchedule' }] } },
    node: cordon,
    reasons: [],
  },
  {
    title: 'the toleration of everything lets a pod in',
    pod: { spec: { tolerations: [{ operator: 'Exists' }] } },
    node: cordon,
    reasons: [],
  },
  {
    title: 'the toleration for another effect does not',
    pod: { spec: { tolerations: [{ key: unschedulableKey, operator: 'Exists', effect: 'NoExecute' }] } },
    node: cordon,
    reasons: cordonedReason,
  },
]);

const tainted = (effect: string): NodeParts => ({ taints: [{ key: 'dedicated', value: 'gpu', effect }] });
const tolerating = (...tolerations: object[]): PodParts => ({ spec: { tolerations } });
const taintReason = ["node(s) had taint {dedicated: gpu}, that the pod didn't tolerate"];

filterCases(taintToleration, [
  { title: 'a node without taints will do', reasons: [] },
  { title: 'NoSchedule keeps a pod away', node: tainted('NoSchedule'), reasons: taintReason },
  { title: 'NoExecute keeps a pod away', node: tainted('NoExecute'), reasons: taintReason },
  { title: 'PreferNoSchedule does not keep a pod away', node: tainted('PreferNoSchedule'), reasons: [] },
  {
    title: 'an equal value is tolerated',
    pod: tolerating({ key: 'dedicated', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' }),
    node: tainted('NoSchedule'),
    reasons: [],
  },
  {
    title: 'no operator means Equal',
    pod: tolerating({ key: 'dedicated', value: 'gpu' }),
    node: tainted('NoSchedule'),
    reasons: [],
  },
  {
    title: 'another value is not tolerated',
    pod: tolerating({ key: 'dedicated', value: 'cpu' }),
    node: tainted('NoSchedule'),
    reasons: taintReason,
  },
  {
    title: 'Exists tolerates any value',
    pod: tolerating({ key: 'dedicated', operator: 'Exists' }),
    node: tainted('NoExecute'),
    reasons: [],
  },
  {
    title: 'another key is not tolerated',
    pod: tolerating({ key: 'other', operator: 'Exists' }),
    node: tainted('NoSchedule'),
    reasons: taintReason,
  },
  {
    title: 'another effect is not tolerated',
    pod: tolerating({ key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }),
    node: tainted('NoSchedule'),
    reasons: taintReason,
  },
  {
    title: 'an unknown operator tolerates nothing',
    pod: tolerating({ key: 'dedicated', operator: 'In', value: 'gpu' }),
    node: tainted('NoSchedule'),
    reasons: taintReason,
  },
  {
    title: 'every taint must be tolerated',
    pod: tolerating({ key: 'a', operator: 'Exists' }),
    node: {
      taints: [
        { key: 'a', value: '', effect: 'NoSchedule' },
        { key: 'b', value: '', effect: 'NoSchedule' },
      ],
    },
    reasons: ["node(s) had taint {b: }, that the pod didn't tolerate"],
  },
]);

const affinityReason = ["node(s) didn't match Pod's node affinity/selector"];
const labelled: NodeParts = { labels: { zone: 'a', size: '10', flag: '', word: 'ten' } };
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});
const field = (key: string, operator: string, ...values: string[]) => ({ matchFields: [{ key, operator, values }] });
const required = (...nodeSelectorTerms: object[]): PodParts => ({
  spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } },
});

const TERMS: readonly (readonly [term: object, matches: boolean])[] = [
  [expression('zone', 'In', 'a', 'b'), true],
  [expression('zone', 'In', 'b'), false],
  [expression('missing', 'In', 'a'), false],
  [expression('zone', 'NotIn', 'b'), true],
  [expression('zone', 'NotIn', 'a'), false],
  [expression('missing', 'NotIn', 'a'), true],
  [expression('flag', 'Exists'), true],
  [expression('missing', 'Exists'), false],
  [expression('missing', 'DoesNotExist'), true],
  [expression('flag', 'DoesNotExist'), false],
  [expression('size', 'Gt', '9'), true],
  [expression('size', 'Gt', '10'), false],
  [expression('size', 'Lt', '11'), true],
  [expression('size', 'Lt', '10'), false],
  [expression('size', 'Lt', '9223372036854775807'), true],
  [expression('size', 'Lt', '9223372036854775808'), false],
  [expression('size', 'Gt', '0000000000000000000000009'), true],
  [expression('size', 'Gt', '0000000000000000000000010'), false],
  // What no label's value can be makes no sense of the term.
  [expression('size', 'Gt', '-1'), false],
  [expression('size', 'Gt', '+1'), false],
  [expression('zone', 'In', 'a', 'not a value'), false],
  [expression('zone', 'NotIn', 'not a value'), false],
  [expression('missing', 'NotIn', 'b'.repeat(64)), false],
  [expression('word', 'Gt', '1'), false],
  [expression('missing', 'Lt', '1'), false],
  [expression('size', 'Gt', '1', '2'), false],
  [expression('size', 'Gt', 'many'), false],
  [expression('zone', 'Like', 'a'), false],
  [expression('zone', 'constructor', 'a'), false],
  [expression('zone', 'In'), false],
  [field('metadata.name', 'In', 'n1'), true],
  [field('metadata.name', 'In', 'n2'), false],
  [field('metadata.name', 'NotIn', 'n2'), true],
  [field('metadata.name', 'NotIn', 'n1'), false],
  [field('metadata.name', 'In', 'n1', 'n2'), false],
  [field('metadata.name', 'Exists'), false],
  [field('metadata.namespace', 'In', 'n1'), false],
  [{ ...expression('zone', 'In', 'a'), ...field('metadata.name', 'In', 'n1') }, true],
  [{ ...expression('zone', 'In', 'a'), ...field('metadata.name', 'In', 'n2') }, false],
  [{}, false],
];

filterCases(nodeAffinity(), [
  { title: 'a pod that asks for nothing goes anywhere', reasons: [] },
  {
    title: 'all labels of the node selector match',
    pod: { spec: { nodeSelector: { zone: 'a', flag: '' } } },
    node: labelled,
    reasons: [],
  },
  {
    title: 'one label of the node selector differs',
    pod: { spec: { nodeSelector: { zone: 'a', size: '9' } } },
    node: labelled,
    reasons: affinityReason,
  },
  {
    title: 'a label of the node selector is missing',
    pod: { spec: { nodeSelector: { missing: '' } } },
    node: labelled,
    reasons: affinityReason,
  },
  {
    title: 'a node selector named as a member of every object needs that label',
    pod: { spec: { nodeSelector: { constructor: 'x' } } },
    node: labelled,
    reasons: affinityReason,
  },
  {
    title: 'one matching term is enough',
    pod: required(expression('zone', 'In', 'b'), expression('flag', 'Exists')),
    node: labelled,
    reasons: [],
  },
  { title: 'no terms match no node', pod: required(), node: labelled, reasons: affinityReason },
  {
    title: 'node selector and terms must both match',
    pod: { spec: { nodeSelector: { zone: 'b' }, ...required(expression('zone', 'In', 'a')).spec } },
    node: labelled,
    reasons: affinityReason,
  },
  ...TERMS.map(([term, matches]) => ({
    title: `the term ${JSON.stringify(term)} ${matches ? 'matches' : 'does not match'}`,
    pod: required(term),
    node: labelled,
    reasons: matches ? [] : affinityReason,
  })),
]);

const portReason = ["node(s) didn't have free ports for the requested pod ports"];
const ports = (...claims: object[]): PodParts => ({ spec: { containers: [{ ports: claims }] } });

filterCases(nodePorts, [
  { title: 'a pod without host ports fits', others: [ports({ hostPort: 80 })], reasons: [] },
  {
    title: 'the same port is taken',
    pod: ports({ hostPort: 80 }),
    others: [ports({ hostPort: 80 })],
    reasons: portReason,
  },
  { title: 'another port is free', pod: ports({ hostPort: 81 }), others: [ports({ hostPort: 80 })], reasons: [] },
  {
    title: 'another protocol is free',
    pod: ports({ hostPort: 80, protocol: 'UDP' }),
    others: [ports({ hostPort: 80 })],
    reasons: [],
  },
  {
    title: 'another address is free',
    pod: ports({ hostPort: 80, hostIP: '10.0.0.1' }),
    others: [ports({ hostPort: 80, hostIP: '10.0.0.2' })],
    reasons: [],
  },
  {
    title: 'the same address is taken',
    pod: ports({ hostPort: 80, hostIP: '10.0.0.1' }),
    others: [ports({ hostPort: 80, hostIP: '10.0.0.1' })],
    reasons: portReason,
  },
  {
    title: 'every address conflicts with one',
    pod: ports({ hostPort: 80 }),
    others: [ports({ hostPort: 80, hostIP: '10.0.0.1' })],
    reasons: portReason,
  },
  {
    title: 'one address conflicts with every',
    pod: ports({ hostPort: 80, hostIP: '10.0.0.1' }),
    others: [ports({ hostPort: 80, hostIP: '0.0.0.0' })],
    reasons: portReason,
  },
]);

test('a host port stays taken until the last of the pods that claim it has gone', (t) => {
  const claim = ports({ hostPort: 80 });
  const [first, second] = [podInfo('a', claim), podInfo('b', claim)];
  const target = nodeInfo('n1', {}, [first, second]);
  const filter = new FilterRun(podInfo('p', claim), viewOf([target]), [nodePorts], new Nominations());
  target.removePod(first);
  t.not(filter.check(target), null);
  target.removePod(second);
  t.is(filter.check(target), null);
});

interface ScoreCase {
  readonly title: string;
  readonly pod?: PodParts;
  readonly node?: NodeParts;
  readonly others?: readonly PodParts[];
  /** null: the plugin skips the pod. */
  readonly score: number | null;
}

function scoreCases(plugin: ScorePlugin, cases: readonly ScoreCase[]): void {
  for (const { title, pod = {}, node = {}, others = [], score } of cases) {
    test(`${plugin.name}: ${title}`, (t) => {
      const target = nodeInfo(
        'n1',
        node,
        others.map((parts, at) => podInfo(`other-${at}`, parts)),
      );
      const scorer = plugin.prepareScore(podInfo('p', pod), viewOf([target]), [target]);
      t.is(scorer === null ? null : scorer.score(target), score);
    });
  }
}

const ten: NodeParts = { allocatable: { cpu: '10', memory: '10000Mi' } };
const unsized = { requests: { cpu: '0', memory: '0' } };

scoreCases(leastAllocated(), [
  { title: 'an empty node and a pod of no size score 100', pod: unsized, node: ten, score: 100 },
  { title: 'half of both used scores 50', pod: { requests: { cpu: '5', memory: '5000Mi' } }, node: ten, score: 50 },
  {
    title: 'the shares of cpu and memory are averaged and rounded down',
    pod: { requests: { cpu: '2500m', memory: '0' } },
    node: ten,
    score: 87,
  },
  {
    title: 'pods on the node count',
    pod: { requests: { cpu: '2', memory: '2000Mi' } },
    node: ten,
    others: [{ requests: { cpu: '3', memory: '3000Mi' } }],
    score: 50,
  },
  { title: 'a container that requests nothing counts as 100m and 200Mi', node: ten, score: 98 },
  {
    title: 'more than the capacity scores 0',
    pod: { requests: { cpu: '11', memory: '10001Mi' } },
    node: ten,
    score: 0,
  },
  {
    title: 'a node without capacity scores 0',
    pod: unsized,
    node: { allocatable: { cpu: '0', memory: '0' } },
    score: 0,
  },
]);

scoreCases(balancedAllocation(), [
  { title: 'equal shares score 100', pod: { requests: { cpu: '5', memory: '5000Mi' } }, node: ten, score: 100 },
  {
    title: 'a difference of three tenths scores 70',
    pod: { requests: { cpu: '5', memory: '2000Mi' } },
    node: ten,
    score: 70,
  },
  { title: 'a full node scores 0', pod: { requests: { cpu: '10', memory: '5000Mi' } }, node: ten, score: 0 },
  { title: 'a node without capacity scores 0', pod: unsized, node: { allocatable: { memory: '0' } }, score: 0 },
]);

const preferring = (...terms: (readonly [number, object])[]): PodParts => ({
  spec: {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, preference]) => ({ weight, preference })),
      },
    },
  },
});

scoreCases(nodeAffinity(), [
  { title: 'a pod that prefers nothing is skipped', score: null },
  {
    title: 'the weights of matching preferences are added',
    pod: preferring(
      [3, expression('zone', 'In', 'a')],
      [4, expression('flag', 'Exists')],
      [5, expression('zone', 'In', 'b')],
    ),
    node: labelled,
    score: 7,
  },
]);

scoreCases(taintToleration, [
  { title: 'without soft taints in the cluster the pod is skipped', score: null },
  {
    title: 'soft taints that are not tolerated are counted',
    pod: tolerating({ key: 'a', operator: 'Exists' }),
    node: { taints: ['a', 'b', 'c'].map((key) => ({ key, effect: 'PreferNoSchedule' })) },
    score: 2,
  },
  { title: 'hard taints are not counted', node: tainted('NoExecute'), score: null },
  {
    title: 'a toleration for a hard effect tolerates no soft taint',
    pod: tolerating({ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }),
    node: tainted('PreferNoSchedule'),
    score: 1,
  },
]);
