// Equality of parsed JSON values. Reads only, so frozen and shared values are fine.
import { NESTING_MAX } from './json-value.ts';

/**
 * True when two JSON values are the same: key order does not matter, a member that is undefined counts as absent.
 * Values nested deeper than NESTING_MAX are called different, rather than overflowing the stack.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  return equal(left, right, NESTING_MAX);
}

function equal(left: unknown, right: unknown, levelsLeft: number): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (levelsLeft === 0) return false;
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(left, right, levelsLeft - 1);
  if (Array.isArray(right)) return false;
  return equalObjects(left as Record<string, unknown>, right as Record<string, unknown>, levelsLeft - 1);
}

function equalLists(left: readonly unknown[], right: readonly unknown[], levelsLeft: number): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (!equal(left[index], right[index], levelsLeft)) return false;
  }
  return true;
}

function equalObjects(left: Record<string, unknown>, right: Record<string, unknown>, levelsLeft: number): boolean {
  let membersLeft = 0;
  for (const key of Object.keys(left)) {
    const member = left[key];
    if (member === undefined) continue;
    if (!Object.hasOwn(right, key) || !equal(member, right[key], levelsLeft)) return false;
    membersLeft++;
  }
  let membersRight = 0;
  for (const key of Object.keys(right)) if (right[key] !== undefined) membersRight++;
  return membersLeft === membersRight;
}
