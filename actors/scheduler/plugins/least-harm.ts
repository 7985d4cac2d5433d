// Which of the nodes where room could be made is the one where that does the least harm. Pure.
import type { PreemptionCandidate } from '../framework/framework.ts';
import type { PodInfo } from '../pods/pod-info.ts';

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

/** Undefined where there are none. */
export function leastHarm(candidates: readonly PreemptionCandidate[]): PreemptionCandidate | undefined {
  let best = candidates;
  for (const harm of HARMS) {
    if (best.length <= 1) break;
    const harms = best.map(harm);
    const least = Math.min(...harms);
    best = best.filter((_candidate, at) => harms[at] === least);
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
