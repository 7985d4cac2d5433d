// The one error class that crosses threads, and its codes. A link rebuilds it on the far side, code and details intact.
// Expected outcomes (a conflict, no such object) are values in replies, not errors.

/** Why a message failed. `NotDelivered`, `DeadlineExceeded` and `Refused` are three different things (docs/RUNTIME.md). */
export type OrchErrorCode =
  /** The mailbox is full: not delivered, safe to send again. HTTP 429. */
  | 'Overloaded'
  /** The actor's thread is gone or the actor is not placed: not delivered, or lost with the thread. HTTP 503. */
  | 'ActorDown'
  /** No answer before the deadline; the message may still be handled. HTTP 504. */
  | 'DeadlineExceeded'
  /** The asker cancelled through its signal. */
  | 'Cancelled'
  /** The handler threw; `details` says what it refused. HTTP 500. */
  | 'Refused'
  /** A setting, flag, file or directory of the operator's cannot be used. Exit code 1 with one line. */
  | 'BadConfiguration'
  /** The disk under the store is full: the write is not stored, later ones may be. HTTP 507. */
  | 'StorageFull'
  /** A write cannot be stored, by the disk or for want of a key: nothing of it is, later ones may be. HTTP 500. */
  | 'StorageFailed'
  /** The disk failed: whether the write is stored shows at the next start, or is undone by the next write. HTTP 503. */
  | 'StorageUnsure'
  /** The store takes nothing of that size: this write is not stored, others are. HTTP 500. */
  | 'StorageTooLarge'
  /** The store's files are damaged, locked or of another dialect. Exit code 1 with one line. */
  | 'StoreUnusable';

/** An error with a stable code. `details` is plain data, so that it survives structured cloning. */
export class OrchError extends Error {
  readonly code: OrchErrorCode;
  readonly details: unknown;

  constructor(code: OrchErrorCode, message: string, details?: unknown) {
    super(message);
    this.name = 'OrchError';
    this.code = code;
    this.details = details;
  }
}

/**
 * A broken invariant: the thread that throws it cannot go on. Thrown by `ActorContext.crash`; the runtime never turns it
 * into an answer, it ends the thread.
 */
export class CrashError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'CrashError';
  }
}

/** True when `error` is an OrchError, of the given code if one is named. */
export function isOrchError(error: unknown, code?: OrchErrorCode): error is OrchError {
  return error instanceof OrchError && (code === undefined || error.code === code);
}

const OUTSIDE: ReadonlySet<OrchErrorCode> = new Set(['BadConfiguration', 'StorageFull', 'StoreUnusable']);

/** True for what an operator or the machine brings about, not the program: the message says all, a stack nothing more. */
export function isOutside(error: unknown): boolean {
  return error instanceof OrchError && OUTSIDE.has(error.code);
}

/** What anything that was thrown says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What of an error crosses a thread. */
export interface ErrorFrame {
  readonly code: OrchErrorCode;
  readonly message: string;
  readonly details?: unknown;
}

/** Any thrown value as a frame; anything but an OrchError becomes `Refused`. */
export function toErrorFrame(error: unknown): ErrorFrame {
  if (error instanceof OrchError) return { code: error.code, message: error.message, details: error.details };
  return { code: 'Refused', message: messageOf(error) };
}

/** The OrchError that a frame stands for. */
export function fromErrorFrame(frame: ErrorFrame): OrchError {
  return new OrchError(frame.code, frame.message, frame.details);
}
