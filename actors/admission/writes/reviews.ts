// Questions put to the server as objects that are not stored: token and access reviews (SPEC.md "Resource paths", virtual
// resources). The auth actor knows the answers; here they meet the body that asks.

import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { badRequest } from '../../../api/status/failures.ts';
import { invalidFrom } from '../../../api/status/field-error.ts';
import { StatusError } from '../../../api/status/status.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { decodeObject, kindOf, writeOptions } from '../bodies/request-body.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { ownedBySender } from '../steps/ownership.ts';
import { admitOnce } from '../steps/steps.ts';
import type { WriteContext } from '../write-context.ts';
import { asAnswer } from './answer.ts';
import { attributesOf } from './request-attributes.ts';

/** Answers with the status of a review. Throws StatusError for one that cannot be answered. */
type Answerer = (write: WriteContext, review: JsonObject, request: WriteRequest) => Promise<object>;

const ANSWERERS: Readonly<Record<string, Answerer>> = {
  TokenReview: tokenStatus,
  SubjectAccessReview: (write, review) => accessStatus(write, specOf(review), subjectOf(specOf(review))),
  LocalSubjectAccessReview: (write, review) => accessStatus(write, specOf(review), subjectOf(specOf(review))),
  SelfSubjectAccessReview: (write, review, { user }) => accessStatus(write, specOf(review), user),
  SelfSubjectRulesReview: rulesStatus,
  SelfSubjectReview: (_write, _review, { user }) => Promise.resolve({ userInfo: userInfoOf(user) }),
};

/** The answer to a POST of the type; undefined where the type is no review. */
export function reviewer(
  type: KnownType,
): ((write: WriteContext, request: WriteRequest) => Promise<WriteReply>) | undefined {
  const answerer = Object.hasOwn(ANSWERERS, type.kind) ? ANSWERERS[type.kind] : undefined;
  return answerer && ((write, request) => review(write, request, type, answerer));
}

async function review(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
  answerer: Answerer,
): Promise<WriteReply> {
  const dryRun = writeOptions('CreateOptions', write.dialect.metaGroup, request.parameters);
  const { object, warnings } = decodeObject(write.schema, request, kindOf(type));
  const attributes = attributesOf(write, request, type, { operation: 'create', dryRun });
  const sent = ownedBySender(write, request, object, attributes.kind.owned, type.apiVersion);
  const admitted = await admitOnce(write, attributes, sent, (made) => {
    const errors = write.validation.create(made, type);
    // Which review it is is not said.
    if (errors.length > 0) throw new StatusError(invalidFrom('', type.group, '', errors));
    if (type.namespaced) requireNamespaceOfPath(made, request.target.namespace);
  });
  const status = await answerer(write, admitted, request);
  // What one may do is told without where it was asked.
  const asked =
    type.kind === 'SelfSubjectRulesReview'
      ? { ...admitted, metadata: { creationTimestamp: null }, spec: {} }
      : admitted;
  return withWarnings({ code: 201, body: asAnswer(type, { ...asked, status }), warnings }, attributes.warnings);
}

/** What its metadata says is that of what it asks about already. Throws 400. */
function requireNamespaceOfPath(review: JsonObject, namespace: string): void {
  if ((specOf(review).resourceAttributes?.namespace ?? '') === namespace) return;
  throw new StatusError(badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`));
}

/** The members of the specs of all reviews, of every version. */
interface ReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[] | null;
  readonly namespace?: string;
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[] | null;
  /** As v1beta1 calls the groups. */
  readonly group?: readonly string[] | null;
  readonly extra?: Readonly<Record<string, readonly string[]>> | null;
  readonly resourceAttributes?: Partial<Omit<AccessAttributes, 'isResource' | 'path'>>;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
}

function specOf(review: JsonObject): ReviewSpec {
  return (review.spec ?? {}) as ReviewSpec;
}

async function tokenStatus(write: WriteContext, review: JsonObject): Promise<object> {
  const { token = '', audiences } = specOf(review);
  if (token === '') throw new StatusError(badRequest('token is required for TokenReview in authentication'));
  const answer = await write
    .auth()
    .ask(
      { type: 'reviewToken', token, audiences: audiences ?? [] },
      { deadlineMs: write.requestTimeoutMs, requestNumber: write.requestNumber },
    );
  const { user, error } = answer;
  if (user === null) return { user: {}, ...(error === '' ? undefined : { error }) };
  return {
    authenticated: true,
    user: userInfoOf(user),
    ...(answer.audiences.length === 0 ? undefined : { audiences: answer.audiences }),
  };
}

/** A user as reviews show it. */
function userInfoOf({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid === '' ? undefined : { uid }),
    groups,
    ...(Object.keys(extra).length === 0 ? undefined : { extra }),
  };
}

async function accessStatus(write: WriteContext, spec: ReviewSpec, user: User): Promise<object> {
  const { allowed, denied, reason, error } = await write
    .auth()
    .ask(
      { type: 'authorize', user, access: accessOf(spec) },
      { deadlineMs: write.requestTimeoutMs, requestNumber: write.requestNumber },
    );
  return {
    allowed,
    ...(denied ? { denied } : undefined),
    ...(reason === '' ? undefined : { reason }),
    ...(error === undefined ? undefined : { evaluationError: error }),
  };
}

function subjectOf({ user = '', uid = '', groups, group, extra }: ReviewSpec): User {
  return { name: user, uid, groups: groups ?? group ?? [], extra: extra ?? {} };
}

function accessOf({ resourceAttributes: resource, nonResourceAttributes: path }: ReviewSpec): AccessAttributes {
  return {
    verb: resource?.verb ?? path?.verb ?? '',
    isResource: Boolean(resource),
    group: resource?.group ?? '',
    version: resource?.version ?? '',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    namespace: resource?.namespace ?? '',
    name: resource?.name ?? '',
    path: path?.path ?? '',
  };
}

async function rulesStatus(write: WriteContext, review: JsonObject, { user }: WriteRequest): Promise<object> {
  const { namespace = '' } = specOf(review);
  if (namespace === '') throw new StatusError(badRequest('no namespace on request'));
  const answer = await write
    .auth()
    .ask(
      { type: 'rules', user, namespace },
      { deadlineMs: write.requestTimeoutMs, requestNumber: write.requestNumber },
    );
  const { resourceRules, nonResourceRules, incomplete, evaluationError } = answer;
  return { resourceRules, nonResourceRules, incomplete, ...(evaluationError === '' ? undefined : { evaluationError }) };
}
