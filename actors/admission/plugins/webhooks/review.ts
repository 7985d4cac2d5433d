// The review that a webhook is sent, and what its answer comes to. The answer is another's: every member is checked. Pure.

import type { User } from '../../../../api/authorization/attributes.ts';
import { decode } from '../../../../api/codec/decode.ts';
import { DecodeError } from '../../../../api/codec/decode-error.ts';
import type { EncodedTexts } from '../../../../api/codec/encoded-texts.ts';
import { isJsonObject, type JsonObject } from '../../../../api/json/json-value.ts';
import { asTextMap, booleanAt, partAt, textAt, textsAt } from '../../../../api/json/object-fields.ts';
import { type KnownType, qualifiedKind, splitApiVersion } from '../../../../api/resources/resource-table.ts';
import type { Schema, TypeSchema } from '../../../../api/schema/schema.ts';
import type { Status, StatusReason } from '../../../../api/status/status.ts';
import { type Attributes, NO_OBJECT } from '../../attributes.ts';
import type { Hook, ReviewVersion } from '../../hooks/hook.ts';
import { namespaceOf, nameTold } from './subject.ts';

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
  /** JSON of the object's managedFields, where it has none itself; empty for none. */
  readonly managedFieldsText: string;
  readonly old: JsonObject | undefined;
  readonly texts: EncodedTexts;
  /** Several may be told it. */
  readonly isForSeveral: boolean;
  /** Once the first of them has been told. */
  requestText: string | undefined;
}

/** The JSON of a review of a write, to be answered under `uid`. What every webhook is told alike is encoded once. */
export function reviewText(told: Told, { apiVersion }: ReviewForm, uid: string): string {
  const text = told.requestText ?? requestText(told);
  // Otherwise it would lie in the heap for as long as the one webhook takes.
  if (told.isForSeveral) told.requestText = text;
  return `{"kind":"AdmissionReview","apiVersion":"${apiVersion}","request":{"uid":"${uid}",${text}}`;
}

/** All of a request behind its uid. */
function requestText(told: Told): string {
  const { attributes, type, object, managedFieldsText, old, texts } = told;
  const objectText = object === NO_OBJECT ? 'null' : texts.ofObject(object, managedFieldsText);
  const oldText = old === undefined ? 'null' : texts.ofObject(old);
  const shown = `"kind":${kindText(object, old, type)},"resource":${resourceText(type)}`;
  const requested = `"requestKind":${kindText(attributes.object, attributes.old, attributes.type)},"requestResource":${resourceText(attributes.type)}`;
  const objects = `"object":${objectText},"oldObject":${oldText}`;
  return `${objects},${shown},${requested},"userInfo":${userText(attributes.asked.user)},${askedText(attributes)}}`;
}

/** What is asked for, as members of a request. Written out: every call says it anew. */
function askedText(attributes: Attributes): string {
  const { asked, subresource } = attributes;
  const members = `"operation":"${asked.operation.toUpperCase()}","dryRun":${asked.dryRun},"options":${optionsText(attributes)}`;
  return (
    textMember('subResource', subresource) +
    textMember('requestSubResource', subresource) +
    textMember('name', nameTold(attributes)) +
    textMember('namespace', namespaceOf(attributes)) +
    members
  );
}

/** A member and the comma after it; nothing for an empty text. */
function textMember(name: string, text: string): string {
  return text === '' ? '' : `"${name}":${JSON.stringify(text)},`;
}

/** Those of types' own objects are the same each time, and so is a user for as long as its record is kept. */
const KIND_TEXTS = new WeakMap<KnownType, string>();
const RESOURCE_TEXTS = new WeakMap<KnownType, string>();
const USER_TEXTS = new WeakMap<User, string>();

function keptText<K extends object>(texts: WeakMap<K, string>, key: K, textOf: (key: K) => unknown): string {
  let text = texts.get(key);
  if (text === undefined) {
    text = JSON.stringify(textOf(key));
    texts.set(key, text);
  }
  return text;
}

function userText(user: User): string {
  return keptText(USER_TEXTS, user, ({ name, uid, groups, extra }) => ({
    username: name,
    uid: uid || undefined,
    groups: groups.length === 0 ? undefined : groups,
    extra: Object.keys(extra).length === 0 ? undefined : extra,
  }));
}

const KIND = 'AdmissionReview';

/** Reviews of one version. */
export interface ReviewForm {
  readonly version: ReviewVersion;
  readonly apiVersion: string;
  readonly type: TypeSchema;
}

export function reviewForm(schema: Schema, version: ReviewVersion): ReviewForm {
  const group = schema.dialect.spell('admission.@group');
  return { version, apiVersion: `${group}/${version}`, type: schema.kind(group, version, KIND)! };
}

function kindText(object: JsonObject, old: JsonObject | undefined, type: KnownType): string {
  const shown = object === NO_OBJECT ? (old ?? NO_OBJECT) : object;
  const kind = textAt(shown, 'kind', type.kind);
  const apiVersion = textAt(shown, 'apiVersion', type.apiVersion);
  // What subresources show is another kind than the type's own.
  if (kind !== type.kind || apiVersion !== type.apiVersion)
    return JSON.stringify({ ...splitApiVersion(apiVersion), kind });
  return keptText(KIND_TEXTS, type, () => ({ ...splitApiVersion(apiVersion), kind }));
}

