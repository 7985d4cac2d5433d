// Which nodes a pod's own node selector and required node affinity allow, as one check: shared by NodeAffinity and by
// what counts pods only on nodes that are eligible for the pod.
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodConstraints } from '../pods/pod-info.ts';
import { anyTermCheck } from './node-selector-terms.ts';

/** Null when every node is allowed. */
export function nodeEligibility({
  nodeSelector,
  requiredNodeTerms,
}: PodConstraints): ((node: NodeInfo) => boolean) | null {
  if (nodeSelector.size === 0 && requiredNodeTerms === undefined) return null;
  const selected = [...nodeSelector];
  const matches = requiredNodeTerms === undefined ? undefined : anyTermCheck(requiredNodeTerms);
  return (node) => {
    for (const [key, value] of selected) if (node.labels.get(key) !== value) return false;
    return matches === undefined || matches(node);
  };
}

/** Equal for pods that allow the same nodes in the same words. */
export function eligibilityId({ nodeSelector, requiredNodeTerms }: PodConstraints): string {
  if (nodeSelector.size === 0 && requiredNodeTerms === undefined) return '';
  return JSON.stringify([[...nodeSelector], requiredNodeTerms ?? null]);
}
