// TaintToleration: keeps pods off nodes with a NoSchedule or NoExecute taint that they do not tolerate, and prefers
// nodes with fewer PreferNoSchedule taints that they do not tolerate.

import { tolerationOf } from '../../../api/pods/tolerations.ts';
import type { FilterPlugin, ScorePlugin } from '../framework/framework.ts';
import type { Taint } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { refusal, type Status } from '../status.ts';

/** One Status per taint object, so that refusing is cheap; goes when the node's taints do. */
const refusals = new WeakMap<Taint, Status>();

function refusalFor(taint: Taint): Status {
  let status = refusals.get(taint);
  if (status === undefined) {
    const reason = `node(s) had taint {${taint.key}: ${taint.value}}, that the pod didn't tolerate`;
    status = refusal('unresolvable', ClusterEvent.nodeAdded | ClusterEvent.nodeTaints, reason);
    refusals.set(taint, status);
  }
  return status;
}

export const taintToleration: FilterPlugin & ScorePlugin = {
  name: 'TaintToleration',

  prepareFilter(pod, { hasHardTaints }) {
    if (!hasHardTaints) return null;
    const { tolerations } = pod.constraints;
    return {
      check(node) {
        for (const taint of node.hardTaints) {
          if (tolerationOf(tolerations, taint) === undefined) return refusalFor(taint);
        }
        return null;
      },
      ofNodeAlone: JSON.stringify(tolerations),
    };
  },

  prepareScore(pod, cluster) {
    if (!cluster.hasSoftTaints) return null;
    const tolerations = pod.constraints.tolerations.filter(
      ({ effect }) => effect === '' || effect === 'PreferNoSchedule',
    );
    return {
      normalize: 'lowest',
      score(node) {
        let intolerable = 0;
        for (const taint of node.softTaints) {
          if (tolerationOf(tolerations, taint) === undefined) intolerable++;
        }
        return intolerable;
      },
    };
  },
};
