// Server-side apply: a PATCH whose body is a configuration. It is merged into what is there, or makes the object where
// there is none (201); whoever applies owns what it says (SPEC.md "Field ownership").

import { resetFields } from '../../../api/apply/owned-type.ts';
import { type Application, applyInParts } from '../../../api/apply/ownership.ts';
import type { StoredForm } from '../../../api/catalog/stored-form.ts';
import { type InParts, inOneGo } from '../../../api/in-parts.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { isUnchanged } from '../../../api/metadata/metadata.ts';
import { metadataOf, timestampOf, withMetadata } from '../../../api/metadata/object-meta.ts';
import { APPLY_PATCH } from '../../../api/patch/apply-patch.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { badRequest, conflict, notFound } from '../../../api/status/failures.ts';
import { isStatusError, StatusError } from '../../../api/status/status.ts';
import { viewOf } from '../../../api/subresource-views.ts';
import { decodeBody } from '../../../transport/body.ts';
import { requireFinite } from '../../../transport/finite-numbers.ts';
import { fieldWarnings, withWarnings } from '../bodies/field-validation.ts';
import { otherThanApplied } from '../bodies/other-kind.ts';
import { canonical, type ExpectedKind, kindOf, kindTexts, patchOptions } from '../bodies/request-body.ts';
import { digestOfApply } from '../known-applies.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { otherVersions } from '../steps/ownership.ts';
import { requireValidView } from '../steps/validity.ts';
import type { WriteContext } from '../write-context.ts';
import { createMissing } from './create-missing.ts';
import { modify } from './modify.ts';
import { canBeApplied, requireIdentityOfPath, withoutVersion } from './update.ts';

/** True for requests that `apply` serves. */
export function isApply(write: WriteContext, { contentType, target }: WriteRequest, type: KnownType): boolean {
  return contentType === APPLY_PATCH && canBeApplied(write, viewOf(target.subresource, type));
}

/** PATCH with the media type of apply. Throws 400, 409, 422. */
export async function apply(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const { dryRun, force } = patchOptions(write.dialect.metaGroup, request.parameters, true);
  const { subresource, name } = request.target;
  const digest = viewOf(subresource, type) === undefined ? digestOfApply(request, type) : undefined;
  const isKnown = (revision: string | undefined): boolean =>
    digest !== undefined && write.knownApplies.changesNothing(digest, revision);
  const applying: Applying = { write, request, type, force, isKnown, read: undefined, merged: undefined };
  const wanted = (live: JsonObject | undefined, forms: StoredForm): InParts<JsonObject> =>
    applied(applying, live, forms);
  const whenMissing = async (): Promise<WriteReply | undefined> => {
    const { config } = configurationOfApply(applying);
    if (subresource !== '') throw new StatusError(notFound(type, name));
    requireOfNobody(config, type, name);
    const object = withoutVersion(inOneGo(wanted(undefined, write.forms)));
    requireIdentityOfPath(object, request.target);
    try {
      return await createMissing(write, request, type, object, { dryRun, isTracked: false });
    } catch (error) {
      // Someone else was first: what they made is applied to.
      if (isStatusError(error) && error.status.reason === 'AlreadyExists') return undefined;
      throw error;
    }
  };
  const modification = { dryRun, isTracked: false, isWhole: true, wanted, isKnown, whenMissing };
  const reply = await modify(write, request, type, modification);
  const { read, merged } = applying;
  if (digest !== undefined && merged !== undefined && read?.warnings.length === 0 && hasLeft(merged, reply))
    write.knownApplies.remember(digest, merged.live);
  return withWarnings(reply, read?.warnings ?? []);
}

/** An apply under way. */
interface Applying {
  readonly write: WriteContext;
  readonly request: WriteRequest;
  readonly type: KnownType;
  readonly force: boolean;
  readonly isKnown: (revision: string | undefined) => boolean;
  /** When it is first needed: an apply that is known to change nothing needs it not. */
  read: Configuration | undefined;
  /** The last that came of it. */
  merged: Merged | undefined;
}

function configurationOfApply(applying: Applying): Configuration {
  applying.read ??= readConfiguration(applying.write, applying.request, applying.type);
  return applying.read;
}

