// Disruption budgets: an empty selector selects no pods in v1beta1 and all of the namespace in v1 (SPEC.md "Removals by
// release"). What one version says by an empty selector, the other says by a label that no pod is meant to have: alone,
// and never beside what a client selects by.
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { inside, type Pair, type StepContext, type StepTable } from './step.ts';

const EMPTY = {};

function markOf({ dialect }: StepContext): string {
  return dialect.spell('pdb.@label/deprecated-v1beta1-empty-selector-match');
}

function byMark(operator: 'Exists' | 'DoesNotExist', context: StepContext): JsonObject {
  return { matchExpressions: [{ key: markOf(context), operator }] };
}

/** A spec whose selector does not ask for the label. */
function unmarked(spec: JsonObject, context: StepContext): JsonObject {
  const { selector } = spec;
  if (!isJsonObject(selector) || !Array.isArray(selector.matchExpressions)) return spec;
  const mark = markOf(context);
  const matchExpressions = selector.matchExpressions.filter((one: unknown) => !isJsonObject(one) || one.key !== mark);
  return { ...spec, selector: { ...selector, matchExpressions } };
}

const older: Pair = {
  up: (spec, context) => {
    if (deepEqual(spec.selector, EMPTY)) return { ...spec, selector: byMark('Exists', context) };
    return unmarked(spec, context);
  },
  down: (spec, context) => {
    if (deepEqual(spec.selector, EMPTY)) return { ...spec, selector: byMark('DoesNotExist', context) };
    return deepEqual(spec.selector, byMark('Exists', context)) ? { ...spec, selector: EMPTY } : unmarked(spec, context);
  },
};

/** What v1beta1 means by an empty selector, v1 can say as well. */
const newest: Pair = {
  up: (spec, context) => (deepEqual(spec.selector, byMark('Exists', context)) ? spec : unmarked(spec, context)),
  down: (spec) => spec,
};

const HUB = 'policy/v1.PodDisruptionBudget';

export const policySteps: StepTable = {
  'policy/v1.PodDisruptionBudget': { hub: HUB, ...inside('spec', newest) },
  'policy/v1beta1.PodDisruptionBudget': { hub: HUB, ...inside('spec', older) },
};
