// An update that leaves all but metadata as it is stored: a patch of labels, a PUT of what was read with a finalizer more, an apply that
// is known to change not even that. It is decided by the metadata, and what comes behind is neither parsed nor made again. Decides nothing
// else: where anything but metadata could have a say, there is no change of metadata alone, and the update takes its steps (update.ts),
// which come to the same.

import { entriesOfUpdate, withEntries } from '../../../api/apply/ownership.ts';
import { liesAsAsked } from '../../../api/catalog/stored-form.ts';
import { METADATA_RULES } from '../../../api/codec/default-rules.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import { insistsOnVersion, isUnchanged, prepareUpdate } from '../../../api/metadata/metadata.ts';
import {
  type ManagedFieldsEntry,
  metadataOf,
  type ObjectMeta,
  timestampOf,
  withMetadata,
} from '../../../api/metadata/object-meta.ts';
import { validateObjectMetaUpdate } from '../../../api/metadata/object-meta-rules.ts';
import { applyPatch, STRATEGIC_MERGE_PATCH } from '../../../api/patch/apply-patch.ts';
import { NO_FIELD_ERRORS } from '../../../api/status/field-error.ts';
import { withLabels } from '../../../storage/forms/attributes.ts';
import { decodeBeginning, withoutBlanks } from '../../../transport/body.ts';
import type { Attributes } from '../attributes.ts';
import { asksForFields } from '../bodies/field-validation.ts';
import { knownBodyOf } from '../bodies/known-body.ts';
import { JSON_TYPES, kindOf, metadataAlone } from '../bodies/request-body.ts';
import { type Draft, draftWithRest, type KeptParts } from '../commits/draft.ts';
import { canonicalMetadata } from '../completion.ts';
import type { KindVersion } from '../kind-version.ts';
import type { KnownBody } from '../known-specs.ts';
import type { WriteRequest } from '../protocol.ts';
import { writerOf } from '../steps/ownership.ts';
import { takeSteps, UNCHANGED_STEPS } from '../steps/steps.ts';
import type { StoredObject } from '../stored/stored-object.ts';
import type { WriteContext } from '../write-context.ts';

/** What a client wants of an object's metadata. */
export interface WantedMetadata {
  /** False where it wants more; told by a look. */
  readonly isAll: (stored: StoredObject) => boolean;
  /** From what is stored; undefined where it wants more, or says it otherwise. */
  readonly of: (before: JsonObject, stored: StoredObject) => JsonObject | undefined;
  /** Told what the steps of an update have come to, where it took them. */
  readonly cameTo?: (stored: StoredObject, next: JsonObject, attributes: Attributes) => void;
}

/** A change of metadata alone, once its plugins have let it pass. */
export interface MetadataChange {
  /** What it comes to; undefined: to nothing. */
  readonly draft: Draft | undefined;
  /** It insists on the version that it names. */
  readonly hasVersion: boolean;
  /** Waits for the plugins. One of them may have replaced the object, which is then to be decided as any other. */
  readonly admitted: Promise<void> | undefined;
}

/** Whether metadata is all that an update by its metadata asks: no rule of the kind, and no version of it, looks at both. */
export function isByMetadata({ serverSideApply }: WriteContext, { asked, isLarge }: Attributes): boolean {
  const { kind, subresource, dryRun, isTracked, parameters } = asked;
  if (subresource !== '' || dryRun || !isTracked || isLarge || !serverSideApply) return false;
  // Who wants to hear of fields that come twice hears of all of the body's.
  if (asksForFields(parameters)) return false;
  const { type, schema, strategy, allocation } = kind;
  if (schema === undefined || Object.hasOwn(METADATA_RULES, schema.name)) return false;
  if (type.custom !== undefined || allocation !== undefined) return false;
  const { meant, onUpdate, grants, isHeld } = strategy;
  if (meant !== undefined || onUpdate !== undefined || grants !== undefined || isHeld !== undefined) return false;
  return type.apiVersion === type.storageApiVersion;
}

