// What holds of whole objects inside a custom object, and of lists whose elements are told apart. They are looked for after
// the values, and only where a schema has any. Errors name the very element.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import type { ValueReport } from './value-report.ts';

/** Reports what is wrong with a value at the place where the report stands. */
export type PlacedCheck = (value: unknown, at: ValueReport) => void;

/**
 * A walk over a value, with a check of its own at each place whose schema has one.
 *
 * @param own the check of a schema for itself; undefined: it has none. Undefined where no schema has.
 */
export function placedCheckOf(
  schema: JsonObject,
  own: (schema: JsonObject) => PlacedCheck | undefined,
): PlacedCheck | undefined {
  const below = (value: unknown): PlacedCheck | undefined =>
    isJsonObject(value) ? placedCheckOf(value, own) : undefined;
  const properties = new Map<string, PlacedCheck | undefined>();
  if (isJsonObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) properties.set(name, below(property));
  }
  const here = own(schema);
  const items = below(schema.items);
  const rest = below(schema.additionalProperties);
  const looksInside = rest !== undefined || [...properties.values()].some((check) => check !== undefined);
  if (here === undefined && items === undefined && !looksInside) return undefined;
  return (value, at) => {
    if (typeof value !== 'object' || value === null) return;
    here?.(value, at);
    if (Array.isArray(value)) checkItems(value, items, at);
    else if (looksInside) checkMembers(value as JsonObject, properties, rest, at);
  };
}

function checkItems(list: readonly unknown[], items: PlacedCheck | undefined, at: ValueReport): void {
  if (items === undefined) return;
  for (let index = 0; index < list.length; index++) {
    at.enter(index);
    items(list[index], at);
    at.leave();
  }
}

function checkMembers(
  object: JsonObject,
  properties: ReadonlyMap<string, PlacedCheck | undefined>,
  rest: PlacedCheck | undefined,
  at: ValueReport,
): void {
  for (const name in object) {
    const isNamed = properties.has(name);
    const check = isNamed ? properties.get(name) : rest;
    if (check === undefined) continue;
    if (isNamed) at.enter(name);
    else at.enterKey(name);
    check(object[name], at);
    at.leave();
  }
}
