// Who owns which fields of an object (SPEC.md "Field ownership"): what a create, an update and an apply make of its
// managedFields, and what an apply makes of the object. Pure: the time comes in, the objects given are not changed.
import { compareTexts } from '../../values/compare-texts.ts';
import { decode } from '../codec/decode.ts';
import { type InParts, inOneGo } from '../in-parts.ts';
import { deepEqual } from '../json/deep-equal.ts';
import type { JsonObject } from '../json/json-value.ts';
import { ownCopy } from '../json/own-copy.ts';
import { type ManagedFieldsEntry, metadataOf, type ObjectMeta, withMetadata } from '../metadata/object-meta.ts';
import { applyConflict, badRequest, type ManagerConflict } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';
import { assertedFields } from './asserted-fields.ts';
import { compareObjects } from './compare.ts';
import { createdFieldsText } from './created-fields.ts';
import { pathText } from './field-path.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  lowest,
  NO_FIELDS,
  places,
  sameFields,
  union,
  within,
  without,
} from './field-set.ts';
import { fieldsOfLastApplied, withLastApplied } from './last-applied.ts';
import {
  asksForReset,
  entriesOf,
  FIELDS_TYPE,
  givenManagers,
  isSameManager,
  type Manager,
  storedManagers,
  withinLimit,
  withoutFields,
  withoutFieldsOfEach,
} from './managed-entries.ts';
import { mergeConfiguration, withNulls } from './merge.ts';
import { type DifferencesIn, differencesIn, type OtherVersions, withoutGivenUpIn } from './other-versions.ts';
import type { OwnedType } from './owned-type.ts';
import { byPresentRules } from './schema-changes.ts';

/** Who writes, when, and under which version of the API. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly nowIso: string;
}

export type Entries = readonly ManagedFieldsEntry[] | undefined;

/** The owner of what was there before anyone applied, where that was not tracked. */
const BEFORE_FIRST_APPLY = 'before-first-apply';
const UNKNOWN_MANAGER = 'unknown';
const MANAGER_BYTES_MAX = 128;
const CONFLICTS_LISTED_MAX = 500;

/** A manager's name: the one given, else the user agent up to its first slash. */
export function managerName(fieldManager: string | undefined, userAgent: string): string {
  if (fieldManager !== undefined && fieldManager !== '') return fieldManager;
  const slash = userAgent.indexOf('/');
  const agent = slash < 0 ? userAgent : userAgent.slice(0, slash);
  if (/^[ -~]{1,128}$/.test(agent)) return agent;
  let name = '';
  let bytes = 0;
  for (const character of agent) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > MANAGER_BYTES_MAX) break;
    name += character;
  }
  return name || UNKNOWN_MANAGER;
}

/**
 * The JSON text of the managedFields of a new object that was not applied. What the server adds to objects on its own
 * (not by defaults) must not be in `object` yet; a status that is there is the creator's.
 */
export function entriesOfCreate(object: JsonObject, type: OwnedType, writer: Writer): string {
  const { manager, apiVersion, nowIso } = writer;
  const fields = createdFieldsText(object, type.rule);
  if (fields === '{}') return '';
  const name = JSON.stringify(manager);
  return `[{"manager":${name},"operation":"Update","apiVersion":"${apiVersion}","time":"${nowIso}","fieldsType":"${FIELDS_TYPE}","fieldsV1":${fields}}]`;
}

/** What `entriesOfUpdateInParts` comes to. */
export function entriesOfUpdate(...update: Parameters<typeof entriesOfUpdateInParts>): Entries {
  return inOneGo(entriesOfUpdateInParts(...update));
}

/**
 * The managedFields after an update that is no apply. The writer owns what it has added and changed; nobody owns what is
 * gone.
 *
 * @param next the object to be stored, with the managedFields the client sent: they replace the stored ones if they
 *   can be read, and one empty entry ends the tracking.
 * @param mayEdit false for subresources, through which managedFields cannot be edited.
 * @param versions the other versions that managers may have written in; absent: all are taken to be of the writer's.
 */
