// Label selectors, compiled: from the text form of queries, from LabelSelector objects, from plain maps. A compiled
// selector is asked once an event and cohort, so matching allocates nothing. The text form's grammar is in
// label-selector-parser.ts.
import { compareTexts } from '../../values/compare-texts.ts';
import { isJsonObject } from '../json/json-value.ts';
import { badRequest } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';
import {
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  labelRequirement,
  meetsRequirement,
  requirementProblem,
  requirementText,
} from './label-requirement.ts';
import { parseRequirements } from './label-selector-parser.ts';
import { meetsAll } from './many-requirements.ts';

export interface LabelSelector {
  /** Canonical: selectors that ask the same of the same keys have the same text. Empty for one that asks nothing. */
  readonly text: string;
  readonly requirements: readonly LabelRequirement[];
  /** What is fixed to one value: key to value. An index over it need only be asked, then `matches`. */
  readonly equality: ReadonlyMap<string, string>;
  matches(labels: Labels | undefined): boolean;
}

/** More requirements are put together before objects are asked. */
const ASKED_ONE_BY_ONE_MAX = 8;

const NO_LABELS: Labels = Object.freeze({});
const NO_EQUALITY: ReadonlyMap<string, string> = new Map();

/** Matches every object. */
export const EVERYTHING: LabelSelector = Object.freeze({
  text: '',
  requirements: [],
  equality: NO_EQUALITY,
  matches: () => true,
});

/** Matches no object: what a missing LabelSelector object means, where an empty one means everything. */
export const NOTHING: LabelSelector = Object.freeze({ ...EVERYTHING, matches: () => false });

/**
 * The selector of a `labelSelector` parameter: `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1,j<2`. Empty matches everything.
 * Throws StatusError 400 that says where the text goes wrong.
 */
export function parseLabelSelector(text: string): LabelSelector {
  return compile(parseRequirements(text));
}

/**
 * The selector of a LabelSelector object (`matchLabels`, `matchExpressions`): NOTHING for undefined and null, EVERYTHING
 * for an empty one. Throws StatusError 400 for one that validation would refuse.
 */
export function labelSelectorFromObject(selector: unknown): LabelSelector {
  if (selector === undefined || selector === null) return NOTHING;
  if (!isJsonObject(selector)) throw unusable('it is no object');
  const requirements = requirementsOfMap(selector.matchLabels ?? NO_LABELS);
  const expressions = selector.matchExpressions ?? [];
  if (!Array.isArray(expressions)) throw unusable('matchExpressions is no list');
  for (const expression of expressions) requirements.push(requirementOfExpression(expression));
  return compile(requirements);
}

/** The selector of a plain map (Service, ReplicationController): all keys with their values. Empty matches everything. */
export function labelSelectorFromMap(labels: Labels): LabelSelector {
  return compile(requirementsOfMap(labels));
}

function requirementsOfMap(labels: unknown): LabelRequirement[] {
  if (!isJsonObject(labels)) throw unusable('matchLabels is no map');
  return Object.entries(labels).map(([key, value]) => checked(key, 'In', [value]));
}

/** The operators of LabelSelector objects, which are fewer than those of the text form. */
const EXPRESSION_OPERATORS: ReadonlySet<unknown> = new Set<LabelOperator>(['In', 'NotIn', 'Exists', 'DoesNotExist']);

function requirementOfExpression(expression: unknown): LabelRequirement {
  if (!isJsonObject(expression)) throw unusable('an expression is no object');
  const { key, operator, values } = expression;
  if (!EXPRESSION_OPERATORS.has(operator)) throw unusable(`unknown operator ${JSON.stringify(operator)}`);
  if (values !== undefined && values !== null && !Array.isArray(values)) throw unusable('values is no list');
  return checked(key, operator as LabelOperator, values ?? []);
}

function checked(key: unknown, operator: LabelOperator, values: readonly unknown[]): LabelRequirement {
  if (typeof key !== 'string' || !values.every((value) => typeof value === 'string')) {
    throw unusable('keys and values are texts');
  }
  const problem = requirementProblem(key, operator, values);
  if (problem !== undefined) throw unusable(problem);
  return labelRequirement(key, operator, values);
}

function unusable(problem: string): StatusError {
  return new StatusError(badRequest(`label selector: ${problem}`));
}

function matcherOf(requirements: readonly LabelRequirement[]): LabelSelector['matches'] {
  if (requirements.length > ASKED_ONE_BY_ONE_MAX) {
    const meets = meetsAll(requirements);
    return (labels = NO_LABELS) => meets(labels);
  }
  return (labels = NO_LABELS) => {
    for (const requirement of requirements) if (!meetsRequirement(requirement, labels)) return false;
    return true;
  };
}

function compile(unordered: readonly LabelRequirement[]): LabelSelector {
  if (unordered.length === 0) return EVERYTHING;
  const byText = new Map(unordered.map((requirement) => [requirementText(requirement), requirement]));
  const ordered = [...byText].sort(
    ([textA, a], [textB, b]) => compareTexts(a.key, b.key) || compareTexts(textA, textB),
  );
  const requirements = ordered.map(([, requirement]) => requirement);
  const equality = new Map<string, string>();
  for (const { key, operator, values } of requirements) {
    if (operator === 'In' && values.length === 1) equality.set(key, values[0]!);
  }
  return {
    text: ordered.map(([text]) => text).join(','),
    requirements,
    equality,
    matches: matcherOf(requirements),
  };
}
