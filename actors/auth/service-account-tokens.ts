// Tokens of service accounts: issues them and tells whose they are. Owns the keys, which are read from their PEM text when
// first needed. A token dies with its account, and with the pod or secret it is bound to: the hub is asked each time.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import { isSignedBy, keySet, parseJwt, signJwt, type TokenKey, tokenKey } from '../../api/tokens/jwt.ts';
import {
  claimsOf,
  type ReadClaims,
  readClaims,
  timeProblem,
  userOfSubject,
} from '../../api/tokens/service-account-claims.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import { valueView } from '../../storage/slab-record.ts';
import { SLAB_VIEW, SlabView } from '../../storage/slab-view.ts';
import { decodeStored } from '../../storage/stored-json.ts';
import type { Freshness, HubProtocol } from '../hub/protocol.ts';
import type { IssuedToken, TokenOrder, User } from './protocol.ts';

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
/** Good signatures that are remembered, and objects. */
const REMEMBERED_MAX = 10_000;
const HUB_DEADLINE_MS = 10_000;
const FRESHNESS: readonly Freshness[] = [{ kind: 'any' }, { kind: 'mostRecent' }];
const STORAGE_KEYS = { pod: 'core/pods', secret: 'core/secrets' } as const;

/** Whose a token is and for which audiences, or why it is nobody's. */
export type TokenOwner =
  | { readonly user: User; readonly audiences: readonly string[] }
  | { readonly user: null; readonly error: string };

interface Keys {
  readonly signing: TokenKey | undefined;
  readonly verification: readonly TokenKey[];
}

interface Identity {
  readonly revision: number;
  readonly uid: string;
  readonly deletedMs: number;
}

export class ServiceAccountTokens {
  readonly #context: ActorContext;
  readonly #dialect: Dialect;
  readonly #issuer: ServiceAccountIssuer;
  readonly #slabs: SlabView;
  #hub: Ref<HubProtocol> | undefined;
  #keys: Keys | undefined;
  /** Claims by the token's digest. */
  readonly #verified = new Map<string, ReadClaims>();
  readonly #identities = new Map<string, Identity>();

  constructor(context: ActorContext, dialect: Dialect, issuer: ServiceAccountIssuer) {
    this.#context = context;
    this.#dialect = dialect;
    this.#issuer = issuer;
    this.#slabs = context.threadLocal(SLAB_VIEW, () => new SlabView());
  }

  /** Of which a token must name one to be good for this server. */
  get audiences(): readonly string[] {
    return this.#issuer.audiences;
  }

  /** A new token; undefined without a key to sign it. */
  issue({ subject, audiences, expirationSeconds: asked }: TokenOrder): IssuedToken | undefined {
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
    const nowMs = this.#context.clock.nowMs();
    const issuedSeconds = Math.floor(nowMs / 1000);
    const terms = {
      issuer,
      audiences: given,
      issuedSeconds,
      expirySeconds: issuedSeconds + (isInjected ? EXTENDED_SECONDS : expirationSeconds),
      warnAfterSeconds: isInjected ? issuedSeconds + expirationSeconds : undefined,
    };
    const token = signJwt(claimsOf(subject, terms, this.#dialect), signing);
    return { token, audiences: given, expirationSeconds, expiresMs: (issuedSeconds + expirationSeconds) * 1000 };
  }

  /** Undefined for what is no token of this issuer: others may know it. `digest` is that of the token. */
  async owner(token: string, digest: string, audiences: readonly string[]): Promise<TokenOwner | undefined> {
    const claims = this.#verified.get(digest) ?? this.#verify(token, digest);
    if (claims === undefined || typeof claims === 'string') {
      return claims === undefined ? undefined : { user: null, error: claims };
    }
    const problem = timeProblem(claims, this.#context.clock.nowMs()) ?? (await this.#goneProblem(claims));
    if (problem !== undefined) return { user: null, error: problem };
    const asked = audiences.length === 0 ? this.#issuer.audiences : audiences;
    const good = claims.audiences.filter((audience) => asked.includes(audience));
    if (good.length === 0) return { user: null, error: 'the token is for other audiences' };
    return { user: userOfSubject(claims.subject, this.#dialect), audiences: good };
  }

  /** OpenID Connect Discovery, for issuers that are an https address. */
  documents(): { readonly configuration: JsonObject | null; readonly keySet: JsonObject | null } {
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
    return { configuration, keySet: keySet(verification) };
  }

  #verify(token: string, digest: string): ReadClaims | string | undefined {
    const jwt = parseJwt(token);
    if (jwt === undefined || jwt.claims.iss !== this.#issuer.issuer) return undefined;
    if (!isSignedBy(jwt, this.#loaded().verification)) return 'the signature of the token is not valid';
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
      const identity = await this.#identityOf(storageKey, namespace, name, freshness);
      if (identity?.uid !== uid) continue;
      return identity.deletedMs + DELETION_LEEWAY_MS > this.#context.clock.nowMs();
    }
    return false;
  }

  async #identityOf(
    storageKey: string,
    namespace: string,
    name: string,
    freshness: Freshness,
  ): Promise<Identity | undefined> {
    this.#hub ??= this.#context.ref<HubProtocol>('hub');
    const answer = await this.#hub.ask(
      { type: 'get', storageKey, namespace, name, freshness },
      { deadlineMs: HUB_DEADLINE_MS },
    );
    if (answer.refused !== undefined) throw new OrchError('ActorDown', 'the store has not been read yet');
    if (answer.place === null) return undefined;
    const key = `${storageKey}/${namespace}/${name}`;
    const { slab, offset, revision } = answer.place;
    const known = this.#identities.get(key);
    if (known?.revision === revision) return known;
    const { uid = '', deletionTimestamp } = metadataOf(decodeStored(valueView(this.#slabs.slab(slab), offset)));
    const deletedMs = deletionTimestamp ? Date.parse(deletionTimestamp) : Number.POSITIVE_INFINITY;
    const identity = { revision, uid, deletedMs };
    if (this.#identities.size >= REMEMBERED_MAX) this.#identities.clear();
    this.#identities.set(key, identity);
    return identity;
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
