// Goal: who asks what the scheduler would do with a pod holds it up for no longer than a turn, however many nodes there are, and is told
// what it would have been told at once.
import test from 'ava';
import type { NodeExplanation } from '../../../actors/scheduler/core/explanation.ts';
import type { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import { type WhatIf, WhatIfs } from '../../../actors/scheduler/driver/what-if.ts';
import { type Entry, recordedPod } from '../../../actors/scheduler/recording/entries.ts';
import { RecordingCore } from '../../../actors/scheduler/recording/recording-core.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { boundPod, coreOptions, newCore, node, pod } from './objects.ts';

const NODES = 3_000;
const nodeName = (at: number) => `n${String(at).padStart(4, '0')}`;
const cpu = (amount: number) => ({ requests: { cpu: String(amount) } });

function fill(core: SchedulingCore): void {
  for (let at = 0; at < NODES; at++) {
    core.setNode(nodeName(at), node(nodeName(at), { labels: { size: String(at % 7) }, unschedulable: at % 3 === 0 }));
  }
}

/** Rather on nodes of the larger sizes. */
function choosy(name: string): JsonObject {
  const preference = { matchExpressions: [{ key: 'size', operator: 'Gt', values: ['4'] }] };
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] };
  return pod(name, { ...cpu(1), spec: { affinity: { nodeAffinity: preferred } } });
}

/** The answer to a question, with something done between its turns. */
async function answered(core: SchedulingCore, object: JsonObject, between: (turn: number) => void = () => {}) {
  const waiting: (() => void)[] = [];
  const never = () => {
    throw new Error('nothing is waited for by time');
  };
  const timers = { soon: (callback: () => void) => void waiting.push(callback), after: never, every: never };
  const answering = new WhatIfs(core, undefined, timers).answer(object);
  let turns = 1;
  for (; waiting.length > 0; turns++) {
    between(turns);
    waiting.shift()!();
    await new Promise(setImmediate);
  }
  return { turns, answer: (await answering) as WhatIf };
}

const namesOf = (nodes: readonly NodeExplanation[]) => nodes.map(({ node: name }) => name);

test('a question about very many nodes leaves turns to others, and is answered as it would be at once', async (t) => {
  const core = newCore();
  fill(core);
  const { turns, answer } = await answered(core, choosy('p'));
  t.true(turns > 2, `it took ${turns}`);
  t.deepEqual(answer.nodes, core.explain(choosy('p')));
  t.like(answer, { nodesTotal: NODES, nodesFeasible: (NODES / 3) * 2, refusedBy: { NodeUnschedulable: NODES / 3 } });
});

test('a pod that is placed is taken away for the turns of a question about it, and for nobody else', async (t) => {
  const core = newCore();
  fill(core);
  core.setPod(boundPod('p', nodeName(1), cpu(4)), 0);
  const free = (name: string) =>
    core.explain(pod('other', cpu(4)))?.find((each) => each.node === name)?.refusals.length;
  const { answer } = await answered(core, boundPod('p', nodeName(1), cpu(4)), () => t.is(free(nodeName(1)), 1));
  t.is(answer.nodesFeasible, (NODES / 3) * 2);
  t.is(core.counts().placed, 1);
});

test('nodes that come and go between the turns of a question are told of, and not told of', async (t) => {
  const core = newCore();
  fill(core);
  const { answer } = await answered(core, pod('p'), (turn) => {
    if (turn > 1) return;
    core.setNode('late', node('late'));
    core.removeNode(nodeName(0));
    core.removeNode(nodeName(NODES - 1));
  });
  const names = namesOf(answer.nodes);
  t.true(names.includes('late'));
  t.false(names.includes(nodeName(0)));
  t.false(names.includes(nodeName(NODES - 1)));
  t.is(names.length, NODES - 1);
});

test('each turn of a question is in the record of the scheduler, since what is counted for it stays', async (t) => {
  const entries: Entry[] = [];
  const core = new RecordingCore(coreOptions(), (entry) => entries.push(entry));
  fill(core);
  const { turns } = await answered(core, recordedPod(pod('p')));
  t.is(entries.filter(({ op }) => op === 'explain').length, turns);
});
