// InterPodAffinity: a pod goes where the pods are that its required terms ask for, away from those that its required
// anti-affinity names or that name it in theirs, and rather where preferences, its own and those of others, add up.
import { ClusterEvent } from '../core/cluster-event.ts';
import type { NodeInfo } from '../core/node-info.ts';
import {
  type ClusterView,
  type FilterPlugin,
  type NodeScorer,
  type PreparedFilter,
  SCORE_MAX,
  type ScorePlugin,
} from '../framework/framework.ts';
import { refusal } from '../framework/status.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { AffinityTerm } from '../pods/pod-terms.ts';
import type { DomainCounts } from '../topology/domain-counts.ts';
import type { PodSelection } from '../topology/topology-index.ts';

/** With a node go the pods that are counted there. */
const NODES_CHANGE = ClusterEvent.nodeAdded | ClusterEvent.nodeLabels | ClusterEvent.nodeRemoved;
const POD_REMOVED = ClusterEvent.podRemoved;
const AFFINITY = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules";
const OTHERS_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules";
const BOTH = "node(s) didn't match pod affinity/anti-affinity rules";
const NOT_NEAR = refusal('unresolvable', NODES_CHANGE | ClusterEvent.podAdded, BOTH, AFFINITY);
/** Of a pod that wants its like, and may go anywhere once there is none. */
const NOT_NEAR_ITS_LIKE = refusal('unresolvable', NODES_CHANGE | ClusterEvent.podAdded | POD_REMOVED, BOTH, AFFINITY);
const TOO_NEAR = refusal('unschedulable', NODES_CHANGE | POD_REMOVED, BOTH, ANTI_AFFINITY);
const UNWANTED = refusal('unschedulable', NODES_CHANGE | POD_REMOVED, BOTH, OTHERS_ANTI_AFFINITY);

export interface InterPodAffinityArgs {
  /** What a required affinity of a placed pod is worth to the pods that it asks for; 0 to 100. */
  readonly hardPodAffinityWeight: number;
}

export function interPodAffinity({ hardPodAffinityWeight }: InterPodAffinityArgs): FilterPlugin & ScorePlugin {
  return {
    name: 'InterPodAffinity',
    prepareFilter,
    prepareScore: (pod, cluster) => scorer(pod, cluster, hardPodAffinityWeight),
  };
}

/** A count of pods near a node, and what a trial adds to it there. */
interface Tally {
  readonly counts: DomainCounts;
  /** How much one pod adds. */
  readonly share: (other: PodInfo) => number;
  change: number;
}

function prepareFilter(pod: PodInfo, cluster: ClusterView): PreparedFilter | null {
  const { required, requiredAnti } = pod.affinity;
  const about = cluster.topology.termsAbout(pod, 'requiredAnti');
  const near = required.length === 0 ? undefined : nearness(pod, required, cluster);
  const away = requiredAnti.map((term): Tally => {
    const selection = podsOf([term], cluster);
    return { counts: cluster.topology.domainCounts(selection, term.topologyKey), share: shareOf(selection), change: 0 };
  });
  const unwanted = about.map(({ term: { id }, counts }): Tally => {
    const share = (other: PodInfo) => other.affinity.requiredAnti.filter((term) => term.id === id).length;
    return { counts, share, change: 0 };
  });
  // Pods that a trial adds may carry terms which nobody carries now.
  const carriedOnTrial = new Map<string, number>();
  const known = new Set(about.map(({ term: { id } }) => id));
  const tallies = [...away, ...unwanted, ...(near?.tallies ?? [])];
  return {
    // Nobody near by counts, for or against, as for nearly all pods: every node says yes.
    ...(near === undefined && away.length + unwanted.length === 0 ? { ofNodeAlone: '' } : {}),
    check(node) {
      if (near !== undefined && !near.satisfied(node)) return near.refusal;
      for (const tally of away) if (amountAt(tally, node) > 0) return TOO_NEAR;
      for (const tally of unwanted) if (amountAt(tally, node) > 0) return UNWANTED;
      if (carriedOnTrial.size === 0) return null;
      for (const amount of carriedOnTrial.values()) if (amount > 0) return UNWANTED;
      return null;
    },
    change(other, node, sign) {
      for (const tally of tallies) {
        if (node.labels.has(tally.counts.topologyKey)) tally.change += sign * tally.share(other);
      }
      for (const term of other.affinity.requiredAnti) {
        if (known.has(term.id) || !node.labels.has(term.topologyKey) || !cluster.topology.speaksOf(term, pod)) continue;
        carriedOnTrial.set(term.id, (carriedOnTrial.get(term.id) ?? 0) + sign);
      }
    },
    reset() {
      for (const tally of tallies) tally.change = 0;
      carriedOnTrial.clear();
    },
  };
}

