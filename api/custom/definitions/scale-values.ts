// The values of a custom object that its scale is made of: what they have to be wherever the object is written.
import { isInteger } from '../../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { type FieldError, invalid, NO_FIELD_ERRORS } from '../../status/field-error.ts';
import { mapText } from '../../status/map-text.ts';
import type { DefinedScale } from './definition.ts';

const INT32_MAX = 2_147_483_647;

/** @param isStatusAlone nothing but the status was written. */
export function scaleErrors(
  object: JsonObject,
  scale: DefinedScale | undefined,
  isStatusAlone: boolean,
): readonly FieldError[] {
  if (scale === undefined) return NO_FIELD_ERRORS;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const errors: FieldError[] = [];
  for (const path of isStatusAlone ? [statusReplicasPath] : [specReplicasPath, statusReplicasPath]) {
    const problem = replicasProblem(object, path);
    if (problem !== undefined) errors.push(problem);
  }
  if (labelSelectorPath === '') return errors;
  const { value, problem } = valueAt(object, labelSelectorPath);
  const wrong = problem ?? (value === undefined || typeof value === 'string' ? undefined : mismatch(value, 'string'));
  if (wrong !== undefined) errors.push(invalid(labelSelectorPath, '', `${labelSelectorPath} accessor error: ${wrong}`));
  return errors;
}

function replicasProblem(object: JsonObject, path: string): FieldError | undefined {
  const { value, problem } = valueAt(object, path);
  if (problem !== undefined) return invalid(path, 0, `${path} accessor error: ${problem}`);
  if (value === undefined) return undefined;
  if (!isInteger(value)) return invalid(path, 0, `${path} accessor error: ${mismatch(value, 'int64')}`);
  if (value < 0) return invalid(path, value, 'should be a non-negative integer');
  return value > INT32_MAX ? invalid(path, value, `should be less than or equal to ${INT32_MAX}`) : undefined;
}

/** Undefined where there is none, or something on the way is null. */
function valueAt(object: JsonObject, path: string): { readonly value?: unknown; readonly problem?: string } {
  let value: unknown = object;
  for (const member of path.replace(/^\./, '').split('.')) {
    if (value === null) return {};
    if (!isJsonObject(value)) return { problem: mismatch(value, 'map[string]interface{}') };
    if (!Object.hasOwn(value, member)) return {};
    value = value[member];
  }
  return { value };
}

/** The words for what a value is, by what `typeof` calls it. */
const TYPES: Readonly<Record<string, string>> = { string: 'string', boolean: 'bool', number: 'float64' };

function mismatch(value: unknown, expected: string): string {
  if (value === null) return `<nil> is of the type <nil>, expected ${expected}`;
  const type = TYPES[typeof value] ?? (Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}');
  const isWhole = isInteger(value);
  const shown = mapText(value);
  return `${shown} is of the type ${isWhole ? 'int64' : type}, expected ${expected}`;
}
