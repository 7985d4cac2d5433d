// Tokens of an OpenID Connect provider (SPEC.md "the service Connect tokens"; OpenID Connect Core 1.0, RFC 7519). The
// provider's keys are fetched when first needed, kept, and fetched again when a token names one that is not known; the
// provider is not asked about tokens. Signatures are verified outside the thread's turn.
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import { asObject, asText, asTexts } from '../../../api/object-fields.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { Kept } from '../kept.ts';
import { type TokenAuthenticator, type TokenOwner, withAuthenticatedGroup } from './authenticator.ts';

/** `--oidc-*`. Plain data. */
export interface ConnectSettings {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly usernameClaim: string;
  /** As given: empty for the standard one, `-` for none. */
  readonly usernamePrefix: string;
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly algorithms: readonly string[];
}

export interface ConnectParts {
  readonly settings: ConnectSettings;
  readonly client: Pick<ServiceClient, 'get'>;
  readonly clock: Clock;
  /** The server's own audiences, which a good token is good for. */
  readonly audiences: readonly string[];
}

const FETCH_DEADLINE_MS = 10_000;
/** Keys are asked for no oftener than this, whatever tokens name. */
const REFRESH_MIN_MS = 10_000;
/** Keys that a provider has taken back are forgotten after this. */
const KEYS_KEPT_MS = 15 * 60_000;
const REMEMBERED_MAX = 10_000;

interface Keys {
  readonly keyOf: JWTVerifyGetKey;
  readonly fetchedMs: number;
}

interface Remembered {
  readonly owner: TokenOwner;
  readonly expiresMs: number;
}

export class ConnectTokens implements TokenAuthenticator {
  readonly name = 'connect tokens';
  readonly #parts: ConnectParts;
  #keys: Keys | undefined;
  #fetching: Promise<Keys> | undefined;
  #triedMs = Number.NEGATIVE_INFINITY;
  /** Good tokens by digest, until they expire. */
  readonly #verified = new Kept<string, Remembered>(REMEMBERED_MAX);

  constructor(parts: ConnectParts) {
    this.#parts = parts;
  }

  owner(token: string, digest: string): TokenOwner | undefined | Promise<TokenOwner | undefined> {
    const known = this.#verified.get(digest);
    if (known !== undefined) {
      if (this.#parts.clock.nowMs() < known.expiresMs) return known.owner;
      this.#verified.delete(digest);
    }
    return issuerOf(token) === this.#parts.settings.issuerUrl ? this.#verify(token, digest) : undefined;
  }

  async #verify(token: string, digest: string): Promise<TokenOwner> {
    let claims: JWTPayload;
    try {
      claims = await this.#claimsOf(token);
    } catch {
      return refused('the token is not valid');
    }
    const owner = ownerOf(claims, this.#parts);
    if (owner.user !== null) this.#verified.set(digest, { owner, expiresMs: (claims.exp ?? 0) * 1000 });
    return owner;
  }

  async #claimsOf(token: string): Promise<JWTPayload> {
    const { jwtVerify } = await import('jose');
    const { settings, clock } = this.#parts;
    const verify = async ({ keyOf }: Keys): Promise<JWTPayload> => {
      const { payload } = await jwtVerify(token, keyOf, {
        algorithms: [...settings.algorithms],
        issuer: settings.issuerUrl,
        audience: settings.clientId,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ['exp'],
      });
      return payload;
    };
    const before = await this.#current();
    try {
      return await verify(before);
    } catch (error) {
      // The provider may have a new key.
      if (!isUnknownKey(error)) throw error;
      const after = await this.#refreshed(before);
      if (after === before) throw error;
      return verify(after);
    }
  }

  #current(): Promise<Keys> {
    const { clock } = this.#parts;
    if (this.#keys !== undefined && clock.monotonicMs() - this.#keys.fetchedMs < KEYS_KEPT_MS)
      return Promise.resolve(this.#keys);
    return this.#fetch();
  }

  #refreshed(before: Keys): Promise<Keys> {
    return this.#parts.clock.monotonicMs() - this.#triedMs < REFRESH_MIN_MS ? Promise.resolve(before) : this.#fetch();
  }

  #fetch(): Promise<Keys> {
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchNow(): Promise<Keys> {
    const { client, clock, settings } = this.#parts;
    this.#triedMs = clock.monotonicMs();
    const { createLocalJWKSet } = await import('jose');
    const base = settings.issuerUrl.replace(/\/$/, '');
    const document = asObject(await client.get(`${base}/.well-known/openid-configuration`, FETCH_DEADLINE_MS));
    if (document.issuer !== settings.issuerUrl) throw new Error('the provider says it is another issuer');
    const keySetUrl = asText(document.jwks_uri);
    if (!keySetUrl.startsWith('https://')) throw new Error('the provider names no https address of its keys');
    const keySet = (await client.get(keySetUrl, FETCH_DEADLINE_MS)) as JSONWebKeySet;
    this.#keys = { keyOf: createLocalJWKSet(keySet), fetchedMs: clock.monotonicMs() };
    return this.#keys;
  }
}

function isUnknownKey(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ERR_JWKS_NO_MATCHING_KEY' || code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED';
}

function refused(error: string): TokenOwner {
  return { user: null, error };
}

/** Whose token it says it is; empty for what is no token of this form. Nothing is verified. */
function issuerOf(token: string): string {
  const [, payload = ''] = token.split('.', 3);
  try {
    return asText(asObject(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))).iss);
  } catch {
    return '';
  }
}

function ownerOf(claims: JWTPayload, { settings, audiences }: ConnectParts): TokenOwner {
  const { usernameClaim, groupsClaim, groupsPrefix, requiredClaims } = settings;
  const name = asText(claims[usernameClaim]);
  if (name === '') return refused(`the token has no claim ${usernameClaim}`);
  if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true)
    return refused('the email of the token is not verified');
  for (const [claim, value] of Object.entries(requiredClaims))
    if (claims[claim] !== value) return refused(`the token does not have the claim ${claim} that is required`);
  const groups = groupsClaim === '' ? [] : groupsOf(claims[groupsClaim]);
  if (groups === undefined) return refused(`the claim ${groupsClaim} of the token is no list of texts`);
  return {
    user: withAuthenticatedGroup({
      name: usernamePrefix(settings) + name,
      uid: '',
      groups: groups.map((group) => groupsPrefix + group),
      extra: {},
    }),
    audiences,
  };
}

/** A list of texts, or one text. */
function groupsOf(claim: unknown): readonly string[] | undefined {
  if (claim === undefined || claim === null) return [];
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) && claim.every((group) => typeof group === 'string') ? asTexts(claim) : undefined;
}

function usernamePrefix({ issuerUrl, usernameClaim, usernamePrefix: prefix }: ConnectSettings): string {
  if (prefix === '-') return '';
  if (prefix !== '') return prefix;
  return usernameClaim === 'email' ? '' : `${issuerUrl}#`;
}
