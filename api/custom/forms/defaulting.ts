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

/** Compiles the defaults of a structure. A null is always looked for, so that there is nothing to do only in scalars. */
export function defaulterOf(structure: Structure): Defaulter | undefined {
  const members = [...structure.properties].map(
    ([name, structure]): DefaultedMember => ({
      name,
      isNullable: structure.isNullable,
      whenAbsent: givenBy(structure),
      structure,
      below: 'late',
    }),
  );
  const { rest, items } = structure;
  const ofRest = rest === undefined ? undefined : defaulterOf(rest);
  const ofItems = items === undefined ? undefined : defaulterOf(items);
  const restGiven = rest && givenBy(rest);
  const itemsGiven = items && givenBy(items);
  if (members.length === 0 && rest === undefined && items === undefined) return undefined;
  const known = new Set(structure.properties.keys());
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) defaultItems(value, items.isNullable ? undefined : itemsGiven, ofItems);
      return;
    }
    const object = value as Members;
    for (const member of members) defaultMember(object, member);
    if (rest !== undefined) defaultRest(object, known, { isNullable: rest.isNullable, whenAbsent: restGiven }, ofRest);
  };
}

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

function defaultRest(
  object: Members,
  known: ReadonlySet<string>,
  { isNullable, whenAbsent }: Pick<DefaultedMember, 'isNullable' | 'whenAbsent'>,
  below: Defaulter | undefined,
): void {
  if (isNullable && below === undefined) return;
  for (const name in object) {
    if (known.has(name)) continue;
    if (object[name] === null && !isNullable) {
      if (onlyDropsNulls && whenAbsent !== undefined) continue;
      const given = whenAbsent?.copy(name.length + AROUND_NAME);
      if (given !== undefined) setOwn(object, name, given);
      else if (!keepsNulls) delete object[name];
    }
    below?.(object[name]);
  }
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
