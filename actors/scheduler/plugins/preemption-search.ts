// Where room could be made for a pod, and who would have to leave there. There may be thousands of nodes, each to be tried with many
// sets of pods: so the search goes on from turn to turn, and what was found out about a node is kept until the node changes. The next
// turn, and the next pod that is like this one, only look at what has changed meanwhile.
import type {
  FilterTrial,
  PostFilterCycle,
  PreemptionCandidate,
  PreemptionOffer,
  Rejection,
} from '../framework/framework.ts';
import { type NodeQuestion, NodeQuestions } from '../nodes/node-answers.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { Budget, BudgetObjects } from '../objects/budget-objects.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { Status } from '../status.ts';
import { leastHarm } from './least-harm.ts';

/** How many nodes are tried: a share of all, in percent, and at least so many. */
export interface CandidateNodes {
  readonly minCandidateNodesPercentage: number;
  readonly minCandidateNodesAbsolute: number;
}

/** Pods that are tried on nodes in one turn, about: some 10 ms. */
const TRIED_IN_A_TURN_MAX = 5_000;

/** Null when nobody may or must leave; a Status when the pod would not fit all the same. */
type Finding = PreemptionCandidate | Status | null;

interface Known {
  readonly question: NodeQuestion;
  /** Of the node, when it was found out. */
  readonly changes: number;
  readonly finding: Finding;
}

/** The search for one pod, from its first turn to its last. */
interface OpenSearch {
  readonly pod: PodInfo;
  /** The same all the while, also where budgets change: they do so all the time, and the search is to end. */
  readonly question: NodeQuestion;
  /** By lot, from 0 to 1: where among the nodes it begins. */
  readonly start: number;
  turns: number;
}

export class PreemptionSearch {
  private readonly wanted: CandidateNodes;
  private readonly questions = new NodeQuestions();
  private readonly known = new WeakMap<NodeInfo, Known>();
  private open: OpenSearch | undefined;

  constructor(wanted: CandidateNodes) {
    this.wanted = wanted;
  }

  /**
   * Tries nodes from one drawn by lot onwards, until there are enough candidates and one of them breaks no budget, or every
   * node was tried.
   */
  among(rejections: readonly Rejection[], cycle: PostFilterCycle): Omit<PreemptionOffer, 'choose'> | 'unfinished' {
    const search = this.begun(cycle);
    search.turns++;
    const found = this.pass(rejections, cycle, search);
    if (found === undefined) return 'unfinished';
    this.open = undefined;
    if (search.turns > 1 && cycle.trial.ofNodeAlone === undefined) this.renewBest(found.candidates, cycle, search);
    return found;
  }

  private begun({ pod, cluster, trial: { ofNodeAlone }, random }: PostFilterCycle): OpenSearch {
    if (this.open?.pod === pod) return this.open;
    const text = ofNodeAlone === undefined ? undefined : `${ofNodeAlone}above ${pod.priority}`;
    const question = this.questions.of(`${cluster.objects.budgets.changes}`, text) ?? { text: pod.key };
    this.open = { pod, question, start: random.next(), turns: 0 };
    return this.open;
  }

  /** Undefined where that takes longer than a turn may. */
  private pass(rejections: readonly Rejection[], cycle: PostFilterCycle, search: OpenSearch) {
    const { minCandidateNodesPercentage, minCandidateNodesAbsolute } = this.wanted;
    const share = Math.floor((rejections.length * minCandidateNodesPercentage) / 100);
    const wanted = Math.min(rejections.length, Math.max(share, minCandidateNodesAbsolute));
    const offset = Math.floor(search.start * rejections.length);
    const candidates: PreemptionCandidate[] = [];
    let triesLeft = cycle.inTurns ? TRIED_IN_A_TURN_MAX : Number.POSITIVE_INFINITY;
    let harmless = 0;
    let helpedBy = 0;
    for (let at = 0; at < rejections.length; at++) {
      const { node } = rejections[(offset + at) % rejections.length]!;
      let finding = this.knownOf(node, cycle, search);
      if (finding === undefined) {
        if (triesLeft <= 0) return undefined;
        triesLeft -= 1 + node.podCount;
        finding = this.find(node, cycle, search);
      }
      if (finding === null) continue;
      if ('code' in finding) {
        helpedBy |= finding.helpedBy ?? ClusterEvent.any;
        continue;
      }
      candidates.push(finding);
      if (finding.violations === 0) harmless++;
      if (harmless > 0 && candidates.length >= wanted) break;
    }
    return { candidates, helpedBy };
  }

