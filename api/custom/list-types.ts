// Lists whose elements are told apart: those of type set by their value, those of type map by some of their members. No two
// may be the same.
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { asObject, asTexts } from '../object-fields.ts';
import { duplicate } from '../status/field-error.ts';
import type { ValueReport } from './value-report.ts';

/** Undefined for lists whose elements may repeat. */
export function listTypeCheck(
  schema: JsonObject,
  prefix: string,
): ((value: unknown, at: ValueReport) => void) | undefined {
  const listType = schema[`${prefix}list-type`];
  if (listType === 'set') return (value, at) => checkDistinct(value, at, (item) => item);
  if (listType !== 'map') return undefined;
  const keys = asTexts(schema[`${prefix}list-map-keys`]);
  const defaults = keyDefaults(asObject(asObject(schema.items).properties), keys);
  return (value, at) =>
    checkDistinct(value, at, (item) => {
      const found: Record<string, unknown> = {};
      for (const key of keys) {
        const own = isJsonObject(item) && Object.hasOwn(item, key) ? item[key] : defaults.get(key);
        if (own !== undefined) found[key] = own;
      }
      return found;
    });
}

function keyDefaults(properties: JsonObject, keys: readonly string[]): ReadonlyMap<string, unknown> {
  const defaults = new Map<string, unknown>();
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? asObject(properties[key]) : {};
    if (property.default !== undefined && property.default !== null) defaults.set(key, property.default);
  }
  return defaults;
}

function checkDistinct(value: unknown, at: ValueReport, keyOf: (item: unknown) => unknown): void {
  if (!Array.isArray(value) || value.length < 2) return;
  const met = new Set<string>();
  for (let index = 0; index < value.length; index++) {
    const key = keyOf(value[index]);
    const text = canonicalText(key);
    if (met.has(text)) {
      at.enter(index);
      at.add((path) => duplicate(path, key));
      at.leave();
    }
    met.add(text);
  }
}

/** The same text for equal values, whatever the order of their members. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
