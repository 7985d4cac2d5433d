// PUT and PATCH, of an object, its status, its scale or a namespace's finalizers: read what is there, make what should be,
// store it against the revision that was read. A patch that loses a race is made again on the new object; a PUT that
// names a resourceVersion is not.
import { isReadyToRemove } from '../../api/deletion.ts';
import { isJsonObject, type JsonObject } from '../../api/json-value.ts';
import { isUnchanged, prepareUpdate } from '../../api/metadata.ts';
import { metadataOf, timestampOf } from '../../api/object-meta.ts';
import { APPLY_PATCH, applyPatch, patchMediaTypesOf } from '../../api/patch/apply-patch.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { badRequest, conflictModified, notFound, unsupportedMediaType } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { decodeBody } from '../../transport/body.ts';
import { asAnswer } from './answer.ts';
import { type Change, changeFor, versionOf } from './change.ts';
import { commitOne } from './commit.ts';
import { createObject } from './create.ts';
import { draftDelete, draftPut, withAlso } from './draft.ts';
import { fieldWarnings, withWarnings } from './field-validation.ts';
import type { NamespaceGuard } from './namespace-guard.ts';
import { ownersOnce } from './owners-once.ts';
import { ownedByUpdater, trackingOf } from './ownership.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { canonical, decodeObject, patchOptions, requireKind, schemaTypeOf, writeOptions } from './request-body.ts';
import { readCurrent } from './store-reader.ts';
import { requireValidScale, requireValidUpdate } from './validity.ts';
import type { WriteContext } from './write-context.ts';

/** A write without a precondition is made again this often before the client hears of the conflict. */
const TRIES_MAX = 32;

export async function update(
  write: WriteContext,
  namespaces: NamespaceGuard,
  request: WriteRequest,
  type: KnownType,
): Promise<WriteReply> {
  const dryRun = writeOptions('UpdateOptions', write.dialect.metaGroup, request.parameters);
  const change = changeFor(request, type, trackingOf(write, request, type));
  const { object: wanted, warnings } = decodeObject(write.schema, request, change.expected);
  const { namespace, name } = request.target;
  requireNameOfPath(wanted, name);
  const createWhenMissing = request.target.subresource === '' && type.strategy.putCreates;
  const reply = await modify(
    write,
    type,
    request,
    change,
    dryRun,
    () => wanted,
    async () => {
      if (!createWhenMissing) throw new StatusError(notFound(type, name));
      const body = withoutVersion(wanted);
      return createObject(write, namespaces, type, body, { namespace, name }, dryRun, change.tracking);
    },
  );
  return withWarnings(reply, warnings);
}

export async function patch(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const { dryRun } = patchOptions(write.dialect.metaGroup, request.parameters, false);
  const { contentType } = request;
  const change = changeFor(request, type, trackingOf(write, request, type));
  const schemaType = schemaTypeOf(write.schema, change.expected.apiVersion, change.expected.kind);
  const accepted = patchMediaTypesOf(schemaType);
  const isApplied = write.serverSideApply && change.otherKind === undefined;
  if (!accepted.includes(contentType)) {
    throw new StatusError(unsupportedMediaType(isApplied ? [...accepted, APPLY_PATCH] : accepted));
  }
  const document = decodeBody(request.payload, 'application/json');
  let warnings: readonly string[] = [];
  const patched = (view: JsonObject): JsonObject => {
    const result = applyPatch(contentType, view, document, schemaType);
    if (!isJsonObject(result)) throw new StatusError(badRequest('the patch leaves no object'));
    requireKind(result, change.expected);
    // What is stored has no unknown fields: those that are found are the patch's.
    const { object, unknownFields } = canonical(write.schema, result, change.expected);
    warnings = fieldWarnings(request, () => unknownFields);
    return object;
  };
  const reply = await modify(write, type, request, change, dryRun, patched, () => {
    throw new StatusError(notFound(type, request.target.name));
  });
  return withWarnings(reply, warnings);
}

