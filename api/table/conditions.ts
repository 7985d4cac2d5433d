// The conditions of an object's status, looked up by type.
import type { JsonObject } from '../json/json-value.ts';
import { partAt, partsAt, textAt } from '../json/object-fields.ts';

/** The last condition of that type in `status.conditions`. */
export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return conditionIn(partsAt(partAt(object, 'status'), 'conditions'), type);
}

/** The last condition of that type in a list: the one that counts where a type stands twice. */
export function conditionIn(conditions: readonly JsonObject[], type: string): JsonObject | undefined {
  return conditions.findLast((condition) => condition.type === type);
}

export function isTrue(condition: JsonObject | undefined): boolean {
  return condition !== undefined && textAt(condition, 'status') === 'True';
}
