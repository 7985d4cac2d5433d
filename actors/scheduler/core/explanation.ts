// What the scheduler would say about a pod now: for each node which plug-ins refuse it and why, or what each gives it.
// Looks at every node, in turns where there are many, decides nothing and changes nothing.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import type { ClusterView, Profile } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { type PodInfo, readPod } from '../pods/pod-info.ts';
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

/** Answers of plug-ins about single nodes that are asked for in one turn, about: some 10 ms. */
const ASKED_IN_A_TURN_MAX = 20_000;

/**
 * The look at every node, from its first turn to its last. A node is told of as it was when it was looked at; nodes that come meanwhile
 * are looked at as well, as long as nothing is scored.
 */
export class Explaining {
  /** As it would be without a node. */
  readonly pod: PodInfo;
  readonly object: JsonObject;
  private readonly refusals = new Map<NodeInfo, readonly PluginRefusal[]>();
  /** Where it can go; undefined while there are nodes to be looked at. */
  private feasible: readonly NodeInfo[] | undefined;
  /** Of the feasible nodes, by their places. */
  private readonly scores: PluginScore[][] = [];
  private pluginsAsked = 0;
  private asked = 0;

  constructor(object: JsonObject) {
    this.object = object;
    this.pod = readPod({ ...object, spec: { ...asObject(object.spec), nodeName: undefined } });
  }

  /**
   * Goes on for a turn, and says in the last one: feasible nodes first, the best of them at the head; then the others, all in the order of
   * their names. A pod that is placed is taken away for the question. `askedMax`: unless a turn is to take what it takes.
   */
  turn(
    profile: Profile,
    cluster: ClusterState,
    nominations: Nominations,
    askedMax = ASKED_IN_A_TURN_MAX,
  ): readonly NodeExplanation[] | 'unfinished' {
    const placed = cluster.placed(this.pod.key);
    if (placed !== undefined) cluster.removePod(this.pod.key);
    this.asked = 0;
    try {
      const isWhole = this.filter(profile, cluster, nominations, askedMax) && this.score(profile, cluster, askedMax);
      return isWhole ? this.whole() : 'unfinished';
    } finally {
      if (placed !== undefined) cluster.restore(placed);
    }
  }

  /** False where there are nodes left for another turn. */
  private filter({ filters }: Profile, cluster: ClusterView, nominations: Nominations, askedMax: number): boolean {
    if (this.feasible !== undefined) return true;
    const runs = filters.map((plugin) => ({
      name: plugin.name,
      run: new FilterRun(this.pod, cluster, [plugin], nominations),
    }));
    for (const node of cluster.nodes) {
      if (this.refusals.has(node)) continue;
      if (this.asked >= askedMax) return false;
      this.asked += runs.length;
      const refusals: PluginRefusal[] = [];
      for (const { name, run } of runs) {
        const status = run.refused ?? run.check(node);
        if (status === null) continue;
        refusals.push({ plugin: name, reasons: status.reasons, resolvable: status.code === 'unschedulable' });
      }
      this.refusals.set(node, refusals);
    }
    this.feasible = cluster.nodes.filter((node) => this.refusals.get(node)!.length === 0);
    for (const _ of this.feasible) this.scores.push([]);
    return true;
  }

  /** False where there are plug-ins left for another turn. */
  private score({ scores }: Profile, cluster: ClusterView, askedMax: number): boolean {
    const { feasible = [] } = this;
    for (const { plugin, weight } of scores.slice(this.pluginsAsked)) {
      if (this.asked >= askedMax) return false;
      this.asked += feasible.length;
      const scorer = plugin.prepareScore(this.pod, cluster, feasible);
      this.pluginsAsked++;
      if (scorer === null) continue;
      const raw = Float64Array.from(feasible, (node) => scorer.score(node));
      normalizeScores(raw, feasible, scorer.normalize);
      for (const [at, score] of raw.entries()) this.scores[at]!.push({ plugin: plugin.name, score, weight });
    }
    return true;
  }

  private whole(): readonly NodeExplanation[] {
    const { feasible = [], scores } = this;
    const willDo = feasible.flatMap(({ name: node, present }, at): readonly NodeExplanation[] => {
      const total = scores[at]!.reduce((sum, { score, weight }) => sum + score * weight, 0);
      return present ? [{ node, refusals: [], scores: scores[at]!, total }] : [];
    });
    const refused = [...this.refusals].flatMap(([{ name: node, present }, refusals]) =>
      refusals.length > 0 && present ? [{ node, refusals, scores: [], total: 0 }] : [],
    );
    return [...willDo, ...refused].sort(byTotal);
  }
}

/** The order of explanations: nodes that will do before those that will not, the best of them first; else by name. */
export function byTotal(a: NodeExplanation, b: NodeExplanation): number {
  const refused = Math.min(1, a.refusals.length) - Math.min(1, b.refusals.length);
  return refused || b.total - a.total || (a.node < b.node ? -1 : 1);
}