/** Before anything is read: a body meant for another object says nothing about this one. Throws 400. */
function requireNameOfPath(object: JsonObject, name: string): void {
  const { name: given = '' } = metadataOf(object);
  if (given === '' || given === name) return;
  throw new StatusError(badRequest(`the name of the object (${given}) differs from the name in the path (${name})`));
}

/** Reads, changes and stores until nobody came in between. `whenMissing` answers undefined when it was there after all. */
export async function modify(
  write: WriteContext,
  type: KnownType,
  request: WriteRequest,
  change: Change,
  dryRun: boolean,
  wanted: (view: JsonObject) => JsonObject,
  whenMissing: () => Promise<WriteReply | undefined>,
): Promise<WriteReply> {
  const { namespace, name } = request.target;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stored = await readCurrent(write, type, namespace, name);
    if (stored === null) {
      const reply = await whenMissing();
      if (reply !== undefined) return reply;
      continue;
    }
    const before = write.forms.asked(type, stored.object);
    const { object: view, warnings } = ownersOnce(wanted(change.view(before)));
    const told = (reply: WriteReply): WriteReply => withWarnings(reply, warnings);
    const valid = nextObject(write, type, request, change, view, before);
    const isInformed = tries > 0 || dryRun;
    const { object: next, also } = await write.services.allocate(type, valid, before, isInformed);
    const answer = answerFor(type, change);
    if (dryRun) return told({ code: 200, body: answer(next) });
    const nextStored = write.forms.stored(type, next);
    const { revision } = stored.place;
    if (isReadyToRemove(next) && !hasOpenFinalizers(type, next)) {
      const given = await write.services.release(type, before);
      const removed = await commitOne(write, withAlso(draftDelete(type, namespace, name, revision), given));
      if (removed.ok) return told({ code: 200, body: answer(next) });
    } else if (isUnchanged(nextStored, stored.object) && !stored.isStale) {
      return told(
        change.otherKind === undefined ? { code: 200, place: stored.place } : { code: 200, body: answer(before) },
      );
    } else {
      const result = await commitOne(write, withAlso(draftPut(type, nextStored, revision), also));
      if (result.ok) {
        const place = result.places[0]!;
        if (change.otherKind === undefined) return told({ code: 200, place });
        const metadata = { ...metadataOf(next), resourceVersion: String(place.revision) };
        return told({ code: 200, body: answer({ ...next, metadata }) });
      }
    }
    // What was lost may be a free address and not the race for the object: then it is the caller's version still.
    if (request.verb === 'update' && hasVersion(view) && also.length === 0) break;
  }
  throw new StatusError(conflictModified(type, name));
}

/** What is to be of an object, all in the version that the client speaks. */
function nextObject(
  write: WriteContext,
  type: KnownType,
  request: WriteRequest,
  change: Change,
  view: JsonObject,
  before: JsonObject,
): JsonObject {
  const { namespace, name } = request.target;
  if (change.subresource === 'scale') requireValidScale(write, view);
  const merged = change.merge(view, before);
  // Defaults come before it is compared: what a client leaves to its default has not changed.
  const { subresource } = change;
  const nowIso = timestampOf(write.context.clock.nowMs());
  const complete = write.preparation.onUpdate(merged, before, type, { subresource, nowIso });
  const prepared = prepareUpdate(complete, before, type, { namespace, name, subresource });
  const next = write.services.complete(type, prepared, before);
  requireValidUpdate(write, type, next, before, subresource);
  return ownedByUpdater(write, change, next, before);
}

/** The object's own finalizers aside, a namespace waits for those of its spec. */
function hasOpenFinalizers(type: KnownType, object: JsonObject): boolean {
  if (type.storageKey !== 'core/namespaces') return false;
  const spec = object.spec as { finalizers?: readonly string[] } | undefined;
  return (spec?.finalizers?.length ?? 0) > 0;
}

function answerFor(type: KnownType, change: Change): (object: JsonObject) => JsonObject {
  return change.otherKind?.of ?? ((object) => asAnswer(type, object));
}

/** What a PUT that creates is made from: the version it names is that of an object that is gone. */
function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _resourceVersion, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}

/** True when a client insists on the version it names. */
function hasVersion(object: JsonObject): boolean {
  return !['', '0'].includes(versionOf(object));
}
