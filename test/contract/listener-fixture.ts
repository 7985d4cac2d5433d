// What the listener tests share: options, a key pair, recognisable bytes, small handlers, and how one test is set up and
// taken down.
import type { ExecutionContext } from 'ava';
import type { HeaderList, HttpResponse, Listener, ListenerOptions, RequestHandler } from '../../transport/http.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { type ListenerName, testOn } from '../server/listeners.ts';
import { eventually, RawClient } from './listener-client.ts';

export type Open = (options: ListenerOptions) => Promise<Listener>;
export type OptionsChange = Partial<Omit<ListenerOptions, 'handler'>>;

export const HEADER_BYTES_MAX = 64 * 1024;
export const JSON_HEADERS: HeaderList = [['Content-Type', 'application/json']];
export const BINARY_HEADERS: HeaderList = [['Content-Type', 'application/octet-stream']];
/** For answers that never end, which a listener that closes would wait for. */
export const ENDLESS_ANSWERS: OptionsChange = { lastAnswersMs: 50 };
export const MEGABYTE = 1024 * 1024;

/** More than the kernel buffers for one loopback connection, so that a stalled client is noticed. */
export const ENDLESS_BYTES = 64 * MEGABYTE;

/** A pair for tests. */
export const testPair = makeSelfSigned({
  commonName: 'test',
  names: ['localhost', '127.0.0.1'],
  notBefore: new Date(Date.now() - 3_600_000),
  notAfter: new Date(Date.now() + 86_400_000),
});

export async function listenerOptions(
  isTls: boolean,
  handler: RequestHandler,
  change: OptionsChange = {},
): Promise<ListenerOptions> {
  return {
    host: '127.0.0.1',
    port: 0,
    ...(isTls ? { tls: await testPair } : {}),
    headerBytesMax: HEADER_BYTES_MAX,
    idleTimeoutSeconds: 60,
    sharedPort: false,
    handler,
    ...change,
  };
}

/** Bytes that differ at every place a chunk could be lost, repeated or swapped. */
export function pattern(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + (i >> 16) * 3 + seed) & 0xff;
  return bytes;
}

/** Registers one test, which is given a listener and a client connected to it. */
export type Served = (
  title: string,
  handler: RequestHandler,
  run: (t: ExecutionContext, client: RawClient, listener: Listener) => Promise<void>,
  change?: OptionsChange,
) => void;

/** What tests of a listener are called by. */
export function nameOf(listener: ListenerName, isTls: boolean): string {
  return isTls ? `${listener} with TLS` : listener;
}

/** The `Served` of one kind of listener. */
export function serving(listener: ListenerName, open: Open, isTls: boolean): Served {
  const test = testOn(listener);
  return (title, handler, run, change = {}) => {
    test.serial(`${nameOf(listener, isTls)}: ${title}`, async (t) => {
      const opened = await open(await listenerOptions(isTls, handler, change));
      const client = await RawClient.open(opened.port, isTls);
      try {
        await run(t, client, opened);
      } finally {
        client.close();
        await opened.close();
      }
    });
  };
}

/** Hands the responses that a handler was given to the test. */
export class Taken {
  #response: HttpResponse | undefined;

  /** A handler that begins a stream and leaves the rest to the test. */
  handler(headers: HeaderList, prepare: (response: HttpResponse) => void = () => {}): RequestHandler {
    return this.taking((response) => {
      prepare(response);
      response.start(200, headers);
    });
  }

  /** A handler that leaves all but the beginning to the test. */
  taking(begin: (response: HttpResponse) => void): RequestHandler {
    return (_, response) => {
      this.#response = response;
      begin(response);
    };
  }

  /** Waits for the next response. */
  async next(): Promise<HttpResponse> {
    await eventually(() => this.#response !== undefined);
    const response = this.#response;
    this.#response = undefined;
    if (response === undefined) throw new Error('no response');
    return response;
  }
}

export const get = (path: string, ...headers: string[]): string =>
  `GET ${path} HTTP/1.1\r\n${['Host: test', ...headers].join('\r\n')}\r\n\r\n`;

export const answerPath: RequestHandler = (request, response) => response.respond(200, JSON_HEADERS, request.path);

export const answerLater: RequestHandler = (request, response) => {
  setTimeout(() => response.respond(200, JSON_HEADERS, request.path), 1);
};
