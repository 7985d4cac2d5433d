// A small HTTPS client for tests: whole answers, and watches as streams of events. Trusts one authority, sends one token.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request as startRequest } from 'node:https';
import { ByteStream } from './byte-stream.ts';
import { WatchStream } from './watch-stream.ts';

/** Longer than anything a test waits for: a request without an answer by then has failed. */
const PATIENCE_MS = 120_000;
/** Less than what the server grants an idle connection, so that none is reused just as it is closed. */
const IDLE_MS = 4000;

/** As many as any test needs at once: handshakes of hundreds take a busy machine longer than a server waits for a request. */
const SOCKETS_MAX = 100;

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
  readonly #watches = new Set<WatchStream>();

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
      maxSockets: SOCKETS_MAX,
      ca: caPem,
      ...certificate,
    });
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
      const outgoing = startRequest(`${this.url}${path}`, { ...connection, method, headers: sent }, (message) => {
        clearTimeout(patience);
        resolve(message);
      });
      const patience = setTimeout(() => {
        outgoing.destroy(new Error(`${method} ${path} was not answered within ${PATIENCE_MS} ms`));
      }, PATIENCE_MS);
      outgoing.on('error', (error) => {
        clearTimeout(patience);
        reject(error);
      });
      outgoing.end(bytes);
    });
  }
}

function bytesOf(body: Body): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
