// Tokens of service accounts: issues them and tells whose they are. Owns the keys, which are read from their PEM text when
// first needed. A token dies with its account, and with the pod or secret it is bound to: they are looked up each time.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { User } from '../../../api/authorization/attributes.ts';
import type { JsonObject } from '../../../api/json-value.ts';
import { isSignedBy, keySet, readJwt, signJwt, type TokenKey, tokenKey } from '../../../api/tokens/jwt.ts';
import {
  claimsOf,
  type ReadClaims,
  readClaims,
  timeProblem,
  userOfSubject,
} from '../../../api/tokens/service-account-claims.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { Freshness } from '../../hub/protocol.ts';
import type { IssuedToken, TokenOrder } from '../protocol.ts';
import { type TokenAuthenticator, type TokenOwner, withAuthenticatedGroup } from './authenticator.ts';
import type { FindIdentity } from './identities.ts';

/** The issuer, as the operator set it. Plain data. */
export interface ServiceAccountIssuer {
  readonly issuer: string;
  /** See `ServiceAccountTokens.audiences`. */
  readonly audiences: readonly string[];
  /** PEM of a private key; empty: tokens are verified only. */
  readonly signingKeyPem: string;
  /** PEM of one public or private key each. */
  readonly verificationKeyPems: readonly string[];
  readonly keySetUri: string;
  /** `--service-account-max-token-expiration`; 0: no limit. */
  readonly expirationSecondsMax: number;
  /** `--service-account-extend-token-expiration`. */
  readonly extendsExpiration: boolean;
}

/** What injected tokens ask for: they are given a year, since old clients do not renew them. */
const INJECTED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;
/** A token outlives the start of its object's deletion by this. */
const DELETION_LEEWAY_MS = 60_000;
/** Good signatures that are remembered. */
const REMEMBERED_MAX = 10_000;
const FRESHNESS: readonly Freshness[] = [{ kind: 'any' }, { kind: 'mostRecent' }];
const STORAGE_KEYS = { pod: 'core/pods', secret: 'core/secrets' } as const;

interface Keys {
  readonly signing: TokenKey | undefined;
  readonly verification: readonly TokenKey[];
}

export class ServiceAccountTokens implements TokenAuthenticator {
  readonly name = 'service accounts';
  readonly #clock: Clock;
  readonly #dialect: Dialect;
  readonly #issuer: ServiceAccountIssuer;
  readonly #find: FindIdentity;
  #keys: Keys | undefined;
  /** Claims by the token's digest. */
  readonly #verified = new Map<string, ReadClaims>();
  readonly #users = new WeakMap<ReadClaims, User>();

  constructor(clock: Clock, dialect: Dialect, issuer: ServiceAccountIssuer, find: FindIdentity) {
    this.#clock = clock;
    this.#dialect = dialect;
    this.#issuer = issuer;
    this.#find = find;
  }

  /** Of which a token must name one to be good for this server. */
  get audiences(): readonly string[] {
    return this.#issuer.audiences;
  }

