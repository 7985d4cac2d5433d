// Gives an object what its schema says of members that are left out, in place. A null where there can be none counts as left
// out; where nothing is given for it, it is taken out, or kept for the checks to refuse.
import { jsonCopy } from '../../json/json-copy.ts';
import { OBJECT_BYTES_MAX } from '../../status/failures.ts';
import type { Members, Structure } from './structure.ts';

/** What defaulting does with the values of a place; undefined: nothing, ever. */
export type Defaulter = (value: unknown) => void;

/** In JSON, beside a name, and its value: quotes, a colon, a comma. A schema of short values may have long names. */
const AROUND_NAME = '"":,'.length;
const BETWEEN_ITEMS = ','.length;

/** How long the JSON of what one object is given may still get: a list of empty items comes to gigabytes under some schemas. */
let left = 0;

/** Of the object at hand: nulls that nothing is given for stay. */
let keepsNulls = false;

/** Of the object at hand: nulls that nothing is given for are all that goes, and nothing is given. */
let onlyDropsNulls = false;

/**
 * Gives an object its defaults. False: they came to more than an object may be, and some were left out.
 *
 * @param keeps whether a null stays that cannot be there and that nothing is given for.
 */
export function giveDefaults(defaulter: Defaulter, object: Members, keeps: boolean): boolean {
  left = OBJECT_BYTES_MAX;
  keepsNulls = keeps;
  onlyDropsNulls = false;
  defaulter(object);
  return left >= 0;
}

/** Takes out the nulls that cannot be where they are, but for those that defaults are there for. */
export function dropNulls(defaulter: Defaulter, object: Members): void {
  keepsNulls = false;
  onlyDropsNulls = true;
  defaulter(object);
}

interface DefaultedMember {
  readonly name: string;
  readonly isNullable: boolean;
  readonly whenAbsent: Given | undefined;
  readonly structure: Structure;
  /** Compiled when an object first has such a member: most have few of those that a large schema knows. */
  below: Defaulter | undefined | 'late';
}

/** What a schema gives: to be copied into each object. */
class Given {
  readonly #value: unknown;
  #length = -1;

  constructor(value: unknown) {
    this.#value = value;
  }

  /** Undefined: it would be too much, with so many characters that come with it. */
  copy(beside: number): unknown {
    if (this.#length < 0) this.#length = JSON.stringify(this.#value).length;
    left -= this.#length + beside;
    return left < 0 ? undefined : jsonCopy(this.#value);
  }
}

function givenBy({ whenAbsent }: Structure): Given | undefined {
  return whenAbsent === undefined ? undefined : new Given(whenAbsent);
}

/** Of members that no property names. */
type DefaultedRest = Pick<DefaultedMember, 'isNullable' | 'whenAbsent'> & { readonly below: Defaulter | undefined };

/**
 * Compiles the defaults of a structure. A null is always looked for, so that there is nothing to do only in scalars. Takes time in
 * proportion to what an object has and is given: a schema may know hundreds of members, and a list hold a million empty items.
 */
export function defaulterOf(structure: Structure): Defaulter | undefined {
  const { properties, rest, items } = structure;
  if (properties.size === 0 && rest === undefined && items === undefined) return undefined;
  const members = new Map([...properties].map(([name, property]) => [name, defaultedMember(name, property)]));
  const given = [...members.values()].filter(({ whenAbsent }) => whenAbsent !== undefined);
  const others = rest === undefined ? undefined : defaultedRest(rest);
  const ofItems = items === undefined ? undefined : defaulterOf(items);
  const itemsGiven = items && givenBy(items);
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) defaultItems(value, items.isNullable ? undefined : itemsGiven, ofItems);
      return;
    }
    const object = value as Members;
    for (const name in object) {
      const member = members.get(name);
      if (member !== undefined) defaultMember(object, member);
      else if (others !== undefined) defaultOther(object, name, others);
    }
    for (const member of given) if (!Object.hasOwn(object, member.name)) defaultMember(object, member);
  };
}

function defaultedMember(name: string, structure: Structure): DefaultedMember {
  return { name, isNullable: structure.isNullable, whenAbsent: givenBy(structure), structure, below: 'late' };
}

/** Undefined: there is nothing to do. */
function defaultedRest(rest: Structure): DefaultedRest | undefined {
  const below = defaulterOf(rest);
  if (rest.isNullable && below === undefined) return undefined;
  return { isNullable: rest.isNullable, whenAbsent: givenBy(rest), below };
}

/** One that the object has, or is given. */
function defaultMember(object: Members, member: DefaultedMember): void {
  const { name, isNullable, whenAbsent } = member;
  const isThere = Object.hasOwn(object, name);
  const value = isThere ? object[name] : undefined;
  if (value === undefined || (value === null && !isNullable)) {
    if (onlyDropsNulls && whenAbsent !== undefined) return;
    const given = whenAbsent?.copy(name.length + AROUND_NAME);
    if (given === undefined) {
      if (isThere && !keepsNulls) delete object[name];
      return;
    }
    setOwn(object, name, given);
  }
  const inside = object[name];
  if (typeof inside !== 'object' || inside === null) return;
  if (member.below === 'late') member.below = defaulterOf(member.structure);
  member.below?.(inside);
}

function defaultOther(object: Members, name: string, { isNullable, whenAbsent, below }: DefaultedRest): void {
  if (object[name] === null && !isNullable) {
    if (onlyDropsNulls && whenAbsent !== undefined) return;
    const given = whenAbsent?.copy(name.length + AROUND_NAME);
    if (given !== undefined) setOwn(object, name, given);
    else if (!keepsNulls) delete object[name];
  }
  below?.(object[name]);
}

/** @param given for null, where that counts as left out. */
function defaultItems(list: unknown[], given: Given | undefined, below: Defaulter | undefined): void {
  if (given === undefined && below === undefined) return;
  for (let index = 0; index < list.length; index++) {
    if (given !== undefined && list[index] === null && !onlyDropsNulls) list[index] = given.copy(BETWEEN_ITEMS) ?? null;
    below?.(list[index]);
  }
}

/** A schema may name a member as it likes. */
function setOwn(object: Members, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else object[name] = value;
}
