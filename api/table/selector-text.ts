// Label maps and label selectors as one line of text. Only shows them; what they match is selectors/label-selector.ts.
import { compareTexts } from '../../values/compare-texts.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { listAt, partAt, textAt, textsAt } from '../json/object-fields.ts';
import { requirementProblem } from '../selectors/label-requirement.ts';

const NONE = '<none>';

/** `a=1,b=2` in key order; `<none>` for an empty map. */
export function labelsText(labels: unknown): string {
  if (!isJsonObject(labels)) return NONE;
  const keys = Object.keys(labels);
  if (keys.length === 0) return NONE;
  if (keys.length > 1) keys.sort();
  return keys.map((key) => `${key}=${textAt(labels, key)}`).join(',');
}

/** A LabelSelector object as `selectorTerms` has it; `<none>` for one that is missing or empty, `<error>` for none at all. */
export function selectorText(selector: unknown): string {
  if (selector === undefined || selector === null) return NONE;
  const terms = isJsonObject(selector) ? selectorTerms(selector) : undefined;
  return terms === undefined ? '<error>' : terms === '' ? NONE : terms;
}

/**
 * A LabelSelector object in the form a query takes, ordered by key: `a=1,b in (x,y),!c`. Empty for one without terms, undefined for one
 * that no selector can be made of.
 */
export function selectorTerms(selector: JsonObject): string | undefined {
  const terms: Term[] = [];
  const matchLabels = partAt(selector, 'matchLabels');
  for (const key of Object.keys(matchLabels)) {
    const value = textAt(matchLabels, key);
    if (requirementProblem(key, 'In', [value]) !== undefined) return undefined;
    terms.push({ key, text: `${key}=${value}` });
  }
  for (const expression of listAt(selector, 'matchExpressions')) {
    const term = isJsonObject(expression) ? expressionTerm(expression) : undefined;
    if (term === undefined) return undefined;
    terms.push(term);
  }
  if (terms.length > 1) terms.sort((a, b) => compareTexts(a.key, b.key));
  return terms.map(({ text }) => text).join(',');
}

interface Term {
  readonly key: string;
  readonly text: string;
}

type ExpressionOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

/** Unlike in a query, a set of one value is still shown as a set. */
const EXPRESSION_TEXTS: ReadonlyMap<string, (key: string, values: string) => string> = new Map([
  ['In', (key, values) => `${key} in (${values})`],
  ['NotIn', (key, values) => `${key} notin (${values})`],
  ['Exists', (key) => key],
  ['DoesNotExist', (key) => `!${key}`],
] satisfies [ExpressionOperator, (key: string, values: string) => string][]);

function expressionTerm(expression: JsonObject): Term | undefined {
  const key = textAt(expression, 'key');
  const operator = textAt(expression, 'operator');
  const values = [...textsAt(expression, 'values')].sort();
  const toText = EXPRESSION_TEXTS.get(operator);
  if (toText === undefined || requirementProblem(key, operator as ExpressionOperator, values) !== undefined) {
    return undefined;
  }
  return { key, text: toText(key, values.join(',')) };
}
