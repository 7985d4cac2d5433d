// What differs between two objects of a type, as sets of fields. Objects are in canonical form (codec/decode.ts); parts
// that they share are not looked at.
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject, memberOf } from '../json/json-value.ts';
import { keyStep, memberStep, valueStep } from './field-path.ts';
import { FIELD_LEVELS_MAX, type FieldSet, inOrder, joinedNodes, LEAF, NO_FIELDS, node } from './field-set.ts';
import { LEAF_RULE, type ListKey, type OwnershipRule } from './ownership-rule.ts';

/** `modified` holds only places that are owned as a whole; a place with something below it is added or removed with it. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The same of one place. Undefined: not in the set. */
interface Parts {
  readonly added: FieldSet | undefined;
  readonly modified: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const ADDED: Parts = { added: LEAF, modified: undefined, removed: undefined };
const MODIFIED: Parts = { added: undefined, modified: LEAF, removed: undefined };
const REMOVED: Parts = { added: undefined, modified: undefined, removed: LEAF };
const SAME: Comparison = { added: NO_FIELDS, modified: NO_FIELDS, removed: NO_FIELDS };

/** Compares two objects. What the server owns (`Member.isOwned`) is left out. */
export function compareObjects(before: JsonObject, after: JsonObject, rule: OwnershipRule): Comparison {
  const parts = compare(before, after, rule, FIELD_LEVELS_MAX);
  if (parts === undefined) return SAME;
  const { added = NO_FIELDS, modified = NO_FIELDS, removed = NO_FIELDS } = parts;
  return { added, modified, removed };
}

/** Undefined for equal values. A value that is undefined is absent. */
function compare(before: unknown, after: unknown, rule: OwnershipRule, levelsLeft: number): Parts | undefined {
  if (before === after) return undefined;
  if (levelsLeft > 0 && isDivided(before, rule) && isDivided(after, rule) && !(isBare(before) && isBare(after))) {
    const found = new Found(levelsLeft - 1);
    if (rule.kind === 'set') compareSets(found, listOf(before), listOf(after));
    else if (rule.kind === 'keyed') compareKeyed(found, listOf(before), listOf(after), rule);
    else compareMembers(found, (before ?? NO_FIELDS) as JsonObject, (after ?? NO_FIELDS) as JsonObject, rule);
    return found.parts(before === undefined, after === undefined);
  }
  if (before === undefined) return ADDED;
  if (after === undefined) return REMOVED;
  if (rule.kind === 'deduced' && isJsonObject(before) !== isJsonObject(after)) {
    return ofOtherKind(before, after, rule, levelsLeft);
  }
  return deepEqual(before, after) ? undefined : MODIFIED;
}

/** An object in place of a value that is none, or the other way round: the place is another, and its members come or go. */
function ofOtherKind(before: unknown, after: unknown, rule: OwnershipRule, levelsLeft: number): Parts {
  if (levelsLeft <= 0) return MODIFIED;
  const found = new Found(levelsLeft - 1);
  compareMembers(found, isJsonObject(before) ? before : NO_FIELDS, isJsonObject(after) ? after : NO_FIELDS, rule);
  return { ...MODIFIED, ...found.parts(false, false), modified: LEAF };
}

type List = readonly unknown[];
const NO_ELEMENTS: List = [];

function listOf(value: unknown): List {
  return (value as List | undefined | null) ?? NO_ELEMENTS;
}

/** True for values that are owned part by part under the rule, and for none at all. */
function isDivided(value: unknown, { kind, keys }: OwnershipRule): boolean {
  if (kind === 'leaf') return false;
  if (value === undefined || value === null) return true;
  if (kind !== 'set' && kind !== 'keyed') return isJsonObject(value);
  // Lists with elements that cannot be told apart are owned as a whole.
  if (!Array.isArray(value)) return false;
  return kind === 'set'
    ? value.every((element) => typeof element !== 'object')
    : value.every((element) => hasKeys(element, keys));
}

function hasKeys(element: unknown, keys: readonly ListKey[]): boolean {
  if (!isJsonObject(element)) return false;
  for (const key of keys) {
    const value = element[key.name] ?? key.whenAbsent;
    if (value === undefined || typeof value === 'object') return false;
  }
  return true;
}

function isBare(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value as object) return false;
  return true;
}

function compareMembers(found: Found, before: JsonObject, after: JsonObject, rule: OwnershipRule): void {
  if (rule.kind === 'struct') {
    compareOwned(found, before, after, rule);
    return;
  }
  const { members } = rule;
  for (const name in after) {
    const member = members.get(name);
    if (member?.isOwned === false) continue;
    const earlier = Object.hasOwn(before, name) ? before[name] : member?.stays ? NO_FIELDS : undefined;
    const later = after[name];
    if (earlier !== later) found.compare(memberStep(name), earlier, later, rule.below(name)!);
  }
  for (const name in before) {
    if (Object.hasOwn(after, name) || members.get(name)?.isOwned === false) continue;
    found.compare(memberStep(name), before[name], undefined, rule.below(name)!);
  }
}