/** The change that an update wants, of an object that is read in this turn; undefined where it is none of metadata alone. Throws 400, 409. */
export function metadataChange(
  write: WriteContext,
  attributes: Attributes,
  stored: StoredObject,
  tries: number,
  wanted: WantedMetadata,
): MetadataChange | undefined {
  // What lacks a default gets it with its next update.
  if (stored.isStale || stored.schemaGeneration !== write.completion.generation) return undefined;
  if (stored.isLarge || stored.isParsed || !wanted.isAll(stored)) return undefined;
  const apart = stored.metadataApart;
  if (apart === undefined) return undefined;
  const { type, asked, kind } = attributes;
  const sent = canonicalMetadata(wanted.of(apart.metadata as JsonObject, stored), kind);
  const managers = sent === undefined ? undefined : stored.managersApart;
  if (sent === undefined || managers === undefined || !isOfOneVersion(managers, type.apiVersion)) return undefined;
  const before = apart.metadata as ObjectMeta;
  if (!isPlainChange(before, sent)) return undefined;
  const nowIso = timestampOf(write.context.clock.nowMs());
  const old = withEntries(apart, managers);
  const next = prepareUpdate(withEntries({ metadata: sent }, managers), old, type, asked);
  const writer = writerOf({ asked, type, nowIso });
  const owned = withEntries(next, entriesOfUpdate(next, old, kind.owned, writer, true));
  const metadata = metadataOf(owned);
  if (validateObjectMetaUpdate(metadata, metadataOf(old), type, write.dialect) !== NO_FIELD_ERRORS) return undefined;
  const draft = isUnchanged(owned, old) ? undefined : draftOf(attributes, stored, owned, old);
  attributes.beginApart(
    tries,
    nowIso,
    () => stored.object,
    () => withMetadata(stored.object, metadata),
  );
  return { draft, hasVersion: insistsOnVersion(sent), admitted: admittedApart(write, attributes) };
}

/**
 * The change that an apply makes which is known to change nothing of a stored object, read in this turn: none, unless a plugin has
 * something to say. The object is not even parsed for it, since all that is answered is where it lies; undefined where it has to be.
 */
export function changeOfNothing(
  write: WriteContext,
  attributes: Attributes,
  stored: StoredObject,
  tries: number,
): MetadataChange | undefined {
  const { type, asked } = attributes;
  if (asked.dryRun || stored.isStale || !liesAsAsked(type, stored.schemaGeneration)) return undefined;
  const read = (): JsonObject => stored.object;
  attributes.beginApart(tries, timestampOf(write.context.clock.nowMs()), read, read);
  return { draft: undefined, hasVersion: false, admitted: admittedApart(write, attributes) };
}

/** Asks the plugins about what was begun apart; undefined where none of them waits. */
function admittedApart(write: WriteContext, attributes: Attributes): Promise<void> | undefined {
  const admitted = takeSteps(UNCHANGED_STEPS, attributes, write);
  // Whoever goes on after a wait finds both objects parsed.
  if (admitted !== undefined) void [attributes.object, attributes.old];
  return admitted;
}

/** Annotations say some of what fields say in other versions, owners are warned of: what changes them is looked at whole. */
function isPlainChange(before: ObjectMeta, next: ObjectMeta): boolean {
  return (
    (before.deletionTimestamp ?? null) === null &&
    deepEqual(before.annotations, next.annotations) &&
    deepEqual(before.ownerReferences, next.ownerReferences)
  );
}

/** Managers that wrote in another version are told from the whole object. */
function isOfOneVersion(managers: readonly ManagedFieldsEntry[], version: string): boolean {
  return managers.every(({ apiVersion }) => apiVersion === version);
}

