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
import type { AffinityTerm, WeightedTerm } from '../pods/pod-terms.ts';
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
  const kinds = byTopologyKey(requiredAnti, ownKey);
  const away = keysOfNodes(kinds, cluster).map((key): Tally => {
    const selection = podsOfAny(kinds.get(key)!, cluster);
    return { counts: cluster.topology.domainCounts(selection, key), share: shareOf(selection), change: 0 };
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
  const kinds = byTopologyKey(terms, ownKey);
  const keys = keysOfNodes(kinds, cluster);
  const isNowhere = keys.length < kinds.size;
  const tallies = isNowhere
    ? []
    : keys.map((key): Tally => ({ counts: cluster.topology.domainCounts(selection, key), share, change: 0 }));
  // The first of a series of pods that want to be near each other has nobody to be near to.
  const wantsItsLike = share(pod) > 0;
  return {
    tallies,
    refusal: wantsItsLike ? NOT_NEAR_ITS_LIKE : NOT_NEAR,
    satisfied(node: NodeInfo): boolean {
      if (isNowhere) return false;
      let found = true;
      for (const tally of tallies) {
        if (!node.labels.has(tally.counts.topologyKey)) return false;
        if (amountAt(tally, node) <= 0) found = false;
      }
      return found || (wantsItsLike && tallies.every(({ counts, change }) => counts.total + change === 0));
    },
  };
}

/**
 * What is said of one kind of domain is counted together: a pod may have ten thousand terms, and a count for each of them would
 * hold the thread up for as long as it takes to be given up.
 */
function byTopologyKey<T>(terms: readonly T[], keyOf: (term: T) => string): ReadonlyMap<string, readonly T[]> {
  const byKey = new Map<string, T[]>();
  for (const term of terms) {
    const known = byKey.get(keyOf(term));
    if (known === undefined) byKey.set(keyOf(term), [term]);
    else known.push(term);
  }
  return byKey;
}

/** More kinds of domains than pods speak of, but for one that is meant to take time. */
const KINDS_USUAL = 8;

/** The keys of the kinds; where there are many of them, only those that a node has, since nothing counts by the others. */
function keysOfNodes(kinds: ReadonlyMap<string, unknown>, { nodes }: ClusterView): readonly string[] {
  const keys = [...kinds.keys()];
  if (keys.length <= KINDS_USUAL) return keys;
  const known = new Set<string>();
  for (const { labels } of nodes) for (const key of labels.keys()) known.add(key);
  return keys.filter((key) => known.has(key));
}

function ownKey({ topologyKey }: AffinityTerm): string {
  return topologyKey;
}

/** Pods that each of the terms speaks of. */
function podsOf(terms: readonly AffinityTerm[], { topology }: ClusterView): PodSelection {
  return {
    id: terms.map(({ podsId }) => podsId).join('\n'),
    namespaces: namesOf(terms[0]!),
    amount: (namespace, labels) => (terms.every((term) => topology.termMatches(term, namespace, labels)) ? 1 : 0),
  };
}

/** Pods that one of the terms speaks of. */
function podsOfAny(terms: readonly AffinityTerm[], cluster: ClusterView): PodSelection {
  if (terms.length === 1) return podsOf(terms, cluster);
  const { topology } = cluster;
  return {
    id: `any of\n${terms.map(({ podsId }) => podsId).join('\n')}`,
    namespaces: namesOfAll(terms),
    amount: (namespace, labels) => (terms.some((term) => topology.termMatches(term, namespace, labels)) ? 1 : 0),
  };
}

/** Pods that terms speak of, each for the sum of their weights. */
function podsWeighed(terms: readonly WeightedTerm[], { topology }: ClusterView): PodSelection {
  return {
    id: `sum of\n${terms.map(({ weight, term }) => `${weight} ${term.podsId}`).join('\n')}`,
    namespaces: namesOfAll(terms.map(({ term }) => term)),
    amount: (namespace, labels) => {
      let sum = 0;
      for (const { weight, term } of terms) if (topology.termMatches(term, namespace, labels)) sum += weight;
      return sum;
    },
  };
}

/** The namespaces of a term's pods; undefined when they are not known by name. */
function namesOf({ scope }: AffinityTerm): readonly string[] | undefined {
  return scope.selector === undefined ? scope.names : undefined;
}

function namesOfAll(terms: readonly AffinityTerm[]): readonly string[] | undefined {
  const names = new Set<string>();
  for (const term of terms) {
    const named = namesOf(term);
    if (named === undefined) return undefined;
    for (const name of named) names.add(name);
  }
  return [...names];
}

function shareOf({ amount }: PodSelection): (other: PodInfo) => number {
  return ({ namespace, labels, deleting }) => amount(namespace, labels, deleting);
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
  const kinds = byTopologyKey(pod.affinity.preferred, ({ term }) => term.topologyKey);
  for (const key of keysOfNodes(kinds, cluster)) {
    const terms = kinds.get(key)!;
    const { weight, term } = terms[0]!;
    if (terms.length === 1) add(topology.domainCounts(podsOf([term], cluster), key), weight);
    else add(topology.domainCounts(podsWeighed(terms, cluster), key), 1);
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
