// Goal: a pod that asks very much about very many others holds up a turn of the scheduler's for no longer than any other, and is
// decided as if all had been counted at once, whatever happens meanwhile.
import test from 'ava';
import type { Decision } from '../../../actors/scheduler/core/decision.ts';
import type { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import { WhatIfs } from '../../../actors/scheduler/driver/what-if.ts';
import { type Entry, recordedPod } from '../../../actors/scheduler/recording/entries.ts';
import { RecordingCore } from '../../../actors/scheduler/recording/recording-core.ts';
import { Replay } from '../../../actors/scheduler/recording/replay.ts';
import { boundPod, coreOptions, newCore, node, pod } from './objects.ts';

const TERMS = 1024;
const PODS = 1100;
const NODES = ['a', 'b', 'c'];
const labelled = (app: string) => ({ metadata: { labels: { app } } });

function fill(core: SchedulingCore): void {
  for (const name of NODES) core.setNode(name, node(name, { labels: { host: name }, allocatable: { pods: '1000' } }));
  for (let at = 0; at < PODS; at++) core.setPod(boundPod(`other-${at}`, NODES[at % 2]!, labelled(`other-${at}`)), 0);
}

/** Away from nodes with pods of any of very many apps. */
function asking(name: string, spec: object = {}) {
  const terms = Array.from({ length: TERMS }, (_, at) => ({
    topologyKey: 'host',
    labelSelector: { matchLabels: { app: `app-${at}` } },
  }));
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: terms };
  return pod(name, { spec: { affinity: { podAntiAffinity }, ...spec } });
}

/** The decision, and in how many turns it came. */
function decided(core: SchedulingCore): { readonly decision: Decision; readonly turns: number } {
  for (let turns = 1; ; turns++) {
    core.advance(0);
    const decision = core.decide(0);
    if (decision !== undefined) return { decision, turns };
    if (core.nextDueMs() !== 0) throw new Error('nothing is due, and nothing is decided');
  }
}

test('a pod with very many terms beside very many pods is decided in several turns, as one attempt', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(boundPod('app', 'a', labelled('app-7')), 0);
  core.setPod(boundPod('app-2', 'b', labelled('app-1023')), 0);
  core.setPod(asking('p'), 0);
  const { decision, turns } = decided(core);
  t.true(turns > 1, `it took ${turns}`);
  t.is(decision.kind === 'bind' && decision.node.name, 'c');
  t.is(decision.queued.attempts, 1);
});

test('a pod of higher priority is decided while others are still counted', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(asking('p'), 0);
  core.advance(0);
  t.is(core.decide(0), undefined);
  core.setPod(pod('urgent', { spec: { priority: 9 } }), 0);
  core.advance(0);
  t.is(core.decide(0)?.pod.name, 'urgent');
  t.is(decided(core).decision.pod.name, 'p');
});

test('pods and nodes that come, change and go while pods are counted count as they are in the end', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(boundPod('leaving', 'c', labelled('app-1')), 0);
  core.setPod(boundPod('changing', 'c', labelled('app-2')), 0);
  core.setPod(asking('p'), 0);
  core.advance(0);
  t.is(core.decide(0), undefined);
  core.setPod(boundPod('coming', 'a', labelled('app-3')), 0);
  core.setPod(boundPod('other-1', 'b', labelled('app-4')), 0);
  core.setPod(boundPod('changing', 'c', labelled('another')), 0);
  core.removePod('default', 'leaving');
  core.setNode('d', node('d', { labels: { host: 'a' } }));
  const { decision } = decided(core);
  t.is(decision.kind === 'bind' && decision.node.name, 'c');
});

test('of what came while pods are counted nothing is left once it goes', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(asking('p'), 0);
  core.advance(0);
  t.is(core.decide(0), undefined);
  core.setPod(boundPod('coming', 'a', labelled('app-3')), 0);
  core.setPod(boundPod('other-1', 'b', labelled('app-4')), 0);
  const { decision } = decided(core);
  t.is(decision.kind === 'bind' && decision.node.name, 'c');
  core.removePod('default', 'coming');
  core.removePod('default', 'other-1');
  for (const host of ['a', 'b']) {
    core.setPod(asking(`on-${host}`, { nodeSelector: { host } }), 0);
    t.is(decided(core).decision.kind, 'bind', host);
  }
});

test('nothing comes of a pod that goes while pods are counted for it', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(asking('p'), 0);
  core.advance(0);
  t.is(core.decide(0), undefined);
  core.removePod('default', 'p');
  core.setPod(pod('next'), 0);
  t.is(decided(core).decision.pod.name, 'next');
  t.like(core.counts(), { active: 0, backoff: 0, unschedulable: 0 });
});

test('what was decided after several turns is decided the same again when it is replayed', (t) => {
  const entries: Entry[] = [];
  const recording = new RecordingCore(coreOptions(), (entry) => {
    entries.push(JSON.parse(JSON.stringify(entry)) as Entry);
  });
  fill(recording);
  recording.setPod(recordedPod(asking('p')), 0);
  t.true(decided(recording).turns > 1);
  const replay = new Replay(newCore());
  for (const entry of entries) replay.apply(entry);
  t.like(replay, { decisions: 1, differing: 0, bound: 1 });
});

test('a question about a pod with very many terms leaves turns to others while it counts, and is answered as it is in the end', async (t) => {
  const core = newCore();
  fill(core);
  const waiting: (() => void)[] = [];
  const never = () => {
    throw new Error('nothing is waited for by time');
  };
  const timers = { soon: (callback: () => void) => void waiting.push(callback), after: never, every: never };
  const answering = new WhatIfs(core, undefined, timers).answer(asking('p'));
  t.is(waiting.length, 1);
  core.setPod(boundPod('coming', 'c', labelled('app-3')), 0);
  let turns = 1;
  for (; waiting.length > 0; turns++) {
    waiting.shift()!();
    await new Promise(setImmediate);
  }
  t.true(turns > 1);
  const { nodes, refusedBy } = (await answering)!;
  t.deepEqual(
    nodes.map(({ node, refusals }) => [node, refusals.length]),
    [
      ['a', 0],
      ['b', 0],
      ['c', 1],
    ],
  );
  t.deepEqual(refusedBy, { InterPodAffinity: 1 });
});
