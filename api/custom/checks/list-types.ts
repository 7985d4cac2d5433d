// Lists whose elements are told apart: those of type set by their value, those of type map by some of their members. No two
// may be the same.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asTexts } from '../../json/object-fields.ts';
import { sortedJson } from '../../json/sorted-json.ts';
import { duplicate, invalid } from '../../status/field-error.ts';
import { shownJson } from '../../status/shown-value.ts';
import type { PlacedCheck } from './placed-checks.ts';
import type { ValueReport } from './value-report.ts';

/** Undefined for lists whose elements may repeat. */
export function listTypeCheck(schema: JsonObject, prefix: string): PlacedCheck | undefined {
  const listType = schema[`${prefix}list-type`];
  if (listType === 'set') return (value, at) => checkDistinct(value, at, (item) => item);
  if (listType !== 'map') return undefined;
  const keys = asTexts(schema[`${prefix}list-map-keys`]);
  return (value, at) => {
    if (Array.isArray(value) && hasObjectsOnly(value, at)) checkDistinct(value, at, (item) => keyOf(item, keys));
  };
}

/** A null is an object without keys. */
function hasObjectsOnly(list: readonly unknown[], at: ValueReport): boolean {
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong < 0) return true;
  at.enter(wrong);
  at.add(invalid(at.place(), list[wrong], 'must be an object for an array of list-type map'));
  at.leave();
  return false;
}

function keyOf(item: unknown, keys: readonly string[]): JsonObject {
  const found: Record<string, unknown> = {};
  for (const key of keys) if (isJsonObject(item) && Object.hasOwn(item, key)) found[key] = item[key];
  return found;
}

/** What comes again is told once. */
function checkDistinct(value: unknown, at: ValueReport, ofItem: (item: unknown) => unknown): void {
  if (!Array.isArray(value) || value.length < 2) return;
  const met = new Map<string, number>();
  for (let index = 0; index < value.length; index++) {
    const key = ofItem(value[index]);
    const text = sortedJson(key);
    const times = met.get(text) ?? 0;
    met.set(text, times + 1);
    if (times !== 1) continue;
    at.enter(index);
    at.add(duplicate(at.place(), shownJson(key)));
    at.leave();
  }
}
