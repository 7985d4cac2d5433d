// Gives an object what its schema says of members that are left out, in place. A null where there can be none counts as left
// out.
import { jsonCopy } from '../conversion/json-copy.ts';
import type { Members, Structure } from './structure.ts';

/** What defaulting does with the values of a place; undefined: nothing, ever. */
export type Defaulter = (value: unknown) => void;

interface DefaultedMember {
  readonly name: string;
  readonly isNullable: boolean;
  readonly whenAbsent: unknown;
  readonly structure: Structure;
  /** Compiled when an object first has such a member: most have few of those that a large schema knows. */
  below: Defaulter | undefined | 'late';
}

/** Compiles the defaults of a structure. A null is always looked for, so that there is nothing to do only in scalars. */
export function defaulterOf(structure: Structure): Defaulter | undefined {
  const members = [...structure.properties].map(
    ([name, structure]): DefaultedMember => ({
      name,
      isNullable: structure.isNullable,
      whenAbsent: structure.whenAbsent,
      structure,
      below: 'late',
    }),
  );
  const { rest, items } = structure;
  const ofRest = rest === undefined ? undefined : defaulterOf(rest);
  const ofItems = items === undefined ? undefined : defaulterOf(items);
  if (members.length === 0 && rest === undefined && items === undefined) return undefined;
  const known = new Set(structure.properties.keys());
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) defaultItems(value, items, ofItems);
      return;
    }
    const object = value as Members;
    for (const member of members) defaultMember(object, member);
    if (rest !== undefined) defaultRest(object, known, rest, ofRest);
  };
}

function defaultMember(object: Members, member: DefaultedMember): void {
  const { name, isNullable, whenAbsent } = member;
  const isThere = Object.hasOwn(object, name);
  const value = isThere ? object[name] : undefined;
  if (value === undefined || (value === null && !isNullable)) {
    if (whenAbsent === undefined) {
      if (isThere) delete object[name];
      return;
    }
    setOwn(object, name, jsonCopy(whenAbsent));
  }
  const inside = object[name];
  if (typeof inside !== 'object' || inside === null) return;
  if (member.below === 'late') member.below = defaulterOf(member.structure);
  member.below?.(inside);
}

function defaultRest(object: Members, known: ReadonlySet<string>, rest: Structure, below: Defaulter | undefined): void {
  const { isNullable, whenAbsent } = rest;
  if (isNullable && below === undefined) return;
  for (const name in object) {
    if (known.has(name)) continue;
    if (object[name] === null && !isNullable) {
      if (whenAbsent === undefined) delete object[name];
      else setOwn(object, name, jsonCopy(whenAbsent));
    }
    below?.(object[name]);
  }
}

function defaultItems(list: unknown[], items: Structure, below: Defaulter | undefined): void {
  const gives = items.whenAbsent !== undefined && !items.isNullable;
  if (!gives && below === undefined) return;
  for (let index = 0; index < list.length; index++) {
    if (gives && list[index] === null) list[index] = jsonCopy(items.whenAbsent);
    below?.(list[index]);
  }
}

/** A schema may name a member as it likes. */
function setOwn(object: Members, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else object[name] = value;
}
