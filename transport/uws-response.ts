// One answer on a uws socket. Owns the order of native calls: a native response may be touched neither after its end nor
// after an abort, and only inside a cork. Bytes are handed over piece by piece, so that the binary never buffers more
// than one piece for a client that does not read.
import type { HttpResponse as NativeResponse, WebSocket as NativeWebSocket, us_socket_context_t } from 'uWebSockets.js';
import type { HeaderList } from './exchange.ts';
import { isBodiless, statusLine } from './http-status.ts';
import { isFramingHeader, isLengthDelimited, isPlainJson, safeHeaderValue } from './response-headers.ts';
import type { TrackedResponse } from './run-handler.ts';
import { UwsWebSocket } from './uws-web-socket.ts';
import type { MessageFraming } from './web-socket.ts';

/** Bytes of one native write, and so about what the binary holds for a client that has stopped reading. */
const PIECE_BYTES_MAX = 128 * 1024;

const NEWLINE = 0x0a;

// The binary sends the line end that closes a chunk together with the next chunk, and the one that closes the headers
// with the first. Some clients wait for it, so a JSON stream gets a blank after each line: it is its own chunk and pushes
// the line end out. A blank and not a newline, because clients that read by lines choke on empty ones.
const FLUSHING_BLANK = new Uint8Array([0x20]);

// A stream of events behind four bytes of their length has no room for a blank. No event has 16 MB: the first byte of the
// first length is sent with the headers, and left out of the first event.
const LEADING_ZERO = new Uint8Array([0]);

/** What responses of one listener share. */
export interface UwsResponseScope {
  /** While true, connections are closed after their answer. */
  isStopping: boolean;
  /** Responses whose client does not read: kept alive by the listener's timer. */
  readonly parked: ParkedResponses;
  onError(error: unknown): void;
}

/** The responses that wait for their client to read. */
export interface ParkedResponses {
  add(response: UwsResponse): void;
  delete(response: UwsResponse): void;
}

/** What the binary needs to go on as a WebSocket. */
export interface WebSocketOffer {
  readonly key: string;
  readonly context: us_socket_context_t;
}

/** What a native WebSocket carries: the response that it is. */
export interface WebSocketData {
  readonly response: UwsResponse;
}

type State = 'idle' | 'head' | 'streaming' | 'ending' | 'done';

export class UwsResponse implements TrackedResponse {
  aborted = false;
  readonly #native: NativeResponse;
  readonly #scope: UwsResponseScope;
  readonly #isHeadRequest: boolean;
  readonly #offer: WebSocketOffer | undefined;
  #webSocket: UwsWebSocket | undefined;
  #framing: MessageFraming = 'lines';
  #state: State = 'idle';
  #stream: StreamState | undefined;
  #abortCallback: (() => void) | undefined;

  constructor(native: NativeResponse, scope: UwsResponseScope, isHeadRequest: boolean, offer?: WebSocketOffer) {
    this.#native = native;
    this.#scope = scope;
    this.#isHeadRequest = isHeadRequest;
    this.#offer = offer;
  }

  /** True when nothing more may be sent. */
  get isAnswered(): boolean {
    return this.#state === 'done';
  }

  /** True when the native response may not be asked for anything: it is answered, or has become a WebSocket. */
  get isNativeGone(): boolean {
    return this.#state === 'done' || this.#webSocket !== undefined;
  }

  get isUntouched(): boolean {
    return this.#state === 'idle';
  }

