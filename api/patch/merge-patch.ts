// JSON merge patches (RFC 7386, but for nulls in lists). Neither the document nor the patch is changed; what the patch does not name is shared
// with the result, and a patch that changes nothing answers the document itself.
import { isJsonObject, type JsonObject, NESTING_MAX, nestingOf, PROTOTYPE_KEY } from '../json-value.ts';
import { type Own, ownCopy, setMember } from '../own-copy.ts';
import { badRequest, tooLarge } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';

const NOTHING: JsonObject = Object.freeze({});

/**
 * The document with the patch merged in: null removes a member, objects merge, anything else replaces. Throws
 * StatusError: 400 where the patch is no object or writes the prototype key, 413 where it is nested too deeply.
 */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isJsonObject(patch)) throw new StatusError(badRequest('a merge patch is a JSON object'));
  return merge(document, patch, NESTING_MAX);
}

function merge(target: JsonObject, patch: JsonObject, levelsLeft: number): JsonObject {
  if (levelsLeft === 0) throw tooDeep();
  let merged: Own<JsonObject> | undefined;
  let removed: Set<string> | undefined;
  for (const key of Object.keys(patch)) {
    if (key === PROTOTYPE_KEY) throw new StatusError(badRequest(`a merge patch may not name ${PROTOTYPE_KEY}`));
    const present = Object.hasOwn(target, key);
    const value = patch[key];
    if (value === null || value === undefined) {
      if (!present) continue;
      removed ??= new Set();
      removed.add(key);
      continue;
    }
    if (Array.isArray(value) && nestingOf(value, levelsLeft) >= levelsLeft) throw tooDeep();
    const next = isJsonObject(value) ? mergeMember(target, key, value, levelsLeft - 1) : replacing(target, key, value);
    if (present && next === target[key]) continue;
    merged ??= ownCopy(target);
    merged[key] = next;
  }
  return removed === undefined ? (merged ?? target) : without(merged ?? target, removed);
}

/** Merging into what is absent or no object is merging into nothing: the nulls of the patch are dropped all the same. */
function mergeMember(target: JsonObject, key: string, patch: JsonObject, levelsLeft: number): JsonObject {
  const member = Object.hasOwn(target, key) ? target[key] : undefined;
  if (isJsonObject(member)) return merge(member, patch, levelsLeft);
  const added = merge(NOTHING, patch, levelsLeft);
  return added === NOTHING ? {} : added;
}

/**
 * Unlike in RFC 7386 a list that does not replace an object is taken without its nulls, wherever in it they are: clients send
 * null for what they have no value for.
 */
function replacing(target: JsonObject, key: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return Object.hasOwn(target, key) && isJsonObject(target[key]) ? value : withoutNulls(value);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.filter((element) => element !== null).map(withoutNulls);
    return kept.length === value.length && kept.every((element, index) => element === value[index]) ? value : kept;
  }
  if (!isJsonObject(value)) return value;
  let kept: Own<JsonObject> | undefined;
  let removed: Set<string> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === null) {
      removed ??= new Set();
      removed.add(key);
      continue;
    }
    const left = withoutNulls(member);
    if (left === member) continue;
    kept ??= ownCopy(value);
    kept[key] = left;
  }
  return removed === undefined ? (kept ?? value) : without(kept ?? value, removed);
}

/** Made anew: an object that a member was deleted from is a slow one for all who read it. */
function without(object: JsonObject, removed: ReadonlySet<string>): JsonObject {
  const left: Own<JsonObject> = {};
  for (const key of Object.keys(object)) if (!removed.has(key)) setMember(left, key, object[key]);
  return left;
}

function tooDeep(): StatusError {
  return new StatusError(tooLarge(`objects are nested at most ${NESTING_MAX} levels deep`));
}
