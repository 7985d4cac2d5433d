// Disruption budgets: an empty selector selects no pods in v1beta1 and all of the namespace in v1 (SPEC.md "Removals by
// release"). What one version says by an empty selector, the other says by a label that no pod is meant to have.
import { deepEqual } from '../deep-equal.ts';
import { inside, type Pair, type StepContext, type StepTable } from './step.ts';

const EMPTY = {};

function byMark(operator: 'Exists' | 'DoesNotExist', { dialect }: StepContext): object {
  const key = dialect.spell('pdb.@label/deprecated-v1beta1-empty-selector-match');
  return { matchExpressions: [{ key, operator }] };
}

const selector: Pair = {
  up: (spec, context) => {
    if (deepEqual(spec.selector, EMPTY)) return { ...spec, selector: byMark('Exists', context) };
    return deepEqual(spec.selector, byMark('DoesNotExist', context)) ? { ...spec, selector: EMPTY } : spec;
  },
  down: (spec, context) => {
    if (deepEqual(spec.selector, EMPTY)) return { ...spec, selector: byMark('DoesNotExist', context) };
    return deepEqual(spec.selector, byMark('Exists', context)) ? { ...spec, selector: EMPTY } : spec;
  },
};

export const policySteps: StepTable = {
  'policy/v1beta1.PodDisruptionBudget': { hub: 'policy/v1.PodDisruptionBudget', ...inside('spec', selector) },
};
