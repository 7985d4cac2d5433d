// One watch on a TLS connection of its own, read as cheaply as it can be: nothing of what arrives is kept. Can stop reading
// for a while, as a stalled client does.
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import { ResponseParser } from '../../bench/load/response-parser.ts';
import { EventReader, type EventSink } from './event-reader.ts';

export interface SoakServer {
  readonly port: number;
  readonly token: string;
  readonly secureContext: SecureContext;
}

export interface WatchSink extends EventSink {
  onHead(status: number): void;
  /** The stream is over, and was not closed from here. */
  onEnd(): void;
}

export class WatchConnection {
  readonly #socket: TLSSocket;
  #closed = false;

  constructor({ port, token, secureContext }: SoakServer, path: string, sink: WatchSink) {
    const reader = new EventReader(sink);
    const parser = new ResponseParser({
      onHead: (status) => sink.onHead(status),
      onBody: (buffer, start, end) => {
        if (!this.#closed) reader.feed(buffer, start, end);
      },
      onEnd: () => this.#socket.destroy(),
    });
    this.#socket = connect({ host: '127.0.0.1', port, secureContext, servername: 'localhost' });
    this.#socket.setNoDelay(true);
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    this.#socket.on('data', (read: Buffer) => {
      if (this.#closed) return;
      try {
        parser.feed(read);
      } catch (error) {
        this.#socket.destroy(error as Error);
      }
    });
    this.#socket.on('error', () => {}); // `close` follows.
    this.#socket.on('end', () => this.#socket.destroy());
    this.#socket.on('close', () => {
      if (!this.#closed) sink.onEnd();
    });
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
  }
}
