// A write's body and options as the pipeline wants them: decoded, of the kind the path names, checked.
import { type Decoded, decode } from '../../../api/codec/decode.ts';
import { DecodeError, mismatch } from '../../../api/codec/decode-error.ts';
import { decodeEnveloped } from '../../../api/codec/protobuf.ts';
import type { CustomType } from '../../../api/custom/definitions/custom-type.ts';
import { isLarge } from '../../../api/in-parts.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { ownCopy } from '../../../api/json/own-copy.ts';
import { int64Parameter } from '../../../api/requests/int64-parameter.ts';
import { isTrueParameter } from '../../../api/requests/query.ts';
import {
  type DeleteOptions,
  isDryRun,
  requireValidOptions,
  validateDeleteOptions,
  validatePatchOptions,
  validateWriteOptions,
} from '../../../api/requests/request-options.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import type { Schema, TypeSchema } from '../../../api/schema/schema.ts';
import { badRequest, unsupportedMediaType } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { DIALECT_NAMES, DIALECTS } from '../../../config/dialect.ts';
import { decodeBody } from '../../../transport/body.ts';
import { requireFinite } from '../../../transport/finite-numbers.ts';
import { SUPPLEMENTAL_GROUPS } from '../attributes.ts';
import { afterOthers } from '../large-writes.ts';
import type { WriteParameters, WriteRequest } from '../protocol.ts';
import type { WriteContext } from '../write-context.ts';
import { fieldWarnings } from './field-validation.ts';
import { handledAs, otherThanExpected } from './other-kind.ts';

/** The kind and apiVersion a body must be of; missing ones are taken from the path. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of a kind that a definition made. */
  readonly custom?: CustomType | undefined;
}

/** An object as a client sent it, in the canonical form of its type. */
export interface DecodedObject {
  readonly object: JsonObject;
  /** For the client's user: unknown fields that were dropped, when the client asked to hear of them. */
  readonly warnings: readonly string[];
  /** Paths of lists that the body gives empty, where somebody tells that from leaving them out. The object has neither. */
  readonly emptied: readonly string[];
}

interface ToldEmpty {
  readonly path: string;
  readonly members: readonly string[];
}

/** By kind, the list of which it matters, of those that canonical form leaves out. */
const TOLD_EMPTY: ReadonlyMap<string, ToldEmpty> = new Map([
  ['Pod', { path: SUPPLEMENTAL_GROUPS, members: SUPPLEMENTAL_GROUPS.split('.') }],
]);
const NONE: readonly string[] = Object.freeze([]);

/** JSON that is said to be. */
export const JSON_TYPES: ReadonlySet<string> = new Set(['', 'application/json']);

/** There is no message of a custom kind. */
const CUSTOM_TYPES: readonly string[] = ['application/json', 'application/yaml'];
/** Any client may speak either dialect's name of the Protobuf media type: the bytes are the same. */
const PROTOBUF_TYPES: ReadonlySet<string> = new Set(DIALECT_NAMES.map((name) => DIALECTS[name].protobufMediaType));

/**
 * Decodes an object, checks that it is what the path says, and brings it into the canonical form of its type.
 * Throws 400, 415.
 */
export function decodeObject(schema: Schema, request: WriteRequest, expected: ExpectedKind): DecodedObject {
  return handledAs(expected, () => shaped(schema, request, expected, bodyOf(schema, request, expected)));
}

/** The same of a body of any size. Rejects likewise. */
export function decodedObject(
  write: WriteContext,
  request: WriteRequest,
  expected: ExpectedKind,
): DecodedObject | Promise<DecodedObject> {
  if (!isLarge(request.payload.length)) return decodeObject(write.schema, request, expected);
  return decodedInTurns(write, request, expected);
}

async function decodedInTurns(
  write: WriteContext,
  request: WriteRequest,
  expected: ExpectedKind,
): Promise<DecodedObject> {
  await afterOthers(write);
  const value = handledAs(expected, () => bodyOf(write.schema, request, expected));
  await afterOthers(write);
  const decoded = handledAs(expected, () => shaped(write.schema, request, expected, value));
  await afterOthers(write);
  return decoded;
}

function bodyOf(schema: Schema, request: WriteRequest, expected: ExpectedKind): JsonObject {
  if (expected.custom !== undefined && PROTOBUF_TYPES.has(request.contentType))
    throw new StatusError(unsupportedMediaType(CUSTOM_TYPES));
  // Null, and a YAML document with nothing in it, are an object that says nothing.
  const value = decodeValue(schema, request, expected) ?? {};
  if (!isJsonObject(value)) throw new StatusError(badRequest(`the body must be an object of kind ${expected.kind}`));
  if (expected.custom !== undefined) requireFinite(value, request.payload);
  const { apiVersion, kind } = kindTexts(value, expected);
  if (kind !== expected.kind || apiVersion !== expected.apiVersion)
    throw otherThanExpected(schema, value, { apiVersion, kind }, expected);
  const missing = expected.custom === undefined ? undefined : missingKindText(value);
  if (missing !== undefined) throw new StatusError(badRequest(missing));
  return value;
}

