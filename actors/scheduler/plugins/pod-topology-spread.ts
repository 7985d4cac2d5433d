// PodTopologySpread: pods that a constraint selects differ in number between domains by no more than its skew, as a must
// or as a preference. Pods without constraints of their own get those of the profile, applied to the pods that the same
// services and controllers select.

import {
  type ClusterView,
  type FilterPlugin,
  type NodeScorer,
  type PreparedFilter,
  SCORE_MAX,
  type ScorePlugin,
} from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { SpreadConstraint } from '../pods/pod-terms.ts';
import { refusal, type Status } from '../status.ts';
import type { SpreadCounts } from '../topology/spread-counts.ts';
import type { NodeSelection } from '../topology/topology-index.ts';
import { eligibilityId, nodeEligibility } from './node-eligibility.ts';
import { podsSelected } from './selected-pods.ts';

const NAME = 'PodTopologySpread';
const HELPED_BY =
  ClusterEvent.nodeAdded |
  ClusterEvent.nodeLabels |
  ClusterEvent.nodeRemoved |
  ClusterEvent.podAdded |
  ClusterEvent.podRemoved |
  ClusterEvent.services;
const SKEWED = refusal('unschedulable', HELPED_BY, "node(s) didn't match pod topology spread constraints");
const NO_LABEL = refusal(
  'unresolvable',
  HELPED_BY,
  "node(s) didn't match pod topology spread constraints (missing required label)",
);

/** A constraint of the profile's, for pods without any: the selector follows from what owns the pod. */
export type DefaultConstraint = Omit<SpreadConstraint, 'selector'>;

export interface PodTopologySpreadArgs {
  readonly defaultConstraints: readonly DefaultConstraint[];
  /**
   * The defaults are the built-in ones, meant for every cluster: nodes without one of their labels are scored by the
   * others.
   */
  readonly systemDefaults: boolean;
  /** The label whose values are nodes. */
  readonly hostnameLabel: string;
}

export function podTopologySpread(args: PodTopologySpreadArgs): FilterPlugin & ScorePlugin {
  return {
    name: NAME,
    prepareFilter: (pod, cluster) => {
      const constraints = constraintsOf(pod, cluster, args, true);
      if (constraints.length === 0) return null;
      return unreadable(constraints) ?? prepareFilter(pod, constraints, cluster);
    },
    prepareScore: (pod, cluster, feasible) => {
      const constraints = constraintsOf(pod, cluster, args, false);
      const needsAllLabels = pod.spread.length > 0 || !args.systemDefaults;
      return constraints.length === 0
        ? null
        : scorer({ pod, constraints, needsAllLabels, cluster, feasible }, args.hostnameLabel);
    },
  };
}

/** The pod's constraints of one kind; where it has none at all, the defaults of that kind. */
function constraintsOf(
  pod: PodInfo,
  cluster: ClusterView,
  { defaultConstraints }: PodTopologySpreadArgs,
  required: boolean,
): readonly SpreadConstraint[] {
  if (pod.spread.length > 0) return pod.spread.filter((each) => each.required === required);
  const defaults = defaultConstraints.filter((each) => each.required === required);
  const selector = defaults.length === 0 ? undefined : cluster.objects.owners.selectorOf(pod);
  return selector === undefined ? [] : defaults.map((each) => ({ ...each, selector }));
}

/** A must that cannot be read is not passed over: the pod goes nowhere. */
function unreadable(constraints: readonly SpreadConstraint[]): Status | null {
  const problem = constraints.find((each) => each.problem !== undefined)?.problem;
  if (problem === undefined) return null;
  const where = `running PreFilter plugin "${NAME}": obtaining pod's hard topology spread constraints`;
  return refusal('error', 0, `${where}: ${problem}`);
}

