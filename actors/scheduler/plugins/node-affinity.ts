// NodeAffinity: a pod goes to nodes that carry its nodeSelector's labels and match one of its required terms, and
// rather to those that match more of its preferred terms by weight.

import { ClusterEvent, type NodeInfo } from '../core/node-info.ts';
import { type FilterPlugin, refusal, type ScorePlugin } from '../framework/framework.ts';
import type { NodeTerm } from '../pods/pod-info.ts';
import { nodeEligibility } from './node-eligibility.ts';
import { termCheck } from './node-selector-terms.ts';

const NO_MATCH = refusal(
  'unresolvable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeLabels,
  "node(s) didn't match Pod's node affinity/selector",
);

export const nodeAffinity: FilterPlugin & ScorePlugin = {
  name: 'NodeAffinity',

  prepareFilter({ constraints }) {
    const allowed = nodeEligibility(constraints);
    if (allowed === null) return null;
    const check = (node: NodeInfo) => (allowed(node) ? null : NO_MATCH);
    const names = namedNodes(constraints.requiredNodeTerms);
    return names === undefined ? check : { check, only: { names, others: NO_MATCH } };
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

/** The nodes that the terms name, when each of them names one, as those of daemon pods do. */
function namedNodes(terms: readonly NodeTerm[] | undefined): readonly string[] | undefined {
  if (terms === undefined || terms.length === 0) return undefined;
  const names: string[] = [];
  for (const { matchFields } of terms) {
    const named = matchFields.find(({ key, operator, values }) => {
      return key === 'metadata.name' && operator === 'In' && values.length === 1;
    });
    if (named === undefined) return undefined;
    names.push(named.values[0]!);
  }
  return names;
}
