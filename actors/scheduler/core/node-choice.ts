// The scheduling cycle of one pod: which node, or why none. Filters a sample of the nodes, scores those that are left,
// and draws among the best. Pure: changes nothing but where the next pod's sample begins, and takes randomness as given.
import type { Random } from '../../../runtime/environment.ts';
import type { ClusterView, Preemption, PreemptionOffer, Profile, Rejection } from '../framework/framework.ts';
import { type NodeQuestion, NodeQuestions } from '../nodes/node-answers.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { Status } from '../status.ts';
import { type CycleTiming, NO_TIMING, outcomeOf } from './cycle-timing.ts';
import type { FailureReason, NodeAnswer } from './decision.ts';
import { NO_NODES_MESSAGE, unschedulableMessage } from './failure-message.ts';
import { FilterRun } from './filter-run.ts';
import { NodeScores } from './node-scores.ts';
import type { Nominations } from './nominations.ts';

/** Why a pod goes nowhere. */
export interface NoChoice {
  readonly node: null;
  /** `error`: a plugin could not decide. */
  readonly code: 'unschedulable' | 'error';
  readonly message: string;
  /** The ClusterEvents after which another attempt may end otherwise. */
  readonly helpedBy: number;
  /** Absent where no node was found: a plug-in that could not decide about one has found none either. */
  readonly reason?: FailureReason;
  /** What would make room. */
  readonly room?: Preemption | PreemptionOffer;
  /** Absent where nobody was asked to make room. */
  readonly soughtRoom?: boolean;
}

/** Where a pod goes, or why it goes nowhere. */
export type Choice = { readonly node: NodeInfo } | NoChoice;

/** To find out where room could be made takes longer than a turn may: to be asked again in another. */
export const UNFINISHED = 'unfinished';

/** Where the plug-ins let a pod go, before anything is scored, and who refuses the other nodes. */
export interface Sifted {
  readonly feasible: readonly NodeInfo[];
  readonly rejections: readonly Rejection[];
}

const NO_SCORES: ReadonlyMap<string, number> = new Map();

/** From this many nodes on, not all are looked at. */
const SAMPLE_NODES_MIN = 100;
const SAMPLE_PERCENT_MIN = 5;
/** To try what would be without a pod takes about as long as to look at so many nodes. */
const NODES_PER_TRIAL = 2;

/** How many feasible nodes are enough. `percent` 0 adapts: from 50 % in small clusters down to 5 % in large ones. */
export function feasibleNodesWanted(nodeCount: number, percent: number): number {
  if (nodeCount < SAMPLE_NODES_MIN || percent >= 100) return nodeCount;
  const share = percent > 0 ? percent : Math.max(SAMPLE_PERCENT_MIN, 50 - Math.floor(nodeCount / 125));
  return Math.max(SAMPLE_NODES_MIN, Math.floor((nodeCount * share) / 100));
}

/** A plug-in could not decide about a node, which ends the attempt. */
function undecided({ reasons }: Status): NoChoice {
  return { node: null, code: 'error', message: reasons.join(', '), helpedBy: 0 };
}

/** While nobody is promised room, pods of all priorities are let in alike. */
function fitText({ ofNodeAlone }: FilterRun, { priority }: PodInfo, { size }: Nominations): string | undefined {
  return ofNodeAlone === undefined || size === 0 ? ofNodeAlone : `after ${priority}; ${ofNodeAlone}`;
}

export interface ChooserOptions {
  /** As in feasibleNodesWanted. */
  readonly sampledPercent: number;
  /** A pod that was promised room goes there while it fits. */
  readonly prefersNominatedNode: boolean;
}

export class NodeChooser {
  /** Nodes that filters have looked at since the start, and what was tried to make room as so many more: what bounds a turn's work. */
  nodesExamined = 0;
  private readonly random: Random;
  private readonly options: ChooserOptions;
  private readonly timing: CycleTiming;
  /** Where the next pod's sample begins, so that all nodes get their turn. */
  private startAt = 0;
  private readonly questions = new NodeQuestions();
  private readonly scores: NodeScores;
  /** What all pods like this one ask of a node; undefined where a node's answer is about more than the node. */
  private fitQuestion: NodeQuestion | undefined;
  /** Where the pod itself is promised room, which is not in its way. */
  private promised: string | undefined;
  /** Scratch, reused from pod to pod. */
  private readonly feasible: NodeInfo[] = [];
  private readonly refusing: NodeInfo[] = [];
  private readonly refusals: Status[] = [];

