// One HTTP/2 stream of the node listener, as its requests and responses take it. Node's own layer that makes streams look
// like HTTP/1.1 doubles what an open one keeps, and a watch is open for long.
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { headerTextOf } from '../../values/header-text.ts';
import type { ListenerOptions } from '../http.ts';
import type { Endable } from '../kept-bytes.ts';
import type { RequestSource } from './request.ts';
import type { NativeResponse } from './response.ts';

/** `isSentAway`: clients are to go elsewhere, as `Listener.sendAway` says. */
interface StreamOptions extends Pick<ListenerOptions, 'sendsAway' | 'ownHeaders'> {
  readonly isSentAway: () => boolean;
}

type ServeStream = (source: RequestSource, response: Http2Response) => void;

/**
 * Serves the server's HTTP/2 streams. To be called when its listener for HTTP/1.1 requests
 * is attached: it replaces what Node adds for streams there.
 */
export function handleStreams(
  server: Http2SecureServer,
  serve: ServeStream,
  { sendsAway, isSentAway, ownHeaders = [] }: StreamOptions,
): void {
  const own = Object.fromEntries(ownHeaders);
  server.removeAllListeners('stream');
  // Typed without the raw headers, which come all the same.
  const onStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw?: string[]): void => {
    const response = new Http2Response(stream);
    const method = headers[':method'] ?? '';
    // A tunnel; nothing here is a proxy.
    if (method === 'CONNECT') response.refuse(405, own);
    else if (headers.expect !== undefined && !response.meets(headers.expect)) response.refuse(417, own);
    else {
      const source = sourceOf(stream, method, headers[':path'], raw ?? []);
      if (sendsAway?.() === true) sendAway(stream, () => serve(source, response));
      else serve(source, response);
    }
    const { session } = stream;
    if (session !== undefined && isSentAway())
      setImmediate(() => session.closed || session.destroyed || session.goaway());
  };
  server.on('stream', onStream);
}

/**
 * Tells the client of a stream to go elsewhere for its next one (GOAWAY), and serves this one after that: who heard of it behind the answer
 * would have sent the next one here by then, and not all clients repeat one that was not taken. In a turn of its own: the GOAWAY names the
 * last stream that was taken, behind all that came together with this one.
 */
function sendAway(stream: ServerHttp2Stream, serve: () => void): void {
  // Nobody else listens yet.
  stream.on('error', () => {});
  setImmediate(() => {
    stream.session?.close();
    if (!stream.destroyed && !stream.closed) serve();
  });
}

function sourceOf(
  stream: ServerHttp2Stream,
  method: string,
  path: string | undefined,
  rawHeaders: readonly string[],
): RequestSource {
  // A header like others here: what a client leaves unencoded in it comes as bytes. By HTTP/1.1 Node refuses that.
  const target = headerTextOf(path ?? '/');
  return { method, target, rawHeaders, body: stream, connection: stream.session ?? stream, socketOf };
}

/** Of a stream that has lost its session there is none. */
function socketOf(connection: Endable): Socket | undefined {
  const session = connection as Endable & Partial<Pick<ServerHttp2Session, 'destroyed' | 'socket'>>;
  return session.destroyed === false ? session.socket : undefined;
}

/** The writing half of a stream. After the stream is gone every method does nothing. */
export class Http2Response implements NativeResponse {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  get writableLength(): number {
    return this.#stream.writableLength;
  }

  get writableNeedDrain(): boolean {
    return this.#stream.writableNeedDrain;
  }

  writeHead(status: number, headers: Record<string, string | string[]>): void {
    // Not asking for `writableEnded`: the answer to a HEAD request has ended before it begins.
    if (this.#isOpen && !this.#stream.headersSent) this.#stream.respond({ ':status': status, ...headers });
  }

  write(bytes: Uint8Array): boolean {
    return this.#isWritable && this.#stream.write(bytes);
  }

  end(bytes?: Uint8Array): void {
    // A head that has no body behind it has ended the stream already.
    if (this.#isWritable) this.#stream.end(bytes);
    // The rest of a body that nobody reads, which the stream would wait for. Where there is no body Node sees to it by itself; read to its
    // end here, the stream would be gone before its last write is reported, and Node makes an Error each time it meets that.
    if (!this.#stream.endAfterHeaders && this.#stream.readableFlowing === null) this.#stream.resume();
  }

  setTimeout(ms: number, callback: () => void): void {
    this.#stream.setTimeout(ms, callback);
  }

  on(event: 'close' | 'drain' | 'error', callback: () => void): void {
    this.#stream.on(event, callback);
  }

  destroy(): void {
    this.#stream.destroy();
  }

  /** Does what a client expects before it goes on (RFC 9110 10.1.1). False: that is unknown. */
  meets(expectation: string): boolean {
    if (expectation.toLowerCase() !== '100-continue') return false;
    if (this.#isOpen) this.#stream.additionalHeaders({ ':status': 100 });
    return true;
  }

  /** An answer of a status alone. */
  refuse(status: number, headers: Record<string, string>): void {
    this.#stream.on('error', () => {});
    this.writeHead(status, headers);
    this.end();
  }

  get #isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed;
  }

  get #isWritable(): boolean {
    return this.#isOpen && !this.#stream.writableEnded;
  }
}
