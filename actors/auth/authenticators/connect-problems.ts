// What is against a token of OpenID Connect, as Kubernetes 1.21 tells it to who asks by a token review.
import { asObject } from '../../../api/json/object-fields.ts';
import { unmarshalText } from '../../../api/json/unmarshal-text.ts';
import { secondsOf } from './token-claims.ts';

/** Within what a token was looked at. */
export interface VerifiedWithin {
  readonly audience: string;
  readonly algorithms: readonly string[];
  readonly nowMs: number;
}

/** Why a token could not be verified: `error` is what the look at it, or at its issuer's keys, has thrown. */
export function verificationProblem(error: unknown, token: string, within: VerifiedWithin): string {
  const { code, claim, message } = error as {
    readonly code?: string;
    readonly claim?: string;
    readonly message: string;
  };
  const [header, claims] = token.split('.').map(partOf);
  if (claim !== undefined) {
    const found = claims?.[claim];
    if (TIMES.has(claim) && found !== undefined && secondsOf(found) === undefined)
      return `oidc: failed to unmarshal claims: ${timeProblem(found)}`;
    const told = CLAIM_PROBLEMS[claim];
    if (told !== undefined) return told(claims ?? {}, within);
  }
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED')
    return `oidc: id token signed with unsupported algorithm, expected ${list(within.algorithms)} got ${JSON.stringify(header?.alg ?? '')}`;
  // What is not of the library is of the provider.
  if (code === undefined) return `failed to verify signature: fetching keys oidc: get keys failed: ${message}`;
  return 'failed to verify signature: failed to verify id token signature';
}

const CLAIM_PROBLEMS: Readonly<
  Record<string, (claims: Readonly<Record<string, unknown>>, within: VerifiedWithin) => string>
> = {
  aud: ({ aud }, { audience }) => `oidc: expected audience ${JSON.stringify(audience)} got ${list(texts(aud))}`,
  exp: ({ exp }) => `oidc: token is expired (Token Expiry: ${exp === undefined ? NO_TIME : time(Number(exp) * 1000)})`,
  nbf: ({ nbf }, { nowMs }) =>
    `oidc: current time ${time(nowMs)} before the nbf (not before) time: ${time(Number(nbf) * 1000)}`,
};

/** Claims that are times, whether or not the time itself is looked at. */
const TIMES: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf']);

function timeProblem(claim: unknown): string {
  if (typeof claim !== 'string') return unmarshalText(claim, 'json.Number');
  return `json: invalid number literal, trying to unmarshal ${JSON.stringify(JSON.stringify(claim))} into Number`;
}

/** As Go prints the time that is none. */
const NO_TIME = '0001-01-01 00:00:00 +0000 UTC';

/** The last time that JavaScript knows; the first is as far on the other side. Who signs tokens may write any number. */
const TIME_MS_MAX = 8.64e15;

function time(ms: number): string {
  return new Date(Math.max(-TIME_MS_MAX, Math.min(ms, TIME_MS_MAX)))
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, ' +0000 UTC');
}

function list(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

function texts(claim: unknown): readonly string[] {
  return typeof claim === 'string' ? [claim] : Array.isArray(claim) ? claim.map(String) : [];
}

/** A part of a token as the object that it is; empty for what is none. Nothing is verified. */
export function partOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}

/** Why a claim that has to be a text is none; undefined for a text. `null` is the empty one, as Go reads it. */
export function textProblem(claim: unknown): string | undefined {
  if (claim === undefined) return 'claim not present';
  if (claim === null || typeof claim === 'string') return undefined;
  return unmarshalText(claim, 'string');
}
