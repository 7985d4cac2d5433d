// The review that a webhook is sent, and what its answer comes to. The answer is another's: every member is checked. Pure.
import { decode } from '../../../../api/codec/decode.ts';
import { DecodeError } from '../../../../api/codec/decode-error.ts';
import { isJsonObject, type JsonObject } from '../../../../api/json-value.ts';
import { asTextMap, booleanAt, partAt, textAt, textsAt } from '../../../../api/object-fields.ts';
import { type KnownType, splitApiVersion } from '../../../../api/resources/resource-table.ts';
import type { Schema } from '../../../../api/schema/schema.ts';
import type { Status, StatusReason } from '../../../../api/status/status.ts';
import { type Attributes, NO_OBJECT } from '../../attributes.ts';
import type { Hook, ReviewVersion } from './hook.ts';
import { nameOf, namespaceOf } from './subject.ts';

/** What a webhook says. */
export interface HookAnswer {
  readonly allowed: boolean;
  /** Why not, where it says so. */
  readonly status: JsonObject | undefined;
  /** JSON, by its type; empty: nothing is to be changed. */
  readonly patch: string;
  readonly patchType: string;
  readonly warnings: readonly string[];
  readonly auditAnnotations: ReadonlyMap<string, string>;
}

/** Why an answer cannot be used. */
export class UnusableAnswer extends Error {}

/** A write as it is told: the resource of the request, and the one it is told as. */
export interface Told {
  readonly attributes: Attributes;
  readonly type: KnownType;
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
}

/** A review of a write, to be answered under `uid`. */
export function reviewOf(told: Told, version: ReviewVersion, uid: string, schema: Schema): JsonObject {
  const { attributes, type, object, old } = told;
  const { asked, subresource, dialect } = attributes;
  const { name, uid: userUid, groups, extra } = asked.user;
  const ofSub = subresource === '' ? undefined : subresource;
  return {
    kind: 'AdmissionReview',
    apiVersion: reviewApiVersion(schema, version),
    request: {
      uid,
      kind: kindOf(object, old, type),
      resource: resourceOf(type),
      subResource: ofSub,
      requestKind: kindOf(attributes.object, attributes.old, attributes.type),
      requestResource: resourceOf(attributes.type),
      requestSubResource: ofSub,
      name: nameOf(attributes) || undefined,
      namespace: namespaceOf(attributes) || undefined,
      operation: asked.operation.toUpperCase(),
      userInfo: {
        username: name,
        uid: userUid || undefined,
        groups: groups.length === 0 ? undefined : groups,
        extra: Object.keys(extra).length === 0 ? undefined : extra,
      },
      object: object === NO_OBJECT ? null : object,
      oldObject: old ?? null,
      dryRun: asked.dryRun,
      options: optionsOf(attributes, `${dialect.metaGroup}/v1`),
    },
  };
}

function reviewApiVersion({ dialect }: Schema, version: ReviewVersion): string {
  return `${dialect.spell('admission.@group')}/${version}`;
}

function kindOf(object: JsonObject, old: JsonObject | undefined, type: KnownType): JsonObject {
  const shown = object === NO_OBJECT ? (old ?? NO_OBJECT) : object;
  const kind = textAt(shown, 'kind', type.kind);
  return { ...splitApiVersion(textAt(shown, 'apiVersion', type.apiVersion)), kind };
}

function resourceOf({ group, version, plural }: KnownType): JsonObject {
  return { group, version, resource: plural };
}

const OPTION_KINDS = { create: 'CreateOptions', update: 'UpdateOptions', delete: 'DeleteOptions' } as const;

/** What the request asks for beside the object. Connections say it in their object. */
function optionsOf({ asked: { operation, parameters, deletion, dryRun } }: Attributes, apiVersion: string): unknown {
  if (operation === 'connect') return null;
  const { fieldManager } = parameters;
  const options = operation === 'delete' ? deletion : { dryRun: dryRun ? ['All'] : undefined, fieldManager };
  return { ...options, kind: OPTION_KINDS[operation], apiVersion };
}