  onAborted(callback: () => void): void {
    if (this.aborted) {
      callback();
      return;
    }
    if (this.#state === 'done') return;
    const earlier = this.#abortCallback;
    const both = (): void => {
      earlier?.();
      callback();
    };
    this.#abortCallback = earlier === undefined ? callback : both;
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.#state !== 'idle') return;
    this.#finish();
    this.#native.cork(() => {
      writeHead(this.#native, status, headers);
      if (isBodiless(status)) this.#endBodiless(undefined);
      else if (this.#isHeadRequest) this.#endBodiless(Buffer.byteLength(body));
      else this.#native.end(body, this.#scope.isStopping);
    });
  }

  start(status: number, headers: HeaderList, isVerbatim = false): void {
    if (this.#state !== 'idle') return;
    if (this.#isHeadRequest || isBodiless(status)) {
      this.#finish();
      this.#native.cork(() => {
        writeHead(this.#native, status, headers);
        this.#endBodiless(undefined);
      });
      return;
    }
    this.#state = 'head';
    this.#stream = {
      status,
      headers,
      isPlainJson: !isVerbatim && isPlainJson(headers),
      owesZero: false,
      pending: undefined,
      isParked: false,
    };
    this.#native.onWritable(() => this.#onWritable());
    // In a microtask: a handler that writes its first chunk in this turn sends it together with the headers.
    if (this.#stream.isPlainJson || isLengthDelimited(headers)) queueMicrotask(() => this.#flushHead());
  }

  startWebSocket(protocol: string, framing: MessageFraming): void {
    if (this.#state !== 'idle' || this.#offer === undefined) return;
    const { key, context } = this.#offer;
    this.#state = 'streaming';
    this.#stream = { ...NO_HEAD, pending: undefined, isParked: false, owesZero: false };
    this.#framing = framing;
    // Opens before this returns.
    this.#native.cork(() => this.#native.upgrade<WebSocketData>({ response: this }, key, protocol, '', context));
  }

  /** The native response has become this. */
  onOpen(native: NativeWebSocket<WebSocketData>): void {
    this.#webSocket = new UwsWebSocket(native, this.#framing);
  }

  /** The WebSocket has sent some of what it held. */
  onDrain(): void {
    const onDrained = this.#stream?.onDrained;
    if (onDrained !== undefined && this.#webSocket?.hasRoom === true) this.#guarded(onDrained);
  }

  write(bytes: Uint8Array): boolean {
    const stream = this.#stream;
    if (stream === undefined || this.#state === 'done' || this.#state === 'ending') return false;
    if (this.#webSocket !== undefined) return this.#webSocket.write(bytes);
    if (bytes.length === 0) return !stream.isParked;
    if (stream.pending !== undefined) {
      stream.pending.push(bytes.slice());
      return false;
    }
    const isZeroSent = stream.owesZero && bytes[0] === 0;
    stream.owesZero = false;
    return this.#park(this.#writePieces(isZeroSent ? bytes.subarray(1) : bytes));
  }

  onDrained(callback: () => void): void {
    const stream = this.#stream;
    if (stream !== undefined) stream.onDrained = callback;
  }

  end(): void {
    if (this.#stream === undefined || this.#state === 'done' || this.#state === 'ending') return;
    if (this.#webSocket !== undefined) {
      this.#finish();
      this.#webSocket.end();
      return;
    }
    if (this.#stream.pending !== undefined) {
      this.#state = 'ending';
      return;
    }
    this.#end();
  }

  abort(): void {
    if (this.#state === 'done') return;
    if (this.#webSocket === undefined) this.#native.close();
    else this.#webSocket.cut();
    // Closing runs the native abort callback, if the listener had attached it already.
    this.onNativeAborted();
  }

  /** The native abort: the socket is gone. */
  onNativeAborted(): void {
    if (this.#state === 'done') return;
    const callback = this.#abortCallback;
    this.#finish();
    this.aborted = true;
    if (callback !== undefined) this.#guarded(callback);
  }

  /**
   * Renews the socket's ten-second write timeout. Pausing first is needed: resuming restores the poll flags that the
   * last pause on this thread saved, and without one it would stop the polling for good.
   */
  keepAlive(): void {
    this.#native.pause();
    this.#native.resume();
  }

  #end(): void {
    this.#native.cork(() => {
      this.#sendHead();
      this.#native.end(undefined, this.#scope.isStopping);
    });
    this.#finish();
  }

  /**
   * Ends an answer that has no body. The length is written as a header like any other: given to the binary, it waits for
   * as many bytes, which never come. The connection is left for the client to close.
   */
  #endBodiless(contentLength: number | undefined): void {
    if (contentLength !== undefined) this.#native.writeHeader('Content-Length', String(contentLength));
    if (this.#scope.isStopping) this.#native.writeHeader('Connection', 'close');
    this.#native.endWithoutBody();
  }

  #finish(): void {
    this.#state = 'done';
    this.#abortCallback = undefined;
    if (this.#stream?.isParked === true) this.#scope.parked.delete(this);
    this.#stream = undefined;
  }

  /** Writes status and headers where they have not been; to be called inside a cork. */
  #sendHead(): void {
    if (this.#state !== 'head' || this.#stream === undefined) return;
    this.#state = 'streaming';
    writeHead(this.#native, this.#stream.status, this.#stream.headers);
  }

  #flushHead(): void {
    if (this.#state !== 'head') return;
    this.#native.cork(() => {
      const stream = this.#stream!;
      this.#sendHead();
      stream.owesZero = !stream.isPlainJson;
      this.#native.write(stream.isPlainJson ? FLUSHING_BLANK : LEADING_ZERO);
    });
  }

  /** Hands `bytes` over until the socket is full; copies what is left for `#onWritable`. True when nothing is left. */
  #writePieces(bytes: Uint8Array): boolean {
    let offset = 0;
    let hasRoom = true;
    while (hasRoom && offset < bytes.length) {
      const piece = bytes.length <= PIECE_BYTES_MAX ? bytes : bytes.subarray(offset, offset + PIECE_BYTES_MAX);
      offset += piece.length;
      hasRoom = this.#writePiece(piece, offset === bytes.length && bytes[offset - 1] === NEWLINE);
    }
    if (offset < bytes.length && this.#stream !== undefined) this.#stream.pending = [bytes.slice(offset)];
    return hasRoom;
  }

  #writePiece(piece: Uint8Array, endsLine: boolean): boolean {
    let hasRoom = true;
    this.#native.cork(() => {
      this.#sendHead();
      hasRoom = this.#native.write(piece);
      if (endsLine && this.#stream?.isPlainJson === true) hasRoom = this.#native.write(FLUSHING_BLANK);
    });
    return hasRoom;
  }

  #park(hasRoom: boolean): boolean {
    const stream = this.#stream;
    if (stream === undefined || stream.isParked === !hasRoom) return hasRoom;
    stream.isParked = !hasRoom;
    if (hasRoom) this.#scope.parked.delete(this);
    else this.#scope.parked.add(this);
    return hasRoom;
  }

  #onWritable(): boolean {
    const stream = this.#stream;
    if (stream === undefined) return true;
    const wasParked = stream.isParked;
    const pending = stream.pending ?? [];
    stream.pending = undefined;
    // The binary leaves its own buffer to the next write; with nothing to write, an empty cork sends it.
    if (pending.length === 0) this.#native.cork(() => {});
    for (const [i, bytes] of pending.entries()) {
      if (this.#writePieces(bytes)) continue;
      stream.pending = [...(stream.pending ?? []), ...pending.slice(i + 1)];
      if (stream.pending.length === 0) stream.pending = undefined;
      this.#park(false);
      return true;
    }
    this.#park(true);
    if (this.#state === 'ending') this.#end();
    else if (wasParked && stream.onDrained !== undefined) this.#guarded(stream.onDrained);
    return true;
  }

  #guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.abort();
      this.#scope.onError(error);
    }
  }
}

/** What only a streamed answer needs. */
interface StreamState {
  readonly status: number;
  readonly headers: HeaderList;
  readonly isPlainJson: boolean;
  /** The first byte of the first event was sent before it. */
  owesZero: boolean;
  /** Copies of what the full socket has not taken. */
  pending: Uint8Array[] | undefined;
  isParked: boolean;
  onDrained?: () => void;
}

const NO_HEAD = { status: 101, headers: [], isPlainJson: false } as const;

function writeHead(native: NativeResponse, status: number, headers: HeaderList): void {
  native.writeStatus(statusLine(status));
  for (const [name, value] of headers) {
    if (!isFramingHeader(name)) native.writeHeader(name, safeHeaderValue(value));
  }
}
