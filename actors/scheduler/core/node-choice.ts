// The scheduling cycle of one pod: which node, or why none. Filters a sample of the nodes, scores those that are left,
// and draws among the best. Pure: changes nothing but where the next pod's sample begins, and takes randomness as given.
import type { Random } from '../../../runtime/environment.ts';
import type {
  ClusterView,
  NodeScorer,
  Preemption,
  PreemptionOffer,
  Profile,
  Rejection,
  Status,
} from '../framework/framework.ts';
import { SCORE_MAX } from '../framework/framework.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { ClusterEvent } from './cluster-event.ts';
import type { NodeAnswer } from './decision.ts';
import { NO_NODES_MESSAGE, unschedulableMessage } from './failure-message.ts';
import { FilterRun } from './filter-run.ts';
import type { NodeInfo } from './node-info.ts';
import type { Nominations } from './nominations.ts';

/** Why a pod goes nowhere. */
export interface NoChoice {
  readonly node: null;
  /** `error`: a plugin could not decide. */
  readonly code: 'unschedulable' | 'error';
  readonly message: string;
  /** The ClusterEvents after which another attempt may end otherwise. */
  readonly helpedBy: number;
  /** What would make room. */
  readonly room?: Preemption | PreemptionOffer;
}

/** Where a pod goes, or why it goes nowhere. */
export type Choice = { readonly node: NodeInfo } | NoChoice;

/** Where the plug-ins let a pod go, before anything is scored, and who refuses the other nodes. */
export interface Sifted {
  readonly feasible: readonly NodeInfo[];
  readonly rejections: readonly Rejection[];
}

