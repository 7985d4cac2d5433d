// The asker's end of one ask: the promise, its deadline and its signal. Local and remote asks extend it. It settles once;
// whatever comes later is dropped.
import type { AskOptions, CancelSignal } from '../actor.ts';
import { OrchError } from '../errors.ts';
import type { DeadlineEntry, Deadlines } from './deadlines.ts';

// One executor for all asks instead of a closure each: asks are on the path of every request.
let capturedResolve: (value: unknown) => void;
let capturedReject: (error: unknown) => void;
const capture = (resolve: (value: unknown) => void, reject: (error: unknown) => void): void => {
  capturedResolve = resolve;
  capturedReject = reject;
};

export abstract class PendingAsk implements DeadlineEntry {
  previous: DeadlineEntry | undefined = undefined;
  next: DeadlineEntry | undefined = undefined;
  expiryTick = 0;
  readonly promise: Promise<unknown>;
  /** False once the asker has its answer or has stopped waiting. */
  waiting = true;
  private readonly deadlines: Deadlines;
  private readonly resolve: (value: unknown) => void;
  private readonly reject: (error: unknown) => void;
  private readonly signal: CancelSignal | undefined;

  constructor(deadlines: Deadlines, options: AskOptions) {
    this.promise = new Promise(capture);
    this.resolve = capturedResolve;
    this.reject = capturedReject;
    this.deadlines = deadlines;
    this.signal = options.signal;
    deadlines.add(this, options.deadlineMs);
    if (this.signal !== undefined) this.signal.addEventListener('abort', this);
  }

  /** Who was asked, for error messages. */
  abstract readonly targetName: string;

  /** The asker stopped waiting before an answer came. */
  protected abstract abandoned(): void;

  succeed(value: unknown): void {
    if (!this.waiting) return;
    this.settle();
    this.resolve(value);
  }

  failWith(error: OrchError): void {
    if (!this.waiting) return;
    this.settle();
    this.reject(error);
  }

  expire(): void {
    if (!this.waiting) return;
    this.failWith(new OrchError('DeadlineExceeded', `${this.targetName} did not answer in time`));
    this.abandoned();
  }

  /** The signal's listener. */
  handleEvent(): void {
    if (!this.waiting) return;
    this.failWith(cancelled(this.targetName));
    this.abandoned();
  }

  private settle(): void {
    this.waiting = false;
    this.deadlines.remove(this);
    if (this.signal !== undefined) this.signal.removeEventListener('abort', this);
  }
}

/** The error of an ask whose signal was aborted. */
export function cancelled(targetName: string): OrchError {
  return new OrchError('Cancelled', `the ask to ${targetName} was cancelled`);
}

/** The error of a message that found no room. */
export function overloaded(targetName: string): OrchError {
  return new OrchError('Overloaded', `the mailbox of ${targetName} is full`);
}

/** The error of a message whose target's thread is gone. */
export function actorDown(targetName: string): OrchError {
  return new OrchError('ActorDown', `${targetName} is not running`);
}
