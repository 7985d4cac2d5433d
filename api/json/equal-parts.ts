// Parts of an object that say what another one says in the same place become that one's parts: compared once, they are told to be
// the same by being the same from then on, by everything that compares, validates and encodes an update.
import { isJsonObject, NESTING_MAX } from './json-value.ts';

type Members = Record<string, unknown>;

/** An object's members, and the members of those. Below, equal parts are few where the whole is not. */
const LEVELS = 2;

/**
 * Puts parts of `stored` in place of those of `next` that would be written alike. `next` and its members belong to the caller, and
 * are changed in place; what they say stays what it was.
 */
export function takeEqualParts(next: object, stored: object): void {
  takeMembers(next as Members, stored as Members, LEVELS);
}

function takeMembers(next: Members, stored: Members, levelsLeft: number): void {
  for (const name in next) {
    const own = next[name];
    if (typeof own !== 'object' || !Object.hasOwn(stored, name)) continue;
    const other = stored[name];
    if (own === other) continue;
    if (isAlike(own, other, NESTING_MAX)) next[name] = other;
    else if (levelsLeft > 1 && isJsonObject(own) && isJsonObject(other))
      takeMembers(own as Members, other, levelsLeft - 1);
  }
}

/** Equality of JSON values that counts the order of members. Deeper than so many levels nothing is alike. */
function isAlike(left: unknown, right: unknown, levelsLeft: number): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (levelsLeft === 0) return false;
  if (Array.isArray(left)) return Array.isArray(right) && areAlike(left, right, levelsLeft - 1);
  if (Array.isArray(right)) return false;
  const names = Object.keys(left);
  let place = 0;
  for (const name in right) {
    if (names[place++] !== name) return false;
    if (!isAlike((left as Members)[name], (right as Members)[name], levelsLeft - 1)) return false;
  }
  return place === names.length;
}

function areAlike(left: readonly unknown[], right: readonly unknown[], levelsLeft: number): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (!isAlike(left[index], right[index], levelsLeft)) return false;
  }
  return true;
}
