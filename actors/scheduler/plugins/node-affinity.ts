// NodeAffinity: a pod goes to nodes that carry its nodeSelector's labels and match one of its required terms, and
// rather to those that match more of its preferred terms by weight.

import type { FilterPlugin, ScorePlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { NodeTerm, WeightedNodeTerm } from '../pods/node-terms.ts';
import { refusal } from '../status.ts';
import { nodeEligibility } from './node-eligibility.ts';
import { anyTermCheck, termCheck } from './node-selector-terms.ts';

const NO_MATCH = refusal(
  'unresolvable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeLabels,
  "node(s) didn't match Pod's node affinity/selector",
);

const NOT_ENFORCED = refusal(
  'unresolvable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeLabels,
  "node(s) didn't match scheduler-enforced node affinity",
);

/** Node affinity that a profile gives to all of its pods, beside their own. */
export interface NodeAffinityArgs {
  readonly addedRequired: readonly NodeTerm[] | undefined;
  readonly addedPreferred: readonly WeightedNodeTerm[];
}

const NOTHING_ADDED: NodeAffinityArgs = { addedRequired: undefined, addedPreferred: [] };

export function nodeAffinity(args: NodeAffinityArgs = NOTHING_ADDED): FilterPlugin & ScorePlugin {
  const enforced = args.addedRequired === undefined ? null : anyTermCheck(args.addedRequired);
  const addedPreferences = preferences(args.addedPreferred);
  return {
    name: 'NodeAffinity',

    prepareFilter({ constraints }) {
      const allowed = nodeEligibility(constraints);
      if (allowed === null && enforced === null) return null;
      const check = (node: NodeInfo) => {
        if (enforced !== null && !enforced(node)) return NOT_ENFORCED;
        return allowed === null || allowed(node) ? null : NO_MATCH;
      };
      const names = namedNodes(constraints.requiredNodeTerms);
      return names === undefined ? check : { check, only: names };
    },

    prepareScore({ constraints }) {
      const preferred = [...preferences(constraints.preferredNodeTerms), ...addedPreferences];
      if (preferred.length === 0) return null;
      return {
        normalize: 'highest',
        score(node) {
          let total = 0;
          for (const { weight, matches } of preferred) if (matches(node)) total += weight;
          return total;
        },
      };
    },
  };
}

function preferences(terms: readonly WeightedNodeTerm[]) {
  const weighing = terms.filter(({ weight }) => weight !== 0);
  return weighing.map(({ weight, term }) => ({ weight, matches: termCheck(term) }));
}

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
