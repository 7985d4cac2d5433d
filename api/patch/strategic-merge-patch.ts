// Strategic merge patches: merge patches that know the schema, so that lists of keyed elements are merged element by
// element, with directives for what a merge can't say. Neither the document nor the patch is changed; what the patch does
// not name is shared with the result, and a patch that changes nothing answers the document itself.
import { isJsonObject, type JsonObject, NESTING_MAX, nestingOf, PROTOTYPE_KEY } from '../json/json-value.ts';
import { unmarshalText } from '../json/unmarshal-text.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { badRequest, failure, tooLarge } from '../status/failures.ts';
import { mapText } from '../status/map-text.ts';
import { StatusError } from '../status/status.ts';
import { type MemberShape, memberShape, type Shape, shapeOf } from './patch-shape.ts';
import { type ListDirectives, ListPatch } from './strategic-list.ts';

const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ORDER_PREFIX = '$setElementOrder/';
const DELETE_PREFIX = '$deleteFromPrimitiveList/';
const NOTHING: JsonObject = Object.freeze({});

/**
 * The document with the patch merged in. Null removes a member; objects merge; lists merge where the schema says so
 * (`patchStrategy` merge), by `patchMergeKey` or as sets of scalars, and are replaced otherwise. Directives: `$patch`
 * (`replace`, `delete`, and `merge` only where there is nothing to merge with) in an object or an element, `$retainKeys`, and
 * for a list f `$setElementOrder/f` and `$deleteFromPrimitiveList/f`.
 *
 * @param type of the document; undefined patches as for a kind nothing is known of.
 * Throws StatusError: 400 where the patch or a directive has not the form it must have, 413 where it is nested too
 * deeply, 422 where a directive is unknown or an element lacks the key of its list.
 */
export function applyStrategicMergePatch(
  document: JsonObject,
  patch: unknown,
  type: TypeSchema | undefined,
): JsonObject {
  if (patch === null) return document;
  if (!isJsonObject(patch)) throw new StatusError(badRequest(unmarshalText(patch, 'map[string]interface {}')));
  return mergeObject(document, patch, shapeOf(type), NESTING_MAX);
}

function mergeObject(target: JsonObject, patch: JsonObject, shape: Shape, levelsLeft: number): JsonObject {
  if (levelsLeft === 0) throw tooDeep();
  const directive = patch[PATCH];
  if (directive === 'delete') return {};
  const isKnown = directive === undefined || directive === 'replace' || (directive === 'merge' && target === NOTHING);
  if (!isKnown) throw unknownDirective(patch);
  const base = directive === 'replace' ? NOTHING : retained(target, patch);
  const changes = new Changes(base);
  const keys = Object.keys(patch);
  const hasDirectives = keys.some(isDirective);
  for (const key of keys) {
    if (key === PATCH || key === RETAIN_KEYS) continue;
    const name = hasDirectives ? fieldNamed(key) : key;
    if (name === PROTOTYPE_KEY) {
      throw new StatusError(badRequest(`a strategic merge patch may not name ${PROTOTYPE_KEY}`));
    }
    // A list and its directives are one change, made where the first of them stands.
    if (name !== key && Object.hasOwn(patch, name)) continue;
    if (hasDirectives && key.startsWith(DELETE_PREFIX) && Object.hasOwn(patch, ORDER_PREFIX + name)) continue;
    const directives = hasDirectives ? directivesOf(patch, name) : NO_DIRECTIVES;
    changes.set(name, patchedMember(base, patch, name, directives, memberShape(shape, name), levelsLeft - 1));
  }
  const merged = changes.result();
  return merged === NOTHING ? {} : merged;
}

/** The value a member has afterwards; undefined for none. */
function patchedMember(
  base: JsonObject,
  patch: JsonObject,
  name: string,
  { order, deletions }: ListDirectives,
  member: MemberShape,
  levelsLeft: number,
): unknown {
  const present = Object.hasOwn(base, name) ? base[name] : undefined;
  const given = Object.hasOwn(patch, name) ? patch[name] : undefined;
  if (given === null) return undefined;
  if (order !== undefined || deletions !== undefined) {
    return listPatch(name, member, levelsLeft).apply(present, given, { order, deletions });
  }
  if (Array.isArray(given)) {
    if (nestingOf(given, levelsLeft) >= levelsLeft) throw tooDeep();
    if (!member.merges) return given;
    return listPatch(name, member, levelsLeft).apply(Array.isArray(present) ? present : undefined, given, {});
  }
  if (!isJsonObject(given)) return given;
  const target = isJsonObject(present) && !member.replaces ? present : NOTHING;
  return mergeObject(target, given, member.below, levelsLeft);
}

function listPatch(name: string, member: MemberShape, levelsLeft: number): ListPatch {
  return new ListPatch(name, member, (element, patch) =>
    mergeObject(element ?? NOTHING, patch, member.below, levelsLeft - 1),
  );
}

/** All directives begin so: what has none of them is not asked for the ones of each member. */
function isDirective(key: string): boolean {
  return key.startsWith('$');
}

const NO_DIRECTIVES: ListDirectives = {};

function directivesOf(patch: JsonObject, name: string): ListDirectives {
  return { order: patch[ORDER_PREFIX + name], deletions: patch[DELETE_PREFIX + name] };
}

/** The field a key of a patch speaks of. */
function fieldNamed(key: string): string {
  if (key.startsWith(ORDER_PREFIX)) return key.slice(ORDER_PREFIX.length);
  return key.startsWith(DELETE_PREFIX) ? key.slice(DELETE_PREFIX.length) : key;
}

/** What `$retainKeys` leaves of an object. A patch may not set what it does not retain. */
function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch[RETAIN_KEYS];
  if (keys === undefined) return target;
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) {
    throw notRetained();
  }
  const retains = new Set<string>(keys);
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || key === PATCH || key === RETAIN_KEYS || fieldNamed(key) !== key) continue;
    if (!retains.has(key)) throw notRetained();
  }
  const names = Object.keys(target);
  if (names.every((name) => retains.has(name))) return target;
  return Object.fromEntries(names.filter((name) => retains.has(name)).map((name) => [name, target[name]]));
}

/** An object under change, copied when the first change is made. */
class Changes {
  readonly #base: JsonObject;
  #copy: Record<string, unknown> | undefined;

  constructor(base: JsonObject) {
    this.#base = base;
  }

  /** Undefined removes the member. */
  set(name: string, value: unknown): void {
    const present = Object.hasOwn(this.#base, name);
    if (value === undefined ? !present : present && value === this.#base[name]) return;
    this.#copy ??= { ...this.#base };
    if (value === undefined) delete this.#copy[name];
    else this.#copy[name] = value;
  }

  result(): JsonObject {
    return this.#copy ?? this.#base;
  }
}

function notRetained(): StatusError {
  return new StatusError(badRequest('invalid patch format of retainKeys'));
}

function unknownDirective(patch: JsonObject): StatusError {
  const text = `unknown patch type: ${mapText(patch[PATCH])} in map: ${mapText(patch)}`;
  return new StatusError(failure(422, 'Invalid', text, {}));
}

function tooDeep(): StatusError {
  return new StatusError(tooLarge(`objects are nested at most ${NESTING_MAX} levels deep`));
}