  private knownOf(node: NodeInfo, { promised }: PostFilterCycle, { question }: OpenSearch): Finding | undefined {
    // There the pod does not stand in its own way, as it does in that of others that are like it.
    if (node.name === promised) return undefined;
    const known = this.known.get(node);
    return known?.question === question && known.changes === node.answered.changes ? known.finding : undefined;
  }

  private find(node: NodeInfo, { pod, trial, cluster, promised }: PostFilterCycle, { question }: OpenSearch): Finding {
    const finding = victimsOn(node, pod, trial, cluster.objects.budgets);
    if (node.name !== promised) this.known.set(node, { question, changes: node.answered.changes, finding });
    return finding;
  }

  /** What was found in earlier turns may have come to depend on other nodes that have changed: the one that is chosen holds now. */
  private renewBest(candidates: PreemptionCandidate[], cycle: PostFilterCycle, search: OpenSearch): void {
    for (const renewed = new Set<NodeInfo>(); ; ) {
      const best = leastHarm(candidates);
      if (best === undefined || renewed.has(best.node)) return;
      renewed.add(best.node);
      const finding = this.find(best.node, cycle, search);
      const stays = finding !== null && !('code' in finding);
      candidates.splice(candidates.indexOf(best), 1, ...(stays ? [finding] : []));
    }
  }
}

/** The fewest and least important pods that must leave the node. */
function victimsOn(node: NodeInfo, pod: PodInfo, trial: FilterTrial, budgets: BudgetObjects): Finding {
  const lesser = [...node.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (lesser.length === 0) return null;
  const copy = node.copy(({ priority }) => priority >= pod.priority);
  const move = (other: PodInfo, sign: 1 | -1) => {
    if (sign > 0) copy.addPod(other);
    else copy.removePod(other);
    trial.change(other, copy, sign);
  };
  try {
    for (const other of lesser) trial.change(other, copy, -1);
    const refused = trial.check(copy);
    if (refused !== null) return refused;
    lesser.sort(byImportance);
    const [violating, others] = splitByBudgets(lesser, budgets);
    const victims: PodInfo[] = [];
    const spare = (other: PodInfo): boolean => {
      move(other, 1);
      if (trial.check(copy) === null) return true;
      move(other, -1);
      victims.push(other);
      return false;
    };
    let violations = 0;
    for (const other of violating) if (!spare(other)) violations++;
    for (const other of others) spare(other);
    // Nobody need leave: who refuses the node is an extender, and nothing known here would change its mind.
    if (victims.length === 0) return null;
    return { node, victims: victims.sort(byImportance), violations };
  } finally {
    trial.reset();
  }
}

/** The more important first: by priority, then by how long they have run. */
function byImportance(a: PodInfo, b: PodInfo): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [startA, startB] = [a.startedMs ?? Number.POSITIVE_INFINITY, b.startedMs ?? Number.POSITIVE_INFINITY];
  return startA === startB ? 0 : startA - startB;
}

/** Those that may not go by their budgets, were they to go in this order, and those that may. */
function splitByBudgets(pods: readonly PodInfo[], budgets: BudgetObjects): readonly [PodInfo[], PodInfo[]] {
  const left = new Map<Budget, number>();
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let allowed = true;
    for (const budget of budgets.guarding(pod)) {
      if (budget.disruptedPods.has(pod.name)) continue;
      const after = (left.get(budget) ?? budget.disruptionsAllowed) - 1;
      left.set(budget, after);
      if (after < 0) allowed = false;
    }
    (allowed ? others : violating).push(pod);
  }
  return [violating, others];
}
