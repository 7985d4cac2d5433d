// What an authenticator is, and how a chain of them finds out who asks (SPEC.md "Authentication"): any success ends it, a
// method that was tried and failed without another's success is a refusal, and only who tried nothing may be anonymous.
import type { User } from '../../../api/authorization/attributes.ts';
import { aggregate } from '../../../api/authorization/rbac-policy.ts';
import type { AuthenticationMetrics } from '../authentication-metrics.ts';
import type { Credentials } from '../protocol.ts';

/** Whose a token is and for which audiences, or why it is nobody's. */
export type TokenOwner =
  /** Without audiences of its own a token is good for whichever of the server's are asked about. */
  | { readonly user: User; readonly audiences: readonly string[] | undefined }
  /** Why it is no good, as token reviews say it; empty where there is no more to say than that nobody is known by it. */
  | { readonly user: null; readonly error: string };

/** Knows users by bearer tokens. */
export interface TokenAuthenticator {
  /**
   * Undefined for what is no token of its kind: others may know it.
   *
   * @param digest SHA-256 of the token, lower-case hexadecimal.
   * @param audiences of which the token must name one; empty: the server's own.
   */
  owner(
    token: string,
    digest: string,
    audiences: readonly string[],
  ): TokenOwner | undefined | Promise<TokenOwner | undefined>;
}

/** Knows users by other parts of a request than a bearer token. */
export interface RequestAuthenticator {
  /** Undefined where there is nothing of its kind in the request. */
  user(credentials: Credentials): User | RefusedCredentials | undefined;
}

/** Credentials that were looked at and are no good. */
export interface RefusedCredentials {
  readonly error: string;
}

const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
const ANONYMOUS: User = {
  name: 'system:anonymous',
  uid: '',
  groups: [UNAUTHENTICATED],
  extra: {},
};

/** Everyone who is known is in the group of the authenticated. Not so who is anonymous to a proxy that passes the request on. */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  const isPlaced = name === ANONYMOUS.name || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return isPlaced ? user : { ...user, groups: [...groups, AUTHENTICATED] };
}

const BEARER = 'bearer ';
const NO_AUDIENCES: readonly string[] = [];

/**
 * The bearer token of an Authorization header (RFC 6750 2.1): what stands between the first blank and the next. Undefined where there is
 * none: two blanks in a row have nothing between them, for whoever looks at the header before us as well.
 */
export function bearerTokenOf(authorization: string): string | undefined {
  const trimmed = authorization.trim();
  if (trimmed.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined;
  const end = trimmed.indexOf(' ', BEARER.length);
  const token = end < 0 ? trimmed.slice(BEARER.length) : trimmed.slice(BEARER.length, end);
  return token === '' ? undefined : token;
}

export interface AuthenticatorChainParts {
  readonly requests: readonly RequestAuthenticator[];
  readonly tokens: readonly TokenAuthenticator[];
  /** Requests without credentials go on as `system:anonymous`. */
  readonly anonymous: boolean;
  readonly digestOf: (token: string) => string;
  readonly metrics: AuthenticationMetrics;
}

/** Asks every method. Answers at once where no method has to wait. */
export class AuthenticatorChain {
  readonly #parts: AuthenticatorChainParts;

  constructor(parts: AuthenticatorChainParts) {
    this.#parts = parts;
  }

  /** Null: credentials that nobody accepts, or none where some are needed. */
  user(credentials: Credentials): User | null | Promise<User | null> {
    const beganMs = this.#parts.metrics.now();
    let isRefused = false;
    for (const method of this.#parts.requests) {
      const found = method.user(credentials);
      if (found === undefined) continue;
      if ('name' in found) return this.#attempted(found, beganMs);
      isRefused = true;
    }
    return this.#byToken(credentials, isRefused, beganMs);
  }

  /** Whose a token is; `error` is for the one who asks about it. */
  token(
    token: string,
    audiences: readonly string[],
    beganMs = this.#parts.metrics.now(),
  ): TokenOwner | Promise<TokenOwner> {
    const { digestOf, metrics } = this.#parts;
    const owner = this.#tokenFrom(0, token, digestOf(token), audiences, NO_ERRORS);
    if (owner instanceof Promise) return metrics.found(owner, beganMs);
    metrics.known(beganMs);
    return owner;
  }

  #byToken({ authorization }: Credentials, isRefused: boolean, beganMs: number): User | null | Promise<User | null> {
    const token = bearerTokenOf(authorization);
    // Credentials of another scheme: nobody looked at them, so the request counts as one without.
    if (token === undefined) {
      if (this.#parts.anonymous && !isRefused) return this.#attempted(ANONYMOUS, beganMs);
      this.#parts.metrics.attempted(isRefused ? 'error' : 'failure', '', beganMs);
      return null;
    }
    const owner = this.token(token, NO_AUDIENCES, beganMs);
    return owner instanceof Promise
      ? owner.then(({ user }) => this.#attempted(user, beganMs))
      : this.#attempted(owner.user, beganMs, this.#parts.metrics.endedMs);
  }

  /** `endedMs`: absent: now. */
  #attempted(user: User | null, beganMs: number, endedMs?: number): User | null {
    const { metrics } = this.#parts;
    if (user === null) metrics.attempted('error', '', beganMs, endedMs);
    else metrics.attempted('success', user.name, beganMs, endedMs);
    return user;
  }

  #tokenFrom(
    index: number,
    token: string,
    digest: string,
    audiences: readonly string[],
    before: readonly string[],
  ): TokenOwner | Promise<TokenOwner> {
    const { tokens } = this.#parts;
    let errors = before;
    for (let i = index; i < tokens.length; i++) {
      const found = tokens[i]!.owner(token, digest, audiences);
      if (found instanceof Promise) {
        return found.then((owner) =>
          owner?.user ? owner : this.#tokenFrom(i + 1, token, digest, audiences, withError(errors, owner)),
        );
      }
      if (found?.user) return found;
      errors = withError(errors, found);
    }
    return errors.length === 0 ? UNKNOWN : { user: null, error: aggregate([UNKNOWN.error, ...errors]) };
  }
}

/** As Kubernetes 1.21 says it, of every token that nobody accepts, before what is against it. */
export const UNKNOWN = { user: null, error: 'invalid bearer token' } as const satisfies TokenOwner;
const NO_ERRORS: readonly string[] = [];

/** What everybody who was asked had against a token. */
function withError(errors: readonly string[], owner: TokenOwner | undefined): readonly string[] {
  return owner === undefined || owner.user !== null || owner.error === '' ? errors : [...errors, owner.error];
}
