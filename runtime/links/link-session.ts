// One lifetime of a connection between two threads: from the port's arrival until either thread ends. Sends the frames of
// a turn together, hands arriving ones to mailboxes, and matches answers with asks. link.ts outlives it.
import type { MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { AskOptions } from '../actor.ts';
import { type ErrorFrame, fromErrorFrame, type OrchError, toErrorFrame } from '../errors.ts';
import type { FlatForm, FlatFormTable } from '../flat-form.ts';
import type { Deadlines } from '../messages/deadlines.ts';
import type { Inbound, Mailbox } from '../messages/mailbox.ts';
import { actorDown, PendingAsk } from '../messages/pending-ask.ts';
import { turn } from '../turn.ts';
import { type Batch, BatchBuilder, type BatchReader, readBatch } from './link-batch.ts';
import { OneByOne } from './link-fallback.ts';

/** What a link needs of the thread that it is on. */
export interface LinkHost {
  readonly deadlines: Deadlines;
  readonly log: Logger;
  /** This thread's mailboxes by actor id. */
  readonly mailboxes: ReadonlyMap<number, Mailbox>;
  /** The forms of what an actor of this thread is sent. */
  formsOf(actorId: number): FlatFormTable | undefined;
  /** Runs the flush of a turn's messages: `Timers.soon`. */
  soon(callback: () => void): void;
}

/** The sender's window on one actor of the other thread: messages sent and not yet credited. */
export interface Window {
  readonly actorId: number;
  readonly name: string;
  readonly max: number;
  readonly flat: FlatFormTable | undefined;
  /** Asks without an answer, and tells not yet credited: what asks are refused for. */
  outstanding: number;
  /** Tells not yet credited: what tells are refused for. */
  told: number;
}

export class LinkSession implements BatchReader {
  private readonly port: MessagePort;
  private readonly host: LinkHost;
  private readonly windowOf: (actorId: number) => Window | undefined;
  private readonly builder = new BatchBuilder();
  /** Asks sent and not answered, including those whose asker has stopped waiting. */
  private readonly sent = new Map<number, RemoteAsk>();
  /** Asks received and not answered. */
  private readonly received = new Map<number, ReceivedAsk>();
  private readonly receivedTells = new Map<number, ReceivedTells>();
  private lastAskId = 0;
  private flushScheduled = false;
  private ended = false;

  /** `onEnd` is called when the other side has gone. */
  constructor(
    port: MessagePort,
    host: LinkHost,
    windowOf: (actorId: number) => Window | undefined,
    onEnd: (session: LinkSession) => void,
  ) {
    this.port = port;
    this.host = host;
    this.windowOf = windowOf;
    port.on('message', (batch: Batch) => readBatch(batch, this));
    port.on('messageerror', (error) => host.log.error({ err: error }, 'a batch of messages could not be read'));
    port.on('close', () => onEnd(this));
    port.unref();
  }

  sendAsk(window: Window, message: object, options: AskOptions): Promise<unknown> {
    const askId = ++this.lastAskId;
    const answerForm = window.flat?.ofAnswerTo(message);
    const ask = new RemoteAsk(this, askId, window, answerForm, this.host.deadlines, options);
    window.outstanding++;
    this.sent.set(askId, ask);
    this.builder.ask(askId, window.actorId, options.requestNumber || turn.requestNumber, message, window.flat);
    this.scheduleFlush();
    return ask.promise;
  }

  sendTell(window: Window, message: object, requestNumber: number): void {
    window.outstanding++;
    window.told++;
    this.builder.tell(window.actorId, requestNumber, message, window.flat);
    this.scheduleFlush();
  }

  /** The other thread is gone: nothing sent is answered any more, nothing received needs an answer. */
  end(): void {
    this.ended = true;
    this.port.close();
    for (const ask of this.sent.values()) ask.failWith(actorDown(ask.window.name));
    this.sent.clear();
    for (const ask of this.received.values()) ask.cancel();
    this.received.clear();
  }

  /** The asker stopped waiting: the other side drops the ask if it still waits in the mailbox. */
  sendCancel(askId: number): void {
    if (this.ended) return;
    this.builder.cancel(askId);
    this.scheduleFlush();
  }

  sendReply(askId: number, value: unknown, form?: FlatForm): void {
    if (this.ended) return;
    this.received.delete(askId);
    this.builder.reply(askId, value, form);
    this.scheduleFlush();
  }

  sendError(askId: number, frame: ErrorFrame): void {
    if (this.ended) return;
    this.received.delete(askId);
    this.builder.error(askId, frame);
    this.scheduleFlush();
  }

  sendCredit(actorId: number, tells: number): void {
    if (this.ended) return;
    this.builder.credit(actorId, tells);
    this.scheduleFlush();
  }

  ask(askId: number, actorId: number, requestNumber: number, message: object): void {
    const mailbox = this.host.mailboxes.get(actorId);
    const refusal = mailbox === undefined ? actorDown(`actor ${actorId}`) : mailbox.refusal();
    if (mailbox === undefined || refusal !== undefined) {
      this.sendError(askId, toErrorFrame(refusal));
      return;
    }
    const ask = new ReceivedAsk(this, askId, mailbox, this.formsOf(actorId)?.ofAnswerTo(message));
    this.received.set(askId, ask);
    mailbox.accept(message, ask, requestNumber);
  }

  /** Takes the tell even when the mailbox is full: the sender was promised, and its window bounds it. */
  tell(actorId: number, requestNumber: number, message: object): void {
    let tells = this.receivedTells.get(actorId);
    if (tells === undefined) {
      const mailbox = this.host.mailboxes.get(actorId);
      if (mailbox === undefined) return;
      tells = new ReceivedTells(this, actorId, mailbox);
      this.receivedTells.set(actorId, tells);
    }
    tells.mailbox.accept(message, tells, requestNumber);
  }

  reply(askId: number, value: unknown): void {
    this.answered(askId)?.succeed(value);
  }

  error(askId: number, frame: ErrorFrame): void {
    this.answered(askId)?.failWith(fromErrorFrame(frame));
  }

  cancel(askId: number): void {
    this.received.get(askId)?.cancel();
  }

  credit(actorId: number, tells: number): void {
    const window = this.windowOf(actorId);
    if (window === undefined) return;
    window.outstanding -= tells;
    window.told -= tells;
  }

  formsOf(actorId: number): FlatFormTable | undefined {
    return this.host.formsOf(actorId);
  }

  answerForm(askId: number): FlatForm | undefined {
    return this.sent.get(askId)?.answerForm;
  }

  private answered(askId: number): RemoteAsk | undefined {
    const ask = this.sent.get(askId);
    if (ask === undefined) return undefined;
    this.sent.delete(askId);
    ask.window.outstanding--;
    return ask;
  }

  private scheduleFlush(): void {
    if (this.flushScheduled) return;
    this.flushScheduled = true;
    this.host.soon(this.flush);
  }

  private readonly flush = (): void => {
    this.flushScheduled = false;
    if (this.ended || this.builder.empty) return;
    const batch = this.builder.take();
    try {
      this.post(batch);
    } catch {
      readBatch(batch, new OneByOne(this, this.host.log, (frame) => this.post(frame)));
    }
  };

  private post(batch: Batch): void {
    this.port.postMessage(batch, batch[0] === 0 ? [] : [batch[0]]);
  }

  /** An ask that could not be sent fails as if its handler had refused it. */
  unsendable(askId: number, error: OrchError): void {
    this.answered(askId)?.failWith(error);
  }
}

/** The asker's end of an ask to another thread. */
class RemoteAsk extends PendingAsk {
  readonly window: Window;
  readonly answerForm: FlatForm | undefined;
  private readonly session: LinkSession;
  private readonly askId: number;

  constructor(
    session: LinkSession,
    askId: number,
    window: Window,
    answerForm: FlatForm | undefined,
    deadlines: Deadlines,
    options: AskOptions,
  ) {
    super(deadlines, options);
    this.session = session;
    this.askId = askId;
    this.window = window;
    this.answerForm = answerForm;
  }

  get targetName(): string {
    return this.window.name;
  }

  protected abandoned(): void {
    this.session.sendCancel(this.askId);
  }
}

/** The handler's end of an ask from another thread. */
class ReceivedAsk implements Inbound {
  private readonly session: LinkSession;
  private readonly askId: number;
  private readonly mailbox: Mailbox;
  private readonly answerForm: FlatForm | undefined;
  private answered = false;
  private cancelled = false;

  constructor(session: LinkSession, askId: number, mailbox: Mailbox, answerForm: FlatForm | undefined) {
    this.session = session;
    this.askId = askId;
    this.mailbox = mailbox;
    this.answerForm = answerForm;
  }

  cancel(): void {
    this.cancelled = true;
  }

  get isAwaited(): boolean {
    return !this.cancelled;
  }

  begin(): boolean {
    if (!this.cancelled) return true;
    if (this.answer()) this.session.sendReply(this.askId, null);
    return false;
  }

  end(): void {}

  send(value: unknown): void {
    if (this.answer()) this.session.sendReply(this.askId, value, this.answerForm);
  }

  fail(error: unknown): void {
    if (this.answer()) this.session.sendError(this.askId, toErrorFrame(error));
  }

  drop(error: OrchError): void {
    this.answered = true;
    this.session.sendError(this.askId, toErrorFrame(error));
  }

  private answer(): boolean {
    if (this.answered) return false;
    this.answered = true;
    this.mailbox.release();
    return true;
  }
}

/** All tells from one thread to one actor: counts those handled and credits them to the sender a quarter window at once. */
class ReceivedTells implements Inbound {
  readonly isAwaited = false;
  readonly mailbox: Mailbox;
  private readonly session: LinkSession;
  private readonly actorId: number;
  private readonly creditEvery: number;
  private uncredited = 0;

  constructor(session: LinkSession, actorId: number, mailbox: Mailbox) {
    this.session = session;
    this.actorId = actorId;
    this.mailbox = mailbox;
    this.creditEvery = Math.max(1, mailbox.max >> 2);
  }

  begin(): boolean {
    return true;
  }

  end(): void {
    this.mailbox.release();
    this.drop();
  }

  send(): void {}
  fail(): void {}

  drop(): void {
    if (++this.uncredited < this.creditEvery) return;
    this.session.sendCredit(this.actorId, this.uncredited);
    this.uncredited = 0;
  }
}
