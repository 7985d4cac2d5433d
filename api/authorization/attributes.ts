// Whom authorization decides about, and what. Types only; the actor that decides is actors/auth.

/** The group that may do everything, whatever the authorizers say. */
export const SUPERUSERS = 'system:masters';

/** An authenticated user (SPEC.md "Principals and attributes"). */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /**
   * From when on the token that was shown should have been renewed, in seconds of wall time; 0: it is kept in a secret, and should be
   * one that is renewed. Absent for everybody else. Recorded, and looked at by nobody who decides.
   */
  readonly renewalSeconds?: number;
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

/** A request for a path that is no resource. */
export function pathAccess(verb: string, path: string): AccessAttributes {
  return {
    verb,
    isResource: false,
    group: '',
    version: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    path,
  };
}
