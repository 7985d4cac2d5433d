// Equality of parsed JSON values. Reads only, so frozen and shared values are fine.
import { NESTING_MAX } from './json-value.ts';

/**
 * True when two JSON values are the same: key order does not matter, a member that is undefined counts as absent.
 * Values nested deeper than NESTING_MAX are called different, rather than overflowing the stack.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  return equal(left, right, NESTING_MAX);
}

/** The same of two objects but for some of their members. */
export function deepEqualBut(left: object, right: object, members: readonly string[]): boolean {
  return equalObjects(left as JsonMembers, right as JsonMembers, NESTING_MAX, members);
}

type JsonMembers = Readonly<Record<string, unknown>>;
const NONE: readonly string[] = [];

function equal(left: unknown, right: unknown, levelsLeft: number): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return isSameNumber(left, right);
  if (levelsLeft === 0) return false;
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(left, right, levelsLeft - 1);
  if (Array.isArray(right)) return false;
  return equalObjects(left as JsonMembers, right as JsonMembers, levelsLeft - 1, NONE);
}

/** A long integer is exact as it was stored, and a double as a built-in type has it. */
function isSameNumber(left: unknown, right: unknown): boolean {
  if (typeof left === 'bigint') return right === Number(left);
  return typeof right === 'bigint' && left === Number(right);
}

function equalLists(left: readonly unknown[], right: readonly unknown[], levelsLeft: number): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (!equal(left[index], right[index], levelsLeft)) return false;
  }
  return true;
}

function equalObjects(left: JsonMembers, right: JsonMembers, levelsLeft: number, but: readonly string[]): boolean {
  let membersLeft = 0;
  for (const key of Object.keys(left)) {
    const member = left[key];
    if (member === undefined || (but !== NONE && but.includes(key))) continue;
    if (!Object.hasOwn(right, key) || !equal(member, right[key], levelsLeft)) return false;
    membersLeft++;
  }
  let membersRight = 0;
  for (const key of Object.keys(right))
    if (right[key] !== undefined && (but === NONE || !but.includes(key))) membersRight++;
  return membersLeft === membersRight;
}
