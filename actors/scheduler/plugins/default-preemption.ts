// DefaultPreemption: when no node fits, finds one where it would if pods of lower priority left, with as little harm as can
// be. Says what is to be done; the driver does it. The order in which nodes and victims are preferred is the published one:
// budgets first, then priorities, then numbers, then how long the victims have run.

import type {
  FilterTrial,
  PostFilterCycle,
  PostFilterPlugin,
  Preemption,
  PreemptionCandidate,
  PreemptionOffer,
  Rejection,
} from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { Budget, BudgetObjects } from '../objects/budget-objects.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { Status } from '../status.ts';

export interface DefaultPreemptionArgs {
  /** How many nodes are tried: a share of all, in percent, and at least so many. */
  readonly minCandidateNodesPercentage: number;
  readonly minCandidateNodesAbsolute: number;
}

export const PREEMPTION_DEFAULTS: DefaultPreemptionArgs = {
  minCandidateNodesPercentage: 10,
  minCandidateNodesAbsolute: 100,
};

/** An earlier promise to the pod no longer holds. */
const NO_HELP: Preemption = Object.freeze({ node: '', victims: [] });

export function defaultPreemption(args: DefaultPreemptionArgs = PREEMPTION_DEFAULTS): PostFilterPlugin {
  return {
    name: 'DefaultPreemption',
    postFilter(cycle) {
      if (!mayPreempt(cycle)) return null;
      const worthTrying = cycle.rejections.filter(({ status }) => status.code !== 'unresolvable');
      if (worthTrying.length === 0) return NO_HELP;
      return { ...candidatesAmong(worthTrying, cycle, args), choose };
    },
  };
}

function choose(candidates: readonly PreemptionCandidate[]): Preemption | null {
  const best = leastHarm(candidates);
  return best === undefined ? null : { node: best.node.name, victims: best.victims };
}

/** False for a pod that never does, and for one whose room is being made: its victims are still leaving. */
function mayPreempt({ pod, cluster, rejections, promised }: PostFilterCycle): boolean {
  if (pod.neverPreempts) return false;
  if (promised === undefined) return true;
  const refused = rejections.find(({ node }) => node.name === promised);
  if (refused?.status.code === 'unresolvable') return true;
  const node = cluster.node(promised);
  // No room is made on a node that is gone, whoever is still counted there.
  if (node?.present !== true) return true;
  for (const other of node.pods.values()) {
    if (other.deleting && other.priority < pod.priority) return false;
  }
  return true;
}

/**
 * Tries nodes from one drawn by lot onwards, until there are enough candidates and one of them breaks no budget, or every
 * node was tried.
 */
function candidatesAmong(
  rejections: readonly Rejection[],
  cycle: PostFilterCycle,
  { minCandidateNodesPercentage, minCandidateNodesAbsolute }: DefaultPreemptionArgs,
): Omit<PreemptionOffer, 'choose'> {
  const { pod, cluster, trial, random } = cycle;
  const share = Math.floor((rejections.length * minCandidateNodesPercentage) / 100);
  const wanted = Math.min(rejections.length, Math.max(share, minCandidateNodesAbsolute));
  const offset = Math.floor(random.next() * rejections.length);
  const candidates: PreemptionCandidate[] = [];
  let harmless = 0;
  let helpedBy = 0;
  for (let at = 0; at < rejections.length; at++) {
    const { node } = rejections[(offset + at) % rejections.length]!;
    const candidate = victimsOn(node, pod, trial, cluster.objects.budgets);
    if (candidate === null) continue;
    if ('code' in candidate) {
      helpedBy |= candidate.helpedBy ?? ClusterEvent.any;
      continue;
    }
    candidates.push(candidate);
    if (candidate.violations === 0) harmless++;
    if (harmless > 0 && candidates.length >= wanted) break;
  }
  return { candidates, helpedBy };
}

/** The fewest and least important pods that must leave the node; why the pod would not fit all the same; null when nobody may or must. */
function victimsOn(
  node: NodeInfo,
  pod: PodInfo,
  trial: FilterTrial,
  budgets: BudgetObjects,
): PreemptionCandidate | Status | null {
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

/** What is compared in turn, the lower the better; the first candidate among equals is taken. */
const HARMS: readonly ((candidate: PreemptionCandidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? Number.NEGATIVE_INFINITY,
  // Each is raised above zero, so that many victims of low priority are not better than one.
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  // The latest start among the earliest of the most important victims.
  ({ victims }) => -earliestStart(victims),
];

function leastHarm(candidates: readonly PreemptionCandidate[]): PreemptionCandidate | undefined {
  let best = candidates;
  for (const harm of HARMS) {
    if (best.length <= 1) break;
    const least = Math.min(...best.map(harm));
    best = best.filter((candidate) => harm(candidate) === least);
  }
  return best[0];
}

function earliestStart(victims: readonly PodInfo[]): number {
  const highest = victims[0]?.priority;
  const starts = victims
    .filter(({ priority }) => priority === highest)
    .map(({ startedMs }) => startedMs ?? Number.MAX_SAFE_INTEGER);
  return Math.min(...starts);
}
