// One writer of the watch load: a connection with one write under way, on an object of its own, so that writes never
// conflict. A connection that the server closes while it is idle, as servers do, is replaced.

import type { WatchJob } from '../load-protocol.ts';
import { PreparedRequest } from '../request-template.ts';
import type { Connection, ConnectionSink } from './connection.ts';

/** A connection that has been idle for longer is not written to: the server may be closing it just now. */
const IDLE_MS_MAX = 5000;

/** What writers tell their load. */
export interface WriterLoad {
  onAcknowledged(writer: Writer, sequence: number, error: string | undefined): void;
  /** The connection was closed and is being replaced: nothing can be written until `onWriterBack`. */
  onWriterAway(writer: Writer): void;
  onWriterBack(writer: Writer): void;
  /** A write was under way, or there is no new connection. */
  onWriterLost(error: Error): void;
}

export class Writer implements ConnectionSink {
  readonly index: number;
  readonly #load: WriterLoad;
  readonly #request: PreparedRequest;
  readonly #reopen: (writer: Writer) => Promise<Connection>;
  #connection: Connection | undefined;
  #usedMs = 0;
  #isWriting = false;
  #isClosed = false;
  #sequence = 0;
  #status = 0;
  #errorText = '';

  constructor(load: WriterLoad, job: WatchJob, index: number, reopen: (writer: Writer) => Promise<Connection>) {
    this.#load = load;
    this.index = index;
    this.#reopen = reopen;
    this.#request = PreparedRequest.compile(job.write, job.endpoint);
    this.#request.setObject(index);
    this.#request.setVersion('');
  }

  attach(connection: Connection): void {
    this.#connection = connection;
    this.#usedMs = performance.now();
  }

  /** False when the writer replaces its connection first; it comes back when it has. */
  isFresh(nowMs: number): boolean {
    if (nowMs - this.#usedMs <= IDLE_MS_MAX) return true;
    this.#connection?.close();
    this.#replace();
    return false;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  write(sequence: number): void {
    this.#sequence = sequence;
    this.#isWriting = true;
    this.#request.setSequence(sequence);
    this.#connection!.send(this.#request.bytes);
  }

  onHead(status: number): void {
    this.#status = status;
    this.#errorText = '';
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    if (this.#status >= 300) this.#errorText = (this.#errorText + buffer.toString('latin1', start, end)).slice(0, 500);
  }

  onEnd(): void {
    const error = this.#status >= 300 ? `a write was answered ${this.#status} ${this.#errorText}` : undefined;
    this.#isWriting = false;
    this.#usedMs = performance.now();
    this.#load.onAcknowledged(this, this.#sequence, error);
  }

  onLost(error: Error): void {
    if (this.#isWriting) {
      this.#load.onWriterLost(error);
      return;
    }
    this.#load.onWriterAway(this);
    this.#replace();
  }

  #replace(): void {
    this.#reopen(this).then(
      (connection) => {
        this.attach(connection);
        if (this.#isClosed) connection.close();
        else this.#load.onWriterBack(this);
      },
      (lost: Error) => this.#load.onWriterLost(lost),
    );
  }
}
