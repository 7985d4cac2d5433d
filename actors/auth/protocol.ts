// What the auth actor understands: who is asking, may they, what may they, and tokens for service accounts.
import type { AccessAttributes, User } from '../../api/authorization/attributes.ts';
import type { Grant } from '../../api/authorization/grant.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { SecretTokenSubject, TokenSubject } from '../../api/tokens/service-account-claims.ts';
import type { Protocol } from '../../runtime/actor.ts';
import type { PeerCertificate } from '../../transport/http.ts';
import type { StoreFeedTells } from '../store/protocol.ts';

/** Resources a user may act on, as rule reviews list them; `*` stands for all. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Paths that are no resources. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** A token to be issued; who may have it, and that everything it names exists, has been seen to. */
export interface TokenOrder {
  readonly subject: TokenSubject;
  /** Empty: the server's own. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

export interface IssuedToken {
  readonly refused?: undefined;
  readonly token: string;
  readonly audiences: readonly string[];
  /** What was asked for, or the longest that the operator allows. */
  readonly expirationSeconds: number;
  readonly expiresMs: number;
}

/** What of a request says who asks. */
export interface Credentials {
  /** The Authorization header as sent. */
  readonly authorization: string;
  /** The certificate that the client showed. */
  readonly peerCertificate?: PeerCertificate;
  /** What an authenticating proxy says of the user, where one is trusted. */
  readonly proxied?: ProxiedIdentity;
}

/** A user as the headers of a proxy name them (SPEC.md "Authenticating proxy"). */
export interface ProxiedIdentity {
  readonly name: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface Admitted {
  /** Whom the request runs as; null when no method accepts the credentials: 401. */
  readonly user: User | null;
  /** Who asked to run it as `user`. */
  readonly impersonator?: User;
  /** Why it is allowed, where there is more to say than that it is. */
  readonly reason?: string;
  readonly refusal?: AccessRefusal;
}

/** What is not allowed, to whom, and why in words that may be empty: 403. */
export interface AccessRefusal {
  readonly user: User;
  readonly access: AccessAttributes;
  readonly reason: string;
  /** Why it could not be decided: 500. */
  readonly error?: string;
}

export interface AuthProtocol extends Protocol {
  readonly asks: {
    /** Who asks, and may they: one message a request. */
    readonly admit: {
      readonly message: Credentials & {
        readonly access: AccessAttributes;
        /** Whom the request is to run as; null: it fails for what it says of that, and all there is to know is who asks. */
        readonly impersonate?: User | null;
      };
      readonly reply: Admitted;
    };
    readonly authorize: {
      readonly message: { readonly user: User; readonly access: AccessAttributes };
      /** `denied`: nobody else would have been asked. `error`: why it could not be decided; only where it is not allowed. */
      readonly reply: {
        readonly allowed: boolean;
        readonly denied: boolean;
        readonly reason: string;
        readonly error?: string;
      };
    };
    /** Whether a user may give others what a role or binding in the namespace (empty: the cluster) gives. */
    readonly mayGrant: {
      readonly message: { readonly user: User; readonly namespace: string; readonly grant: Grant };
      /** `problem` is empty where they may. */
      readonly reply: { readonly isRoleMissing: boolean; readonly problem: string };
    };
    /** Everything a user may do in a namespace, as far as the authorizers can list it. */
    readonly rules: {
      readonly message: { readonly user: User; readonly namespace: string };
      readonly reply: {
        readonly resourceRules: readonly ResourceRule[];
        readonly nonResourceRules: readonly NonResourceRule[];
        readonly incomplete: boolean;
        readonly evaluationError: string;
      };
    };
    /** Whose token it is, and for which of `audiences` (empty: the server's own) it is good. */
    readonly reviewToken: {
      readonly message: { readonly token: string; readonly audiences: readonly string[] };
      readonly reply: { readonly user: User | null; readonly audiences: readonly string[]; readonly error: string };
    };
    readonly issueToken: {
      readonly message: TokenOrder;
      readonly reply: IssuedToken | { readonly refused: 'noKey' };
    };
    /** A token that is to be kept in a secret; whoever asks keeps it there. */
    readonly issueKeptToken: {
      readonly message: { readonly subject: SecretTokenSubject };
      readonly reply: { readonly refused?: undefined; readonly token: string } | { readonly refused: 'noKey' };
    };
    /** What others need to verify this server's tokens (OpenID Connect Discovery); null where there is no such. */
    readonly issuer: {
      readonly message: Record<never, never>;
      readonly reply: { readonly configuration: JsonObject | null; readonly keySet: JsonObject | null };
    };
  };
  readonly tells: StoreFeedTells;
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly auth: AuthProtocol;
  }
}