/** Everything that is read of the record is read here. */
function draftOf({ type }: Attributes, stored: StoredObject, owned: JsonObject, old: JsonObject): Draft {
  const [next, before] = [metadataOf(owned), metadataOf(old)];
  const isOwnedAsBefore = deepEqual(next.managedFields, before.managedFields);
  const { attributes } = stored;
  const kept: KeptParts = {
    rest: isOwnedAsBefore ? stored.restApart : stored.restBehindManagers,
    attributes: deepEqual(next.labels, before.labels) ? attributes : withLabels(attributes, next.labels),
  };
  return draftWithRest(type, isOwnedAsBefore ? metadataOf(withEntries(owned, undefined)) : next, stored, kept);
}

/**
 * The metadata that a PUT wants which leaves all behind it as it is stored: it repeats that, as who changes what was read does, or has a
 * spec that is known to come to what is stored, as who puts a manifest again.
 */
export function metadataOfPut(
  write: WriteContext,
  request: WriteRequest,
  kind: KindVersion,
): WantedMetadata | undefined {
  const { payload, contentType } = request;
  if (!JSON_TYPES.has(contentType)) return undefined;
  const body = withoutBlanks(payload);
  let found: KnownBody | undefined | null = null;
  const known = (): KnownBody | undefined => {
    if (found === null) found = knownBodyOf(write, request, kind);
    return found;
  };
  return {
    isAll: (stored) => stored.mayEnd(body) || known() !== undefined,
    of: (before, stored) => {
      const metadata = repeated(headOf(body, stored), kind) ?? ofKnownSpec(known(), stored, kind);
      if (metadata === undefined || metadata.managedFields !== undefined) return undefined;
      return metadata.name !== undefined && metadata.name === before.name ? metadata : undefined;
    },
    cameTo: (stored, next, { asked: { plugins }, isComplete }) => {
      const body = found ?? undefined;
      if (body === undefined || !plugins.isRepeatable || !isComplete || stored.restFor(next) === undefined) return;
      body.known.leave(asObject(next.spec));
    },
  };
}

/** Metadata that what is repeated closes, with at least one member in it before. */
function repeated(head: unknown, { type }: KindVersion): JsonObject | undefined {
  const metadata = metadataAlone(head, kindOf(type));
  return metadata !== undefined && Object.keys(head as JsonObject).at(-1) === 'metadata' ? metadata : undefined;
}

function ofKnownSpec(body: KnownBody | undefined, stored: StoredObject, { type }: KindVersion): JsonObject | undefined {
  const stays = body?.known.stays;
  if (stays === undefined || !stored.goesOnWith(stays)) return undefined;
  return metadataAlone(body!.head, kindOf(type));
}

/** Closes metadata, and the object. */
const CLOSING = Buffer.from('}}');

/** What a body says before what it repeats of a stored object: it is what remains of the object if nothing follows metadata. */
function headOf(body: Uint8Array, stored: StoredObject): unknown {
  const length = stored.lengthBeforeRest(body);
  return length < 0 ? undefined : decodeBeginning(body.subarray(0, length), CLOSING);
}

/** The metadata that a patch wants which says nothing else. */
export function metadataOfPatch(
  { contentType }: WriteRequest,
  { schema }: KindVersion,
  document: unknown,
): WantedMetadata | undefined {
  if (!MERGING.has(contentType) || !isJsonObject(document) || !isJsonObject(document.metadata)) return undefined;
  if (Object.keys(document).length > 1 || Object.hasOwn(document.metadata, 'managedFields')) return undefined;
  return {
    isAll: () => true,
    of: (before) => {
      const { metadata } = applyPatch(contentType, { metadata: before }, document, schema);
      // Without its name it is refused, as other patches that leave none.
      return isJsonObject(metadata) && metadata.name === before.name ? metadata : undefined;
    },
  };
}

/** Patches whose members are those of the object. */
const MERGING: ReadonlySet<string> = new Set(['application/merge-patch+json', STRATEGIC_MERGE_PATCH]);
