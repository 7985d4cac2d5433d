import test from 'ava';
import { ClusterState } from '../../../actors/scheduler/core/cluster-state.ts';
import { ClusterEvent } from '../../../actors/scheduler/objects/cluster-event.ts';
import { readPod } from '../../../actors/scheduler/pods/pod-info.ts';
import { boundPod, dialect, type NodeParts, node } from './objects.ts';

const bound = (name: string, on: string, cpu = '1') => readPod(boundPod(name, on, { requests: { cpu } }));
const names = (state: ClusterState) => state.nodes.map(({ name }) => name);

type Step = (state: ClusterState) => void;

const addNode: Step = (state) => state.setNode('n', node('n'));
const bindA: Step = (state) => state.setBound(bound('a', 'n'));
const bindB: Step = (state) => state.setBound(bound('b', 'n', '500m'));
const dropA: Step = (state) => state.removePod('default/a');
const dropNode: Step = (state) => state.removeNode('n');

const ORDERS: readonly (readonly [title: string, steps: readonly Step[]])[] = [
  ['node first', [addNode, bindA, bindB, dropA]],
  ['pods first', [bindA, bindB, addNode, dropA]],
  ['a pod gone before its node is seen', [bindA, dropA, bindB, addNode]],
  ['a pod seen twice', [bindA, bindA, addNode, bindB, bindB, dropA]],
  ['a pod removed twice', [addNode, bindA, bindB, dropA, dropA]],
  ['the node gone and back', [addNode, bindA, bindB, dropNode, dropA, addNode]],
  ['the node gone before the pods come', [addNode, dropNode, bindA, bindB, addNode, dropA]],
];

for (const [title, steps] of ORDERS) {
  test(`what a node has left does not depend on the order of events: ${title}`, (t) => {
    const state = new ClusterState(dialect);
    for (const step of steps) step(state);
    const info = state.node('n');
    t.is(info?.podCount, 1);
    t.is(info?.requestedMilliCpu, 500);
    t.is(info?.allocatable.milliCpu, 4_000);
    t.deepEqual(names(state), ['n']);
  });
}

test('a node that was only heard of through its pods is not offered, and is forgotten with the last of them', (t) => {
  const state = new ClusterState(dialect);
  bindA(state);
  t.deepEqual(names(state), []);
  dropA(state);
  t.is(state.node('n'), undefined);
});

test('a node that goes with no pod on it is forgotten', (t) => {
  const state = new ClusterState(dialect);
  addNode(state);
  bindA(state);
  dropA(state);
  t.truthy(state.node('n'));
  dropNode(state);
  t.is(state.node('n'), undefined);
});

test('a removed node is not offered while its pods linger', (t) => {
  const state = new ClusterState(dialect);
  addNode(state);
  bindA(state);
  dropNode(state);
  t.deepEqual(names(state), []);
  t.is(state.node('n')?.podCount, 1);
});

test('a pod that turns up on another node than before leaves the first', (t) => {
  const state = new ClusterState(dialect);
  state.setNode('n', node('n'));
  state.setNode('m', node('m'));
  t.is(state.setBound(bound('a', 'n')), ClusterEvent.podAdded);
  t.is(state.setBound(bound('a', 'n')), 0);
  t.is(state.setBound(bound('a', 'm')), ClusterEvent.podAdded | ClusterEvent.podRemoved);
  t.is(state.node('n')?.podCount, 0);
  t.is(state.node('m')?.podCount, 1);
});

const taint = { key: 'a', value: 'b', effect: 'NoSchedule' };

const CHANGES: readonly (readonly [title: string, before: NodeParts, after: NodeParts, events: number])[] = [
  ['nothing that counts', {}, {}, 0],
  ['more cpu', {}, { allocatable: { cpu: '8' } }, ClusterEvent.nodeAllocatable],
  ['another extended resource', {}, { allocatable: { 'a/b': '1' } }, ClusterEvent.nodeAllocatable],
  ['a label added', {}, { labels: { a: 'b' } }, ClusterEvent.nodeLabels],
  ['a label changed', { labels: { a: 'b' } }, { labels: { a: 'c' } }, ClusterEvent.nodeLabels],
  ['a taint gone', { taints: [taint] }, {}, ClusterEvent.nodeTaints],
  ['a taint changed', { taints: [taint] }, { taints: [{ ...taint, value: 'c' }] }, ClusterEvent.nodeTaints],
  ['a soft taint gone', { taints: [{ ...taint, effect: 'PreferNoSchedule' }] }, {}, 0],
  ['cordoned', {}, { unschedulable: true }, 0],
  ['no longer cordoned', { unschedulable: true }, { unschedulable: false }, ClusterEvent.nodeTaints],
];

for (const [title, before, after, events] of CHANGES) {
  test(`an update of a node says what could help pods: ${title}`, (t) => {
    const state = new ClusterState(dialect);
    t.is(state.setNode('n', node('n', before)), ClusterEvent.any);
    t.is(state.setNode('n', node('n', after)), events);
  });
}

test('soft taints are known while a present node has one', (t) => {
  const state = new ClusterState(dialect);
  const soft = { taints: [{ ...taint, effect: 'PreferNoSchedule' }] };
  state.setNode('n', node('n', soft));
  state.setNode('m', node('m', soft));
  state.setNode('n', node('n'));
  t.true(state.hasSoftTaints);
  state.removeNode('m');
  t.false(state.hasSoftTaints);
});
