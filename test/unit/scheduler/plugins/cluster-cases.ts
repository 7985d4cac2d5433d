// Tables of cases for plug-ins that look at more than one node: a cluster in a few words, a pod, and what the plug-in
// says of each node. Pods of a case are in the namespace `default` unless they say otherwise.
import test from 'ava';
import { ClusterState } from '../../../../actors/scheduler/core/cluster-state.ts';
import { FilterRun } from '../../../../actors/scheduler/core/filter-run.ts';
import { normalizeScores } from '../../../../actors/scheduler/core/node-scores.ts';
import { Nominations } from '../../../../actors/scheduler/core/nominations.ts';
import type { FilterPlugin, ScorePlugin } from '../../../../actors/scheduler/framework/framework.ts';
import { readPod } from '../../../../actors/scheduler/pods/pod-info.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { boundPod, dialect, type NodeParts, node, type PodParts, pod } from '../objects.ts';

export interface ClusterParts {
  /** By name. */
  readonly nodes: Readonly<Record<string, NodeParts>>;
  /** Placed ones: the name begins with the node's and a slash. */
  readonly placed?: Readonly<Record<string, PodParts>>;
  /** Everything else, by storage key; the namespace is `default` where there is one. */
  readonly objects?: Readonly<Record<string, readonly JsonObject[]>>;
  readonly pod?: PodParts;
}

export interface ClusterFilterCase extends ClusterParts {
  readonly title: string;
  /** The last reason of each node that is refused, in the order of the nodes; empty when all will do. */
  readonly refused: Readonly<Record<string, string>>;
}

export interface ClusterScoreCase extends ClusterParts {
  readonly title: string;
  /** By node, normalized; null when the plug-in skips the pod. */
  readonly scores: Readonly<Record<string, number>> | null;
}

/** A cluster with everything of a case in it. */
export function clusterOf({ nodes, placed = {}, objects = {} }: ClusterParts): ClusterState {
  const cluster = new ClusterState(dialect);
  for (const [name, parts] of Object.entries(nodes)) cluster.setNode(name, node(name, parts));
  for (const [path, parts] of Object.entries(placed)) {
    const [onto = '', name = ''] = path.split('/');
    cluster.setBound(readPod(boundPod(`${onto}-${name}`, onto, parts)));
  }
  for (const [storageKey, list] of Object.entries(objects)) {
    for (const object of list) {
      const { namespace = '', name } = object.metadata as { readonly namespace?: string; readonly name: string };
      cluster.objects.set(storageKey, namespace, name, object);
    }
  }
  return cluster;
}

/** The pod of a case, as the scheduler reads it. */
export function podOf({ pod: parts = {} }: ClusterParts) {
  return readPod(pod('p', parts));
}

export function clusterFilterCases(plugin: FilterPlugin, cases: readonly ClusterFilterCase[]): void {
  for (const each of cases) {
    test(`${plugin.name}: ${each.title}`, (t) => {
      const cluster = clusterOf(each);
      const run = new FilterRun(podOf(each), cluster, [plugin], new Nominations());
      const refused: Record<string, string> = {};
      for (const name of Object.keys(each.nodes)) {
        const status = run.refused ?? run.check(cluster.node(name)!);
        if (status !== null) refused[name] = status.reasons.at(-1)!;
      }
      t.deepEqual(refused, each.refused);
    });
  }
}

export function clusterScoreCases(plugin: ScorePlugin, cases: readonly ClusterScoreCase[]): void {
  for (const each of cases) {
    test(`${plugin.name}: ${each.title}`, (t) => {
      const cluster = clusterOf(each);
      const nodes = Object.keys(each.nodes).map((name) => cluster.node(name)!);
      const scorer = plugin.prepareScore(podOf(each), cluster, nodes);
      if (scorer === null) return t.is(each.scores, null);
      const scores = Float64Array.from(nodes, (node) => scorer.score(node));
      normalizeScores(scores, nodes, scorer.normalize);
      return t.deepEqual(Object.fromEntries(nodes.map(({ name }, at) => [name, scores[at]])), each.scores);
    });
  }
}
