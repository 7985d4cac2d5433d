// Tokens of an OpenID Connect provider (SPEC.md "the service Connect tokens"; OpenID Connect Core 1.0, RFC 7519): whom their
// claims stand for. Who has signed them is issuer-keys.ts.
import type { JWTPayload } from 'jose';
import { asText, asTexts } from '../../../api/json/object-fields.ts';
import { unmarshalText } from '../../../api/json/unmarshal-text.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { Kept } from '../../../values/kept.ts';
import { type TokenAuthenticator, type TokenOwner, withAuthenticatedGroup } from './authenticator.ts';
import { textProblem, verificationProblem } from './connect-problems.ts';
import { DistributedClaims } from './distributed-claims.ts';
import { IssuerKeys, issuerOf, KEYS_KEPT_MS } from './issuer-keys.ts';

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
  readonly client: Pick<ServiceClient, 'get' | 'getText'>;
  readonly clock: Clock;
}

const REMEMBERED_MAX = 10_000;
/** Groups that a token does not hold itself may change while it is valid. */
const ELSEWHERE_KEPT_MS = 10_000;

interface Remembered {
  readonly owner: TokenOwner;
  readonly untilMs: number;
}

export class ConnectTokens implements TokenAuthenticator {
  readonly #parts: ConnectParts;
  readonly #keys: IssuerKeys;
  readonly #distributed: DistributedClaims;
  /** Good tokens by digest. */
  readonly #verified = new Kept<string, Remembered>(REMEMBERED_MAX);

  constructor(parts: ConnectParts) {
    this.#parts = parts;
    const { client, clock, settings } = parts;
    const { algorithms, issuerUrl } = settings;
    this.#keys = new IssuerKeys({ client, clock, algorithms, issuerUrl });
    this.#distributed = new DistributedClaims({ client, clock, algorithms });
  }

  owner(token: string, digest: string): TokenOwner | undefined | Promise<TokenOwner | undefined> {
    const known = this.#verified.get(digest);
    if (known !== undefined) {
      if (this.#parts.clock.nowMs() < known.untilMs) return known.owner;
      this.#verified.delete(digest);
    }
    return issuerOf(token) === this.#parts.settings.issuerUrl ? this.#verify(token, digest) : undefined;
  }

  async #verify(token: string, digest: string): Promise<TokenOwner> {
    const { settings, clock } = this.#parts;
    const { clientId, groupsClaim, algorithms } = settings;
    let claims: JWTPayload;
    try {
      claims = await this.#keys.claimsOf(token, clientId);
    } catch (error) {
      const within = { audience: clientId, algorithms, nowMs: clock.nowMs() };
      return refused(`verify token: ${verificationProblem(error, token, within)}`);
    }
    const isElsewhere = groupsClaim !== '' && !Object.hasOwn(claims, groupsClaim);
    let groups: unknown;
    try {
      groups = isElsewhere ? await this.#distributed.value(claims, groupsClaim) : claims[groupsClaim];
    } catch (error) {
      const why = `while getting distributed claim ${JSON.stringify(groupsClaim)}: ${(error as Error).message}`;
      return refused(`could not expand distributed claims: ${why}`);
    }
    const owner = ownerOf(claims, groups, settings);
    if (owner.user !== null) {
      const keptMs = isElsewhere && groups !== undefined ? ELSEWHERE_KEPT_MS : KEYS_KEPT_MS;
      this.#verified.set(digest, { owner, untilMs: Math.min((claims.exp ?? 0) * 1000, clock.nowMs() + keptMs) });
    }
    return owner;
  }
}

function refused(problem: string): TokenOwner {
  return { user: null, error: `oidc: ${problem}` };
}

function ownerOf(claims: JWTPayload, groupsClaimed: unknown, settings: ConnectSettings): TokenOwner {
  const { usernameClaim, groupsClaim, groupsPrefix, requiredClaims } = settings;
  const name = asText(claims[usernameClaim]);
  // Kubernetes lets in who has an empty name.
  if (name === '') {
    const why = textProblem(claims[usernameClaim]) ?? 'claim is empty';
    return refused(`parse username claims ${JSON.stringify(usernameClaim)}: ${why}`);
  }
  const { email_verified: verified } = claims;
  if (usernameClaim === 'email' && verified !== undefined && verified !== true)
    return refused(
      verified === false || verified === null
        ? 'email not verified'
        : `parse 'email_verified' claim: ${unmarshalText(verified, 'bool')}`,
    );
  const groups = groupsClaim === '' ? [] : groupsOf(groupsClaimed);
  if (groups === undefined)
    return refused(`parse groups claim ${JSON.stringify(groupsClaim)}: ${unmarshalText(groupsClaimed, 'string')}`);
  for (const [claim, value] of Object.entries(requiredClaims)) {
    const problem = requiredProblem(claim, claims[claim], value);
    if (problem !== undefined) return refused(problem);
  }
  return {
    user: withAuthenticatedGroup({
      name: usernamePrefix(settings) + name,
      uid: '',
      groups: groups.map((group) => groupsPrefix + group),
      extra: {},
    }),
    audiences: undefined,
  };
}

function requiredProblem(claim: string, found: unknown, needed: string): string | undefined {
  if (found === undefined) return `required claim ${claim} not present in ID token`;
  const why = textProblem(found);
  if (why !== undefined) return `parse claim ${claim}: ${why}`;
  const text = asText(found);
  return text === needed ? undefined : `required claim ${claim} value does not match. Got = ${text}, want = ${needed}`;
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