/** What a custom object does not say of its kind, in which case there is nothing that tells it: nothing else tells versions apart. */
export function missingKindText(object: JsonObject): string | undefined {
  if (textOf(object, 'kind') === '') return `Object 'Kind' is missing in '${shown(object)}'`;
  if (textOf(object, 'apiVersion') === '') return `Object 'apiVersion' is missing in '${shown(object)}'`;
  return undefined;
}

const SHOWN_MAX = 200;

function shown(object: JsonObject): string {
  const text = JSON.stringify(object);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

function shaped(schema: Schema, request: WriteRequest, expected: ExpectedKind, value: JsonObject): DecodedObject {
  const told = emptiedIn(value, expected);
  const { object, unknownFields, emptied } = canonical(schema, value, expected);
  const warnings = fieldWarnings(request, () => unknownFields);
  return { object, warnings, emptied: told.length === 0 ? emptied : [...told, ...emptied] };
}

/** Protobuf knows no list that is empty. */
function emptiedIn(value: JsonObject, { kind, custom }: ExpectedKind): readonly string[] {
  const told = custom === undefined ? TOLD_EMPTY.get(kind) : undefined;
  if (told === undefined) return NONE;
  let at: unknown = value;
  for (const member of told.members) at = isJsonObject(at) ? at[member] : undefined;
  return Array.isArray(at) && at.length === 0 ? [told.path] : NONE;
}

/**
 * Brings an object of the expected kind, which it may leave unsaid, into the canonical form of its type; kinds without a
 * schema stay as they are. Throws DecodeError.
 */
export function canonical(schema: Schema, value: JsonObject, expected: ExpectedKind): Decoded {
  const { apiVersion, kind } = expected;
  // Of custom objects 1.21 does not tell it: they may come without managedFields as well as with none in them.
  const asking = expected.custom === undefined ? withResetSaid(value) : value;
  const isNamed = asking.kind === kind && asking.apiVersion === apiVersion;
  const named = isNamed ? asking : Object.assign(ownCopy(asking), { kind, apiVersion });
  if (expected.custom !== undefined) return { ...expected.custom.schema.read(named), emptied: NONE };
  const type = schemaTypeOf(schema, apiVersion, kind);
  return type === undefined ? { object: named, unknownFields: NONE, emptied: NONE } : decode(named, type);
}

/** Empty managedFields ask that they be forgotten, as one empty entry does: canonical form knows that alone, and no list that is empty. */
function withResetSaid(value: JsonObject): JsonObject {
  const { metadata } = value;
  if (!isJsonObject(metadata)) return value;
  const { managedFields } = metadata;
  if (!Array.isArray(managedFields) || managedFields.length > 0) return value;
  return { ...value, metadata: { ...metadata, managedFields: [{}] } };
}

export function schemaTypeOf(schema: Schema, apiVersion: string, kind: string): TypeSchema | undefined {
  const { group, version } = splitApiVersion(apiVersion);
  return schema.kind(group, version, kind);
}

/** The value of a body in any media type that bodies come in. `expected`: what it is where it does not say so. */
function decodeValue(schema: Schema, { payload, contentType }: WriteRequest, expected: ExpectedKind): unknown {
  if (!PROTOBUF_TYPES.has(contentType)) return decodeBody(payload, contentType, [schema.dialect.protobufMediaType]);
  return decodeEnveloped(payload, (apiVersion, kind) => {
    const type = schemaTypeOf(schema, apiVersion || expected.apiVersion, kind || expected.kind);
    if (type === undefined)
      throw new DecodeError(`no kind ${JSON.stringify(kind)} is known in version ${JSON.stringify(apiVersion)}`);
    return type;
  }).object;
}

/** The metadata of an object that has nothing else, and is of the kind where it says one; undefined of any other value. */
export function metadataAlone(value: unknown, expected: ExpectedKind): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind = expected.kind, apiVersion = expected.apiVersion, metadata, ...more } = value;
  if (kind !== expected.kind || apiVersion !== expected.apiVersion || Object.keys(more).length > 0) return undefined;
  return isJsonObject(metadata) ? metadata : undefined;
}

type KindTexts = Pick<ExpectedKind, 'apiVersion' | 'kind'>;

/** The kind and the version that an object says it is of, or `unsaid` where it says none. Throws DecodeError where one of them is no text. */
export function kindTexts(object: JsonObject, unsaid: KindTexts): KindTexts {
  return {
    apiVersion: withoutEmptyGroup(textOf(object, 'apiVersion')) || unsaid.apiVersion,
    kind: textOf(object, 'kind') || unsaid.kind,
  };
}

