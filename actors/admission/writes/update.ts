// PUT and PATCH, of an object, its status, its scale or a namespace's finalizers: what a client sends becomes what is wanted of the object
// that is there, which modify.ts changes. A patch that loses a race is made again on the new object; a PUT that names a resourceVersion
// is not.

import type { StoredForm } from '../../../api/catalog/stored-form.ts';
import { type InParts, inOnePart, isLarge } from '../../../api/in-parts.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import {
  otherThanPath,
  type RequestIdentity,
  requireNamespaceOfPath,
  requireSameUid,
} from '../../../api/metadata/metadata.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { APPLY_PATCH, applyPatch, patchMediaTypesOf } from '../../../api/patch/apply-patch.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { badRequest, notFound, unsupportedMediaType, unsupportedPatchType } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { type SubresourceView, viewOf } from '../../../api/subresource-views.ts';
import { decodeBody } from '../../../transport/body.ts';
import { requireFinite } from '../../../transport/finite-numbers.ts';
import { fieldWarnings, withWarnings } from '../bodies/field-validation.ts';
import {
  type DecodedObject,
  decodedObject,
  decodeObject,
  type ExpectedKind,
  kindOf,
  patchOptions,
  schemaTypeOf,
  writeOptions,
} from '../bodies/request-body.ts';
import { afterOthers } from '../large-writes.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import type { WriteContext } from '../write-context.ts';
import { createMissing } from './create-missing.ts';
import { metadataOfPatch, metadataOfPut } from './metadata-change.ts';
import { modify } from './modify.ts';
import { readPatchedObject } from './patched-object.ts';

/** PUT. Throws 400, 404, 409, 415, 422. */
export async function update(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const dryRun = writeOptions('UpdateOptions', write.dialect.metaGroup, request.parameters);
  const { subresource, name } = request.target;
  const expected = viewOf(subresource, type) ?? kindOf(type);
  let decoded: DecodedObject | undefined;
  // When it is first asked for what it says: most of a body may be known from the stored object.
  const sent = (): JsonObject => {
    decoded ??= decodeObject(write.schema, request, expected);
    requireIdentityOfPath(decoded.object, request.target);
    return decoded.object;
  };
  if (isLarge(request.payload.length)) decoded = await decodedObject(write, request, expected);
  const createsMissing = subresource === '' && type.traits.putCreates;
  const reply = await modify(write, request, type, {
    dryRun,
    isTracked: true,
    wanted: () => inOnePart(sent),
    wantedMetadata: metadataOfPut(write, request, write.kinds.of(type)),
    emptied: () => decoded?.emptied,
    whenMissing: async () => {
      const object = sent();
      // It was there, and is gone: neither it nor another of its name is what is meant.
      requireSameUid(metadataOf(object), { name }, type);
      if (!createsMissing) throw new StatusError(notFound(type, name));
      const emptied = decoded?.emptied;
      return createMissing(write, request, type, withoutVersion(object), { dryRun, isTracked: true, emptied });
    },
  });
  return decoded === undefined ? reply : withWarnings(reply, decoded.warnings);
}

/** PATCH but for apply. Throws 400, 404, 409, 415, 422. */
export async function patch(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const { contentType, target } = request;
  const view = viewOf(target.subresource, type);
  const expected = view ?? kindOf(type);
  const schemaType = schemaTypeOf(write.schema, expected.apiVersion, expected.kind);
  // What custom objects cannot be patched by, their scales cannot either.
  const accepted = patchMediaTypesOf(type.custom === undefined ? schemaType : undefined);
  if (!accepted.includes(contentType)) {
    if (type.custom === undefined) throw new StatusError(unsupportedPatchType());
    throw new StatusError(unsupportedMediaType(canBeApplied(write, view) ? [...accepted, APPLY_PATCH] : accepted));
  }
  const { dryRun } = patchOptions(write.dialect.metaGroup, request.parameters, false);
  if (isLarge(request.payload.length)) await afterOthers(write);
  const document = decodeBody(request.payload, 'application/json');
  if (type.custom !== undefined) requireFinite(document, request.payload);
  const patching: Patching = { write, request, type, expected, schemaType, document, warnings: [], emptied: [] };
  const wanted = (shown: JsonObject, forms: StoredForm): InParts<JsonObject> => patched(patching, shown, forms);
  const whenMissing = (): never => {
    throw new StatusError(notFound(type, target.name));
  };
  const wantedMetadata = metadataOfPatch(request, write.kinds.of(type), document);
  const emptied = (): readonly string[] => patching.emptied;
  const manner = { dryRun, isTracked: true, wanted, wantedMetadata, emptied, whenMissing };
  const reply = await modify(write, request, type, manner);
  return withWarnings(reply, patching.warnings);
}

/** A patch under way. */
interface Patching {
  readonly write: WriteContext;
  readonly request: WriteRequest;
  readonly type: KnownType;
  readonly expected: ExpectedKind;
  readonly schemaType: ReturnType<typeof schemaTypeOf>;
  readonly document: unknown;
  /** Of the last object that came of it. */
  warnings: readonly string[];
  emptied: readonly string[];
}

function* patched(patching: Patching, shown: JsonObject, forms: StoredForm): InParts<JsonObject> {
  const { write, request, type, expected, schemaType, document } = patching;
  const { contentType, target } = request;
  const result = applyPatch(contentType, shown, document, schemaType);
  yield;
  if (!isJsonObject(result)) throw new StatusError(badRequest('the patch leaves no object'));
  // What is stored has no unknown fields: those that are found are the patch's.
  const applied = { contentType, patch: document, result, type, expected };
  const { object, unknownFields, emptied } = readPatchedObject(write, forms, applied);
  patching.emptied = emptied;
  patching.warnings = fieldWarnings(request, () => unknownFields);
  requireIdentityOfPath(object, target);
  return object;
}

/** True for objects, and for views of them that stand for a configuration of the object itself. */
export function canBeApplied({ serverSideApply }: WriteContext, view: SubresourceView | undefined): boolean {
  return serverSideApply && (view === undefined || view.configurationOf !== undefined);
}

/** What is stored under a name says that it has it: a body meant for another object says nothing about this one. Throws 400. */
export function requireIdentityOfPath(object: JsonObject, { name, namespace }: RequestIdentity): void {
  const metadata = metadataOf(object);
  const { name: given = '' } = metadata;
  if (given === '') {
    const problem = `the name of the object (${name} based on URL) was undeterminable: name must be provided`;
    throw new StatusError(badRequest(problem));
  }
  if (given !== name) throw otherThanPath('name', given, name);
  requireNamespaceOfPath(metadata, namespace);
}

/** What an update that creates is made from: the version it names is that of an object that is gone. */
export function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _resourceVersion, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}
