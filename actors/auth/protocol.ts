// What the auth actor understands: who is asking, and may they.
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
  };
  readonly tells: Record<never, never>;
}
