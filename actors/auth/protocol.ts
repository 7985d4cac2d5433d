// What the auth actor understands: who is asking, may they, what may they, and tokens for service accounts.
import type { JsonObject } from '../../api/json-value.ts';
import type { TokenSubject } from '../../api/tokens/service-account-claims.ts';
import type { Protocol } from '../../runtime/actor.ts';

/** The group that may do everything, whatever authorization says. */
export const SUPERUSERS = 'system:masters';

/** An authenticated user (SPEC.md "Principals and attributes"). */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What authorization decides about; also the attributes an audit event records. */
export interface AccessAttributes {
  readonly verb: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Non-resource requests only. */
  readonly path: string;
}

/** Resources a user may act on, as rule reviews list them; `*` stands for all. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
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

export interface AuthProtocol extends Protocol {
  readonly asks: {
    /** `authorization`: the header as sent. The answer is null when no method accepts the credentials: 401. */
    readonly authenticate: {
      readonly message: { readonly authorization: string; readonly peerCertificate?: Uint8Array };
      readonly reply: { readonly user: User | null };
    };
    readonly authorize: {
      readonly message: { readonly user: User; readonly access: AccessAttributes };
      readonly reply: { readonly allowed: boolean; readonly reason: string };
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
    /** What others need to verify this server's tokens (OpenID Connect Discovery); null where there is no such. */
    readonly issuer: {
      readonly message: Record<never, never>;
      readonly reply: { readonly configuration: JsonObject | null; readonly keySet: JsonObject | null };
    };
  };
  readonly tells: Record<never, never>;
}
