// Sets of fields in the form managedFields keeps them (SPEC.md "managedFields entry"): nested objects whose keys name
// fields (`f:`), list elements by key (`k:`) or by value (`v:`) or position (`i:`), and `.` for the place itself. The
// stored JSON is the set: nothing is decoded to work on it. Sets are never changed; what two sets share stays shared.

/**
 * The fields below a place. An empty one, below the root, says that the place itself is in the set and nothing under it;
 * a `.` beside other keys says that it is in the set as well.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** The place itself is in the set. */
export const SELF = '.';
/** A place that is in the set, without anything under it; as a root, the empty set. */
export const LEAF: FieldSet = Object.freeze({});
export const NO_FIELDS: FieldSet = LEAF;
/** Levels a set may have. What lies deeper in an object is owned as a whole. */
export const FIELD_LEVELS_MAX = 128;

type Draft = Record<string, FieldSet>;

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** True when the place that a node stands for is in the set itself. Not for roots. */
export function hasSelf(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmpty(node);
}

/** What is in one of the sets or in both. */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmpty(right)) return left;
  if (isEmpty(left)) return right;
  return joined(left, right);
}

/** What is in any of the sets. Joined by halves: one after the other, many small sets would be copied over and over. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length === 0) return NO_FIELDS;
  let left = sets;
  while (left.length > 1) {
    const halved: FieldSet[] = [];
    for (let index = 0; index < left.length; index += 2) halved.push(union(left[index]!, left[index + 1] ?? NO_FIELDS));
    left = halved;
  }
  return left[0]!;
}

/** The places of a set that have nothing of it under them. */
export function lowest(set: FieldSet): FieldSet {
  const draft: Draft = {};
  for (const element in set) {
    if (element === SELF) continue;
    const node = set[element]!;
    draft[element] = isEmpty(node) ? node : lowest(node);
  }
  return draft;
}

/** Two nodes that have something below them, or a root each. */
function joined(left: FieldSet, right: FieldSet): FieldSet {
  let draft: Draft | undefined;
  for (const element in right) {
    const mine = left[element];
    const theirs = right[element]!;
    const both = mine === undefined ? theirs : joinedNodes(mine, theirs);
    if (both === mine) continue;
    draft ??= { ...left };
    draft[element] = both;
  }
  return draft === undefined ? left : inOrder(draft);
}

/** Both of two nodes below the root, where an empty one stands for its place. */
export function joinedNodes(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  const leftIsLeaf = isEmpty(left);
  if (isEmpty(right)) return leftIsLeaf ? left : withSelf(left);
  return leftIsLeaf ? withSelf(right) : joined(left, right);
}

function withSelf(node: FieldSet): FieldSet {
  return node[SELF] === undefined ? { [SELF]: LEAF, ...node } : node;
}

/**
 * What is in `left` and not in `right`. A place taken out leaves what is under it. Takes time in proportion to `left`,
 * since one large change is taken from the sets of many managers.
 */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  let draft: Draft | undefined;
  let kept = 0;
  for (const element in left) {
    const mine = left[element]!;
    const theirs = element === SELF ? undefined : right[element];
    const rest = theirs === undefined ? mine : nodeDifference(mine, theirs);
    if (draft === undefined) {
      if (rest === mine) {
        kept += 1;
        continue;
      }
      draft = firstOf(left, kept);
    }
    if (rest !== undefined) draft[element] = rest;
  }
  return draft ?? left;
}

/** Its first elements: made anew where much of a set may go, since what is copied and deleted from takes three times as long. */
function firstOf(set: FieldSet, count: number): Draft {
  const draft: Draft = {};
  let left = count;
  for (const element in set) {
    if (left === 0) break;
    draft[element] = set[element]!;
    left -= 1;
  }
  return draft;
}

function nodeDifference(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (isEmpty(left)) return hasSelf(right) ? undefined : left;
  const isIn = hasSelf(left);
  const staysIn = isIn && !hasSelf(right);
  const below = difference(left, right);
  if (below === left && isIn === staysIn) return left;
  return node(staysIn, below);
}

/** What is in both sets. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  const draft: Draft = {};
  for (const element in left) {
    const theirs = right[element];
    if (theirs === undefined || element === SELF) continue;
    const both = nodeIntersection(left[element]!, theirs);
    if (both !== undefined) draft[element] = both;
  }
  return isEmpty(draft) ? NO_FIELDS : draft;
}

function nodeIntersection(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (isEmpty(left)) return hasSelf(right) ? left : undefined;
  return node(hasSelf(left) && hasSelf(right), intersection(left, right));
}

/** `left` without the places of `right` and all that lies under them. */
export function without(left: FieldSet, right: FieldSet): FieldSet {
  let draft: Draft | undefined;
  for (const element in right) {
    const mine = left[element];
    if (mine === undefined || element === SELF) continue;
    const theirs = right[element]!;
    const rest = hasSelf(theirs) ? undefined : node(hasSelf(mine), without(mine, theirs));
    if (rest === mine) continue;
    draft ??= { ...left };
    if (rest === undefined) delete draft[element];
    else draft[element] = rest;
  }
  return draft ?? left;
}

/** What of `left` lies at the places of `right` or under them. */
export function within(left: FieldSet, right: FieldSet): FieldSet {
  const draft: Draft = {};
  for (const element in right) {
    const mine = left[element];
    if (mine === undefined || element === SELF) continue;
    const theirs = right[element]!;
    const part = hasSelf(theirs) ? mine : node(false, within(mine, theirs));
    if (part !== undefined) draft[element] = part;
  }
  return isEmpty(draft) ? NO_FIELDS : draft;
}

/** True when two sets hold the same fields. */
export function sameFields(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  let count = 0;
  for (const element in left) {
    const theirs = right[element];
    if (theirs === undefined || !sameFields(left[element]!, theirs)) return false;
    count++;
  }
  for (const _ in right) count--;
  return count === 0;
}

/** Every place in the set as a path, those of a level before what lies under them. */
export function* places(set: FieldSet, above: readonly string[] = []): Generator<readonly string[]> {
  for (const element in set) {
    if (element !== SELF && hasSelf(set[element]!)) yield [...above, element];
  }
  for (const element in set) {
    if (element !== SELF) yield* places(set[element]!, [...above, element]);
  }
}

/** A node with or without the place itself; undefined when nothing is left. `below` may have a `.` or not. */
export function node(isIn: boolean, below: FieldSet): FieldSet | undefined {
  const marked = below[SELF] !== undefined;
  if (isIn) {
    if (!marked) return isEmpty(below) ? LEAF : { [SELF]: LEAF, ...below };
    return hasOnlySelf(below) ? LEAF : below;
  }
  if (!marked) return isEmpty(below) ? undefined : below;
  const { [SELF]: _, ...rest } = below;
  return isEmpty(rest) ? undefined : rest;
}

function hasOnlySelf(below: FieldSet): boolean {
  for (const element in below) if (element !== SELF) return false;
  return true;
}

/** The same node with its elements in the order in which they are written; itself when they are. */
export function inOrder(unordered: FieldSet): FieldSet {
  let previous = '';
  for (const element in unordered) {
    if (element < previous) return sorted(unordered);
    previous = element;
  }
  return unordered;
}

function sorted(unordered: FieldSet): FieldSet {
  const draft: Draft = {};
  for (const element of Object.keys(unordered).sort()) draft[element] = unordered[element]!;
  return draft;
}
