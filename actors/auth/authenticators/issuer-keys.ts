// The keys of one OpenID Connect provider (Discovery 1.0; RFC 7517), and tokens verified with them. They are fetched when first
// needed, kept, and fetched again when a token names one that is not known; the provider is not asked about tokens. Signatures
// are verified outside the thread's turn. What a token's claims mean is for others.
import type { CryptoKey, JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { partOf } from './connect-problems.ts';
import { validClaims } from './token-claims.ts';

export interface IssuerKeysParts {
  readonly issuerUrl: string;
  readonly client: Pick<ServiceClient, 'get'>;
  readonly clock: Clock;
  /** Of signatures; all asymmetric. */
  readonly algorithms: readonly string[];
}

const FETCH_DEADLINE_MS = 10_000;
/** Keys that are there are asked for no oftener than this, whatever tokens name. */
const REFRESH_MIN_MS = 10_000;
/** A provider that could not be asked is left alone for this long. */
const FAILURE_MS = 1_000;
/**
 * Keys that a provider has taken back are forgotten after this, and so is what was verified with them. While it cannot be asked the
 * old ones hold: that a provider is down is no reason to let nobody in.
 */
export const KEYS_KEPT_MS = 15 * 60_000;

interface Keys {
  readonly keyOf: JWTVerifyGetKey;
  readonly fetchedMs: number;
}

export class IssuerKeys {
  readonly #parts: IssuerKeysParts;
  #keys: Keys | undefined;
  #fetching: Promise<Keys> | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: IssuerKeysParts) {
    this.#parts = parts;
  }

  /** The claims of a token that this issuer has signed, for an audience where one is named, and that is valid now. Rejects. */
  async claimsOf(token: string, audience?: string): Promise<JWTPayload> {
    const before = await this.#current();
    try {
      return await this.#verify(token, before, audience);
    } catch (error) {
      // The provider may have a new key.
      if (!isUnknownKey(error)) throw error;
      const after = await this.#refreshed(before);
      if (after === before) throw error;
      return this.#verify(token, after, audience);
    }
  }

  async #verify(token: string, { keyOf }: Keys, audience: string | undefined): Promise<JWTPayload> {
    const { compactVerify } = await import('jose');
    const { clock, issuerUrl } = this.#parts;
    const algorithms = [...this.#parts.algorithms];
    const nowMs = clock.nowMs();
    const { protectedHeader } = await withAnyKey(keyOf, (key) => compactVerify(token, key, { algorithms }));
    // Claims always are (RFC 7797, 7); what was signed is not what would be read here.
    if (protectedHeader.b64 === false)
      throw Object.assign(new Error('the claims are not encoded'), { code: 'ERR_JWT_INVALID' });
    return validClaims(partOf(token.split('.', 2)[1]!), { issuerUrl, audience, nowMs });
  }

  async #current(): Promise<Keys> {
    const keys = this.#keys;
    const nowMs = this.#parts.clock.monotonicMs();
    const oldMs = keys === undefined ? Number.NEGATIVE_INFINITY : keys.fetchedMs + KEYS_KEPT_MS;
    if (keys !== undefined && nowMs < oldMs) return keys;
    if (nowMs - this.#failedMs < FAILURE_MS) {
      if (keys === undefined) throw new Error('the provider could not be asked');
      return keys;
    }
    const fetched = this.#fetch();
    if (keys === undefined) return fetched;
    const fetchedOrOld = fetched.catch(() => keys);
    // The first to find them old waits; once that has come to nothing, nobody does.
    return this.#failedMs >= oldMs ? keys : fetchedOrOld;
  }

  /** Keys that are newer, as far as there are any to be had. */
  async #refreshed(before: Keys): Promise<Keys> {
    // Of several tokens with a new key one asks, and all see what comes of it.
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#keys !== undefined && this.#keys !== before) return this.#keys;
    const nowMs = this.#parts.clock.monotonicMs();
    const isEarly = nowMs - before.fetchedMs < REFRESH_MIN_MS || nowMs - this.#failedMs < FAILURE_MS;
    return isEarly ? before : this.#fetch();
  }

  #fetch(): Promise<Keys> {
    this.#fetching ??= this.#fetchNow()
      .catch((error: unknown) => {
        this.#failedMs = this.#parts.clock.monotonicMs();
        throw error;
      })
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  async #fetchNow(): Promise<Keys> {
    const { client, clock, issuerUrl } = this.#parts;
    const { createLocalJWKSet } = await import('jose');
    const base = issuerUrl.replace(/\/$/, '');
    const document = asObject(await client.get(`${base}/.well-known/openid-configuration`, FETCH_DEADLINE_MS));
    if (document.issuer !== issuerUrl) throw new Error('the provider says it is another issuer');
    const keySetUrl = asText(document.jwks_uri);
    if (!keySetUrl.startsWith('https://')) throw new Error('the provider names no https address of its keys');
    const keySet = (await client.get(keySetUrl, FETCH_DEADLINE_MS)) as JSONWebKeySet;
    this.#keys = { keyOf: createLocalJWKSet(keySet), fetchedMs: clock.monotonicMs() };
    return this.#keys;
  }
}

/** A token that names no key may be signed with any of several. */
async function withAnyKey<T>(keyOf: JWTVerifyGetKey, use: (key: JWTVerifyGetKey) => Promise<T>): Promise<T> {
  try {
    return await use(keyOf);
  } catch (error) {
    if (codeOf(error) !== 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') throw error;
    let last: unknown = error;
    for await (const key of error as AsyncIterable<CryptoKey>) {
      try {
        return await use(async () => key);
      } catch (failed) {
        if (codeOf(failed) !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') throw failed;
        last = failed;
      }
    }
    throw last;
  }
}

function isUnknownKey(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ERR_JWKS_NO_MATCHING_KEY' || code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED';
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

/** Whose token it says it is; empty for what is no token of this form. Nothing is verified. */
export function issuerOf(token: string): string {
  const [, payload = '', signature, more] = token.split('.', 4);
  return signature === undefined || more !== undefined ? '' : asText(partOf(payload).iss);
}