export function* entriesOfUpdateInParts(
  next: JsonObject,
  stored: JsonObject,
  type: OwnedType,
  writer: Writer,
  mayEdit: boolean,
  versions?: OtherVersions,
): InParts<Entries> {
  const before = metadataOf(stored).managedFields;
  const given = metadataOf(next).managedFields;
  const isEdited = mayEdit && given !== undefined && given !== before && !deepEqual(given, before);
  if (isEdited && asksForReset(given)) return undefined;
  const edited = isEdited ? givenManagers(given) : undefined;
  const managers = edited === undefined || edited.length === 0 ? storedManagers(before) : edited;
  // An object that nobody tracks stays so until it is applied.
  if (managers.length === 0) return undefined;
  const { added, modified, removed } = compareObjects(stored, next, type.rule);
  yield;
  const taken = union(added, modified);
  if (isEmpty(taken) && isEmpty(removed))
    return edited === undefined
      ? before
      : entriesOf(withinLimit(withoutFields(served(managers, writer, versions), NO_FIELDS)));
  const self: Manager = {
    name: writer.manager,
    operation: 'Update',
    apiVersion: writer.apiVersion,
    time: writer.nowIso,
    fields: taken,
  };
  const present = ownedNow(managers, type, writer, versions);
  const former = present.find((manager) => isSameManager(manager, self));
  const differences = differencesIn(stored, next, writer.apiVersion, { changed: taken, removed }, versions);
  const others = withoutLost(
    present.filter((manager) => manager !== former),
    differences,
  );
  yield;
  const all = union(former?.fields ?? NO_FIELDS, taken);
  yield;
  const fields = difference(all, removed);
  if (isEmpty(fields)) return entriesOf(others);
  // The same set and not one like it: its JSON is known.
  const isKept = former !== undefined && sameFields(former.fields, fields);
  const own = isKept ? { ...self, fields: former.fields, time: former.time } : { ...self, fields };
  return entriesOf(withinLimit([...others, own]));
}

/** An apply: who applies what, and how. */
export interface Application {
  readonly writer: Writer;
  readonly type: OwnedType;
  readonly force: boolean;
  /** Fields that the endpoint leaves as they are. */
  readonly reset: FieldSet;
  /** The other versions that managers may have written in; absent: all are taken to be of the writer's. */
  readonly versions?: OtherVersions;
}

/**
 * The live object with a configuration applied, in canonical form, with its managedFields. `live` is undefined where the
 * apply creates the object.
 *
 * Throws StatusError: 400 where the configuration does not fit its type or brings managedFields, 409 listing the fields
 * of other managers that it would change without force. Throws DecodeError for scalars that do not fit.
 */
export function* applyInParts(
  config: JsonObject,
  live: JsonObject | undefined,
  application: Application,
): InParts<JsonObject> {
  const { writer, type, reset, versions } = application;
  requireNoManagers(config);
  const asserted = assertedFields(config, type.rule);
  yield;
  // A new object is made complete in place later on, which the shared empty one must not be.
  const base = live ?? canonical({}, type);
  const managers = ownedNow(liveManagers(live, application), type, writer, versions);
  const self: Manager = {
    name: writer.manager,
    operation: 'Apply',
    apiVersion: writer.apiVersion,
    time: writer.nowIso,
    fields: without(asserted, reset),
  };
  const former = managers.find((manager) => isSameManager(manager, self));
  const others = managers.filter((manager) => manager !== former);
  const last = { apiVersion: former?.apiVersion ?? '', fields: without(former?.fields ?? NO_FIELDS, reset) };
  yield;
  const whole = mergeConfiguration(base, config, type.rule);
  yield;
  const merged = canonical(whole, type);
  yield;
  const kept = withoutGivenUpIn(merged, last, [self, ...others], type, writer.apiVersion, versions);
  yield;
  const pruned = kept === merged ? merged : canonical(withNulls(kept, config, type.rule), type);
  const { added, modified, removed } = excluding(compareObjects(base, pruned, type.rule), reset);
  yield;
  // A zero that canonical form leaves out is asserted all the same. A map or list that became empty is not: what was taken
  // out of it was the applier's own.
  const changed = union(union(added, modified), intersection(lowest(removed), self.fields));
  yield;
  const differences = differencesIn(base, pruned, writer.apiVersion, { changed, removed }, versions);
  const conflicting = withFieldsIn(others, differences);
  if (conflicting.length > 0 && !application.force) requireAllowed(conflicting, base, application);
  yield;
  const remaining = withoutLost(others, differences);
  yield;
  // What this endpoint cannot set is still what the manager last said of it elsewhere.
  const fields = union(self.fields, within(former?.fields ?? NO_FIELDS, reset));
  const isSame =
    former !== undefined &&
    former.apiVersion === self.apiVersion &&
    sameFields(former.fields, fields) &&
    isEmpty(changed) &&
    isEmpty(removed);
  const own = isEmpty(fields) ? [] : [{ ...self, fields, time: isSame ? former.time : writer.nowIso }];
  const result = withLastApplied(pruned, config, writer.manager);
  return withEntries(result, entriesOf([...remaining, ...own]));
}

