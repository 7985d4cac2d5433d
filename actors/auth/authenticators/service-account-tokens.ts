// Tokens of service accounts: issues them and tells whose they are. Owns the keys, which are read from their PEM text when
// first needed, and the claims of tokens whose signature was good. A token dies with its account, and with the pod or secret
// it is bound to, which are looked at each time.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { User } from '../../../api/authorization/attributes.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { isSignedBy, keySet, readJwt, signJwt, type TokenKey, tokenKey } from '../../../api/tokens/jwt.ts';
import {
  claimsOf,
  type ReadClaims,
  readClaims,
  readSecretTokenClaims,
  type SecretTokenSubject,
  secretTokenClaims,
  secretTokenIssuer,
  timeProblem,
  userOfSubject,
} from '../../../api/tokens/service-account-claims.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import { whenThere } from '../../../runtime/soon.ts';
import { Kept } from '../../../values/kept.ts';
import type { IssuedToken, TokenOrder } from '../protocol.ts';
import { type TokenAuthenticator, type TokenOwner, withAuthenticatedGroup } from './authenticator.ts';
import { type Identities, type Identity, type Spoken, spokenFor } from './identities.ts';
import type { TokenUses } from './token-uses.ts';

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
  /** `--service-account-lookup`: a token that is kept in a secret must still be there. */
  readonly looksUpSecrets: boolean;
}

/** What injected tokens ask for: they are given a year, since old clients do not renew them. */
const INJECTED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;
/** A token outlives the start of its object's deletion by this, unless it is kept in a secret. */
const DELETION_LEEWAY_MS = 60_000;
/** Problems are told in the words of Kubernetes 1.21: who asks by a token review shows them. */
const INVALIDATED = 'Token has been invalidated';
/** Good signatures that are remembered. */
const REMEMBERED_MAX = 10_000;

interface Keys {
  readonly signing: TokenKey | undefined;
  readonly verification: readonly TokenKey[];
}

/** A token whose signature is good. Its owner is one object: authorization keeps what it found out about a user. */
interface VerifiedToken {
  readonly claims: ReadClaims;
  readonly user: User;
  /** What it dies with, and the uids that it knows them by. */
  readonly account: Spoken;
  readonly bound: Spoken | undefined;
  /** Of one that is kept in a secret, which then is `bound`: the secret holds this very token. Empty for others. */
  readonly keptDigest: string;
  /** For the server's own audiences; undefined where it is for none of them. */
  readonly owner: TokenOwner | undefined;
}

export class ServiceAccountTokens implements TokenAuthenticator {
  readonly #clock: Clock;
  readonly #dialect: Dialect;
  readonly #issuer: ServiceAccountIssuer;
  readonly #identities: Pick<Identities, 'find'>;
  readonly #uses: TokenUses;
  #keys: Keys | undefined;
  /** By the token's digest. */
  readonly #verified = new Kept<string, VerifiedToken>(REMEMBERED_MAX);

