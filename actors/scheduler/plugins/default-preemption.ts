// DefaultPreemption: when no node fits, finds one where it would if pods of lower priority left, with as little harm as can
// be. Says what is to be done; the driver does it. The order in which nodes and victims are preferred is the published one:
// budgets first, then priorities, then numbers, then how long the victims have run.

import type { PostFilterCycle, PostFilterPlugin, Preemption, PreemptionCandidate } from '../framework/framework.ts';
import { leastHarm } from './least-harm.ts';
import { type CandidateNodes, PreemptionSearch } from './preemption-search.ts';

/** How many nodes are tried. */
export type DefaultPreemptionArgs = CandidateNodes;

export const PREEMPTION_DEFAULTS: DefaultPreemptionArgs = {
  minCandidateNodesPercentage: 10,
  minCandidateNodesAbsolute: 100,
};

/** An earlier promise to the pod no longer holds. */
const NO_HELP: Preemption = Object.freeze({ node: '', victims: [] });

export function defaultPreemption(args: DefaultPreemptionArgs = PREEMPTION_DEFAULTS): PostFilterPlugin {
  const search = new PreemptionSearch(args);
  return {
    name: 'DefaultPreemption',
    postFilter(cycle) {
      if (!mayPreempt(cycle)) return null;
      const worthTrying = cycle.rejections.filter(({ status }) => status.code !== 'unresolvable');
      if (worthTrying.length === 0) return NO_HELP;
      const found = search.among(worthTrying, cycle);
      return found === 'unfinished' ? found : { ...found, choose };
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
