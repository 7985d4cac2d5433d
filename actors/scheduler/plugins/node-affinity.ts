// NodeAffinity: a pod goes to nodes that carry its nodeSelector's labels and match one of its required terms, and
// rather to those that match more of its preferred terms by weight.

import { ClusterEvent } from '../core/node-info.ts';
import { type FilterPlugin, refusal, type ScorePlugin } from '../framework/framework.ts';
import { anyTermCheck, termCheck } from './node-selector-terms.ts';

const NO_MATCH = refusal(
  'unresolvable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeLabels,
  "node(s) didn't match Pod's node affinity/selector",
);

export const nodeAffinity: FilterPlugin & ScorePlugin = {
  name: 'NodeAffinity',

  prepareFilter(pod) {
    const { nodeSelector, requiredNodeTerms } = pod.constraints;
    if (nodeSelector.size === 0 && requiredNodeTerms === undefined) return null;
    const selected = [...nodeSelector];
    const matches = requiredNodeTerms === undefined ? () => true : anyTermCheck(requiredNodeTerms);
    return (node) => {
      for (const [key, value] of selected) {
        if (node.labels.get(key) !== value) return NO_MATCH;
      }
      return matches(node) ? null : NO_MATCH;
    };
  },

  prepareScore(pod) {
    const preferred = pod.constraints.preferredNodeTerms
      .filter(({ weight }) => weight !== 0)
      .map(({ weight, term }) => ({ weight, matches: termCheck(term) }));
    if (preferred.length === 0) return null;
    return {
      normalize: 'highest',
      score(node) {
        let total = 0;
        for (const { weight, matches } of preferred) {
          if (matches(node)) total += weight;
        }
        return total;
      },
    };
  },
};
