// Copies of objects whose members nobody can list, to be changed. Pure.

import { type JsonObject, PROTOTYPE_KEY } from './json-value.ts';

/** An object whose members may be set. */
export type Own<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A copy of an object, not of what its members hold. Members are set on it afterwards: `{ ...object, member }` takes V8 two to seven
 * times as long. For the same reason it is one function: where copies of one shape are made V8 makes them fast, of a hidden class
 * that none follows from, and each member that is added then makes a new class, which no cache of the code that reads it knows.
 */
export function ownCopy<T extends object>(object: T): Own<T> {
  return { ...object };
}

/** Sets a member, whatever it is called: one that has the name of the prototype is a member too, as in what JSON.parse makes. */
export function setMember(object: Own<JsonObject>, name: string, value: unknown): void {
  if (name === PROTOTYPE_KEY)
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}

/**
 * The object without some members, in the order that is left. Made anew: one that a member was deleted from is slow for all who read it.
 */
export function withoutMembers<T extends object>(object: T, names: readonly string[]): T {
  const leftOut = new Set(names);
  const left: Own<JsonObject> = {};
  for (const [name, value] of Object.entries(object)) if (!leftOut.has(name)) setMember(left, name, value);
  return left as T;
}
