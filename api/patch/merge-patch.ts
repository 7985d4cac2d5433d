// JSON merge patches (RFC 7386, but for nulls in lists). Neither the document nor the patch is changed; what the patch does not name is shared
// with the result, and a patch that changes nothing answers the document itself.
import { isJsonObject, type JsonObject, NESTING_MAX, nestingOf, PROTOTYPE_KEY } from '../json/json-value.ts';
import { type Own, ownCopy, setMember, withoutMembers } from '../json/own-copy.ts';
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
  const removed: string[] = [];
  for (const key of Object.keys(patch)) {
    if (key === PROTOTYPE_KEY) throw new StatusError(badRequest(`a merge patch may not name ${PROTOTYPE_KEY}`));
    const present = Object.hasOwn(target, key);
    const value = patch[key];
    if (value === null || value === undefined) {
      if (present) removed.push(key);
      continue;
    }
    if (Array.isArray(value) && nestingOf(value, levelsLeft) >= levelsLeft) throw tooDeep();
    const next = isJsonObject(value) ? mergeMember(target, key, value, levelsLeft - 1) : replacing(target, key, value);
    if (present && next === target[key]) continue;
    merged ??= ownCopy(target);
    merged[key] = next;
  }
  const result = merged ?? target;
  return removed.length === 0 ? result : withoutMembers(result, removed);
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
  const kept: Own<JsonObject> = {};
  let isWhole = true;
  for (const [key, member] of Object.entries(value)) {
    const left = withoutNulls(member);
    isWhole &&= member !== null && left === member;
    if (member !== null) setMember(kept, key, left);
  }
  return isWhole ? value : kept;
}

function tooDeep(): StatusError {
  return new StatusError(tooLarge(`objects are nested at most ${NESTING_MAX} levels deep`));
}
