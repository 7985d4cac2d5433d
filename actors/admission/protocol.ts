// What admission understands: writes, from HTTP requests, the scheduler and controllers alike.

import type { User } from '../../api/authorization/attributes.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Status } from '../../api/status/status.ts';
import type { WriteVerb } from '../../api/verbs.ts';
import type { AdmissionPluginName } from '../../config/admission-plugins.ts';
import type { ValueList } from '../../rendering/value-pieces.ts';
import type { Protocol } from '../../runtime/actor.ts';
import type { PublishedPlace, StoreFeedTells } from '../store/protocol.ts';

/** What is written to: the parts of a resource path. */
export interface WriteTarget {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /**
   * What no request is, in Kubernetes either: what ends a custom type ends all of its objects, and events end with their time. No plugin and
   * no webhook is asked, and nobody records it; a custom type is taken in the version that its objects are stored in, served or not, and a
   * collection is answered without its objects.
   */
  readonly asStored?: true;
}

/** Query parameters of writes, as sent (text); absent ones are left out. */
export interface WriteParameters {
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly force?: string;
  readonly gracePeriodSeconds?: string;
  readonly orphanDependents?: string;
  readonly propagationPolicy?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: string;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly fieldValidation?: string;
  readonly timeoutSeconds?: string;
  readonly uid?: string;
}

/** One write. `payload` is the body as sent; empty when there is none. */
export interface WriteRequest {
  readonly verb: WriteVerb;
  readonly target: WriteTarget;
  readonly user: User;
  readonly userAgent: string;
  readonly parameters: WriteParameters;
  /** The media type without parameters, lower case. */
  readonly contentType: string;
  readonly payload: Uint8Array;
  /**
   * As long as its client waits: what has not been committed by then is not made. Absent, as inside: as long as the server gives any
   * request, whose webhooks may take longer than the component waits that asks, and hears of what was made.
   */
  readonly leftMs?: number;
  /** It comes from a component of this server, and is no request: admission records it, and nobody is asked whether it may. */
  readonly isInside?: true;
}

/** A connection to be opened. `options`: what it asks for, as PodExecOptions and the like. */
export interface ConnectRequest {
  readonly target: WriteTarget;
  readonly user: User;
  readonly userAgent: string;
  readonly options: JsonObject;
}

/** The answer to a write: a stored object, a list of deleted ones, or a body made for the occasion (Status, Scale). */
export type WriteReply =
  | (WriteRemarks & { readonly code: number; readonly place: PublishedPlace })
  | (WriteRemarks & { readonly code: number; readonly list: ValueList })
  | (WriteRemarks & { readonly code: number; readonly body: object });

export interface ConnectReply extends WriteRemarks {
  readonly refused: Status | undefined;
  /** What plugins have made of the options, where they have. */
  readonly changed?: JsonObject;
}

/** What a plugin says of a write for its audit event. */
export interface AuditAnnotation {
  /** `<domain>/<name>`: webhooks say theirs under their own name. */
  readonly key: string;
  readonly value: string;
  /** From which level of audit on it is recorded. */
  readonly level: 'Metadata' | 'Request';
}

/** What is said of a write, or of a connection, beside its answer. */
interface WriteRemarks {
  /** For the client's user. */
  readonly warnings?: readonly string[];
  /** For the audit event, by plugins and webhooks: the first under a key holds. */
  readonly auditAnnotations?: readonly AuditAnnotation[];
}

/** Objects to be converted by a webhook. */
export interface ConvertRequest {
  readonly target: Pick<WriteTarget, 'group' | 'version' | 'resource'>;
  readonly objects: readonly JsonObject[];
}

/** As many objects in the same order, or why there are none. */
export type ConvertReply =
  | { readonly refused: undefined; readonly objects: readonly JsonObject[] }
  | { readonly refused: Status };

/** A pod to be bound to a node. */
export interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  /** What the binding says beside the node: the pod gets these too. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export type BindingOutcome =
  | { readonly bound: true }
  /**
   * `gone`: no such pod or another uid; `taken`: bound already, or being deleted; `failed`: the store refused, or a plugin, with
   * that status.
   */
  | {
      readonly bound: false;
      readonly reason: 'gone' | 'taken' | 'failed';
      readonly message: string;
      readonly status?: Status;
    };

/** Pods to be bound together, each by itself. */
export interface BindRequest extends Pick<WriteRequest, 'user' | 'userAgent'> {
  readonly bindings: readonly Binding[];
}

export interface AdmissionStatus {
  /** It, and the hub that it reads from, have read the store. */
  readonly ready: boolean;
}

export interface AdmissionProtocol extends Protocol {
  readonly asks: {
    readonly write: { readonly message: WriteRequest; readonly reply: WriteReply };
    /** Whether what it checks against has been read. */
    readonly status: { readonly message: Record<never, never>; readonly reply: AdmissionStatus };
    /** May a connection to a pod, node or service be opened? Log streams are read, and not asked about. */
    readonly connect: {
      readonly message: ConnectRequest;
      readonly reply: ConnectReply;
    };
    /** Custom objects of any versions of a kind, in the version of a path, where the definition's webhook converts them. */
    readonly convert: { readonly message: ConvertRequest; readonly reply: ConvertReply };
    /** Many bindings in one commit, each its own transaction; outcomes in the same order. */
    readonly bind: {
      readonly message: BindRequest;
      readonly reply: { readonly outcomes: readonly BindingOutcome[] };
    };
    /** From a plugin to the same one of the first admission actor, which has what there is one of in the server. */
    readonly askPlugin: {
      readonly message: { readonly plugin: AdmissionPluginName; readonly question: unknown };
      readonly reply: { readonly answer: unknown };
    };
  };
  readonly tells: StoreFeedTells & {
    /** The client of the request whose write is under way has gone away. */
    readonly abandoned: { readonly requestNumber: number };
  };
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly admission: AdmissionProtocol;
  }
}