/** `/v1` is `v1`: clients put a group before the version, and the core group has no name. */
function withoutEmptyGroup(apiVersion: string): string {
  return apiVersion.startsWith('/') && !apiVersion.includes('/', 1) ? apiVersion.slice(1) : apiVersion;
}

/** A member that is a text; empty where it is absent or null. Throws DecodeError where it is anything else. */
function textOf(object: JsonObject, member: string): string {
  const value = object[member] ?? '';
  if (typeof value !== 'string') throw mismatch(value, 'string').within(member);
  return value;
}

/** Checks the options of a create or update. Returns true for a dry run. Throws 422. */
export function writeOptions(
  kind: 'CreateOptions' | 'UpdateOptions',
  metaGroup: string,
  parameters: WriteParameters,
): boolean {
  requireValidOptions(kind, metaGroup, validateWriteOptions(parameters));
  return isDryRun(parameters);
}

/**
 * Checks the options of a patch: an apply must name its field manager, and only an apply can be forced. Throws 422.
 * `force` without a value counts as true.
 */
export function patchOptions(
  metaGroup: string,
  parameters: WriteParameters,
  isApply: boolean,
): { readonly dryRun: boolean; readonly force: boolean } {
  const force = parameters.force === undefined ? undefined : !/^(?:false|0)$/i.test(parameters.force);
  requireValidOptions('PatchOptions', metaGroup, validatePatchOptions({ ...parameters, force }, isApply));
  return { dryRun: isDryRun(parameters), force: force ?? false };
}

/** DeleteOptions from the body, or from the query when there is none. Throws 400, 422. */
export function deleteOptions(schema: Schema, request: WriteRequest, metaGroup: string): DeleteOptions {
  const options = request.payload.byteLength === 0 ? fromQuery(request) : fromBody(schema, request, metaGroup);
  requireDeleteOptions(options, metaGroup);
  return options;
}

/** Throws 422 unless the options are valid. */
export function requireDeleteOptions(options: DeleteOptions, metaGroup: string): void {
  requireValidOptions('DeleteOptions', metaGroup, validateDeleteOptions(options));
}

function fromQuery({ verb, parameters }: WriteRequest): DeleteOptions {
  const { dryRun, gracePeriodSeconds, orphanDependents, propagationPolicy } = parameters;
  return {
    dryRun,
    propagationPolicy,
    gracePeriodSeconds: gracePeriodSeconds === undefined ? undefined : wholeSeconds(gracePeriodSeconds),
    orphanDependents: orphanDependents === undefined ? undefined : isTrueParameter(orphanDependents),
    preconditions: preconditionsIn(verb, parameters),
  };
}

/** In the query of a collection, a resourceVersion says which list is meant; a uid is what must hold of each object even there. */
function preconditionsIn(
  verb: WriteRequest['verb'],
  { uid = '', resourceVersion: version = '' }: WriteParameters,
): DeleteOptions['preconditions'] {
  const resourceVersion = verb === 'deletecollection' ? '' : version;
  if (uid === '' && resourceVersion === '') return undefined;
  return { ...(uid === '' ? undefined : { uid }), ...(resourceVersion === '' ? undefined : { resourceVersion }) };
}

const DELETE_OPTIONS: ExpectedKind = { apiVersion: 'v1', kind: 'DeleteOptions' };

function fromBody(schema: Schema, request: WriteRequest, metaGroup: string): DeleteOptions {
  // A null says nothing, as in an object.
  const body = decodeValue(schema, request, DELETE_OPTIONS) ?? {};
  if (!isJsonObject(body)) throw new StatusError(badRequest('the body of a delete must be DeleteOptions'));
  const kind = textOf(body, 'kind');
  if (kind !== '' && kind !== 'DeleteOptions') {
    throw new StatusError(
      badRequest(`the kind in the data (${kind}) does not match the expected kind (DeleteOptions of ${metaGroup}/v1)`),
    );
  }
  return toDeleteOptions(schema, body, request.parameters);
}

/**
 * DeleteOptions from their JSON form; a dry run that they do not mention is as the query says. Through the schema, so that
 * what is spelled wrongly (`dryRun: All`, no list) is refused and not left out. Throws 400.
 */
export function toDeleteOptions(schema: Schema, body: JsonObject, parameters: WriteParameters): DeleteOptions {
  const { object } = decode(body, schema.kind('', 'v1', 'DeleteOptions')!);
  const { dryRun = parameters.dryRun, ...options } = object as DeleteOptions;
  return { dryRun, ...options };
}

/** What is stored as a number has to be one exactly. */
function wholeSeconds(text: string): number {
  const seconds = int64Parameter(text);
  if (Number.isSafeInteger(seconds)) return seconds;
  throw new StatusError(badRequest(`gracePeriodSeconds is too large: ${text}`));
}

/** The kind a type's objects are read as at the version of the path. */
export function kindOf(type: KnownType): ExpectedKind {
  const { apiVersion, kind, custom } = type;
  return { apiVersion, kind, custom };
}