/** The object with these managedFields. */
export function withEntries(object: JsonObject, entries: Entries): JsonObject {
  const metadata = metadataOf(object);
  if (metadata.managedFields === entries) return object;
  return withMetadata(object, metadataWith(metadata, entries));
}

function metadataWith(metadata: ObjectMeta, entries: Entries): ObjectMeta {
  if (entries === undefined) {
    const { managedFields: _, ...rest } = metadata;
    return rest;
  }
  const copy = ownCopy(metadata);
  copy.managedFields = entries;
  return copy;
}

function requireNoManagers(config: JsonObject): void {
  const { managedFields } = metadataOf(config);
  if (managedFields !== undefined && managedFields !== null) {
    throw new StatusError(badRequest('metadata.managedFields must be nil'));
  }
}

/** The managers who wrote in a version that there is. */
function served(
  managers: readonly Manager[],
  { apiVersion }: Writer,
  versions: OtherVersions | undefined,
): readonly Manager[] {
  if (versions === undefined) return managers;
  return managers.filter((manager) => manager.apiVersion === apiVersion || versions(manager.apiVersion) !== undefined);
}

function ownedNow(
  managers: readonly Manager[],
  type: OwnedType,
  { apiVersion }: Writer,
  versions: OtherVersions | undefined,
): readonly Manager[] {
  return byPresentRules(managers, (version) =>
    versions === undefined || version === apiVersion || version === '' ? type.rule : versions(version)?.type.rule,
  );
}

function liveManagers(live: JsonObject | undefined, { type, writer, reset }: Application): Manager[] {
  if (live === undefined) return [];
  const managers = storedManagers(metadataOf(live).managedFields);
  if (managers.length > 0) return managers;
  const { added, modified } = excluding(compareObjects(type.empty, live, type.rule), reset);
  const fields = union(added, modified);
  const { apiVersion, nowIso } = writer;
  return isEmpty(fields) ? [] : [{ name: BEFORE_FIRST_APPLY, operation: 'Update', apiVersion, time: nowIso, fields }];
}

function excluding(
  { added, modified, removed }: ReturnType<typeof compareObjects>,
  reset: FieldSet,
): ReturnType<typeof compareObjects> {
  return { added: without(added, reset), modified: without(modified, reset), removed: without(removed, reset) };
}

function canonical(object: JsonObject, { schema }: OwnedType): JsonObject {
  return schema === undefined ? object : decode(object, schema).object;
}

/** What managers keep after a write. */
function withoutLost(managers: readonly Manager[], differences: DifferencesIn): Manager[] {
  return withoutFieldsOfEach(managers, ({ apiVersion }) => {
    const found = differences(apiVersion);
    return found === undefined ? undefined : union(found.changed, found.removed);
  });
}

/** Each manager with those of the changed fields that it has; managers without any are left out. */
function withFieldsIn(managers: readonly Manager[], differences: DifferencesIn): Manager[] {
  return managers
    .map((manager) => {
      const changed = differences(manager.apiVersion)?.changed ?? NO_FIELDS;
      return { ...manager, fields: isEmpty(changed) ? NO_FIELDS : intersection(manager.fields, changed) };
    })
    .filter((manager) => !isEmpty(manager.fields));
}

/** Throws 409 unless every conflict is with what the applying client had applied itself, by annotation. */
function requireAllowed(conflicting: readonly Manager[], live: JsonObject, application: Application): void {
  const { writer, type } = application;
  const allowed = fieldsOfLastApplied(live, writer, type);
  const refused = conflicting
    .map((manager) => ({ ...manager, fields: difference(manager.fields, allowed) }))
    .filter((manager) => !isEmpty(manager.fields))
    .sort((left, right) => compareTexts(left.name, right.name));
  if (refused.length === 0) return;
  const conflicts: ManagerConflict[] = [];
  for (const { name, operation, apiVersion, fields } of refused) {
    for (const path of places(fields)) {
      if (conflicts.length === CONFLICTS_LISTED_MAX) break;
      conflicts.push({ manager: name, apiVersion: operation === 'Update' ? apiVersion : '', field: pathText(path) });
    }
  }
  throw new StatusError(applyConflict(conflicts));
}
