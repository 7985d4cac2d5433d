// What a link does with a turn's batch that structured cloning refuses: one message in it is at fault, the others are not.
import type { Logger } from 'pino';
import { type ErrorFrame, fromErrorFrame, type OrchError, toErrorFrame } from '../errors.ts';
import { type Batch, BatchBuilder, type BatchReader } from './link-batch.ts';

/** The session whose batch is sent anew. */
export interface FallbackSession {
  /** An ask could not be sent: it fails as if its handler had refused it. */
  unsendable(askId: number, error: OrchError): void;
  credit(actorId: number, tells: number): void;
}

/**
 * Sends the frames of a batch that could not be cloned one at a time, so that only the message at fault fails. Payloads
 * travel inside their messages here: this is not a fast path.
 */
export class OneByOne implements BatchReader {
  private readonly session: FallbackSession;
  private readonly log: Logger;
  private readonly post: (batch: Batch) => void;

  constructor(session: FallbackSession, log: Logger, post: (batch: Batch) => void) {
    this.session = session;
    this.log = log;
    this.post = post;
  }

  ask(askId: number, actorId: number, requestNumber: number, message: object): void {
    const problem = this.attempt((frame) => frame.ask(askId, actorId, requestNumber, message));
    if (problem !== undefined) this.session.unsendable(askId, fromErrorFrame(problem));
  }

  tell(actorId: number, requestNumber: number, message: object): void {
    const problem = this.attempt((frame) => frame.tell(actorId, requestNumber, message));
    if (problem === undefined) return;
    this.session.credit(actorId, 1);
    this.log.error(
      { actorId, requestNumber, problem: problem.message },
      'a message was lost: it cannot cross a thread',
    );
  }

  reply(askId: number, value: unknown): void {
    const problem = this.attempt((frame) => frame.reply(askId, value));
    if (problem !== undefined) this.error(askId, problem);
  }

  error(askId: number, frame: ErrorFrame): void {
    const problem = this.attempt((builder) => builder.error(askId, frame));
    if (problem !== undefined) this.attempt((builder) => builder.error(askId, { ...frame, details: undefined }));
  }

  cancel(askId: number): void {
    this.attempt((frame) => frame.cancel(askId));
  }

  credit(actorId: number, tells: number): void {
    this.attempt((frame) => frame.credit(actorId, tells));
  }

  /** One that is laid out flat is nothing but primitives. */
  passesOn(batch: Batch, at: number, end: number): boolean {
    const [buffer] = batch;
    this.post([buffer === 0 ? 0 : buffer.slice(0), ...batch.slice(at, end)]);
    return true;
  }

  formsOf(): undefined {}

  answerForm(): undefined {}

  private attempt(build: (builder: BatchBuilder) => void): ErrorFrame | undefined {
    const builder = new BatchBuilder();
    build(builder);
    try {
      this.post(builder.take());
      return undefined;
    } catch (error) {
      return { code: 'Refused', message: `cannot cross a thread: ${toErrorFrame(error).message}` };
    }
  }
}
