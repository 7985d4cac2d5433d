// The scheduling cycle of one pod: which node, or why none. Filters a sample of the nodes, scores those that are left,
// and draws among the best. Pure: changes nothing but where the next pod's sample begins, and takes randomness as given.
import type { Random } from '../../../runtime/environment.ts';
import type { ClusterView, NodeFilter, NodeScorer, Profile, Status } from '../framework/framework.ts';
import { SCORE_MAX } from '../framework/framework.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { NO_NODES_MESSAGE, unschedulableMessage } from './failure-message.ts';
import { ClusterEvent, type NodeInfo } from './node-info.ts';

/** Where a pod goes, or why it goes nowhere. */
export type Choice =
  | { readonly node: NodeInfo }
  | {
      readonly node: null;
      /** `error`: a plugin could not decide. */
      readonly code: 'unschedulable' | 'error';
      readonly message: string;
      /** The ClusterEvents after which another attempt may end otherwise. */
      readonly helpedBy: number;
    };

/** From this many nodes on, not all are looked at. */
const SAMPLE_NODES_MIN = 100;
const SAMPLE_PERCENT_MIN = 5;

/** How many feasible nodes are enough. `percent` 0 adapts: from 50 % in small clusters down to 5 % in large ones. */
export function feasibleNodesWanted(nodeCount: number, percent: number): number {
  if (nodeCount < SAMPLE_NODES_MIN || percent >= 100) return nodeCount;
  const share = percent > 0 ? percent : Math.max(SAMPLE_PERCENT_MIN, 50 - Math.floor(nodeCount / 125));
  return Math.max(SAMPLE_NODES_MIN, Math.floor((nodeCount * share) / 100));
}

export class NodeChooser {
  /** Nodes that filters have looked at since the start: what bounds a turn's work. */
  nodesExamined = 0;
  private readonly profile: Profile;
  private readonly random: Random;
  private readonly sampledPercent: number;
  /** Where the next pod's sample begins, so that all nodes get their turn. */
  private startAt = 0;
  /** Scratch, reused from pod to pod. */
  private readonly feasible: NodeInfo[] = [];
  private readonly refusing: NodeInfo[] = [];
  private readonly refusals: Status[] = [];
  private totals = new Float64Array(SAMPLE_NODES_MIN);
  private raw = new Float64Array(SAMPLE_NODES_MIN);

  /** `sampledPercent` as in feasibleNodesWanted. */
  constructor(profile: Profile, random: Random, sampledPercent: number) {
    this.profile = profile;
    this.random = random;
    this.sampledPercent = sampledPercent;
  }

  choose(pod: PodInfo, cluster: ClusterView): Choice {
    const { nodes } = cluster;
    if (nodes.length === 0) {
      return { node: null, code: 'unschedulable', message: NO_NODES_MESSAGE, helpedBy: ClusterEvent.nodeAdded };
    }
    const failure = this.filter(pod, cluster);
    if (failure !== null) return { node: null, code: 'error', message: failure.reasons.join(', '), helpedBy: 0 };
    if (this.feasible.length === 0) return this.noFit(pod, cluster);
    return { node: this.feasible.length === 1 ? this.feasible[0]! : this.best(pod, cluster) };
  }

  /** Fills `feasible`, `refusing` and `refusals`. Answers a Status only when a plugin could not decide. */
  private filter(pod: PodInfo, cluster: ClusterView): Status | null {
    const { nodes } = cluster;
    this.feasible.length = 0;
    this.refusing.length = 0;
    this.refusals.length = 0;
    const filters: NodeFilter[] = [];
    for (const plugin of this.profile.filters) {
      const prepared = plugin.prepareFilter(pod, cluster);
      if (prepared === null) continue;
      if (typeof prepared !== 'function') return this.refuseAll(prepared, nodes);
      filters.push(prepared);
    }
    const wanted = feasibleNodesWanted(nodes.length, this.sampledPercent);
    const start = this.startAt % nodes.length;
    let examined = 0;
    while (examined < nodes.length && this.feasible.length < wanted) {
      const at = start + examined++;
      const node = nodes[at < nodes.length ? at : at - nodes.length]!;
      const status = firstRefusal(filters, node);
      if (status === null) {
        this.feasible.push(node);
        continue;
      }
      if (status.code === 'error') return status;
      this.refusing.push(node);
      this.refusals.push(status);
    }
    this.nodesExamined += examined;
    this.startAt = (start + examined) % nodes.length;
    return null;
  }

  /** A plugin refuses the pod wherever it might go. */
  private refuseAll(status: Status, nodes: readonly NodeInfo[]): Status | null {
    if (status.code === 'error') return status;
    for (const node of nodes) {
      this.refusing.push(node);
      this.refusals.push(status);
    }
    return null;
  }

  private noFit(pod: PodInfo, cluster: ClusterView): Choice {
    let helpedBy = 0;
    for (const status of this.refusals) helpedBy |= status.helpedBy;
    if (this.profile.postFilters.length > 0) {
      const rejections = this.refusing.map((node, at) => ({ node, status: this.refusals[at]! }));
      for (const plugin of this.profile.postFilters) helpedBy |= plugin.postFilter(pod, rejections, cluster);
    }
    const message = unschedulableMessage(cluster.nodes.length, this.refusals);
    return { node: null, code: 'unschedulable', message, helpedBy };
  }

  /** The feasible node with the highest total; one of them by lot where several have it. */
  private best(pod: PodInfo, cluster: ClusterView): NodeInfo {
    const count = this.feasible.length;
    this.score(pod, cluster);
    let highest = Number.NEGATIVE_INFINITY;
    let ties = 0;
    for (let at = 0; at < count; at++) {
      const total = this.totals[at]!;
      if (total > highest) {
        highest = total;
        ties = 1;
      } else if (total === highest) ties++;
    }
    let left = ties > 1 ? Math.floor(this.random.next() * ties) : 0;
    for (let at = 0; at < count; at++) {
      if (this.totals[at] === highest && left-- === 0) return this.feasible[at]!;
    }
    throw new Error('no feasible node has the highest score: a plugin answered a score that is no number');
  }

  /** Fills `totals` for the feasible nodes. */
  private score(pod: PodInfo, cluster: ClusterView): void {
    const { feasible } = this;
    if (this.totals.length < feasible.length) {
      this.totals = new Float64Array(2 * feasible.length);
      this.raw = new Float64Array(2 * feasible.length);
    }
    const { totals, raw } = this;
    totals.fill(0, 0, feasible.length);
    for (const { plugin, weight } of this.profile.scores) {
      const scorer = plugin.prepareScore(pod, cluster);
      if (scorer === null) continue;
      for (let at = 0; at < feasible.length; at++) raw[at] = scorer.score(feasible[at]!);
      normalize(raw, feasible.length, scorer.normalize);
      for (let at = 0; at < feasible.length; at++) totals[at]! += weight * raw[at]!;
    }
  }
}

function firstRefusal(filters: readonly NodeFilter[], node: NodeInfo): Status | null {
  for (let at = 0; at < filters.length; at++) {
    const status = filters[at]!(node);
    if (status !== null) return status;
  }
  return null;
}

function normalize(scores: Float64Array, count: number, how: NodeScorer['normalize']): void {
  if (how === 'none') return;
  let highest = 0;
  for (let at = 0; at < count; at++) highest = Math.max(highest, scores[at]!);
  for (let at = 0; at < count; at++) {
    const scaled = highest === 0 ? 0 : Math.floor((scores[at]! * SCORE_MAX) / highest);
    scores[at] = how === 'lowest' ? SCORE_MAX - scaled : scaled;
  }
}
