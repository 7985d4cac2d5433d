// One connection of HTTP/1.1: a request at a time, written at once, and its answer. Whatever it says unasked ends it.
import type { Socket } from 'node:net';
import { mayRepeatOnNew } from '../repeatable.ts';
import { type Answer, AnswerParser } from './answer-parser.ts';
import type { Standing } from './open-connection.ts';

const WRITTEN_WITHIN_MS = 5000;

/** A request, and who waits for what comes of it: one of both functions is called, once. */
export interface Call {
  readonly method: string;
  /** Head and body. */
  readonly request: Buffer;
  readonly answerBytesMax: number;
  /** It only asks, and may be sent twice, whatever its method. */
  readonly doesNothing: boolean;
  answered(answer: Answer): void;
  /** `mayRepeat`: on a kept connection that was closed, a request that may be sent again on a new one. */
  failed(error: Error, mayRepeat: boolean): void;
}

/** Who keeps the connection. */
export interface ConnectionOwner {
  /** It can carry another request. `keptForMs`: for how long at most, where the service says so. */
  freed(connection: Connection, keptForMs: number | undefined): void;
  closed(connection: Connection): void;
}

export class Connection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #call: Call | undefined;
  #parser: AnswerParser | undefined;
  #isReused = false;
  #isWritten = true;
  /** The answer came before the request was known to be written. */
  #answeredEarly: { readonly keptForMs: number | undefined; readonly limit: NodeJS.Timeout } | undefined;
  /** When it is no longer worth a try. */
  usableUntilMs = 0;

  /** What waits for an answer keeps the process, by the time it has. */
  constructor({ socket, onBytes }: Standing, owner: ConnectionOwner) {
    this.#socket = socket.unref();
    this.#owner = owner;
    onBytes((bytes) => this.#take(bytes));
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      this.#fail(hungUp());
      owner.closed(this);
    });
    socket.resume();
  }

  /** Sends a request; nothing else may be under way. */
  send(call: Call): void {
    this.#call = call;
    this.#parser = new AnswerParser(call.answerBytesMax);
    this.#isWritten = false;
    this.#socket.write(call.request, this.#written);
  }

  /** Ends it, without a word to who waits. */
  abandon(): void {
    this.#call = undefined;
    this.#socket.destroy();
  }

  /** Ends it; who waits is told. */
  destroy(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    const parser = this.#parser;
    if (parser === undefined) {
      this.#socket.destroy();
      return;
    }
    let answer: Answer | undefined;
    try {
      answer = parser.take(bytes);
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    if (answer !== undefined) this.#answered(answer);
  }

  readonly #written = (): void => {
    this.#isWritten = true;
    const answered = this.#answeredEarly;
    if (answered === undefined) return;
    clearTimeout(answered.limit);
    this.#answeredEarly = undefined;
    if (!this.#socket.destroyed) this.#free(answered.keptForMs);
  };

  #answered(answer: Answer): void {
    const { isKept, keptForMs } = answer;
    const call = this.#call;
    this.#call = undefined;
    this.#parser = undefined;
    if (!isKept || this.#socket.destroyed || this.#socket.readableEnded) this.#socket.destroy();
    else if (this.#isWritten) this.#free(keptForMs);
    else {
      // As a rule the news of the write is only a moment behind; who does not read the request will not read the next either.
      const limit = setTimeout(() => this.#socket.destroy(), WRITTEN_WITHIN_MS).unref();
      this.#answeredEarly = { keptForMs, limit };
    }
    call?.answered(answer);
  }

  #free(keptForMs: number | undefined): void {
    this.#isReused = true;
    this.#owner.freed(this, keptForMs);
  }

  #ended(): void {
    const answer = this.#parser?.end();
    if (answer === undefined) this.#fail(hungUp());
    else this.#answered(answer);
  }

  #fail(error: NodeJS.ErrnoException): void {
    const call = this.#call;
    const isUnanswered = this.#parser?.hasBegun === false;
    this.#call = undefined;
    this.#parser = undefined;
    this.#socket.destroy();
    if (call === undefined) return;
    const outgoing = { method: call.method, reusedSocket: this.#isReused, doesNothing: call.doesNothing };
    call.failed(error, isUnanswered && mayRepeatOnNew(outgoing, error));
  }
}

function hungUp(): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
}
