// PUT and PATCH, of an object, its status, its scale or a namespace's finalizers: what is there becomes what should be, by
// the steps of an update, and is stored against the revision that was read. A patch that loses a race is made again on the
// new object; a PUT that names a resourceVersion is not.
import type { StoredForm } from '../../api/conversion/stored-form.ts';
import { isReadyToRemove } from '../../api/deletion.ts';
import { isJsonObject, type JsonObject } from '../../api/json-value.ts';
import { isUnchanged } from '../../api/metadata.ts';
import { metadataOf, timestampOf, withMetadata } from '../../api/object-meta.ts';
import { ownCopy } from '../../api/own-copy.ts';
import { APPLY_PATCH, applyPatch, patchMediaTypesOf } from '../../api/patch/apply-patch.ts';
import { readPatched } from '../../api/patch/patch-unfit.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { badRequest, conflictModified, notFound, unsupportedMediaType } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { type SubresourceView, viewOf } from '../../api/subresource-views.ts';
import { decodeBody } from '../../transport/body.ts';
import { asAnswer } from './answer.ts';
import { type Attempt, TRIES_MAX, untilCommitted } from './attempts.ts';
import type { Attributes } from './attributes.ts';
import { converted } from './conversion/converted.ts';
import { createObject } from './create.ts';
import { draftDelete, draftPut, draftUpdate, NO_DRAFTS, withAlso } from './draft.ts';
import { fieldWarnings, withWarnings } from './field-validation.ts';
import { afterOthers } from './large-writes.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { attributesOf } from './request-attributes.ts';
import {
  canonical,
  decodedObject,
  kindOf,
  patchOptions,
  requireKind,
  schemaTypeOf,
  writeOptions,
} from './request-body.ts';
import { takeSteps, UNCHANGED_STEPS, UPDATE_STEPS } from './steps.ts';
import { readCurrent } from './store-reader.ts';
import type { StoredObject } from './stored-object.ts';
import { requireValidView } from './validity.ts';
import type { WriteContext } from './write-context.ts';

/** PUT. Throws 400, 404, 409, 415, 422. */
export async function update(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const dryRun = writeOptions('UpdateOptions', write.dialect.metaGroup, request.parameters);
  const { subresource, name } = request.target;
  const decoding = decodedObject(write, request, viewOf(subresource, type) ?? kindOf(type));
  const { object: sent, warnings } = decoding instanceof Promise ? await decoding : decoding;
  requireNameOfPath(sent, name);
  const createsMissing = subresource === '' && type.traits.putCreates;
  const reply = await modify(write, request, type, {
    dryRun,
    isTracked: true,
    wanted: () => sent,
    whenMissing: async () => {
      if (!createsMissing) throw new StatusError(notFound(type, name));
      return createObject(write, request, type, withoutVersion(sent), { dryRun, isTracked: true });
    },
  });
  return withWarnings(reply, warnings);
}

/** PATCH but for apply. Throws 400, 404, 409, 415, 422. */
export async function patch(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const { dryRun } = patchOptions(write.dialect.metaGroup, request.parameters, false);
  const { contentType, target } = request;
  const view = viewOf(target.subresource, type);
  const expected = view ?? kindOf(type);
  const schemaType = schemaTypeOf(write.schema, expected.apiVersion, expected.kind);
  const accepted = patchMediaTypesOf(schemaType);
  if (!accepted.includes(contentType)) {
    throw new StatusError(unsupportedMediaType(canBeApplied(write, view) ? [...accepted, APPLY_PATCH] : accepted));
  }
  const document = decodeBody(request.payload, 'application/json');
  let warnings: readonly string[] = [];
  const patched = (shown: JsonObject): JsonObject => {
    const result = applyPatch(contentType, shown, document, schemaType);
    if (!isJsonObject(result)) throw new StatusError(badRequest('the patch leaves no object'));
    // What is stored has no unknown fields: those that are found are the patch's.
    const { object, unknownFields } = readPatched(document, () => {
      requireKind(result, expected);
      return canonical(write.schema, result, expected);
    });
    warnings = fieldWarnings(request, () => unknownFields);
    return object;
  };
  const whenMissing = (): never => {
    throw new StatusError(notFound(type, target.name));
  };
  const reply = await modify(write, request, type, { dryRun, isTracked: true, wanted: patched, whenMissing });
  return withWarnings(reply, warnings);
}

/** True for objects, and for views of them that stand for a configuration of the object itself. */
export function canBeApplied({ serverSideApply }: WriteContext, view: SubresourceView | undefined): boolean {
  return serverSideApply && (view === undefined || view.configurationOf !== undefined);
}

/** Before anything is read: a body meant for another object says nothing about this one. Throws 400. */
function requireNameOfPath(object: JsonObject, name: string): void {
  const { name: given = '' } = metadataOf(object);
  if (given === '' || given === name) return;
  throw new StatusError(badRequest(`the name of the object (${given}) differs from the name in the path (${name})`));
}

