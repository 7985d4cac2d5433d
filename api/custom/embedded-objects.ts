// Whole objects of the API inside a custom object: they say what they are.
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { invalid } from '../status/field-error.ts';
import { textProblems } from '../validation/formats.ts';
import type { PlacedCheck } from './placed-checks.ts';
import type { ValueReport } from './value-report.ts';

/** Undefined for schemas of anything else. */
export function embeddedCheck(schema: JsonObject, prefix: string): PlacedCheck | undefined {
  if (schema[`${prefix}embedded-resource`] !== true) return undefined;
  return (value, at) => {
    if (!isJsonObject(value)) return;
    checkName(value, 'apiVersion', apiVersionProblems, at);
    checkName(value, 'kind', kindProblems, at);
    if (Object.hasOwn(value, 'metadata') && !isJsonObject(value.metadata)) {
      at.add(invalid(at.place('metadata'), value.metadata, 'must be an object'));
    }
  };
}

function checkName(
  object: JsonObject,
  member: string,
  problemsOf: (text: string) => readonly string[],
  at: ValueReport,
): void {
  const text = Object.hasOwn(object, member) ? object[member] : undefined;
  if (text === undefined || text === '') at.required(member);
  else if (typeof text !== 'string') at.add(invalid(at.place(member), text, 'must be a string'));
  else for (const problem of problemsOf(text)) at.add(invalid(at.place(member), text, problem));
}

function apiVersionProblems(text: string): readonly string[] {
  return text.split('/').length > 2 ? [`unexpected GroupVersion string: ${text}`] : [];
}

function kindProblems(text: string): readonly string[] {
  const problems = textProblems('dns1035Label', text.toLowerCase());
  return problems.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${problems.join(',')}`];
}