  constructor(random: Random, options: ChooserOptions, timing: CycleTiming = NO_TIMING) {
    this.random = random;
    this.options = options;
    this.timing = timing;
    this.scores = new NodeScores(timing);
  }

  choose(pod: PodInfo, profile: Profile, cluster: ClusterView, nominations: Nominations): Choice | typeof UNFINISHED {
    const { nodes } = cluster;
    if (nodes.length === 0) {
      return { node: null, code: 'unschedulable', message: NO_NODES_MESSAGE, helpedBy: ClusterEvent.nodeAdded };
    }
    const run = this.prepare(pod, profile, cluster, nominations);
    const promised = this.preferred(pod, cluster, nominations);
    if (promised !== undefined && run.refused === null && run.check(promised) === null) return { node: promised };
    const failure = this.filter(run, profile, cluster);
    if (failure !== null) return undecided(failure);
    if (this.feasible.length === 0) return this.noFit(pod, run, profile, cluster, true);
    return { node: this.best(pod, profile, cluster, NO_SCORES) };
  }

  /** As far as `choose` goes before it scores, for a pod about whose nodes others are asked. */
  sift(
    pod: PodInfo,
    profile: Profile,
    cluster: ClusterView,
    nominations: Nominations,
  ): Sifted | NoChoice | typeof UNFINISHED {
    if (cluster.nodes.length === 0) return this.choose(pod, profile, cluster, nominations) as NoChoice;
    const run = this.prepare(pod, profile, cluster, nominations);
    const failure = this.filter(run, profile, cluster);
    if (failure !== null) return undecided(failure);
    // Others are asked about it too, whether or not the sample has it.
    const promised = this.preferred(pod, cluster, nominations);
    if (promised !== undefined && !this.wasExamined(promised)) this.examine(run, promised);
    if (this.feasible.length === 0) return this.noFit(pod, run, profile, cluster, true);
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
    const run = this.prepare(pod, profile, cluster, nominations);
    this.begin();
    if (run.refused !== null) {
      const failure = this.refuseAll(run.refused, cluster.nodes);
      return failure === null ? (this.noFit(pod, run, profile, cluster, false) as NoChoice) : undecided(failure);
    }
    for (const node of kept) {
      if (!node.present) continue;
      const failure = this.examine(run, node);
      if (failure !== null) return undecided(failure);
    }
    const promised = this.preferred(pod, cluster, nominations);
    if (promised !== undefined && this.feasible.includes(promised)) return { node: promised };
    if (this.feasible.length > 0) return { node: this.best(pod, profile, cluster, scores) };
    for (const { node, status } of [...before, ...rejections]) {
      this.refusing.push(node);
      this.refusals.push(status);
    }
    const failure = run.only === undefined ? null : this.examineOthers(run, cluster);
    if (failure !== null) return undecided(failure);
    return this.noFit(pod, run, profile, cluster, false) as NoChoice;
  }

  /** Others refuse the only nodes that were looked at: the reasons of all nodes are asked for. */
  private examineOthers(run: FilterRun, { nodes }: ClusterView): Status | null {
    const known = new Set(this.refusing);
    for (const node of nodes) {
      if (known.has(node)) continue;
      this.nodesExamined++;
      const failure = this.examine(run, node);
      if (failure !== null) return failure;
    }
    return null;
  }

  /** The node that comes before all others for the pod, if there is one. */
  private preferred(pod: PodInfo, { node: byName }: ClusterView, nominations: Nominations): NodeInfo | undefined {
    if (!this.options.prefersNominatedNode || nominations.size === 0) return undefined;
    const promised = nominations.nodeFor(pod.key);
    const node = promised === undefined ? undefined : byName(promised);
    return node?.present === true ? node : undefined;
  }

  private wasExamined(node: NodeInfo): boolean {
    return this.feasible.includes(node) || this.refusing.includes(node);
  }

  private prepare(pod: PodInfo, profile: Profile, cluster: ClusterView, nominations: Nominations): FilterRun {
    const beganMs = this.timing.nowMs();
    const run = new FilterRun(pod, cluster, profile.filters, nominations, profile.asksAllFilters);
    this.fitQuestion = this.questions.of(profile.schedulerName, fitText(run, pod, nominations));
    this.promised = nominations.nodeFor(pod.key);
    this.timing.point(profile.schedulerName, 'PreFilter', outcomeOf(run.refused), beganMs);
    return run;
  }

