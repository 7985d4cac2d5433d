// A small HTTPS client for tests: whole answers, and watches as streams of events. Trusts one authority, sends one token.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request as startRequest } from 'node:https';
import { ByteStream } from './byte-stream.ts';
import { WatchStream } from './watch-stream.ts';

/** Longer than anything a test waits for: a request without an answer by then has failed. */
const PATIENCE_MS = 120_000;
/** Less than what the server grants an idle connection, so that none is reused just as it is closed. */
const IDLE_MS = 4000;

/** Of one client at once: a server waits ten seconds for the request of a connection, and a busy machine takes longer for many. */
const HANDSHAKES_MAX = 8;

/** What a body is sent as. Strings and bytes go out as they are, anything else as JSON. */
export type Body = string | Uint8Array | object;

export interface RequestSettings {
  readonly body?: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the client's own; empty: none. */
  readonly token?: string;
}

/** The parts of an API object, list or Status that tests look at. */
export interface ApiObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ApiMetadata;
  readonly items?: readonly ApiObject[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly field?: string }[] } & Readonly<
    Record<string, unknown>
  >;
}

export interface ApiMetadata {
  readonly ownerReferences?: readonly { readonly name?: string; readonly uid?: string }[];
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The body as JSON. Throws when it is none. */
  readonly json: ApiObject;
}

export class HttpsClient {
  readonly url: string;
  readonly #token: string;
  readonly #caPem: string;
  readonly #agent: Agent;
  /** When each kept connection was last given back. */
  readonly #givenBackMs = new WeakMap<object, number>();
  readonly #watches = new Set<WatchStream>();
  #handshakes = 0;
  /** What is to be sent when a handshake is over. */
  readonly #waiting: (() => void)[] = [];

  /** `certificate`: what the client shows of itself, PEM. */
  constructor(
    url: string,
    caPem: string,
    token: string,
    certificate?: { readonly cert: string; readonly key: string },
  ) {
    this.url = url;
    this.#token = token;
    this.#caPem = caPem;
    this.#agent = new Agent({
      keepAlive: true,
      timeout: IDLE_MS,
      ca: caPem,
      ...certificate,
    });
    this.#agent.on('free', (socket: object) => this.#givenBackMs.set(socket, performance.now()));
  }

  /** Rejects only when there is no whole answer. */
  async request(method: string, path: string, settings: RequestSettings = {}): Promise<Answer> {
    const message = await this.#send(method, path, settings, { agent: this.#agent });
    const pieces: Buffer[] = [];
    for await (const piece of message) pieces.push(piece as Buffer);
    if (!message.complete) throw new Error(`the answer to ${method} ${path} was cut off`);
    const bytes = Buffer.concat(pieces);
    const text = bytes.toString('utf8');
    const { statusCode = 0, headers } = message;
    return {
      status: statusCode,
      headers,
      text,
      bytes,
      get json() {
        return JSON.parse(text) as ApiObject;
      },
    };
  }

  get(path: string, settings?: RequestSettings): Promise<Answer> {
    return this.request('GET', path, settings);
  }

  /** Opens a watch (or any other stream of JSON lines) on a connection of its own. `close` ends it. */
  async watch(path: string, settings: RequestSettings = {}): Promise<WatchStream> {
    const message = await this.#send('GET', path, settings, { agent: false, ca: this.#caPem });
    const stream = new WatchStream(message);
    this.#watches.add(stream);
    void stream.ended.then(() => this.#watches.delete(stream));
    return stream;
  }

  /** Opens a streamed answer of any encoding on a connection of its own. `close` ends it. */
  async stream(path: string, settings: RequestSettings = {}): Promise<ByteStream> {
    return new ByteStream(await this.#send('GET', path, settings, { agent: false, ca: this.#caPem }));
  }

  /** Ends every connection, watches included. */
  close(): void {
    for (const watch of this.#watches) watch.close();
    this.#agent.destroy();
  }

  /** Where this process stood still, the timers that end idle connections have not run yet, and the server may have closed them. */
  #dropIdle(): void {
    const longAgoMs = performance.now() - IDLE_MS;
    for (const socket of Object.values(this.#agent.freeSockets).flat())
      if (socket !== undefined && (this.#givenBackMs.get(socket) ?? 0) < longAgoMs) socket.destroy();
  }

  #send(
    method: string,
    path: string,
    { body, headers = {}, token = this.#token }: RequestSettings,
    connection: RequestOptions,
  ): Promise<IncomingMessage> {
    const bytes = body === undefined ? undefined : bytesOf(body);
    const sent: Record<string, string> = {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      this.#inTurn((connected) => {
        this.#dropIdle();
        const outgoing = startRequest(`${this.url}${path}`, { ...connection, method, headers: sent }, (message) => {
          clearTimeout(patience);
          resolve(message);
        });
        const patience = setTimeout(() => {
          outgoing.destroy(new Error(`${method} ${path} was not answered within ${PATIENCE_MS} ms`));
        }, PATIENCE_MS);
        outgoing.on('socket', (socket) => {
          if (outgoing.reusedSocket) connected();
          else socket.once('secureConnect', connected);
        });
        outgoing.on('error', (error) => {
          clearTimeout(patience);
          connected();
          reject(error);
        });
        outgoing.end(bytes);
      });
    });
  }

  /** Calls `send` at once, or where too many handshakes are under way when one of them is over. It says when its own is. */
  #inTurn(send: (connected: () => void) => void): void {
    if (this.#handshakes >= HANDSHAKES_MAX) {
      this.#waiting.push(() => this.#inTurn(send));
      return;
    }
    this.#handshakes++;
    let isConnected = false;
    send(() => {
      if (isConnected) return;
      isConnected = true;
      this.#handshakes--;
      this.#waiting.shift()?.();
    });
  }
}

function bytesOf(body: Body): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
