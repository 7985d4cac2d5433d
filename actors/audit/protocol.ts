// What the audit actor understands: the events that the policy asks for.
import type { AuditEvent } from '../../api/audit/event.ts';
import type { Protocol } from '../../runtime/actor.ts';

/** Of one answer; what is larger is not recorded. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

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
    /** Those of a turn. */
    readonly events: { readonly events: readonly UnreadAuditEvent[] };
  };
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly audit: AuditProtocol;
  }
}
