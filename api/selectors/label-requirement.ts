// One requirement of a label selector: what may be asked of a label, how it is written, and whether labels meet it.
import { parseInt64 } from '../../values/int64.ts';
import { qualifiedNameProblems, textProblems } from '../metadata/formats.ts';

/** An object's labels as decoded. A key of the prototype's is never taken for a label: only texts count. */
export type Labels = Readonly<Record<string, string>>;

export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** `values` is sorted and without repeats: empty for Exists and DoesNotExist, one integer for Gt and Lt. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
  /** The same values, where there are so many that a list is slow to search. */
  readonly valueSet: ReadonlySet<string> | undefined;
  /** The value as a number, for Gt and Lt. */
  readonly bound: bigint;
}

const LISTED_VALUES_MAX = 12;

/** A requirement, its values sorted and each kept once. `bound` is meaningful for Gt and Lt only. */
export function labelRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const sorted = values.length < 2 ? values : [...new Set(values)].sort();
  const isOrdering = operator === 'Gt' || operator === 'Lt';
  const valueSet = sorted.length > LISTED_VALUES_MAX ? new Set(sorted) : undefined;
  return { key, operator, values: sorted, valueSet, bound: isOrdering ? (parseInt64(values[0] ?? '') ?? 0n) : 0n };
}

/** How many values an operator takes. */
const VALUE_COUNTS: Readonly<Record<LabelOperator, readonly [least: number, most: number, says: string]>> = {
  In: [1, Number.MAX_SAFE_INTEGER, 'at least one value'],
  NotIn: [1, Number.MAX_SAFE_INTEGER, 'at least one value'],
  Exists: [0, 0, 'no value'],
  DoesNotExist: [0, 0, 'no value'],
  Gt: [1, 1, 'exactly one value'],
  Lt: [1, 1, 'exactly one value'],
};

/** What is wrong with a requirement, or undefined. */
export function requirementProblem(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): string | undefined {
  const keyProblem = qualifiedNameProblems(key)[0];
  if (keyProblem !== undefined) return `key ${JSON.stringify(key)}: ${keyProblem}`;
  const [least, most, says] = VALUE_COUNTS[operator];
  if (values.length < least || values.length > most) return `operator ${operator} of key ${key} takes ${says}`;
  for (const value of values) {
    const problem = textProblems('labelValue', value)[0];
    if (problem !== undefined) return `value ${JSON.stringify(value)} of key ${key}: ${problem}`;
  }
  if ((operator === 'Gt' || operator === 'Lt') && parseInt64(values[0]!) === undefined) {
    return "for 'Gt', 'Lt' operators, the value must be an integer";
  }
  return undefined;
}

/** Whether labels meet a requirement. NotIn is met by labels without the key; Gt and Lt are not. */
export function meetsRequirement(requirement: LabelRequirement, labels: Labels): boolean {
  const value = labels[requirement.key];
  const present = typeof value === 'string';
  switch (requirement.operator) {
    case 'In':
      return present && hasValue(requirement, value);
    case 'NotIn':
      return !present || !hasValue(requirement, value);
    case 'Exists':
      return present;
    case 'DoesNotExist':
      return !present;
    default: {
      const number = present ? parseInt64(value) : undefined;
      if (number === undefined) return false;
      return requirement.operator === 'Gt' ? number > requirement.bound : number < requirement.bound;
    }
  }
}

function hasValue({ values, valueSet }: LabelRequirement, value: string): boolean {
  return valueSet === undefined ? values.includes(value) : valueSet.has(value);
}

const OPERATOR_WORDS: Readonly<Record<LabelOperator, (key: string, values: readonly string[]) => string>> = {
  In: (key, values) => (values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`),
  NotIn: (key, values) => (values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`),
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
  Gt: (key, values) => `${key}>${values[0]}`,
  Lt: (key, values) => `${key}<${values[0]}`,
};

/** A requirement in the text form; requirements that ask the same read the same. */
export function requirementText({ key, operator, values }: LabelRequirement): string {
  return OPERATOR_WORDS[operator](key, values);
}
