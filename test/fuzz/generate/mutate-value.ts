// Mutation of JSON values: places are emptied, filled with junk or with what stands elsewhere, lists and members repeated.
// Works in place on a value of the caller's own.
import type { Dice } from './dice.ts';
import { deepJunk, junk, ODD_NAMES, withName } from './junk.ts';

/** Makes a value that fits a member of this name; undefined where nothing is known of the name. */
export type Suggestion = (name: string, dice: Dice) => unknown;

interface Place {
  readonly parent: Record<string, unknown> | unknown[];
  /** The member, or the index as text. */
  readonly key: string;
}

/** Levels that a walk into the value goes down. */
const LEVELS_MAX = 12;

/** The value with `changes` changes. A root that is no container is replaced. */
export function mutatedValue(value: unknown, dice: Dice, changes: number, suggest: Suggestion): unknown {
  let root = value;
  for (let left = changes; left > 0; left--) {
    const place = somewhere(root, dice);
    if (place === undefined) root = dice.oneIn(4) ? junk(dice) : root;
    else change(place, dice, suggest, root);
  }
  return root;
}

/** Characters of JSON that growing adds at most, about. */
const GROWTH_CHARACTERS = 1_000_000;

/** The value with one of its lists or maps made long, its elements alike or all different. Finds what is quadratic. */
export function grownValue(value: unknown, dice: Dice, charactersMax = GROWTH_CHARACTERS): unknown {
  for (let tries = 0; tries < 8; tries++) {
    const place = somewhere(value, dice);
    if (place === undefined) return value;
    const container = valueAt(place);
    if (typeof container !== 'object' || container === null) continue;
    const elements = Object.entries(container);
    if (elements.length === 0) continue;
    const [key, element] = dice.pick(elements);
    const text = JSON.stringify(element) ?? 'null';
    const count = Math.min(dice.between(1000, 40_000), Math.floor(charactersMax / (text.length + key.length + 4)));
    const isVaried = !dice.oneIn(3);
    const made = Array.from({ length: count }, (_, i) => (isVaried ? varied(JSON.parse(text), i) : JSON.parse(text)));
    if (Array.isArray(container)) put(place, [...(container as unknown[]), ...made]);
    else for (const [i, item] of made.entries()) withName(container as Record<string, unknown>, `${key}${i}`, item);
    return value;
  }
  return value;
}

/** A value that differs from the one before it. */
function varied(value: unknown, i: number): unknown {
  if (typeof value === 'string') return `${value}${i}`;
  if (typeof value === 'number') return value + i;
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, member] of Object.entries(value))
    if (typeof member !== 'object') withName(value as Record<string, unknown>, name, varied(member, i));
  return value;
}

/** A place in the value, the deeper the more often; undefined when there is none. */
function somewhere(root: unknown, dice: Dice): Place | undefined {
  let place: Place | undefined;
  let value = root;
  for (let level = 0; level < LEVELS_MAX; level++) {
    if (typeof value !== 'object' || value === null) return place;
    const parent = value as Place['parent'];
    const size = Array.isArray(parent) ? parent.length : Object.keys(parent).length;
    if (size === 0) return place;
    const at = dice.below(size);
    const key = Array.isArray(parent) ? String(at) : Object.keys(parent)[at]!;
    place = { parent, key };
    value = valueAt(place);
    if (dice.oneIn(6)) return place;
  }
  return place;
}

function valueAt({ parent, key }: Place): unknown {
  return Array.isArray(parent) ? parent[Number(key)] : parent[key];
}

function put({ parent, key }: Place, value: unknown): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else withName(parent, key, value);
}

function change(place: Place, dice: Dice, suggest: Suggestion, root: unknown): void {
  const { parent, key } = place;
  const value = valueAt(place);
  switch (dice.below(10)) {
    case 0:
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete parent[key];
      return;
    case 1:
    case 2:
      put(place, junk(dice));
      return;
    case 3:
    case 4:
      put(place, suggest(key, dice) ?? junk(dice));
      return;
    case 5: {
      const other = somewhere(root, dice);
      // A copy: what is inside itself cannot be written as JSON.
      if (other !== undefined) put(place, structuredClone(valueAt(other)));
      return;
    }
    case 6:
      if (Array.isArray(value)) value.push(...value.slice(0, 1 + dice.small(3)).map((item) => structuredClone(item)));
      else if (Array.isArray(parent)) parent.push(structuredClone(value));
      else withName(parent, dice.pick(ODD_NAMES), structuredClone(value));
      return;
    case 7:
      put(place, dice.oneIn(2) ? [value] : withName({}, dice.oneIn(2) ? key : dice.pick(ODD_NAMES), value));
      return;
    case 8:
      if (typeof value === 'number') put(place, value + dice.pick([1, -1, 0.5, 1e10]));
      else if (typeof value === 'string') put(place, dice.oneIn(2) ? value + value : value.slice(1));
      else if (typeof value === 'boolean') put(place, !value);
      else put(place, junk(dice));
      return;
    default:
      if (dice.oneIn(40)) put(place, deepJunk(dice, dice.below(dice.oneIn(10) ? 1200 : 40)));
      else if (!Array.isArray(parent)) withName(parent, dice.pick(ODD_NAMES), junk(dice));
      else put(place, junk(dice));
  }
}
