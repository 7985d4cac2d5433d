// One keep-alive connection of the load generator: a raw socket, one request outstanding. All connections of a process
// read into one buffer, since what is read is consumed within the callback.
import { connect as connectPlain, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { tlsOptionsOf } from '../endpoint-tls.ts';
import type { Endpoint } from '../load-protocol.ts';
import { ResponseParser, type ResponseSink } from './response-parser.ts';

const READ_BYTES = 64 * 1024;
const CONNECT_TIMEOUT_MS = 60_000;

/** What a connection tells its owner. */
export interface ConnectionSink extends ResponseSink {
  /** The connection is gone; no more calls follow. Not called after `close`. */
  onLost(error: Error): void;
}

export class Connection {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Sends a request. The bytes must not change before its response has begun. */
  send(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Reads nothing any more, as a client does that is stuck. */
  stall(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }
}

/** Opens connections to one endpoint. */
export class Connector {
  readonly #endpoint: Endpoint;
  readonly #tls: ConnectionOptions | undefined;
  readonly #context: SecureContext | undefined;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#tls = endpoint.tls && tlsOptionsOf(endpoint.tls);
    this.#context = this.#tls && createSecureContext(this.#tls);
  }

  /** Rejects when the connection or its handshake fails, or takes longer than a minute. */
  open(sink: ConnectionSink): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const parser = new ResponseParser(sink);
      let lostBy: Error | undefined;
      const socket = this.#connect((bytesRead) => {
        try {
          parser.feed(this.#buffer.subarray(0, bytesRead));
        } catch (error) {
          socket.destroy(error as Error);
        }
        return true;
      });
      const timer = setTimeout(() => socket.destroy(new Error('no connection within 60 s')), CONNECT_TIMEOUT_MS);
      let opened = false;
      socket.setNoDelay(true);
      socket.on('error', (error) => {
        lostBy = error;
      });
      socket.on('close', () => {
        clearTimeout(timer);
        const error = lostBy ?? new Error('the server closed the connection');
        if (opened) sink.onLost(error);
        else reject(error);
      });
      socket.once(this.#context === undefined ? 'connect' : 'secureConnect', () => {
        clearTimeout(timer);
        opened = true;
        resolve(new Connection(socket));
      });
    });
  }

  #connect(onBytes: (bytesRead: number) => boolean): Socket {
    const { host, port } = this.#endpoint;
    const onread: OnReadOpts = { buffer: this.#buffer, callback: onBytes };
    if (this.#context === undefined) return connectPlain({ host, port, onread });
    const options = { ...this.#tls, host, port, onread, secureContext: this.#context };
    return connectTls(options);
  }

  /** Opens many, a few handshakes at a time, so that neither side's accept queue overflows. */
  async openMany<S extends ConnectionSink>(sinks: readonly S[], opened: (sink: S, connection: Connection) => void) {
    const rest = sinks[Symbol.iterator]();
    const openNext = async (): Promise<void> => {
      for (const sink of rest) opened(sink, await this.open(sink));
    };
    await Promise.all(Array.from({ length: Math.min(HANDSHAKES_AT_A_TIME, sinks.length) }, openNext));
  }
}

const HANDSHAKES_AT_A_TIME = 32;