const NO_SCORES: ReadonlyMap<string, number> = new Map();

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
  constructor(random: Random, sampledPercent: number) {
    this.random = random;
    this.sampledPercent = sampledPercent;
  }

  choose(pod: PodInfo, profile: Profile, cluster: ClusterView, nominations: Nominations): Choice {
    const { nodes } = cluster;
    if (nodes.length === 0) {
      return { node: null, code: 'unschedulable', message: NO_NODES_MESSAGE, helpedBy: ClusterEvent.nodeAdded };
    }
    const run = new FilterRun(pod, cluster, profile.filters, nominations);
    const failure = this.filter(run, cluster);
    if (failure !== null) return { node: null, code: 'error', message: failure.reasons.join(', '), helpedBy: 0 };
    if (this.feasible.length === 0) return this.noFit(pod, run, profile, cluster, nominations.nodeFor(pod.key));
    return { node: this.best(pod, profile, cluster, NO_SCORES) };
  }

  /** As far as `choose` goes before it scores, for a pod about whose nodes others are asked. */
  sift(pod: PodInfo, profile: Profile, cluster: ClusterView, nominations: Nominations): Sifted | NoChoice {
    if (cluster.nodes.length === 0) return this.choose(pod, profile, cluster, nominations) as NoChoice;
    const run = new FilterRun(pod, cluster, profile.filters, nominations);
    const failure = this.filter(run, cluster);
    if (failure !== null) return { node: null, code: 'error', message: failure.reasons.join(', '), helpedBy: 0 };
    if (this.feasible.length === 0) return this.noFit(pod, run, profile, cluster, nominations.nodeFor(pod.key));
    return { feasible: [...this.feasible], rejections: this.rejections() };
  }

  /**
   * What becomes of a sifted pod after others have answered. Time has passed, so what they keep is looked at again.
   * `before`: who refused the nodes that they were not asked about.
   */
  chooseAnswered(
    pod: PodInfo,
    profile: Profile,
    cluster: ClusterView,
    nominations: Nominations,
    before: readonly Rejection[],
    { kept, rejections, scores }: NodeAnswer,
  ): Choice {
    const run = new FilterRun(pod, cluster, profile.filters, nominations);
    this.begin();
    for (const node of kept) {
      if (!node.present) continue;
      const failure = run.refused ?? this.examine(run, node);
      if (failure?.code === 'error')
        return { node: null, code: 'error', message: failure.reasons.join(', '), helpedBy: 0 };
    }
    if (this.feasible.length > 0) return { node: this.best(pod, profile, cluster, scores) };
    for (const { node, status } of [...before, ...rejections]) {
      this.refusing.push(node);
      this.refusals.push(status);
    }
    return this.noFit(pod, run, profile, cluster, nominations.nodeFor(pod.key));
  }

  /** Fills `feasible`, `refusing` and `refusals`. Answers a Status only when a plug-in could not decide. */
  private filter(run: FilterRun, cluster: ClusterView): Status | null {
    const { nodes } = cluster;
    this.begin();
    if (run.refused !== null) return this.refuseAll(run.refused, nodes);
    if (run.only !== undefined) {
      const failure = this.filterOnly(run, run.only, cluster);
      // When none of them will do, the reasons of all nodes are asked for.
      if (failure !== null || this.feasible.length > 0) return failure;
      this.refusing.length = 0;
      this.refusals.length = 0;
    }
    const wanted = feasibleNodesWanted(nodes.length, this.sampledPercent);
    const start = this.startAt % nodes.length;
    let examined = 0;
    while (examined < nodes.length && this.feasible.length < wanted) {
      const at = start + examined++;
      const failure = this.examine(run, nodes[at < nodes.length ? at : at - nodes.length]!);
      if (failure !== null) return failure;
    }
    this.nodesExamined += examined;
    this.startAt = (start + examined) % nodes.length;
    return null;
  }

  private begin(): void {
    this.feasible.length = 0;
    this.refusing.length = 0;
    this.refusals.length = 0;
  }

  private rejections(): readonly Rejection[] {
    return this.refusing.map((node, at) => ({ node, status: this.refusals[at]! }));
  }

  /** Looks at the named nodes alone: the others are known to be refused. */
  private filterOnly(run: FilterRun, names: readonly string[], { node: byName }: ClusterView): Status | null {
    for (const name of new Set(names)) {
      const node = byName(name);
      if (node?.present !== true) continue;
      this.nodesExamined++;
      const failure = this.examine(run, node);
      if (failure !== null) return failure;
    }
    return null;
  }

  private examine(run: FilterRun, node: NodeInfo): Status | null {
    const status = run.check(node);
    if (status === null) {
      this.feasible.push(node);
      return null;
    }
    if (status.code === 'error') return status;
    this.refusing.push(node);
    this.refusals.push(status);
    return null;
  }

  /** A plug-in refuses the pod wherever it might go. */
  private refuseAll(status: Status, nodes: readonly NodeInfo[]): Status | null {
    if (status.code === 'error') return status;
    for (const node of nodes) {
      this.refusing.push(node);
      this.refusals.push(status);
    }
    return null;
  }

  private noFit(
    pod: PodInfo,
    run: FilterRun,
    profile: Profile,
    cluster: ClusterView,
    promised: string | undefined,
  ): NoChoice {
    let helpedBy = 0;
    for (const status of this.refusals) helpedBy |= status.helpedBy;
    const message = unschedulableMessage(cluster.nodes.length, this.refusals);
    const room = this.makeRoom(pod, run, profile, cluster, promised);
    return { node: null, code: 'unschedulable', message, helpedBy, ...(room === null ? {} : { room }) };
  }

  private makeRoom(
    pod: PodInfo,
    trial: FilterRun,
    { postFilters }: Profile,
    cluster: ClusterView,
    promised: string | undefined,
  ): Preemption | PreemptionOffer | null {
    if (postFilters.length === 0) return null;
    const rejections = this.rejections();
    for (const plugin of postFilters) {
      const room = plugin.postFilter({ pod, rejections, cluster, trial, random: this.random, promised });
      if (room !== null && !('candidates' in room && room.candidates.length === 0)) return room;
    }
    return null;
  }

  /** The feasible node with the highest total; one of them by lot where several have it. */
  private best(pod: PodInfo, profile: Profile, cluster: ClusterView, others: ReadonlyMap<string, number>): NodeInfo {
    const count = this.feasible.length;
    if (count === 1) return this.feasible[0]!;
    this.score(pod, profile, cluster);
    if (others.size > 0) {
      for (let at = 0; at < count; at++) this.totals[at]! += others.get(this.feasible[at]!.name) ?? 0;
    }
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
  private score(pod: PodInfo, { scores }: Profile, cluster: ClusterView): void {
    const { feasible } = this;
    if (this.totals.length < feasible.length) {
      this.totals = new Float64Array(2 * feasible.length);
      this.raw = new Float64Array(2 * feasible.length);
    }
    const { totals, raw } = this;
    totals.fill(0, 0, feasible.length);
    for (const { plugin, weight } of scores) {
      const scorer = plugin.prepareScore(pod, cluster, feasible);
      if (scorer === null) continue;
      for (let at = 0; at < feasible.length; at++) raw[at] = scorer.score(feasible[at]!);
      normalizeScores(raw, feasible, scorer.normalize);
      for (let at = 0; at < feasible.length; at++) totals[at]! += weight * raw[at]!;
    }
  }
}

/** Raw scores of these nodes become 0 to SCORE_MAX, in place. */
export function normalizeScores(scores: Float64Array, nodes: readonly NodeInfo[], how: NodeScorer['normalize']): void {
  if (how === 'none') return;
  const count = nodes.length;
  if (typeof how === 'function') {
    how(scores, count, nodes);
    return;
  }
  let highest = 0;
  for (let at = 0; at < count; at++) highest = Math.max(highest, scores[at]!);
  for (let at = 0; at < count; at++) {
    const scaled = highest === 0 ? 0 : Math.floor((scores[at]! * SCORE_MAX) / highest);
    scores[at] = how === 'lowest' ? SCORE_MAX - scaled : scaled;
  }
}