  /** Fills `feasible`, `refusing` and `refusals`. Answers a Status only when a plug-in could not decide. */
  private filter(run: FilterRun, { schedulerName }: Profile, cluster: ClusterView): Status | null {
    const beganMs = this.timing.nowMs();
    const failure = this.filterNodes(run, cluster);
    this.timing.point(schedulerName, 'Filter', outcomeOf(failure), beganMs);
    return failure;
  }

  private filterNodes(run: FilterRun, cluster: ClusterView): Status | null {
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
    const wanted = feasibleNodesWanted(nodes.length, this.options.sampledPercent);
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
    const status = this.answerOf(run, node);
    if (status === null) {
      this.feasible.push(node);
      return null;
    }
    if (status.code === 'error') return status;
    this.refusing.push(node);
    this.refusals.push(status);
    return null;
  }

  private answerOf(run: FilterRun, node: NodeInfo): Status | null {
    const { fitQuestion } = this;
    if (fitQuestion === undefined || node.name === this.promised) return run.check(node);
    const { answered } = node;
    if (answered.fitAsked === fitQuestion) return answered.fit;
    answered.fit = run.check(node);
    answered.fitAsked = fitQuestion;
    return answered.fit;
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
    inTurns: boolean,
  ): NoChoice | typeof UNFINISHED {
    const made = this.makeRoom(pod, run, profile, cluster, inTurns);
    if (made === UNFINISHED) return made;
    const { room } = made;
    let { helpedBy } = made;
    for (const status of this.refusals) helpedBy |= status.helpedBy ?? ClusterEvent.any;
    const message = unschedulableMessage(cluster.nodes.length, this.refusals);
    const soughtRoom = profile.postFilters.length > 0;
    return { node: null, code: 'unschedulable', message, helpedBy, soughtRoom, ...(room === null ? {} : { room }) };
  }

  /** `helpedBy`: the ClusterEvents after which there might be room where none can be made now. */
  private makeRoom(
    pod: PodInfo,
    trial: FilterRun,
    { schedulerName, postFilters }: Profile,
    cluster: ClusterView,
    inTurns: boolean,
  ): { readonly room: Preemption | PreemptionOffer | null; readonly helpedBy: number } | typeof UNFINISHED {
    if (postFilters.length === 0) return { room: null, helpedBy: 0 };
    const beganMs = this.timing.nowMs();
    const { random, promised } = this;
    const cycle = { pod, rejections: this.rejections(), cluster, trial, random, promised, inTurns };
    let found: Preemption | PreemptionOffer | null = null;
    let helpedBy = 0;
    for (const plugin of postFilters) {
      const room = plugin.postFilter(cycle);
      if (room === UNFINISHED && inTurns) {
        this.nodesExamined += trial.changes * NODES_PER_TRIAL;
        return UNFINISHED;
      }
      if (room === null || room === UNFINISHED) continue;
      if ('candidates' in room) {
        helpedBy |= room.helpedBy ?? 0;
        if (room.candidates.length === 0) continue;
      }
      found = room;
      break;
    }
    this.nodesExamined += trial.changes * NODES_PER_TRIAL;
    this.timing.point(schedulerName, 'PostFilter', found === null ? 'Unschedulable' : 'Success', beganMs);
    return { room: found, helpedBy };
  }

  /** The feasible node with the highest total; one of them by lot where several have it. */
  private best(pod: PodInfo, profile: Profile, cluster: ClusterView, others: ReadonlyMap<string, number>): NodeInfo {
    const count = this.feasible.length;
    if (count === 1) return this.feasible[0]!;
    const totals = this.scores.of(pod, profile, cluster, this.feasible);
    if (others.size > 0) {
      for (let at = 0; at < count; at++) totals[at]! += others.get(this.feasible[at]!.name) ?? 0;
    }
    let highest = Number.NEGATIVE_INFINITY;
    let ties = 0;
    for (let at = 0; at < count; at++) {
      const total = totals[at]!;
      if (total > highest) {
        highest = total;
        ties = 1;
      } else if (total === highest) ties++;
    }
    let left = ties > 1 ? Math.floor(this.random.next() * ties) : 0;
    for (let at = 0; at < count; at++) {
      if (totals[at] === highest && left-- === 0) return this.feasible[at]!;
    }
    throw new Error('no feasible node has the highest score: a plugin answered a score that is no number');
  }
}
