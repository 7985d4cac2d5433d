// What the audit actor understands: one record for each request that ended.
import type { Protocol } from '../../runtime/actor.ts';

/** When in a request's life a record was made (SPEC.md "Audit events"). */
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

/** One request, without anything of its content. */
export interface AuditRecord {
  readonly requestId: string;
  /** The user's name. */
  readonly user: string;
  readonly verb: string;
  /** Without the query, which may carry secrets. */
  readonly path: string;
  /** The HTTP status; 0 while there is none. */
  readonly code: number;
  readonly latencyMs: number;
  readonly stage: AuditStage;
  /** What the server has to say of the request, such as that it used a deprecated version. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface AuditProtocol extends Protocol {
  readonly asks: Record<never, never>;
  readonly tells: { readonly record: AuditRecord };
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly audit: AuditProtocol;
  }
}
