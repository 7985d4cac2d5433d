// A streamed answer as the bytes that came, for encodings that are not lines of JSON.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** Longer than anything a test waits for. */
const PATIENCE_MS = 120_000;

export class ByteStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #message: IncomingMessage;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake = (): void => {};

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    message.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    message.on('error', () => {}); // `close` follows.
    message.on('close', () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** Everything received, once it is as wanted. Rejects when the stream ends before, or nothing of it comes. */
  async until(isWanted: (received: Buffer) => boolean): Promise<Buffer> {
    while (!isWanted(this.#received)) {
      if (this.#isOver) throw new Error(`the stream ended after ${this.#received.length} bytes`);
      await this.#something();
    }
    return this.#received;
  }

  /** Everything, when the stream has ended. Rejects when it was cut off. */
  async untilEnd(): Promise<Buffer> {
    while (!this.#isOver) await this.#something();
    if (!this.#message.complete) throw new Error(`the stream was cut off after ${this.#received.length} bytes`);
    return this.#received;
  }

  close(): void {
    this.#message.destroy();
  }

  #something(): Promise<void> {
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error(`nothing came within ${PATIENCE_MS} ms`)), PATIENCE_MS);
      this.#wake = () => {
        clearTimeout(patience);
        resolve();
      };
    });
  }
}
