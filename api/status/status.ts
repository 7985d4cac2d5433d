// The Status object: what every refusal and some successes answer with. Owns its shape and the error that carries one
// out of deep code. The constructors are in failures.ts and successes.ts.

/** The machine-readable reasons. The empty one stands for failures that no API reason names. */
export type StatusReason =
  | ''
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'Gone'
  | 'InsufficientStorage'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'UnsupportedMediaType';

/** One of several reasons behind a failure; `field` is a path such as `spec.containers[0].name`. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural resource name, or the Kind where validation failed. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** Members stand in the order in which they are written. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  /** The HTTP status code; absent from a successful deletion, which is 200. */
  readonly code?: number;
}

/** Leaves deep code with the Status to answer. Thrown and caught within one thread: across threads a Status is a value. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message ?? '');
    this.name = 'StatusError';
    this.status = status;
  }
}

/** True when `error` carries a Status, of the given reason if one is named. */
export function isStatusError(error: unknown, reason?: StatusReason): error is StatusError {
  return error instanceof StatusError && (reason === undefined || (error.status.reason ?? '') === reason);
}

/** Whether the body of an answer is a Status. */
export function isStatus(body: object): body is Status {
  const { kind, apiVersion } = body as Partial<Status>;
  return kind === 'Status' && apiVersion === 'v1';
}

/** The HTTP code to answer a Status with. */
export function httpCode(status: Status): number {
  return status.code ?? 200;
}

/** What the `Retry-After` header says, or undefined when the answer has none. */
export function retryAfterSeconds(status: Status): number | undefined {
  const seconds = status.details?.retryAfterSeconds ?? 0;
  return seconds > 0 ? seconds : undefined;
}