/**
 * What an answer says. A v1 answer must be to the very question, and say what its patch is; where nothing may be changed it
 * must have none. Throws UnusableAnswer.
 */
export function answerOf(
  value: unknown,
  version: ReviewVersion,
  uid: string,
  schema: Schema,
  mayPatch: boolean,
): HookAnswer {
  const review = checked(value, version, schema);
  if (!isJsonObject(review.response)) throw new UnusableAnswer('webhook response was absent');
  const response = review.response;
  const patch = textAt(response, 'patch');
  if (version === 'v1') requireExact(review, response, version, uid, schema, mayPatch);
  return {
    allowed: booleanAt(response, 'allowed'),
    status: isJsonObject(response.status) ? response.status : undefined,
    patch: mayPatch ? Buffer.from(patch, 'base64').toString('utf8') : '',
    patchType: textAt(response, 'patchType', 'JSONPatch'),
    warnings: textsAt(response, 'warnings'),
    auditAnnotations: asTextMap(partAt(response, 'auditAnnotations')),
  };
}

/** By its schema, so that each member is what it must be. What the answer says of itself is kept as it is. */
function checked(value: unknown, version: ReviewVersion, schema: Schema): JsonObject {
  if (!isJsonObject(value)) throw new UnusableAnswer('the answer is no object');
  const { apiVersion, kind } = value;
  const type = schema.kind(schema.dialect.spell('admission.@group'), version, 'AdmissionReview')!;
  try {
    return { ...decode(value, type).object, apiVersion, kind };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new UnusableAnswer(`the answer cannot be read: ${error.message}`);
  }
}

function requireExact(
  review: JsonObject,
  response: JsonObject,
  version: ReviewVersion,
  uid: string,
  schema: Schema,
  mayPatch: boolean,
): void {
  const given = textAt(response, 'uid');
  if (given !== uid) throw new UnusableAnswer(`expected response.uid="${uid}", got ${JSON.stringify(given)}`);
  const expected = reviewApiVersion(schema, version);
  if (review.apiVersion !== expected || review.kind !== 'AdmissionReview') {
    const said = `${textAt(review, 'apiVersion')}, Kind=${textAt(review, 'kind')}`;
    throw new UnusableAnswer(`expected webhook response of ${expected}, Kind=AdmissionReview, got ${said}`);
  }
  const hasPatch = textAt(response, 'patch') !== '';
  const hasType = typeof response.patchType === 'string';
  if (!mayPatch && hasPatch) throw new UnusableAnswer('validating webhook may not return response.patch');
  if (!mayPatch && hasType) throw new UnusableAnswer('validating webhook may not return response.patchType');
  if (hasPatch && !hasType) throw new UnusableAnswer('webhook returned response.patch but not response.patchType');
  if (!hasPatch && hasType) throw new UnusableAnswer('webhook returned response.patchType but not response.patch');
  if (hasPatch && response.patchType === '')
    throw new UnusableAnswer('webhook returned invalid response.patchType of ""');
}

const REFUSAL_CODE_MIN = 400;
const REFUSAL_CODE_MAX = 599;

/** What the client of a write is told that a webhook denies: what the webhook says, with its name. */
export function denialOf({ name }: Hook, status: JsonObject | undefined): Status {
  const said = status ?? {};
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = textAt(said, 'message') || textAt(said, 'reason');
  const code = typeof said.code === 'number' ? said.code : 0;
  const reason = textAt(said, 'reason') as StatusReason;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: why === '' ? `${by} without explanation` : `${by}: ${why}`,
    ...(reason === '' ? undefined : { reason }),
    ...(isJsonObject(said.details) ? { details: said.details } : undefined),
    code: code < REFUSAL_CODE_MIN || code > REFUSAL_CODE_MAX ? REFUSAL_CODE_MIN : code,
  };
}
