// InterPodAffinity: a pod goes where the pods are that its required terms ask for, away from those that its required
// anti-affinity names or that name it in theirs, and rather where preferences, its own and those of others, add up.

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
import type { AffinityTerm, WeightedTerm } from '../pods/pod-terms.ts';
import { refusal } from '../status.ts';
import type { DomainCounts } from '../topology/domain-counts.ts';
import type { PodSelection } from '../topology/topology-index.ts';

/** With a node go the pods that are counted there. */
const NODES_CHANGE = ClusterEvent.nodeAdded | ClusterEvent.nodeLabels | ClusterEvent.nodeRemoved;
const POD_REMOVED = ClusterEvent.podRemoved;
const AFFINITY = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules";
const OTHERS_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules";
const BOTH = "node(s) didn't match pod affinity/anti-affinity rules";

/** `more`: what helps beside what always does. */
function refusalsHelpedBy(more: number) {
  const helpedBy = NODES_CHANGE | more;
  return {
    notNear: refusal('unresolvable', helpedBy | ClusterEvent.podAdded, BOTH, AFFINITY),
    /** Of a pod that wants its like, and may go anywhere once there is none. */
    notNearItsLike: refusal('unresolvable', helpedBy | ClusterEvent.podAdded | POD_REMOVED, BOTH, AFFINITY),
    tooNear: refusal('unschedulable', helpedBy | POD_REMOVED, BOTH, ANTI_AFFINITY),
    unwanted: refusal('unschedulable', helpedBy | POD_REMOVED, BOTH, OTHERS_ANTI_AFFINITY),
  };
}

const BY_NAMES = refusalsHelpedBy(0);
const BY_LABELS_OF_NAMESPACES = refusalsHelpedBy(ClusterEvent.namespaceLabels);

/** What a pod is told that these terms keep away. */
function refusalsOf(terms: readonly AffinityTerm[]): typeof BY_NAMES {
  return terms.some(({ scope }) => scope.selector !== undefined) ? BY_LABELS_OF_NAMESPACES : BY_NAMES;
}

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
  change: number;
  /** How much one pod adds. */
  readonly share: (other: PodInfo) => number;
}

function prepareFilter(pod: PodInfo, cluster: ClusterView): PreparedFilter | null {
  const { required, requiredAnti } = pod.affinity;
  const near = required.length === 0 ? undefined : nearness(pod, required, cluster);
  const kinds = byTopologyKey(requiredAnti, ownKey);
  const away = keysOfNodes(kinds, cluster).map((key) => tallyOf(podsOfAny(kinds.get(key)!, cluster), key, cluster));
  const unwanted = unwantedBy(pod, cluster);
  const { tooNear } = refusalsOf(requiredAnti);
  const tallies = [...away, ...(near?.tallies ?? [])];
  return {
    // Nobody near by counts, for or against, as for nearly all pods: every node says yes.
    ...(near === undefined && away.length === 0 && unwanted.isNowhere ? { ofNodeAlone: '' } : {}),
    check(node) {
      if (near !== undefined && !near.satisfied(node)) return near.refusal;
      for (const tally of away) if (amountAt(tally, node) > 0) return tooNear;
      return unwanted.at(node) ? unwanted.refusal : null;
    },
    change(other, node, sign) {
      for (const tally of tallies) {
        if (node.labels.has(tally.counts.topologyKey)) tally.change += sign * tally.share(other);
      }
      unwanted.change(other, node, sign);
    },
    reset() {
      for (const tally of tallies) tally.change = 0;
      unwanted.reset();
    },
  };
}

function tallyOf(selection: PodSelection, topologyKey: string, { topology }: ClusterView): Tally {
  const { domains: counts, amountOf: share } = topology.counted(selection, topologyKey);
  return { counts, share, change: 0 };
}

/** What placed pods say of one kind of domain against this pod, and what a trial adds to it there. */
interface Unwanted {
  amountIn(domain: string): number;
  change: number;
}

/** Placed pods that want this one away. */
function unwantedBy(pod: PodInfo, { topology }: ClusterView) {
  const about = topology.termsAbout(pod, 'requiredAnti');
  const known = new Set(about.map(({ term: { id } }) => id));
  // Those who are in no domain at all, as by a label that no node has, keep nobody away.
  const standing = about.filter(({ counts }) => counts.domains.size > 0);
  const kinds = new Map<string, Unwanted>();
  for (const [key, terms] of byTopologyKey(standing, ({ term }) => term.topologyKey))
    kinds.set(key, { amountIn: summed(terms.map(({ counts }) => counts)), change: 0 });
  return {
    isNowhere: about.length === 0,
    refusal: refusalsOf(standing.map(({ term }) => term)).unwanted,
    at(node: NodeInfo): boolean {
      for (const [key, { amountIn, change }] of kinds) {
        const domain = node.labels.get(key);
        if (domain !== undefined && amountIn(domain) + change > 0) return true;
      }
      return false;
    },
    change(other: PodInfo, node: NodeInfo, sign: 1 | -1): void {
      for (const term of other.affinity.requiredAnti) {
        if (!node.labels.has(term.topologyKey) || !(known.has(term.id) || topology.speaksOf(term, pod))) continue;
        // Pods that a trial adds may carry terms which nobody carries now.
        const kind = kinds.get(term.topologyKey) ?? { amountIn: () => 0, change: 0 };
        kind.change += sign;
        kinds.set(term.topologyKey, kind);
      }
    },
    reset(): void {
      for (const kind of kinds.values()) kind.change = 0;
    },
  };
}

/** More counts are put together before nodes are asked: a trial asks about each of them a hundred times. */
const ASKED_ONE_BY_ONE_MAX = 8;

function summed(counts: readonly DomainCounts[]): (domain: string) => number {
  if (counts.length <= ASKED_ONE_BY_ONE_MAX) {
    return (domain) => {
      let sum = 0;
      for (const { domains } of counts) sum += domains.get(domain) ?? 0;
      return sum;
    };
  }
  const sums = new Map<string, number>();
  for (const { domains } of counts)
    for (const [domain, amount] of domains) sums.set(domain, (sums.get(domain) ?? 0) + amount);
  return (domain) => sums.get(domain) ?? 0;
}

/** The required affinity: pods that match all of its terms at once must be near by each of them. */
function nearness(pod: PodInfo, terms: readonly AffinityTerm[], cluster: ClusterView) {
  const selection = podsOf(terms, cluster);
  const kinds = byTopologyKey(terms, ownKey);
  const keys = keysOfNodes(kinds, cluster);
  const isNowhere = keys.length < kinds.size;
  const tallies = isNowhere ? [] : keys.map((key) => tallyOf(selection, key, cluster));
  const { notNear, notNearItsLike } = refusalsOf(terms);
  // The first of a series of pods that want to be near each other has nobody to be near to.
  const wantsItsLike = selection.amount(pod.namespace, pod.labels, pod.deleting) > 0;
  return {
    tallies,
    refusal: wantsItsLike ? notNearItsLike : notNear,
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
    selectors: terms.length,
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
    selectors: terms.length,
    amount: (namespace, labels) => (terms.some((term) => topology.termMatches(term, namespace, labels)) ? 1 : 0),
  };
}

/** Pods that terms speak of, each for the sum of their weights. */
function podsWeighed(terms: readonly WeightedTerm[], { topology }: ClusterView): PodSelection {
  return {
    id: `sum of\n${terms.map(({ weight, term }) => `${weight} ${term.podsId}`).join('\n')}`,
    namespaces: namesOfAll(terms.map(({ term }) => term)),
    selectors: terms.length,
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
