// Whether the claims of a token of OpenID Connect, whose signature is good, hold here and now. A time is a number (RFC 7519, 4.1); some
// providers write it as a text, which Kubernetes reads as well.
import type { JWTPayload } from 'jose';

/** The clock of an issuer may be ahead by this. */
const NOT_BEFORE_LEEWAY_MS = 60_000;
/** A number of JSON (RFC 8259). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export interface ClaimedTo {
  readonly issuerUrl: string;
  /** Whom the token has to be for; undefined: anybody. */
  readonly audience: string | undefined;
  readonly nowMs: number;
}

/** The claims, with their end as a number. Throws where one of them does not hold, with its name as `claim`. */
export function validClaims(claims: JWTPayload, { issuerUrl, audience, nowMs }: ClaimedTo): JWTPayload {
  const [exp, nbf] = [timeOf(claims, 'exp'), timeOf(claims, 'nbf')];
  timeOf(claims, 'iat');
  if (claims.iss !== issuerUrl) throw against('iss');
  if (audience !== undefined && ![claims.aud].flat().includes(audience)) throw against('aud');
  if (exp === undefined || exp * 1000 <= nowMs) throw against('exp');
  if (nbf !== undefined && nbf * 1000 > nowMs + NOT_BEFORE_LEEWAY_MS) throw against('nbf');
  return { ...claims, exp };
}

/** The seconds that a claim means; undefined for what is no time. */
export function secondsOf(claim: unknown): number | undefined {
  if (typeof claim === 'number') return claim;
  return typeof claim === 'string' && NUMBER.test(claim) ? Number(claim) : undefined;
}

function timeOf(claims: JWTPayload, name: 'exp' | 'iat' | 'nbf'): number | undefined {
  const seconds = secondsOf(claims[name]);
  if (seconds === undefined && claims[name] !== undefined) throw against(name);
  return seconds;
}

function against(claim: string): Error {
  return Object.assign(new Error(`the claim ${claim} does not hold`), {
    claim,
    code: 'ERR_JWT_CLAIM_VALIDATION_FAILED',
  });
}
