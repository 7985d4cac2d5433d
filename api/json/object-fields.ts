// The one reader of parsed JSON whose shape is not trusted, or that the compiler cannot know: whatever is not what it should
// be reads as absent, and nothing here throws. Readers of a value, and of the member of an object under a name. Names are
// constants of ours, never a client's, so no look-up can reach a prototype by accident.
import { isJsonObject, type JsonObject } from './json-value.ts';

const NO_MEMBERS: JsonObject = Object.freeze({});
const NO_ITEMS: readonly unknown[] = Object.freeze([]);

/** Whether there is a value: null is as good as none. */
export function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/** The value as an object; an empty one when it is none. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NO_MEMBERS;
}

/** The value as a list; an empty one when it is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ITEMS;
}

/** The value as text; empty when it is none. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a finite number; 0, which an unset number of the API stands for, when it is none. */
export function asNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** The texts of a list; other items are passed over. */
export function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((item) => typeof item === 'string');
}

/** A map of texts such as labels; members that are not text are left out. */
export function asTextMap(value: unknown): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [key, text] of Object.entries(asObject(value))) {
    if (typeof text === 'string') map.set(key, text);
  }
  return map;
}

/** Milliseconds since 1970 of an RFC 3339 text; undefined when it is not set or none. */
export function asTimeMs(value: unknown): number | undefined {
  const timeMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** The object at `key`; an empty one when there is none. */
export function partAt(object: JsonObject, key: string): JsonObject {
  return asObject(object[key]);
}

/** The list at `key`; an empty one when there is none. */
export function listAt(object: JsonObject, key: string): readonly unknown[] {
  return asList(object[key]);
}

/** The objects in the list at `key`, in order; what is no object is an empty one, so that positions hold. */
export function partsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const items = listAt(object, key);
  return items.every(isJsonObject) ? items : items.map(asObject);
}

/** The text at `key`, else `absent`. An empty text counts as absent. */
export function textAt(object: JsonObject, key: string, absent = ''): string {
  const value = object[key];
  return typeof value === 'string' && value !== '' ? value : absent;
}

/** The number at `key`, else 0. */
export function numberAt(object: JsonObject, key: string): number {
  return asNumber(object[key]);
}

/** The number at `key`, else undefined, where unset differs from 0. */
export function setNumberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' ? value : undefined;
}

/** The truth at `key`, else `absent`. */
export function booleanAt(object: JsonObject, key: string, absent = false): boolean {
  const value = object[key];
  return typeof value === 'boolean' ? value : absent;
}

/** The texts in the list at `key`. */
export function textsAt(object: JsonObject, key: string): readonly string[] {
  return asTexts(object[key]);
}

/** A number or text at `key` as text (quantities, IntOrString), else `absent`. */
export function scalarTextAt(object: JsonObject, key: string, absent: string): string {
  const value = object[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : absent;
}
