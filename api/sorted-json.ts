// JSON that is the same for equal values, and as it is shown to people: the original reads custom objects into maps, and writes those in
// the order of their keys.
import { isJsonObject } from './json-value.ts';

/** The value as JSON with the keys of all objects in order. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, inside: unknown) => (isJsonObject(inside) ? sorted(inside) : inside));
}

function sorted(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