function* applied(applying: Applying, live: JsonObject | undefined, forms: StoredForm): InParts<JsonObject> {
  const { write, request, type, force, isKnown } = applying;
  if (live !== undefined && isKnown(metadataOf(live).resourceVersion)) return live;
  const { config } = configurationOfApply(applying);
  yield;
  const result = yield* applyInParts(config, live, applicationOf(write, request, type, { config, live, forms, force }));
  // What is stored has been through this: all that is brought into its form is the result's own.
  type.custom?.schema.coerce(result);
  if (live !== undefined) {
    // A configuration need not name its object; one that calls it nothing does not mean it.
    requireIdentityOfPath(result, request.target);
    applying.merged = { live, result };
  }
  return result;
}

/** Who names a uid means an object that was there, and would not have another in its place. Throws 409. */
function requireOfNobody(config: JsonObject, type: KnownType, name: string): void {
  const uid = metadataOf(config).uid ?? '';
  if (uid === '') return;
  const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw new StatusError(conflict(type, name, detail));
}

interface Merged {
  readonly live: JsonObject;
  readonly result: JsonObject;
}

/** True when an apply has left the object as it was, and the merge alone would have. */
function hasLeft({ live, result }: Merged, reply: WriteReply): boolean {
  if (!('place' in reply) || String(reply.place.revision) !== metadataOf(live).resourceVersion) return false;
  return isUnchanged(result, live);
}

/** What a body of an apply says. */
interface Configuration {
  /** Of the object, also where the client sends a view of it. */
  readonly config: JsonObject;
  readonly warnings: readonly string[];
}

/** Throws 400, and 422 for a view that is not valid. */
function readConfiguration(write: WriteContext, request: WriteRequest, type: KnownType): Configuration {
  const view = viewOf(request.target.subresource, type);
  const expected = view ?? kindOf(type);
  const sent = configurationOf(request, expected);
  const { schema } = write;
  const warnings = fieldWarnings(request, () => canonical(schema, structuredClone(sent), expected).unknownFields);
  if (view !== undefined) {
    const { object } = canonical(schema, structuredClone(sent), view);
    const { name, namespace } = request.target;
    // Whose it is it need not say: it is merged into what is there.
    requireValidView(write, view, withMetadata(object, { name, namespace, ...metadataOf(object) }));
  }
  return { config: view?.configurationOf?.(sent, type) ?? sent, warnings };
}

/** What a configuration is applied to, and how. */
interface Target {
  readonly config: JsonObject;
  readonly live: JsonObject | undefined;
  readonly forms: StoredForm;
  readonly force: boolean;
}

function applicationOf(
  write: WriteContext,
  { parameters, target: { subresource } }: WriteRequest,
  type: KnownType,
  { config, live, forms, force }: Target,
): Application {
  const { fieldManager: manager = '' } = parameters;
  const { kinds } = write;
  const { owned } = kinds.of(type);
  const objects = live === undefined ? [config] : [config, live];
  return {
    writer: { manager, apiVersion: type.apiVersion, nowIso: timestampOf(write.context.clock.nowMs()) },
    type: owned,
    force,
    reset: resetFields(type, owned, subresource, objects),
    versions: otherVersions({ kinds, forms }, type, (other, ofOther) =>
      resetFields(other, ofOther, subresource, objects),
    ),
  };
}

/** The body, of the kind that the path names. Unlike other bodies it must say so itself. */
function configurationOf({ payload }: WriteRequest, expected: ExpectedKind): JsonObject {
  const config = decodeBody(payload, 'application/yaml');
  if (!isJsonObject(config)) throw new StatusError(badRequest(`the body must be an object of kind ${expected.kind}`));
  if (expected.custom !== undefined) requireFinite(config, payload);
  const { apiVersion, kind } = kindTexts(config, { apiVersion: '', kind: '' });
  if (apiVersion === expected.apiVersion && kind === '')
    throw new StatusError(badRequest(`an applied object must have its kind, here ${expected.kind}`));
  if (apiVersion !== expected.apiVersion || kind !== expected.kind)
    throw otherThanApplied({ apiVersion, kind }, expected);
  return config;
}
