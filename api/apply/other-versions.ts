// Managers who wrote in another version of the API than the one being written in: what a write changes, and what an
// applier gives up, in the words of their versions. An object is compared in each version that it has managers of.
import type { JsonObject } from '../json/json-value.ts';
import { type Comparison, compareObjects } from './compare.ts';
import {
  type FieldSet,
  intersection,
  isEmpty,
  joinedNodes,
  LEAF,
  NO_FIELDS,
  SELF,
  union,
  unionOf,
  without,
} from './field-set.ts';
import type { Manager } from './managed-entries.ts';
import { withoutGivenUp, withoutGone } from './merge.ts';
import type { OwnedType } from './owned-type.ts';
import type { OwnershipRule } from './ownership-rule.ts';

/** A version of the written type, and the way to it from the version being written in, and back. */
export interface OtherVersion {
  readonly type: OwnedType;
  /** Fields that the endpoint leaves as they are. */
  readonly reset: FieldSet;
  readonly to: (object: JsonObject) => JsonObject;
  readonly back: (object: JsonObject) => JsonObject;
}

/** Finds the other versions of a type; undefined for those that are not served (any more). */
export type OtherVersions = (apiVersion: string) => OtherVersion | undefined;

/** What differs between two objects, in one version. */
export interface Differences {
  /** Added or modified. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** The same in every version: undefined for one that is not served, whose managers are forgotten. */
export type DifferencesIn = (apiVersion: string) => Differences | undefined;

/**
 * The differences between two objects of the version being written in.
 *
 * @param own what they are in that version.
 * @param versions undefined: every manager is taken to have written in that version.
 */
export function differencesIn(
  before: JsonObject,
  after: JsonObject,
  apiVersion: string,
  own: Differences,
  versions: OtherVersions | undefined,
): DifferencesIn {
  const known = new Map<string, Differences | undefined>([
    [apiVersion, own],
    // Entries that name no version were written by those who knew of one only.
    ['', own],
  ]);
  return (version) => {
    if (versions === undefined) return own;
    if (!known.has(version)) {
      const other = versions(version);
      known.set(version, other === undefined ? undefined : between(other.to(before), other.to(after), other));
    }
    return known.get(version);
  };
}

function between(before: JsonObject, after: JsonObject, { type, reset }: OtherVersion): Differences {
  const { added, modified, removed } = compareObjects(before, after, type.rule);
  return { changed: without(union(added, modified), reset), removed: without(removed, reset) };
}

/** An applier's last word, in the version it was given in. */
export interface LastApplied {
  readonly apiVersion: string;
  readonly fields: FieldSet;
}

/**
 * An object of the version being written in without what its applier has given up since (`withoutGivenUp`): what it
 * applied last and neither it nor anyone else manages now, whatever version they say so in.
 *
 * @param managers all there are now, the applier included.
 */
export function withoutGivenUpIn(
  object: JsonObject,
  last: LastApplied,
  managers: readonly Manager[],
  type: OwnedType,
  apiVersion: string,
  versions: OtherVersions | undefined,
): JsonObject {
  if (isEmpty(last.fields)) return object;
  const own: OtherVersion = { type, reset: NO_FIELDS, to: (same) => same, back: (same) => same };
  const find = (version: string): OtherVersion | undefined =>
    versions === undefined || version === apiVersion || version === '' ? own : versions(version);
  const home = find(last.apiVersion);
  if (home === undefined) return object;
  const whole = home.to(object);
  const managedIn = (other: OtherVersion): FieldSet =>
    unionOf(managers.filter((manager) => find(manager.apiVersion)?.type === other.type).map(({ fields }) => fields));
  const first = withoutGivenUp(whole, last.fields, managedIn(home), home.type.rule);
  if (first === whole) return object;
  const taken = home.back(first);
  let pruned = taken;
  for (const version of new Set(managers.map((manager) => manager.apiVersion))) {
    const other = find(version);
    if (other !== undefined && other.type !== home.type) pruned = restored(other, object, pruned, managedIn(other));
  }
  return pruned === taken ? taken : home.back(withoutLast(whole, home.to(pruned), last.fields, home.type));
}

/**
 * The whole object without what the pruned one lacks and the applier had said: what nobody manages stays with what was put back around
 * it.
 */
function withoutLast(whole: JsonObject, pruned: JsonObject, last: FieldSet, { rule, schema }: OwnedType): JsonObject {
  const gone = intersection(lostOf(compareObjects(whole, pruned, rule), schema), withMembers(last, rule));
  return withoutGone(whole, gone, NO_FIELDS, rule);
}

/** What an object has lost: one of a custom type has been given its default in place of that. */
function lostOf({ removed, modified }: Comparison, schema: OwnedType['schema']): FieldSet {
  return schema === undefined ? union(removed, modified) : removed;
}

/** A set, with the members of types themselves that it has something in. */
function withMembers(fields: FieldSet, rule: OwnershipRule): FieldSet {
  const draft: Record<string, FieldSet> = {};
  for (const step in fields) {
    const name = step.slice(2);
    const isMember = step.startsWith('f:');
    const below = isMember ? rule.below(name) : rule.element;
    const node = below === undefined || step === SELF ? fields[step]! : withMembers(fields[step]!, below);
    const isNamed = isMember && (rule.kind === 'struct' || rule.members.has(name));
    draft[step] = isNamed ? joinedNodes(node, LEAF) : node;
  }
  return draft;
}

/**
 * The pruned object, with what was taken of it and is managed in another version put back. What it still has is as it was
 * before: a conversion may have filled in for what was taken.
 */
function restored(
  { type, to, back }: OtherVersion,
  whole: JsonObject,
  pruned: JsonObject,
  managed: FieldSet,
): JsonObject {
  const before = to(whole);
  const comparison = compareObjects(before, to(pruned), type.rule);
  const lost = lostOf(comparison, type.schema);
  if (isEmpty(intersection(lost, managed)) && isEmpty(comparison.modified) && isEmpty(comparison.added)) return pruned;
  return back(withoutGone(before, lost, managed, type.rule));
}