/** The required affinity: pods that match all of its terms at once must be near by each of them. */
function nearness(pod: PodInfo, terms: readonly AffinityTerm[], cluster: ClusterView) {
  const selection = podsOf(terms, cluster);
  const share = shareOf(selection);
  const tallies = terms.map(
    ({ topologyKey }): Tally => ({ counts: cluster.topology.domainCounts(selection, topologyKey), share, change: 0 }),
  );
  // The first of a series of pods that want to be near each other has nobody to be near to.
  const wantsItsLike = share(pod) > 0;
  return {
    tallies,
    refusal: wantsItsLike ? NOT_NEAR_ITS_LIKE : NOT_NEAR,
    satisfied(node: NodeInfo): boolean {
      let found = true;
      for (const tally of tallies) {
        if (!node.labels.has(tally.counts.topologyKey)) return false;
        if (amountAt(tally, node) <= 0) found = false;
      }
      return found || (wantsItsLike && tallies.every(({ counts, change }) => counts.total + change === 0));
    },
  };
}

/** Pods that each of the terms speaks of. */
function podsOf(terms: readonly AffinityTerm[], { topology }: ClusterView): PodSelection {
  const [first] = terms;
  const named = first?.scope.selector === undefined ? first?.scope.names : undefined;
  return {
    id: terms.map(({ podsId }) => podsId).join('\n'),
    namespaces: named,
    matches: (namespace, labels) => terms.every((term) => topology.termMatches(term, namespace, labels)),
  };
}

function shareOf({ matches }: PodSelection): (other: PodInfo) => number {
  return ({ namespace, labels, deleting }) => (matches(namespace, labels, deleting) ? 1 : 0);
}

function amountAt({ counts, change }: Tally, node: NodeInfo): number {
  return counts.at(node) + change;
}

function scorer(pod: PodInfo, cluster: ClusterView, hardWeight: number): NodeScorer | null {
  const { topology } = cluster;
  const parts: { readonly counts: DomainCounts; readonly factor: number }[] = [];
  const add = (counts: DomainCounts, factor: number) => {
    if (counts.domains.size > 0 && factor !== 0) parts.push({ counts, factor });
  };
  for (const { weight, term } of pod.affinity.preferred) {
    add(topology.domainCounts(podsOf([term], cluster), term.topologyKey), weight);
  }
  if (hardWeight > 0) for (const { counts } of topology.termsAbout(pod, 'required')) add(counts, hardWeight);
  for (const { counts } of topology.termsAbout(pod, 'preferred')) add(counts, 1);
  if (parts.length === 0) return null;
  return {
    normalize: spanOfScores,
    score(node) {
      let score = 0;
      for (const { counts, factor } of parts) score += factor * counts.at(node);
      return score;
    },
  };
}

/** The lowest score, or 0 where that is lower, becomes 0; the highest, or 0, becomes SCORE_MAX. */
function spanOfScores(scores: Float64Array, count: number): void {
  let least = 0;
  let most = 0;
  for (let at = 0; at < count; at++) {
    least = Math.min(least, scores[at]!);
    most = Math.max(most, scores[at]!);
  }
  const span = most - least;
  for (let at = 0; at < count; at++)
    scores[at] = span === 0 ? 0 : Math.trunc(SCORE_MAX * ((scores[at]! - least) / span));
}