/** By what the objects have: the type could have several times as many members. A definition may call one `constructor`. */
function compareOwned(found: Found, before: JsonObject, after: JsonObject, { members }: OwnershipRule): void {
  for (const name in after) {
    const member = members.get(name);
    if (member?.isOwned) found.compare(member.step, memberOf(before, name), after[name], member.rule);
  }
  for (const name in before) {
    const member = members.get(name);
    if (member?.isOwned && !Object.hasOwn(after, name))
      found.compare(member.step, before[name], undefined, member.rule);
  }
}

function compareSets(found: Found, before: List, after: List): void {
  const earlier = new Set(before);
  const later = new Set(after);
  for (const value of later) if (!earlier.has(value)) found.put(valueStep(value)!, ADDED);
  for (const value of earlier) if (!later.has(value)) found.put(valueStep(value)!, REMOVED);
}

function compareKeyed(found: Found, before: List, after: List, rule: OwnershipRule): void {
  const { keys, element } = rule;
  if (before.length === after.length && after.every((item, index) => haveSameKeys(before[index], item, keys))) {
    for (const [index, item] of after.entries()) {
      if (item !== before[index]) found.compare(keyStep(item, keys)!, before[index], item, element);
    }
    return;
  }
  const earlier = byStep(before, keys);
  const later = byStep(after, keys);
  for (const [step, items] of later) found.compareGroups(step, earlier.get(step), items, element);
  for (const [step, items] of earlier) if (!later.has(step)) found.compareGroups(step, items, undefined, element);
}

function haveSameKeys(left: unknown, right: unknown, keys: readonly ListKey[]): boolean {
  for (const { name, whenAbsent } of keys) {
    if (((left as JsonObject)[name] ?? whenAbsent) !== ((right as JsonObject)[name] ?? whenAbsent)) return false;
  }
  return true;
}

/** Usually one element a key; where there are more, they are owned together. */
function byStep(list: List, keys: readonly ListKey[]): ReadonlyMap<string, List> {
  const groups = new Map<string, unknown[]>();
  for (const item of list) {
    const step = keyStep(item, keys)!;
    const group = groups.get(step);
    if (group === undefined) groups.set(step, [item]);
    else group.push(item);
  }
  return groups;
}

/** The differences found below one place. */
class Found {
  readonly #levelsLeft: number;
  #added: Record<string, FieldSet> | undefined;
  #modified: Record<string, FieldSet> | undefined;
  #removed: Record<string, FieldSet> | undefined;

  constructor(levelsLeft: number) {
    this.#levelsLeft = levelsLeft;
  }

  compare(step: string, before: unknown, after: unknown, rule: OwnershipRule): void {
    if (before === after) return;
    const parts = compare(before, after, rule, this.#levelsLeft);
    if (parts !== undefined) this.put(step, parts);
  }

  compareGroups(step: string, before: List | undefined, after: List | undefined, rule: OwnershipRule): void {
    if ((before?.length ?? 0) <= 1 && (after?.length ?? 0) <= 1) this.compare(step, before?.[0], after?.[0], rule);
    else this.compare(step, before, after, LEAF_RULE);
  }

  put(step: string, { added, modified, removed }: Parts): void {
    if (added !== undefined) this.#added = withPart(this.#added, step, added);
    if (modified !== undefined) this.#modified = withPart(this.#modified, step, modified);
    if (removed !== undefined) this.#removed = withPart(this.#removed, step, removed);
  }

  parts(isNew: boolean, isGone: boolean): Parts | undefined {
    const added = nodeOf(this.#added, isNew);
    const modified = nodeOf(this.#modified, false);
    const removed = nodeOf(this.#removed, isGone);
    if (added === undefined && modified === undefined && removed === undefined) return undefined;
    return { added, modified, removed };
  }
}

function withPart(parts: Record<string, FieldSet> | undefined, step: string, part: FieldSet): Record<string, FieldSet> {
  const all = parts ?? {};
  const known = all[step];
  all[step] = known === undefined ? part : joinedNodes(known, part);
  return all;
}

function nodeOf(parts: Record<string, FieldSet> | undefined, isIn: boolean): FieldSet | undefined {
  if (parts === undefined) return isIn ? LEAF : undefined;
  return isIn ? node(true, inOrder(parts)) : inOrder(parts);
}
