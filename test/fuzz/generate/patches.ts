// Bodies of patches for an object that is there: JSON patches along its own paths, parts of it with changes, directives of
// strategic merge patches, configurations to apply.
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import type { Dice } from './dice.ts';
import { DOCUMENTS } from './documents.ts';
import { deepJunk, junk, ODD_NAMES, withName } from './junk.ts';
import { grownValue, mutatedValue } from './mutate-value.ts';

const OPERATIONS: readonly string[] = ['add', 'remove', 'replace', 'move', 'copy', 'test'];
const DIRECTIVES: readonly string[] = ['merge', 'replace', 'delete', 'x', '', '__proto__'];

/** A list of operations, most of them on places that are there. */
export function jsonPatch(object: JsonObject, dice: Dice): unknown {
  const operations: unknown[] = [];
  if (dice.oneIn(2000)) return repeated(object, dice);
  for (let left = 1 + dice.small(dice.oneIn(100) ? 300 : 5); left > 0; left--) {
    const op = dice.oneIn(30) ? dice.pick(ODD_NAMES) : dice.pick(OPERATIONS);
    const [path, found] = pointer(object, dice);
    const operation: Record<string, unknown> = { op, path };
    if (op === 'move' || op === 'copy') operation.from = pointer(object, dice)[0];
    else if (op === 'test') operation.value = dice.oneIn(3) ? junk(dice) : found;
    else if (op !== 'remove') operation.value = value(path.slice(path.lastIndexOf('/') + 1), object, dice);
    operations.push(operation);
  }
  return dice.oneIn(12) ? mutatedValue(operations, dice, 1, DOCUMENTS.suggest) : operations;
}

/** A few operations over and over. */
function repeated(object: JsonObject, dice: Dice): unknown {
  const few = jsonPatch(object, dice) as unknown[];
  const times = Math.floor(dice.between(1000, 9000) / Math.max(1, few.length));
  return Array.from({ length: times }, () => few).flat();
}

/** A way into the object, sometimes one step too far, and what is there. */
function pointer(object: JsonObject, dice: Dice): readonly [path: string, found: unknown] {
  let path = '';
  let value: unknown = object;
  while (typeof value === 'object' && value !== null && !dice.oneIn(7)) {
    const names = Object.keys(value);
    if (names.length === 0) break;
    const name = dice.pick(names);
    path += `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    value = (value as Record<string, unknown>)[name];
  }
  if (dice.oneIn(8)) return [`${path}/${dice.pick(ODD_NAMES)}`, undefined];
  return [dice.oneIn(15) && Array.isArray(value) ? `${path}/-` : path, value];
}

function value(name: string, object: JsonObject, dice: Dice): unknown {
  if (dice.oneIn(60)) return deepJunk(dice, dice.below(dice.oneIn(5) ? 1100 : 60));
  if (dice.oneIn(2)) return DOCUMENTS.suggest(name, dice) ?? junk(dice);
  return dice.oneIn(2) ? junk(dice) : pointer(object, dice)[1];
}

/** Parts of the object with changes, and nulls. */
export function mergePatch(object: JsonObject, dice: Dice): unknown {
  const copy = structuredClone(object);
  if (dice.oneIn(2000)) return grownValue(copy, dice);
  const changed = mutatedValue(copy, dice, 1 + dice.small(4), DOCUMENTS.suggest);
  if (!isJsonObject(changed)) return changed;
  delete (changed.metadata as Record<string, unknown> | undefined)?.managedFields;
  return part(changed, dice, 0.5, true);
}

/** The same with directives. */
export function strategicPatch(object: JsonObject, dice: Dice): unknown {
  const patch = mergePatch(object, dice);
  for (let left = dice.small(3); left > 0; left--) addDirective(patch, dice);
  return patch;
}

function part(value: JsonObject, dice: Dice, density: number, mayDrop: boolean): JsonObject {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (!dice.chance(density)) continue;
    const member = value[name];
    const below = isJsonObject(member) && !dice.oneIn(3) ? part(member, dice, density + 0.1, mayDrop) : member;
    withName(kept, name, mayDrop && dice.oneIn(15) ? null : below);
  }
  return kept;
}

function addDirective(patch: unknown, dice: Dice): void {
  let at: unknown = patch;
  while (typeof at === 'object' && at !== null && !dice.oneIn(3)) {
    const members = Object.values(at).filter((member) => typeof member === 'object' && member !== null);
    if (members.length === 0) break;
    at = dice.pick(members);
  }
  if (!isJsonObject(at)) return;
  const object = at as Record<string, unknown>;
  const names = Object.keys(object);
  const name = names.length === 0 || dice.oneIn(10) ? dice.pick(ODD_NAMES) : dice.pick(names);
  const list = Array.isArray(object[name]) ? (object[name] as unknown[]) : [];
  switch (dice.below(4)) {
    case 0:
      object.$patch = dice.oneIn(8) ? junk(dice) : dice.pick(DIRECTIVES);
      return;
    case 1:
      object.$retainKeys = dice.oneIn(8) ? junk(dice) : names.filter(() => dice.oneIn(2));
      return;
    case 2:
      object[`$setElementOrder/${name}`] = dice.oneIn(8) ? junk(dice) : shuffled(list, dice);
      return;
    default:
      object[`$deleteFromPrimitiveList/${name}`] = dice.oneIn(8) ? junk(dice) : shuffled(list, dice).slice(1);
  }
}

function shuffled(list: readonly unknown[], dice: Dice): unknown[] {
  const items = [...list];
  items.sort(() => dice.below(3) - 1);
  return items;
}

/** What someone would apply: a part of the object, of its kind and name, with changes. */
export function configuration(object: JsonObject, dice: Dice): unknown {
  const { metadata, kind, apiVersion, status: _, ...rest } = object;
  const { name, namespace, labels, annotations } = metadata as Record<string, unknown>;
  const made: Record<string, unknown> = {
    kind,
    apiVersion,
    metadata: { name, namespace, ...(dice.oneIn(2) ? { labels, annotations } : {}) },
    ...part(rest, dice, dice.next(), false),
  };
  const text = JSON.stringify(made);
  if (dice.oneIn(2000)) return grownValue(JSON.parse(text), dice);
  return mutatedValue(JSON.parse(text), dice, dice.small(5), DOCUMENTS.suggest);
}
