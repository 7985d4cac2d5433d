// A ref to an actor whose mailbox this thread can reach: no clone, and still never within the sender's turn, so that an
// actor behaves the same wherever it is placed; unless the sender says that it makes no difference to it (`askSoon`, `tellSoon`).
import type { AskOptions } from '../actor.ts';
import { fromErrorFrame, OrchError, toErrorFrame } from '../errors.ts';
import { deepFreeze } from '../freeze.ts';
import { turn } from '../turn.ts';
import type { Deadlines } from './deadlines.ts';
import type { Inbound, Mailbox } from './mailbox.ts';
import { cancelled, PendingAsk } from './pending-ask.ts';

/** A ref without its protocol: the shape that all refs of the runtime have. */
export interface AnyRef {
  readonly name: string;
  ask(message: object, options: AskOptions): Promise<unknown>;
  askSoon(message: object, options: AskOptions): unknown;
  tell(message: object, requestNumber?: number): 'queued' | 'full';
  tellSoon(message: object, requestNumber?: number): 'queued' | 'full';
}

/** What the local refs of one thread share. */
export interface LocalSender {
  readonly deadlines: Deadlines;
  /** Under test: messages and replies are frozen and must be plain data. */
  readonly freezeMessages: boolean;
}

export class LocalRef implements AnyRef {
  readonly name: string;
  private readonly mailbox: Mailbox;
  private readonly sender: LocalSender;
  private readonly onTold: Inbound;

  constructor(mailbox: Mailbox, sender: LocalSender) {
    this.name = mailbox.name;
    this.mailbox = mailbox;
    this.sender = sender;
    this.onTold = new LocalTell(mailbox);
  }

  ask(message: object, options: AskOptions): Promise<unknown> {
    if (!this.mailbox.hasRoom()) return Promise.reject(this.mailbox.refusal());
    if (options.signal?.aborted) return Promise.reject(cancelled(this.name));
    if (this.sender.freezeMessages) deepFreeze(message);
    const ask = new LocalAsk(this.mailbox, this.sender, options);
    this.mailbox.accept(message, ask, options.requestNumber || turn.requestNumber);
    return ask.promise;
  }

  askSoon(message: object, options: AskOptions): unknown {
    if (!this.mailbox.isIdle() || options.signal?.aborted) return this.ask(message, options);
    if (this.sender.freezeMessages) deepFreeze(message);
    const ask = new SoonAsk(this.mailbox, this.sender);
    this.mailbox.handOver(message, ask, options.requestNumber || turn.requestNumber);
    return ask.outcome(options);
  }

  tell(message: object, requestNumber = turn.requestNumber): 'queued' | 'full' {
    if (!this.mailbox.hasRoomToBeTold()) return 'full';
    if (this.sender.freezeMessages) deepFreeze(message);
    this.mailbox.accept(message, this.onTold, requestNumber);
    return 'queued';
  }

  tellSoon(message: object, requestNumber = turn.requestNumber): 'queued' | 'full' {
    if (!this.mailbox.isIdle()) return this.tell(message, requestNumber);
    if (this.sender.freezeMessages) deepFreeze(message);
    this.mailbox.handOver(message, this.onTold, requestNumber);
    return 'queued';
  }
}

/** A ref to an actor that the placement has no place for: nothing is ever delivered. */
export class UnplacedRef implements AnyRef {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  ask(): Promise<unknown> {
    return Promise.reject(new OrchError('ActorDown', `no ${this.name} is placed`));
  }

  askSoon(): Promise<unknown> {
    return this.ask();
  }

  tell(): 'queued' | 'full' {
    return 'full';
  }

  tellSoon(): 'queued' | 'full' {
    return this.tell();
  }
}

/** Both ends of one local ask: the asker's promise and the handler's reply. */
class LocalAsk extends PendingAsk implements Inbound {
  private readonly mailbox: Mailbox;
  private readonly freezeReply: boolean;
  private answered = false;

  constructor(mailbox: Mailbox, sender: LocalSender, options: AskOptions) {
    super(sender.deadlines, options);
    this.mailbox = mailbox;
    this.freezeReply = sender.freezeMessages;
  }

  get targetName(): string {
    return this.mailbox.name;
  }

  get isAwaited(): boolean {
    return this.waiting;
  }

  begin(): boolean {
    if (this.waiting) return true;
    this.answer();
    return false;
  }

  end(): void {}

  send(value: unknown): void {
    if (this.freezeReply && !this.answered) deepFreeze(value);
    if (this.answer()) this.succeed(value);
  }

  fail(error: unknown): void {
    if (!this.answer()) return;
    this.failWith(asOrchError(error));
  }

  drop(error: OrchError): void {
    this.answered = true;
    this.failWith(error);
  }

  /** A waiting ask that nobody waits for leaves the mailbox when its turn comes; one being handled, when answered. */
  protected abandoned(): void {}

  private answer(): boolean {
    if (this.answered) return false;
    this.answered = true;
    this.mailbox.release();
    return true;
  }
}

/** The handler's reply to an ask that was handed over at once; what is not answered within the call becomes a `LocalAsk`. */
class SoonAsk implements Inbound {
  private readonly mailbox: Mailbox;
  private readonly sender: LocalSender;
  private answered = false;
  private value: unknown = undefined;
  private later: LocalAsk | undefined = undefined;

  constructor(mailbox: Mailbox, sender: LocalSender) {
    this.mailbox = mailbox;
    this.sender = sender;
  }

  get isAwaited(): boolean {
    return this.later === undefined || this.later.waiting;
  }

  /** Once the handler has returned: the answer, or the promise of one. */
  outcome(options: AskOptions): unknown {
    if (this.answered) return this.value;
    this.later = new LocalAsk(this.mailbox, this.sender, options);
    return this.later.promise;
  }

  begin(): boolean {
    return true;
  }

  end(): void {}

  send(value: unknown): void {
    if (this.later !== undefined) this.later.send(value);
    else if (!this.answered) this.answer(value);
  }

  fail(error: unknown): void {
    if (this.later !== undefined) this.later.fail(error);
    else if (!this.answered) this.answer(Promise.reject(asOrchError(error)));
  }

  drop(error: OrchError): void {
    this.fail(error);
  }

  private answer(value: unknown): void {
    this.answered = true;
    if (this.sender.freezeMessages && !(value instanceof Promise)) deepFreeze(value);
    this.value = value;
    this.mailbox.release();
  }
}

function asOrchError(error: unknown): OrchError {
  return error instanceof OrchError ? error : fromErrorFrame(toErrorFrame(error));
}

class LocalTell implements Inbound {
  readonly isAwaited = false;
  private readonly mailbox: Mailbox;

  constructor(mailbox: Mailbox) {
    this.mailbox = mailbox;
  }

  begin(): boolean {
    return true;
  }

  end(): void {
    this.mailbox.release();
  }

  send(): void {}
  fail(): void {}
  drop(): void {}
}
