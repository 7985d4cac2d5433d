// What the audit actor understands: a line for each request that ended, and the events that the policy asks for.
import type { AuditEvent } from '../../api/audit/event.ts';
import type { Protocol } from '../../runtime/actor.ts';

/** One request, without anything of its content, for the log at debug level. */
export interface RequestLine {
  readonly requestId: string;
  /** The user's name. */
  readonly user: string;
  readonly verb: string;
  /** Without the query, which may carry secrets. */
  readonly path: string;
  /** The HTTP status; 0 while there is none. */
  readonly code: number;
  readonly latencyMs: number;
  /** What the server has to say of the request, such as that it used a deprecated version. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A body as it was sent. */
export interface AuditedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** An event whose bodies have not been read yet: it has no objects. */
export interface UnreadAuditEvent extends AuditEvent {
  /** Read for what the request is about, where it is not recorded itself. */
  readonly requestBody: AuditedBody | undefined;
  readonly responseBody: AuditedBody | undefined;
}

export interface AuditProtocol extends Protocol {
  readonly asks: {
    /** As `events`; answered when every backend that requests wait for has them. False: one that must have them has not. */
    readonly keep: {
      readonly message: { readonly events: readonly UnreadAuditEvent[] };
      readonly reply: { readonly isKept: boolean };
    };
  };
  readonly tells: {
    readonly record: RequestLine;
    /** Those of a turn. */
    readonly events: { readonly events: readonly UnreadAuditEvent[] };
  };
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly audit: AuditProtocol;
  }
}