/** One way of changing an object. */
export interface Modification {
  readonly dryRun: boolean;
  /** Who changes fields owns them; false where what is wanted says itself who does. */
  readonly isTracked: boolean;
  /** What is wanted is the object itself, also where the client is shown a view of it. */
  readonly isWhole?: boolean;
  /** What the client wants, from what it is shown; an apply that is known to change nothing answers just that. */
  readonly wanted: (shown: JsonObject, forms: StoredForm) => JsonObject;
  /** Answers undefined when the object was there after all. */
  readonly whenMissing: () => Promise<WriteReply | undefined>;
}

/** Reads, changes and stores until nobody came in between. */
export async function modify(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
  { dryRun, isTracked, isWhole = false, wanted, whenMissing }: Modification,
): Promise<WriteReply> {
  const { namespace, name } = request.target;
  const attributes = attributesOf(write, request, type, { operation: 'update', dryRun, isTracked });
  const view = isWhole ? undefined : attributes.asked.view;
  const attempt = async (tries: number): Promise<Attempt<WriteReply> | undefined> => {
    const stored = await readCurrent(write, type, namespace, name);
    if (stored === null) {
      const answer = await whenMissing();
      return answer && { answer };
    }
    if (stored.isLarge) {
      attributes.isLarge = true;
      await afterOthers(write);
    }
    const shownAs = converted(write, type, (forms) => forms.asked(type, stored.object, stored.schemaGeneration));
    const old = shownAs instanceof Promise ? await shownAs : shownAs;
    const shown = view === undefined ? old : view.of(old);
    const wants = converted(write, type, (forms) => wanted(shown, forms));
    const sent = wants instanceof Promise ? await wants : wants;
    if (stored.isLarge) await afterOthers(write);
    requireValidView(write, view, sent);
    const object = view === undefined ? sent : view.applied(old, sent, type);
    attributes.begin(tries, timestampOf(write.context.clock.nowMs()), old, object);
    const isSettled = object === old && !isTracked;
    const waiting = takeSteps(isSettled ? UNCHANGED_STEPS : UPDATE_STEPS, attributes, write);
    if (waiting !== undefined) await waiting;
    if (dryRun) return { answer: answerWith(attributes, attributes.object) };
    return decide(write, attributes, stored, { isPut: request.verb === 'update', hasVersion: hasVersion(sent) });
  };
  return untilCommitted(write, TRIES_MAX, attempt, () => conflictModified(type, name), attributes);
}

/** What of a request tells how its object is to be taken. */
interface SentObject {
  readonly isPut: boolean;
  /** It insists on the version that it names. */
  readonly hasVersion: boolean;
}

/** What an updated object comes to: its removal, its new state, or nothing when it is as it was. */
async function decide(
  write: WriteContext,
  attributes: Attributes,
  stored: StoredObject,
  { isPut, hasVersion }: SentObject,
): Promise<Attempt<WriteReply>> {
  const { type, kind, object, also, guards } = attributes;
  const { namespace, name } = attributes.asked;
  const { place } = stored;
  const lost = (): void => {
    // What was lost may be a free address and not the race for the object: then it is the caller's version still.
    if (isPut && hasVersion && also.length === 0) throw new StatusError(conflictModified(type, name));
  };
  if (isReadyToRemove(object) && !kind.strategy.isHeld?.(object)) {
    const given = kind.allocation === undefined ? NO_DRAFTS : await kind.allocation.release(type, attributes.old!);
    const draft = withAlso(draftDelete(type, namespace, name, place.revision), given, guards);
    return { draft, committed: () => answerWith(attributes, object), lost };
  }
  const unchanged = { answer: answerAt(attributes, place, attributes.old!) };
  if (object === attributes.old && !stored.isStale) return unchanged;
  const next = await converted(write, type, (forms) => forms.stored(type, object));
  if (isUnchanged(next, stored.object) && !stored.isStale) return unchanged;
  if (attributes.isLarge) await afterOthers(write);
  // What a patch or a view leaves as it was is the stored object's own part, which may have been completed in place since it was read.
  // What a PUT says was complete before it was found to be the same.
  const isWhole = isPut && attributes.asked.view === undefined;
  const isTextOf = isWhole && attributes.isComplete && type.custom === undefined;
  const put = isTextOf
    ? draftUpdate(type, next, stored, attributes.texts)
    : draftPut(type, next, place.revision, '', attributes.texts);
  const draft = withAlso(put, also, guards);
  return { draft, committed: (written) => answerAt(attributes, written, object), lost };
}

/** What is answered of an object that lies at a place. */
function answerAt(attributes: Attributes, place: StoredObject['place'], object: JsonObject): WriteReply {
  if (attributes.asked.view === undefined) return withWarnings({ code: 200, place }, attributes.warnings);
  const metadata = ownCopy(metadataOf(object));
  metadata.resourceVersion = String(place.revision);
  return answerWith(attributes, withMetadata(object, metadata));
}

/** What is answered of an object that is not stored like this. */
function answerWith({ asked: { view }, type, warnings }: Attributes, object: JsonObject): WriteReply {
  return withWarnings({ code: 200, body: view === undefined ? asAnswer(type, object) : view.of(object) }, warnings);
}

/** What a PUT that creates is made from: the version it names is that of an object that is gone. */
function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _resourceVersion, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}

/** True when a client insists on the version it names. */
function hasVersion(object: JsonObject): boolean {
  return !['', '0'].includes(metadataOf(object).resourceVersion ?? '');
}
