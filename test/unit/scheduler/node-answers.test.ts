// Goal: what nodes have answered for a pod is remembered for others like it only as long as it holds.
// Method: two schedulers under one seed live through the same clusters, and one of them forgets all answers before each decision:
// both decide the same, and the other had answers of filters and of scores to remember.
import test from 'ava';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { Generator } from './generated-cluster.ts';
import { newCore, seededRandom } from './objects.ts';
import type { RefNode } from './reference.ts';

const CLUSTERS = 60;
const PODS = 40;

const plain = (object: object): JsonObject => object as unknown as JsonObject;

/** Without what makes nodes be scored beside each other, in half of the clusters: then scores are remembered, too. */
function nodeOf(generator: Generator, name: string, isPlain: boolean): RefNode {
  const node = generator.node(name);
  if (!isPlain) return node;
  const taints = (node.spec.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  return {
    ...node,
    metadata: { name, labels: {} },
    spec: { ...node.spec, taints },
    status: { ...node.status, images: [] },
  };
}

/** Replicas of few kinds. */
function replica(generator: Generator, number: number): JsonObject {
  const [cpu, memory] = generator.pick([
    ['100m', '100Mi'],
    ['1', '500Mi'],
    ['0', '1Gi'],
  ]);
  const requests = { cpu, memory, ...(generator.chance(0.1) ? { 'example.com/gpu': '1' } : {}) };
  const tolerations = generator.chance(0.2) ? [{ key: 'dedicated', operator: 'Exists' }] : [];
  return {
    metadata: { namespace: 'default', name: `p${number}`, uid: `p${number}` },
    spec: { schedulerName: 'default-scheduler', tolerations, containers: [{ name: 'c', resources: { requests } }] },
  };
}

interface Run {
  readonly differences: readonly string[];
  /** Answers that nodes had when a pod was decided about. */
  readonly fits: number;
  readonly scores: number;
}

function runCluster(seed: number): Run {
  const generator = new Generator(seededRandom(seed));
  const [remembering, forgetful] = [newCore({ random: seededRandom(seed) }), newCore({ random: seededRandom(seed) })];
  const cores = [remembering, forgetful];
  const differences: string[] = [];
  const bound: string[] = [];
  let fits = 0;
  let scores = 0;
  const setNode = (name: string) => {
    const node = nodeOf(generator, name, seed % 2 === 0);
    for (const core of cores) core.setNode(name, plain(node));
  };
  for (let at = generator.whole(3, 12); at > 0; at--) setNode(`n${at}`);
  for (let at = 0; at < PODS; at++) {
    const pod = replica(generator, at);
    for (const { answered } of forgetful.cluster.nodes) answered.forget();
    fits += remembering.cluster.nodes.filter(({ answered }) => answered.fitAsked !== undefined).length;
    scores += remembering.cluster.nodes.filter(({ answered }) => answered.scoreAsked !== undefined).length;
    const [one, other] = cores.map((core) => {
      core.setPod(pod, at);
      core.advance(at);
      const decision = core.decide(at);
      if (decision?.kind === 'bind') core.settleBinding(decision.pod, { bound: true }, at);
      return decision?.kind === 'bind' ? decision.node.name : JSON.stringify(decision);
    });
    if (one !== other) differences.push(`cluster ${seed}, pod ${at}: ${one}, and without memory ${other}`);
    bound.push(`p${at}`);
    if (generator.chance(0.2)) setNode(`n${generator.whole(1, 14)}`);
    const leaving = generator.chance(0.05) ? `n${generator.whole(1, 12)}` : undefined;
    if (leaving !== undefined) for (const core of cores) core.removeNode(leaving);
    if (generator.chance(0.3)) {
      const gone = generator.pick(bound);
      for (const core of cores) core.removePod('default', gone);
    }
  }
  return { differences, fits, scores };
}

test('pods go where they would go if no answer of a node were remembered', (t) => {
  const runs = Array.from({ length: CLUSTERS }, (_, seed) => runCluster(seed));
  t.deepEqual(runs.flatMap(({ differences }) => differences).slice(0, 3), []);
  t.true(runs.reduce((sum, { fits }) => sum + fits, 0) > CLUSTERS * PODS);
  t.true(runs.reduce((sum, { scores }) => sum + scores, 0) > CLUSTERS * PODS);
});
