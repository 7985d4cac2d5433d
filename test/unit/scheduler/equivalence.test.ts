// The scheduler against rules told plainly: over many clusters that change between decisions, the same nodes will do, and
// each is worth as much less than the best as the rules say.
import test from 'ava';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { casesOf } from '../../server/effort.ts';
import { AVOID, Generator, HOSTNAME, ZONE } from './generated-cluster.ts';
import { boundPod, dialect, newCore, seededRandom } from './objects.ts';
import { feasibleNodes, type RefCluster, type RefNode, type RefPod, type RefService, totals } from './reference.ts';

const GROUPS = 10;
/** In each group. */
const CLUSTERS = casesOf(30);
const PODS = 14;

const plain = (object: object): JsonObject => object as unknown as JsonObject;

/** One cluster and its life; answers how many decisions found a node. */
function runCluster(seed: number, fail: (problem: string) => void): number {
  const random = seededRandom(seed * 7919 + 1);
  const generator = new Generator(random);
  const core = newCore({ random });
  const nodes = new Map<string, RefNode>();
  const pods = new Map<string, RefPod>();
  const services: RefService[] = [];
  const setNode = (node: RefNode) => {
    nodes.set(node.metadata.name, node);
    core.setNode(node.metadata.name, plain(node));
  };
  const setBound = (pod: RefPod, node: string) => {
    const bound = { ...pod, spec: { ...pod.spec, nodeName: node } };
    pods.set(pod.metadata.uid, bound);
    core.setPod(plain(bound), 0);
  };
  for (let at = generator.whole(3, 14); at > 0; at--) setNode(generator.node(`n${at}`));
  for (const namespace of generator.namespaces()) {
    for (const app of generator.apps()) {
      if (!generator.chance(0.4)) continue;
      const service = generator.service(namespace, app);
      services.push(service);
      core.setObject('core/services', namespace, app, plain(service));
    }
  }
  const cluster = (): RefCluster => ({
    nodes: [...nodes.values()],
    pods: [...pods.values()],
    services,
    hostnameLabel: HOSTNAME,
    zoneLabel: ZONE,
    avoidAnnotation: AVOID,
    unschedulableTaint: dialect.spell('node.@label/unschedulable'),
  });
  let placed = 0;
  for (let at = 0; at < PODS; at++) {
    const pod = generator.pod();
    const { problem, best } = compare(pod, cluster(), core.explain(plain(pod)) ?? []);
    if (problem !== undefined) fail(`cluster ${seed}, pod ${at}: ${problem}`);
    core.setPod(plain(pod), at);
    core.advance(at);
    const decision = core.decide(at);
    const chosen = decision?.kind === 'bind' ? decision.node.name : undefined;
    if (chosen === undefined ? best.length > 0 : !best.includes(chosen)) {
      fail(`cluster ${seed}, pod ${at}: ${chosen} was chosen, and the best are ${best}`);
    }
    if (decision?.kind === 'bind') {
      placed++;
      core.settleBinding(decision.pod, { bound: true }, at);
      setBound(pod, decision.node.name);
    } else core.removePod(pod.metadata.namespace, pod.metadata.name);
    if (generator.chance(0.2)) setNode(generator.node(`n${generator.whole(1, 16)}`));
    if (generator.chance(0.05)) {
      const name = generator.pick([...nodes.keys()]);
      nodes.delete(name);
      core.removeNode(name);
    }
    if (generator.chance(0.2) && pods.size > 0) {
      const gone = generator.pick([...pods.values()]);
      pods.delete(gone.metadata.uid);
      core.removePod(gone.metadata.namespace, gone.metadata.name);
    }
  }
  return placed;
}

type Explanation = NonNullable<ReturnType<ReturnType<typeof newCore>['explain']>>;

/** What is wrong with an explanation, and the nodes that are best by the rules. */
function compare(
  pod: RefPod,
  cluster: RefCluster,
  explanation: Explanation,
): { readonly problem: string | undefined; readonly best: readonly string[] } {
  const expected = feasibleNodes(pod, cluster);
  const worth = totals(pod, expected, cluster);
  const best = Math.max(...worth);
  return {
    problem: difference(pod, expected, worth, explanation),
    best: expected.filter((_, at) => worth[at] === best).map(({ metadata }) => metadata.name),
  };
}

function difference(
  pod: RefPod,
  expected: readonly RefNode[],
  worth: readonly number[],
  explanation: Explanation,
): string | undefined {
  const feasible = explanation.filter(({ refusals }) => refusals.length === 0);
  const [names, actual] = [
    expected.map(({ metadata }) => metadata.name).sort(),
    feasible.map(({ node }) => node).sort(),
  ];
  if (names.join() !== actual.join())
    return `${actual} will do, and by the rules ${names}: ${JSON.stringify(pod.spec)}`;
  const best = Math.max(...worth);
  const top = feasible[0]?.total ?? 0;
  for (const [at, { metadata }] of expected.entries()) {
    const total = feasible.find(({ node }) => node === metadata.name)!;
    if (total.total - top !== worth[at]! - best) {
      return `${metadata.name} is ${total.total - top} from the best, and by the rules ${worth[at]! - best}: ${JSON.stringify([total, pod.spec])}`;
    }
  }
  return undefined;
}

for (let group = 0; group < GROUPS; group++) {
  test(`the rules hold in ${CLUSTERS} clusters, from number ${group * CLUSTERS}`, (t) => {
    const problems: string[] = [];
    let placed = 0;
    for (let at = 0; at < CLUSTERS; at++) {
      placed += runCluster(group * CLUSTERS + at, (problem) => problems.push(problem));
    }
    t.deepEqual(problems.slice(0, 3), []);
    t.true(placed > 10 * CLUSTERS, `only ${placed} pods found a node`);
  });
}

test('a pod that runs is explained as if it were not there', (t) => {
  const core = newCore();
  core.setNode('n', { metadata: { name: 'n' }, status: { allocatable: { cpu: '1', memory: '1Gi', pods: '1' } } });
  const pod = boundPod('a', 'n', { requests: { cpu: '1' } });
  core.setPod(pod, 0);
  t.deepEqual(
    core.explain(pod)?.map(({ node, refusals }) => [node, refusals]),
    [['n', []]],
  );
  t.is(core.cluster.node('n')?.podCount, 1);
  t.is(core.explain({ ...pod, spec: { schedulerName: 'nobody' } }), undefined);
});
