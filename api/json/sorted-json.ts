// JSON that is the same for equal values, and as the original writes it for people and for clients that compare texts: it reads custom
// objects into maps, and writes those in the order of their keys; and of what JSON may hold as it is, it escapes what HTML may not.
import { isJsonObject } from './json-value.ts';

const ESCAPED = /[<>&\u2028\u2029]/g;

/** The value as JSON with the keys of all objects in order. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, inside: unknown) => (isJsonObject(inside) ? sorted(inside) : inside)).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function sorted(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
