// Reading members of stored objects whose shape is not trusted: a member of the wrong type counts as absent. Names are
// constants of ours, never a client's, so no look-up can reach a prototype by accident.
import { isJsonObject, type JsonObject } from '../json-value.ts';

const NO_MEMBERS: JsonObject = Object.freeze({});
const NO_ITEMS: readonly unknown[] = Object.freeze([]);

/** The object at `key`; an empty one when there is none. */
export function partAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : NO_MEMBERS;
}

/** The list at `key`; an empty one when there is none. */
export function listAt(object: JsonObject, key: string): readonly unknown[] {
  const value = object[key];
  return Array.isArray(value) ? value : NO_ITEMS;
}

/** The objects in the list at `key`, in order; what is no object is an empty one, so that positions hold. */
export function partsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const items = listAt(object, key);
  return items.every(isJsonObject) ? items : items.map((item) => (isJsonObject(item) ? item : NO_MEMBERS));
}

/** The text at `key`, else `absent`. An empty text counts as absent. */
export function textAt(object: JsonObject, key: string, absent = ''): string {
  const value = object[key];
  return typeof value === 'string' && value !== '' ? value : absent;
}

/** The number at `key`, else 0: what an unset number of the API stands for. */
export function numberAt(object: JsonObject, key: string): number {
  const value = object[key];
  return typeof value === 'number' ? value : 0;
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
  return listAt(object, key).filter((item) => typeof item === 'string');
}

/** A number or text at `key` as text (quantities, IntOrString), else `absent`. */
export function scalarTextAt(object: JsonObject, key: string, absent: string): string {
  const value = object[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : absent;
}
