// What the scheduler would say about a pod now: for each node which plug-ins refuse it and why, or what each gives it.
// Looks at every node, decides nothing and changes nothing.
import type { ClusterView, Profile } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { ClusterState } from './cluster-state.ts';
import { FilterRun } from './filter-run.ts';
import { normalizeScores } from './node-scores.ts';
import type { Nominations } from './nominations.ts';

export interface PluginRefusal {
  readonly plugin: string;
  readonly reasons: readonly string[];
  /** False: no eviction could help. */
  readonly resolvable: boolean;
}

export interface PluginScore {
  readonly plugin: string;
  /** From 0 to 100; times the weight it is part of the total. */
  readonly score: number;
  readonly weight: number;
}

export interface NodeExplanation {
  readonly node: string;
  /** By every plug-in that refuses it; empty when the node will do. */
  readonly refusals: readonly PluginRefusal[];
  /** By every plug-in that tells the nodes apart, where it will do. */
  readonly scores: readonly PluginScore[];
  readonly total: number;
}

/** As `explain`; a pod that is placed is taken away for the question. */
export function explainUnplaced(
  pod: PodInfo,
  profile: Profile,
  cluster: ClusterState,
  nominations: Nominations,
): readonly NodeExplanation[] {
  const placed = cluster.placed(pod.key);
  if (placed !== undefined) cluster.removePod(pod.key);
  try {
    return explain(pod, profile, cluster, nominations);
  } finally {
    if (placed !== undefined) cluster.restore(placed);
  }
}

/** Feasible nodes first, the best of them at the head; then the others, all in the order of their names. */
function explain(
  pod: PodInfo,
  profile: Profile,
  cluster: ClusterView,
  nominations: Nominations,
): readonly NodeExplanation[] {
  const runs = profile.filters.map(({ name }, at) => ({
    name,
    run: new FilterRun(pod, cluster, [profile.filters[at]!], nominations),
  }));
  const refused: NodeExplanation[] = [];
  const feasible: NodeInfo[] = [];
  for (const node of cluster.nodes) {
    const refusals: PluginRefusal[] = [];
    for (const { name, run } of runs) {
      const status = run.refused ?? run.check(node);
      if (status === null) continue;
      refusals.push({ plugin: name, reasons: status.reasons, resolvable: status.code === 'unschedulable' });
    }
    if (refusals.length === 0) feasible.push(node);
    else refused.push({ node: node.name, refusals, scores: [], total: 0 });
  }
  return [...scoresOf(pod, profile, cluster, feasible), ...refused].sort(byTotal);
}

/** The order of explanations: nodes that will do before those that will not, the best of them first; else by name. */
export function byTotal(a: NodeExplanation, b: NodeExplanation): number {
  const refused = Math.min(1, a.refusals.length) - Math.min(1, b.refusals.length);
  return refused || b.total - a.total || (a.node < b.node ? -1 : 1);
}

function scoresOf(
  pod: PodInfo,
  { scores: plugins }: Profile,
  cluster: ClusterView,
  feasible: readonly NodeInfo[],
): NodeExplanation[] {
  const scores: PluginScore[][] = feasible.map(() => []);
  for (const { plugin, weight } of plugins) {
    const scorer = plugin.prepareScore(pod, cluster, feasible);
    if (scorer === null) continue;
    const raw = Float64Array.from(feasible, (node) => scorer.score(node));
    normalizeScores(raw, feasible, scorer.normalize);
    for (const [at, score] of raw.entries()) scores[at]!.push({ plugin: plugin.name, score, weight });
  }
  return feasible.map(({ name }, at) => ({
    node: name,
    refusals: [],
    scores: scores[at]!,
    total: scores[at]!.reduce((sum, { score, weight }) => sum + score * weight, 0),
  }));
}