  /** A new token; undefined without a key to sign it. */
  async issue({ subject, audiences, expirationSeconds: asked }: TokenOrder): Promise<IssuedToken | undefined> {
    const { issuer, audiences: own, expirationSecondsMax: most, extendsExpiration } = this.#issuer;
    const { signing } = this.#loaded();
    if (signing === undefined) return undefined;
    const expirationSeconds = most > 0 ? Math.min(asked, most) : asked;
    const given = audiences.length === 0 ? own : audiences;
    const isInjected =
      extendsExpiration &&
      subject.bound?.kind === 'pod' &&
      expirationSeconds === INJECTED_SECONDS &&
      given.length === own.length &&
      given.every((audience) => own.includes(audience));
    const nowMs = this.#clock.nowMs();
    const issuedSeconds = Math.floor(nowMs / 1000);
    const terms = {
      issuer,
      audiences: given,
      issuedSeconds,
      expirySeconds: issuedSeconds + (isInjected ? EXTENDED_SECONDS : expirationSeconds),
      warnAfterSeconds: isInjected ? issuedSeconds + expirationSeconds : undefined,
    };
    const token = await signJwt(claimsOf(subject, terms, this.#dialect), signing);
    return { token, audiences: given, expirationSeconds, expiresMs: (issuedSeconds + expirationSeconds) * 1000 };
  }

  /** Undefined for what is no token of this issuer: others may know it. `digest` is that of the token. */
  async owner(token: string, digest: string, audiences: readonly string[]): Promise<TokenOwner | undefined> {
    const claims = this.#verified.get(digest) ?? (await this.#verify(token, digest));
    if (claims === undefined || typeof claims === 'string') {
      return claims === undefined ? undefined : { user: null, error: claims };
    }
    const problem = timeProblem(claims, this.#clock.nowMs()) ?? (await this.#goneProblem(claims));
    if (problem !== undefined) return { user: null, error: problem };
    const asked = audiences.length === 0 ? this.#issuer.audiences : audiences;
    const good = claims.audiences.filter((audience) => asked.includes(audience));
    if (good.length === 0) return { user: null, error: 'the token is for other audiences' };
    return { user: this.#userOf(claims), audiences: good };
  }

  /** OpenID Connect Discovery, for issuers that are an https address. */
  async documents(): Promise<{ readonly configuration: JsonObject | null; readonly keySet: JsonObject | null }> {
    const { issuer, keySetUri } = this.#issuer;
    if (!issuer.startsWith('https://')) return { configuration: null, keySet: null };
    const { verification } = this.#loaded();
    const configuration = {
      issuer,
      jwks_uri: keySetUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(verification.map(({ algorithm }) => algorithm))].sort(),
    };
    return { configuration, keySet: await keySet(verification) };
  }

  /** One object a token for as long as it is remembered: authorization keeps what it found out about a user. */
  #userOf(claims: ReadClaims): User {
    let user = this.#users.get(claims);
    if (user === undefined) {
      user = withAuthenticatedGroup(userOfSubject(claims.subject, this.#dialect));
      this.#users.set(claims, user);
    }
    return user;
  }

  async #verify(token: string, digest: string): Promise<ReadClaims | string | undefined> {
    const jwt = await readJwt(token);
    if (jwt === undefined || jwt.claims.iss !== this.#issuer.issuer) return undefined;
    if (!(await isSignedBy(jwt, this.#loaded().verification))) return 'the signature of the token is not valid';
    const claims = readClaims(jwt.claims, this.#dialect);
    if (typeof claims === 'string') return claims;
    if (this.#verified.size >= REMEMBERED_MAX) this.#verified.clear();
    this.#verified.set(digest, claims);
    return claims;
  }

  async #goneProblem({ subject }: ReadClaims): Promise<string | undefined> {
    const { namespace, serviceAccount, bound } = subject;
    if (!(await this.#lives('core/serviceaccounts', namespace, serviceAccount)))
      return 'the service account of the token is gone';
    if (bound === undefined || (await this.#lives(STORAGE_KEYS[bound.kind], namespace, bound))) return undefined;
    return `the ${bound.kind} that the token is bound to is gone`;
  }

  async #lives(
    storageKey: string,
    namespace: string,
    { name, uid }: { readonly name: string; readonly uid: string },
  ): Promise<boolean> {
    for (const freshness of FRESHNESS) {
      const identity = await this.#find(storageKey, namespace, name, freshness);
      if (identity?.uid !== uid) continue;
      return identity.deletedMs + DELETION_LEEWAY_MS > this.#clock.nowMs();
    }
    return false;
  }

  #loaded(): Keys {
    if (this.#keys !== undefined) return this.#keys;
    const { signingKeyPem, verificationKeyPems } = this.#issuer;
    const signing = signingKeyPem === '' ? undefined : tokenKey(createPrivateKey(signingKeyPem));
    const others = verificationKeyPems.map((pem) => tokenKey(createPublicKey(pem)));
    this.#keys = { signing, verification: signing === undefined ? others : [signing, ...others] };
    return this.#keys;
  }
}
