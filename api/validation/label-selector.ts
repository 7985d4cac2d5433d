// The rules of LabelSelector objects inside specs. Says what is wrong and where;
// compiling one is selectors/label-selector.ts.
import { isJsonObject } from '../json/json-value.ts';
import { qualifiedNameProblems } from '../metadata/formats.ts';
import { validateLabels } from '../metadata/object-meta-rules.ts';
import * as wrong from '../status/field-error.ts';
import { type FieldError, NO_FIELD_ERRORS } from '../status/field-error.ts';

/** Errors of a LabelSelector object at `path`; an absent one has none. Values that no label can have are none of them. */
export function validateLabelSelector(selector: unknown, path: string): readonly FieldError[] {
  if (selector === undefined || selector === null) return NO_FIELD_ERRORS;
  if (!isJsonObject(selector)) return [wrong.invalid(path, selector, 'must be an object')];
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const errors: FieldError[] = [...validateLabels(matchLabels ?? {}, `${path}.matchLabels`)];
  const expressions = matchExpressions ?? [];
  if (!Array.isArray(expressions)) {
    errors.push(wrong.invalid(`${path}.matchExpressions`, expressions, 'must be a list'));
    return errors;
  }
  for (const [index, expression] of expressions.entries()) {
    checkExpression(expression, `${path}.matchExpressions[${index}]`, errors);
  }
  return errors.length === 0 ? NO_FIELD_ERRORS : errors;
}

/** Which operators take values. */
const TAKES_VALUES: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ['In', true],
  ['NotIn', true],
  ['Exists', false],
  ['DoesNotExist', false],
]);

function checkExpression(expression: unknown, path: string, errors: FieldError[]): void {
  if (!isJsonObject(expression)) {
    errors.push(wrong.invalid(path, expression, 'must be an object'));
    return;
  }
  const { key = '', operator = '' } = expression;
  const values: unknown = expression.values ?? [];
  const takesValues = TAKES_VALUES.get(operator);
  if (takesValues === undefined)
    errors.push(wrong.invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  if (!Array.isArray(values)) {
    errors.push(wrong.invalid(`${path}.values`, values, 'must be a list'));
    return;
  }
  if (takesValues === true && values.length === 0) {
    errors.push(wrong.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if (takesValues === false && values.length > 0) {
    errors.push(
      wrong.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    );
  }
  const keyProblems = typeof key === 'string' ? qualifiedNameProblems(key) : ['must be a text'];
  for (const problem of keyProblems) errors.push(wrong.invalid(`${path}.key`, key, problem));
}
