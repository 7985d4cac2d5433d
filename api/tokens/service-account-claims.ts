// What a service-account token says (SPEC.md "Service-account tokens"): the claims it is made of, and the user that claims
// with a good signature stand for. Pure; whether the account still exists is for others to find out.
import type { Dialect } from '../../config/dialect.ts';
import { serviceAccountGroups, serviceAccountName } from '../authorization/service-account-user.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { asText } from '../json/object-fields.ts';

/** A clock that is behind the issuer's, or ahead of it, is off by no more. */
const LEEWAY_SECONDS = 60;

/** An object named with its identity. */
export interface NamedUid {
  readonly name: string;
  readonly uid: string;
}

/** What a token is bound to: it dies with the object. */
export type BoundObject = NamedUid & { readonly kind: 'pod' | 'secret' };

/** Whom a token speaks for. */
export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: NamedUid;
  readonly bound: BoundObject | undefined;
}

export interface TokenTerms {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly issuedSeconds: number;
  readonly expirySeconds: number;
  /** From when on its use should be reported; undefined: never. */
  readonly warnAfterSeconds: number | undefined;
}

/** The claims of a token. */
export function claimsOf(subject: TokenSubject, terms: TokenTerms, { labelDomain }: Dialect): JsonObject {
  const { namespace, serviceAccount, bound } = subject;
  const { issuer, audiences, issuedSeconds, expirySeconds, warnAfterSeconds } = terms;
  return {
    aud: [...audiences],
    exp: expirySeconds,
    iat: issuedSeconds,
    iss: issuer,
    [labelDomain]: {
      namespace,
      ...(bound === undefined ? undefined : { [bound.kind]: { name: bound.name, uid: bound.uid } }),
      serviceaccount: { name: serviceAccount.name, uid: serviceAccount.uid },
      ...(warnAfterSeconds === undefined ? undefined : { warnafter: warnAfterSeconds }),
    },
    nbf: issuedSeconds,
    sub: serviceAccountName(namespace, serviceAccount.name),
  };
}

/** The issuer of tokens that are kept in secrets. */
export function secretTokenIssuer(dialect: Dialect): string {
  return `${dialect.brand}/serviceaccount`;
}

/** Whom a token that is kept in a secret speaks for: it does not expire, and dies with the secret. */
export interface SecretTokenSubject {
  readonly namespace: string;
  readonly serviceAccount: NamedUid;
  readonly secretName: string;
}

/** The claims of a token that is kept in a secret. */
export function secretTokenClaims(subject: SecretTokenSubject, dialect: Dialect): JsonObject {
  const { namespace, serviceAccount, secretName } = subject;
  const member = memberNames(dialect);
  return {
    iss: secretTokenIssuer(dialect),
    [member.namespace]: namespace,
    [member.secretName]: secretName,
    [member.accountName]: serviceAccount.name,
    [member.accountUid]: serviceAccount.uid,
    sub: serviceAccountName(namespace, serviceAccount.name),
  };
}

/** Whom the claims of a token with a good signature speak for, or why they are of no use. */
export function readSecretTokenClaims(claims: JsonObject, dialect: Dialect): SecretTokenSubject | string {
  const member = memberNames(dialect);
  const [namespace, name, uid, secretName] = [
    member.namespace,
    member.accountName,
    member.accountUid,
    member.secretName,
  ].map((key) => asText(claims[key]));
  if (!namespace || !name || !uid) return 'the token names no service account';
  if (!secretName) return 'the token names no secret';
  if (claims.sub !== serviceAccountName(namespace, name)) return 'the token contradicts itself about its subject';
  return { namespace, serviceAccount: { name, uid }, secretName };
}

function memberNames({ labelDomain }: Dialect) {
  const prefix = `${labelDomain}/serviceaccount`;
  return {
    namespace: `${prefix}/namespace`,
    secretName: `${prefix}/secret.name`,
    accountName: `${prefix}/service-account.name`,
    accountUid: `${prefix}/service-account.uid`,
  };
}

/** Claims as they are read back. */
export interface ReadClaims {
  readonly subject: TokenSubject;
  readonly audiences: readonly string[];
  readonly notBeforeSeconds: number;
  readonly expirySeconds: number;
  /** As in TokenTerms. */
  readonly warnAfterSeconds: number | undefined;
}

/** The claims of a token with a good signature, or why they are of no use. */
export function readClaims(claims: JsonObject, { labelDomain }: Dialect): ReadClaims | string {
  const { aud, exp, nbf = 0, sub } = claims;
  const own = claims[labelDomain];
  if (!isJsonObject(own) || typeof own.namespace !== 'string') return 'the token names no service account';
  const serviceAccount = namedUid(own.serviceaccount);
  if (serviceAccount === undefined) return 'the token names no service account';
  const { namespace } = own;
  if (sub !== serviceAccountName(namespace, serviceAccount.name))
    return 'the token contradicts itself about its subject';
  if (typeof exp !== 'number' || typeof nbf !== 'number') return 'the token does not say how long it is valid';
  const audiences =
    typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : [];
  const bound = boundObject(own);
  const warnAfterSeconds = typeof own.warnafter === 'number' && own.warnafter !== 0 ? own.warnafter : undefined;
  return {
    subject: { namespace, serviceAccount, bound },
    audiences,
    notBeforeSeconds: nbf,
    expirySeconds: exp,
    warnAfterSeconds,
  };
}

/** Why a token is not valid at a moment; undefined when it is. */
export function timeProblem({ notBeforeSeconds, expirySeconds }: ReadClaims, nowMs: number): string | undefined {
  const nowSeconds = nowMs / 1000;
  if (nowSeconds > expirySeconds + LEEWAY_SECONDS) return 'Token has expired.';
  return nowSeconds < notBeforeSeconds - LEEWAY_SECONDS ? 'Token could not be validated.' : undefined;
}

/** The user, without the groups that every user is in. */
export function userOfSubject({ namespace, serviceAccount, bound }: TokenSubject, { labelDomain }: Dialect) {
  const extra: Record<string, readonly string[]> = {};
  if (bound?.kind === 'pod') {
    extra[`authentication.${labelDomain}/pod-name`] = [bound.name];
    extra[`authentication.${labelDomain}/pod-uid`] = [bound.uid];
  }
  return {
    name: serviceAccountName(namespace, serviceAccount.name),
    uid: serviceAccount.uid,
    groups: serviceAccountGroups(namespace),
    extra,
  };
}

function boundObject(own: JsonObject): BoundObject | undefined {
  for (const kind of ['pod', 'secret'] as const) {
    const named = namedUid(own[kind]);
    if (named !== undefined) return { kind, ...named };
  }
  return undefined;
}

function namedUid(value: unknown): NamedUid | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, uid } = value;
  return typeof name === 'string' && name !== '' && typeof uid === 'string' && uid !== '' ? { name, uid } : undefined;
}