function prepareFilter(pod: PodInfo, constraints: readonly SpreadConstraint[], cluster: ClusterView): PreparedFilter {
  const nodes = eligibleNodes(pod, constraints, { needsLabels: true, withPodsBeside: true });
  const checks = constraints.map(({ maxSkew, topologyKey, selector }) => {
    const selection = podsSelected(pod.namespace, selector);
    const counts = whenAsked(() => cluster.topology.spreadCounts(selection, topologyKey, nodes));
    const own = selector.matches(pod.labels) ? 1 : 0;
    return { topologyKey, selection, counts, own, maxSkew, change: 0 };
  });
  return {
    check(node) {
      for (const { topologyKey, counts, own, maxSkew, change } of checks) {
        const value = node.labels.get(topologyKey);
        if (value === undefined) return NO_LABEL;
        const least = counts().minimum(value, change);
        const pods = (counts().podsIn(value) ?? 0) + change;
        if (least !== undefined && pods + own - least > maxSkew) return SKEWED;
      }
      return null;
    },
    change({ namespace, labels, deleting }, node, sign) {
      if (!nodes.matches(node)) return;
      for (const each of checks) each.change += sign * each.selection.amount(namespace, labels, deleting);
    },
    reset() {
      for (const each of checks) each.change = 0;
    },
  };
}

/** A pod may name ten thousand keys, of which its nodes have hardly any: a count for each would hold the thread up until it is given up. */
function whenAsked(make: () => SpreadCounts): () => SpreadCounts {
  let made: SpreadCounts | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Nodes that the pod's own selectors allow and that have the labels of all constraints. A must counts the pods of their domains on
 * all nodes, a preference those on these alone: that is how 1.21 has it.
 */
function eligibleNodes(
  pod: PodInfo,
  constraints: readonly SpreadConstraint[],
  { needsLabels, withPodsBeside }: { readonly needsLabels: boolean; readonly withPodsBeside: boolean },
): NodeSelection {
  const allowed = nodeEligibility(pod.constraints);
  const keys = needsLabels ? constraints.map(({ topologyKey }) => topologyKey) : [];
  return {
    id: JSON.stringify([keys, eligibilityId(pod.constraints)]),
    withPodsBeside,
    matches(node) {
      for (const key of keys) if (!node.labels.has(key)) return false;
      return allowed === null || allowed(node);
    },
  };
}

interface Preference {
  readonly topologyKey: string;
  readonly counts: () => SpreadCounts;
  readonly maxSkew: number;
  /** Grows with the number of domains, so that many small domains count for as much as few large ones. */
  readonly weight: number;
}

interface Scored {
  readonly pod: PodInfo;
  readonly constraints: readonly SpreadConstraint[];
  readonly needsAllLabels: boolean;
  readonly cluster: ClusterView;
  readonly feasible: readonly NodeInfo[];
}

function scorer({ pod, constraints, needsAllLabels, cluster, feasible }: Scored, hostnameLabel: string): NodeScorer {
  const nodes = eligibleNodes(pod, constraints, { needsLabels: needsAllLabels, withPodsBeside: false });
  const ignored = (node: NodeInfo) =>
    needsAllLabels && !constraints.every(({ topologyKey }) => node.labels.has(topologyKey));
  const counted = feasible.filter((node) => !ignored(node));
  const preferences = constraints.map(({ topologyKey, maxSkew, selector }): Preference => {
    const selection = podsSelected(pod.namespace, selector);
    const counts = whenAsked(() => cluster.topology.spreadCounts(selection, topologyKey, nodes));
    const domains = topologyKey === hostnameLabel ? counted.length : valuesOf(topologyKey, counted);
    return { topologyKey, counts, maxSkew, weight: Math.log(domains + 2) };
  });
  return {
    score(node) {
      if (ignored(node)) return Number.NaN;
      let score = 0;
      for (const { topologyKey, counts, maxSkew, weight } of preferences) {
        const value = node.labels.get(topologyKey);
        if (value !== undefined) score += (counts().podsIn(value) ?? 0) * weight + maxSkew - 1;
      }
      return Math.trunc(score);
    },
    normalize: fewestFirst,
  };
}

/** Nodes without the label are a domain as well, all together. */
function valuesOf(label: string, nodes: readonly NodeInfo[]): number {
  return new Set(nodes.map(({ labels }) => labels.get(label) ?? '')).size;
}

/** The fewest pods become SCORE_MAX; nodes that are ignored, which are NaN until now, become 0. */
function fewestFirst(scores: Float64Array, count: number): void {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let at = 0; at < count; at++) {
    const score = scores[at]!;
    if (Number.isNaN(score)) continue;
    least = Math.min(least, score);
    most = Math.max(most, score);
  }
  for (let at = 0; at < count; at++) {
    const score = scores[at]!;
    if (Number.isNaN(score)) scores[at] = 0;
    else scores[at] = most === 0 ? SCORE_MAX : Math.trunc((SCORE_MAX * (most + least - score)) / most);
  }
}
