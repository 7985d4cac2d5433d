// Holds an update to the change rules of its kind. Paths are walked in both versions of the object; what did not change
// costs one comparison.
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { Report } from './report.ts';
import { type ChangeRule, type ChangeRules, CREATE_RULES, type FieldChangeRules } from './rule.ts';
import type { Check } from './rule-steps.ts';

/** Looks at what was changed, and reports what must not have been. */
export type ChangeCheck = (next: JsonObject, stored: JsonObject, at: Report) => void;

/** The check of one kind's change rules, and of its rules for new objects where these do not stand for them. */
export function compileChanges({ fields = {}, rules = [], only }: ChangeRules, ofNew?: Check): ChangeCheck {
  const fieldCheck = (path: string): ChangeCheck => {
    const row = fields[path];
    if (row === undefined) throw new RangeError(`a change rule names ${path}, which has no row`);
    const parts = path.split('.');
    return (next, stored, at) => checkField(parts, row, next, stored, at);
  };
  const again: ChangeCheck = (next, _stored, at) => ofNew?.(next, at);
  const leading = Object.keys(fields).filter((path) => !rules.includes(path));
  const order =
    rules.includes(CREATE_RULES) || only === true ? [...leading, ...rules] : [CREATE_RULES, ...leading, ...rules];
  const steps = order.map((rule) => {
    if (rule === CREATE_RULES) return again;
    return typeof rule === 'string' ? fieldCheck(rule) : (rule as ChangeRule<JsonObject>);
  });
  return (next, stored, at) => {
    for (const step of steps) step(next, stored, at);
  };
}

function checkField(
  parts: readonly string[],
  { immutable, reason, reportedAt, text = 'field is immutable', rules = [] }: FieldChangeRules,
  next: JsonObject,
  stored: JsonObject,
  at: Report,
): void {
  const value = valueAt(next, parts);
  const before = valueAt(stored, parts);
  if (value === before) return;
  if (immutable !== undefined && !sameValue(value, before) && !(immutable === 'once' && isUnset(before))) {
    const path = reportedAt ?? parts.join('.');
    if (reason === 'forbidden') at.forbidden(path, text);
    else at.invalid(path, value ?? EMPTY_LIKE[typeof before] ?? null, text);
  }
  if (rules.length === 0) return;
  for (const part of parts) at.enter(part);
  for (const rule of rules as readonly ChangeRule<unknown>[]) rule(value, before, at);
  for (const _ of parts) at.leave();
}

/** What stands in messages for a member that was taken away: most scalars are no pointers. */
const EMPTY_LIKE: Readonly<Record<string, unknown>> = { string: '', number: 0, boolean: false };

function valueAt(object: JsonObject, parts: readonly string[]): unknown {
  let value: unknown = object;
  for (const part of parts) {
    if (!isJsonObject(value)) return undefined;
    value = value[part];
  }
  return value;
}

function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) && value.length === 0;
}

/** An absent value and an empty one are the same. */
function sameValue(left: unknown, right: unknown): boolean {
  return deepEqual(left, right) || (isUnset(left) && isUnset(right));
}