function resourceText(type: KnownType): string {
  return keptText(RESOURCE_TEXTS, type, ({ group, version, plural }) => ({ group, version, resource: plural }));
}

const OPTION_KINDS = { create: 'CreateOptions', update: 'UpdateOptions', delete: 'DeleteOptions' } as const;

/** What the request asks for beside the object. Connections say it in their object. */
function optionsText({ asked, dialect }: Attributes): string {
  const { operation, parameters, deletion, dryRun } = asked;
  if (operation === 'connect') return 'null';
  const kind = OPTION_KINDS[operation];
  const apiVersion = `${dialect.metaGroup}/v1`;
  if (operation === 'delete') return JSON.stringify({ ...deletion, kind, apiVersion });
  const { fieldManager } = parameters;
  const manager = fieldManager === undefined ? '' : `"fieldManager":${JSON.stringify(fieldManager)},`;
  return `{${dryRun ? '"dryRun":["All"],' : ''}${manager}"kind":"${kind}","apiVersion":"${apiVersion}"}`;
}

/**
 * What an answer says. A v1 answer must be to the very question, and say what its patch is; where nothing may be changed it
 * must have none. One of v1beta1 may leave out what it is, but is not taken for what it says it is not. Throws UnusableAnswer.
 */
export function answerOf(value: unknown, form: ReviewForm, uid: string, mayPatch: boolean): HookAnswer {
  if (isPlainYes(value, form, uid)) return PLAIN_YES;
  const review = checked(value, form.type);
  const { version, apiVersion } = form;
  if (version !== 'v1')
    requireKind({ apiVersion: review.apiVersion || apiVersion, kind: review.kind || KIND }, apiVersion);
  if (!isJsonObject(review.response)) throw new UnusableAnswer('webhook response was absent');
  const response = review.response;
  if (version === 'v1') requireExact(review, response, apiVersion, uid, mayPatch);
  const patch = textAt(response, 'patch');
  return {
    allowed: booleanAt(response, 'allowed'),
    status: isJsonObject(response.status) ? response.status : undefined,
    patch: mayPatch ? Buffer.from(patch, 'base64').toString('utf8') : '',
    // Answers of old do not have to say it, and what they say was never looked at.
    patchType: version === 'v1' ? textAt(response, 'patchType') : 'JSONPatch',
    warnings: textsAt(response, 'warnings'),
    auditAnnotations: asTextMap(partAt(response, 'auditAnnotations')),
  };
}

const PLAIN_YES: HookAnswer = Object.freeze({
  allowed: true,
  status: undefined,
  patch: '',
  patchType: '',
  warnings: [],
  auditAnnotations: new Map<string, string>(),
});

/** True for what most answers are: the write is allowed, and nothing else is said. It needs no look at its schema. */
function isPlainYes(value: unknown, { version, apiVersion }: ReviewForm, uid: string): boolean {
  if (version !== 'v1' || !isJsonObject(value) || Object.keys(value).length !== 3) return false;
  if (value.kind !== KIND || value.apiVersion !== apiVersion || !isJsonObject(value.response)) return false;
  const { response } = value;
  return response.allowed === true && response.uid === uid && Object.keys(response).length === 2;
}

/** By its schema, so that each member is what it must be. What the answer says of itself is kept as it is. */
function checked(value: unknown, type: TypeSchema): JsonObject {
  if (!isJsonObject(value)) throw new UnusableAnswer('the answer is no object');
  const { apiVersion, kind } = value;
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
  expected: string,
  uid: string,
  mayPatch: boolean,
): void {
  const given = textAt(response, 'uid');
  if (given !== uid) throw new UnusableAnswer(`expected response.uid="${uid}", got ${JSON.stringify(given)}`);
  requireKind(review, expected);
  const hasPatch = textAt(response, 'patch') !== '';
  const hasType = typeof response.patchType === 'string';
  if (!mayPatch && hasPatch) throw new UnusableAnswer('validating webhook may not return response.patch');
  if (!mayPatch && hasType) throw new UnusableAnswer('validating webhook may not return response.patchType');
  if (hasPatch && !hasType) throw new UnusableAnswer('webhook returned response.patch but not response.patchType');
  if (!hasPatch && hasType) throw new UnusableAnswer('webhook returned response.patchType but not response.patch');
  if (hasPatch && response.patchType === '')
    throw new UnusableAnswer('webhook returned invalid response.patchType of ""');
}

function requireKind(review: JsonObject, expected: string): void {
  if (review.apiVersion === expected && review.kind === KIND) return;
  const given = qualifiedKind(textAt(review, 'apiVersion'), textAt(review, 'kind'));
  throw new UnusableAnswer(`expected webhook response of ${expected}, Kind=${KIND}, got ${given}`);
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