  constructor(
    clock: Clock,
    dialect: Dialect,
    issuer: ServiceAccountIssuer,
    identities: Pick<Identities, 'find'>,
    uses: TokenUses,
  ) {
    this.#clock = clock;
    this.#dialect = dialect;
    this.#issuer = issuer;
    this.#identities = identities;
    this.#uses = uses;
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

  /** A token to be kept in a secret, which never expires; undefined without a key to sign it. */
  async issueKept(subject: SecretTokenSubject): Promise<string | undefined> {
    const { signing } = this.#loaded();
    return signing && signJwt(secretTokenClaims(subject, this.#dialect), signing);
  }

  /** Undefined for what is no token of this issuer: others may know it. `digest` is that of the token. */
  owner(
    token: string,
    digest: string,
    audiences: readonly string[],
  ): TokenOwner | undefined | Promise<TokenOwner | undefined> {
    const known = this.#verified.get(digest);
    return known === undefined ? this.#ownerOfUnknown(token, digest, audiences) : this.#ownerOf(known, audiences);
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

  async #ownerOfUnknown(token: string, digest: string, audiences: readonly string[]): Promise<TokenOwner | undefined> {
    const read = await this.#verify(token);
    if (read === undefined) return undefined;
    if (typeof read === 'string') return { user: null, error: read };
    const { claims: found, isKept } = read;
    const renewalSeconds = isKept ? 0 : found.warnAfterSeconds;
    const user = withAuthenticatedGroup({
      ...userOfSubject(found.subject, this.#dialect),
      ...(renewalSeconds === undefined ? undefined : { renewalSeconds }),
    });
    const own = ownedFor(user, found, this.#issuer.audiences);
    const { namespace, serviceAccount, bound } = found.subject;
    const verified = {
      claims: found,
      user,
      account: spokenFor('account', namespace, serviceAccount.name),
      bound: bound && spokenFor(bound.kind, namespace, bound.name),
      keptDigest: isKept ? digest : '',
      owner: own.user === null ? undefined : own,
    };
    this.#verified.set(digest, verified);
    return this.#ownerOf(verified, audiences);
  }

  #ownerOf(token: VerifiedToken, audiences: readonly string[]): TokenOwner | Promise<TokenOwner> {
    const { claims, user, owner } = token;
    const isForUs = audiences.length === 0;
    const found = (isForUs ? owner : undefined) ?? ownedFor(user, claims, isForUs ? this.#issuer.audiences : audiences);
    if (found.user === null) return found;
    const problem = timeProblem(claims, this.#clock.nowMs());
    if (problem !== undefined) return { user: null, error: problem };
    return whenThere(this.#goneProblem(token), (gone) => {
      if (gone !== undefined) return { user: null, error: gone };
      this.#used(token);
      return found;
    });
  }

  #used({ claims: { warnAfterSeconds }, keptDigest }: VerifiedToken): void {
    if (keptDigest !== '') this.#uses.legacy.add(1);
    else if (warnAfterSeconds !== undefined)
      (this.#clock.nowMs() > warnAfterSeconds * 1000 ? this.#uses.stale : this.#uses.valid).add(1);
  }

  async #verify(token: string): Promise<{ claims: ReadClaims; isKept: boolean } | string | undefined> {
    const jwt = await readJwt(token);
    const isKept = jwt?.claims.iss === secretTokenIssuer(this.#dialect);
    if (jwt === undefined || !(isKept || jwt.claims.iss === this.#issuer.issuer)) return undefined;
    if (!(await isSignedBy(jwt, this.#loaded().verification)))
      return 'square/go-jose: error in cryptographic primitive';
    const claims = isKept ? this.#keptClaims(jwt.claims) : readClaims(jwt.claims, this.#dialect);
    return typeof claims === 'string' ? claims : { claims, isKept };
  }

  /** A token that is kept in a secret is good for this server, for as long as it is kept. */
  #keptClaims(claims: JsonObject): ReadClaims | string {
    const subject = readSecretTokenClaims(claims, this.#dialect);
    if (typeof subject === 'string') return subject;
    const { namespace, serviceAccount, secretName } = subject;
    return {
      subject: { namespace, serviceAccount, bound: { kind: 'secret', name: secretName, uid: '' } },
      audiences: this.#issuer.audiences,
      notBeforeSeconds: 0,
      expirySeconds: Number.POSITIVE_INFINITY,
      warnAfterSeconds: undefined,
    };
  }

  #goneProblem(token: VerifiedToken): string | undefined | Promise<string | undefined> {
    if (token.keptDigest !== '' && !this.#issuer.looksUpSecrets) return undefined;
    return whenThere(this.#identities.find(token.account), (identity) => {
      const problem = this.#accountProblem(token, identity);
      if (problem !== undefined || token.bound === undefined) return problem;
      return whenThere(this.#identities.find(token.bound), (found) => this.#boundProblem(token, found));
    });
  }

  #accountProblem({ claims, keptDigest }: VerifiedToken, found: Identity | undefined): string | undefined {
    const { namespace, serviceAccount } = claims.subject;
    const { name, uid } = serviceAccount;
    if (found === undefined) return `serviceaccounts ${JSON.stringify(name)} not found`;
    if (this.#isDeleted(found, keptDigest === '' ? DELETION_LEEWAY_MS : 0))
      return `ServiceAccount ${namespace}/${name} has been deleted`;
    return found.uid === uid ? undefined : otherUid('ServiceAccount', found, uid);
  }

  #boundProblem({ claims, keptDigest }: VerifiedToken, found: Identity | undefined): string | undefined {
    if (keptDigest !== '') {
      if (found === undefined || found.deletedMs !== Number.POSITIVE_INFINITY) return INVALIDATED;
      return found.tokenDigest === keptDigest ? undefined : "Token does not match server's copy";
    }
    const { kind, uid } = claims.subject.bound!;
    if (found === undefined || this.#isDeleted(found, DELETION_LEEWAY_MS)) return INVALIDATED;
    return found.uid === uid ? undefined : otherUid(kind === 'pod' ? 'Pod' : 'Secret', found, uid);
  }

  #isDeleted({ deletedMs }: Identity, leewayMs: number): boolean {
    return deletedMs + leewayMs <= this.#clock.nowMs();
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

function otherUid(kind: string, { uid }: Identity, claimed: string): string {
  return `${kind} UID (${uid}) does not match claim (${claimed})`;
}

/** The owner of a token with good claims, if it is for one of the audiences, which are told in the order in which they are asked for. */
function ownedFor(user: User, claims: ReadClaims, audiences: readonly string[]): TokenOwner {
  const good = audiences.filter((audience) => claims.audiences.includes(audience));
  if (good.length > 0) return { user, audiences: good };
  const [named, asked] = [claims.audiences, audiences].map((list) => list.map((one) => JSON.stringify(one)).join(' '));
  return { user: null, error: `token audiences [${named}] is invalid for the target audiences [${asked}]` };
}
