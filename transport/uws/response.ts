// One answer on a uws socket. Owns the order of native calls: a native response may be touched neither after its end nor
// after an abort, and only inside a cork. Streamed answers are handed over by stream.ts.
import type { HttpResponse as NativeResponse, WebSocket as NativeWebSocket, us_socket_context_t } from 'uWebSockets.js';
import { GatheredBody } from '../gathered-body.ts';
import type { HeaderList, RawConnection, SwitchHead } from '../http.ts';
import { isBodiless } from '../http-status.ts';
import { lengthSaid } from '../response-headers.ts';
import type { TrackedResponse } from '../run-handler.ts';
import { CLOSE_TOO_BIG, MESSAGE_BYTES_MAX } from '../websocket/frames.ts';
import type { MessageFraming } from '../websocket/handshake.ts';
import { ClientHold } from './client-hold.ts';
import { writeHead } from './head.ts';
import { SendingByTries, type Tried } from './sending-by-tries.ts';
import { UwsSizedStream } from './sized-stream.ts';
import { type AnswerStream, type StreamOwner, type UwsResponseScope, UwsStream } from './stream.ts';
import { UwsTunnel } from './tunnel.ts';
import { UwsWebSocket } from './web-socket.ts';

/** What the binary needs to go on as a WebSocket. */
export interface WebSocketOffer {
  readonly key: string;
  readonly context: us_socket_context_t;
}

/** What a native WebSocket carries. */
export interface WebSocketData {
  /** The response that it is. */
  readonly response: UwsResponse;
  readonly framing: MessageFraming;
}

/**
 * What is longer than this, in bytes or characters, may be taken by its socket in parts. The binary holds the rest without a word,
 * and loses it when it is closed: a listener that stops hands over such answers by and by.
 */
const AT_ONCE_MAX = 8 * 1024;

/** What the answer has to know of its request, until it goes on. */
export interface Asking {
  readonly method: string;
  /** See isEagerClient. */
  readonly isEager: boolean;
  /** Undefined where it is no WebSocket. */
  readonly offer: WebSocketOffer | undefined;
}

/** The longest time between two tries to send what a client has not taken that is still read. */
const TRIES_LAST_MS = 1000;

const NOTHING = new Uint8Array(0);

type State = 'idle' | 'ongoing' | 'done' | 'aborted';

export class UwsResponse implements TrackedResponse, StreamOwner {
  readonly native: NativeResponse;
  readonly scope: UwsResponseScope;
  /** Until its answer goes on. */
  #request: Asking | undefined;
  #state: State = 'idle';
  #stream: AnswerStream | undefined;
  #hold: ClientHold | undefined;
  #sending: SendingByTries | undefined;
  #webSocket: UwsWebSocket | undefined;
  #tunnel: UwsTunnel | undefined;
  #gathered: GatheredBody | undefined;
  #abortCallback: (() => void) | undefined;
  /** A streamed answer that is over with its head: what is written to it is sent nowhere. */
  #isBodiless = false;

  constructor(native: NativeResponse, scope: UwsResponseScope) {
    this.native = native;
    this.scope = scope;
    scope.outstanding++;
    scope.cork.enter(native);
  }

  /** Says whose answer it is, before anything is answered. */
  belongsTo(request: Asking): void {
    this.#request = request;
  }

  get aborted(): boolean {
    return this.#state === 'aborted';
  }

  get #isHeadRequest(): boolean {
    return this.#request?.method === 'HEAD';
  }

  /** To be called first in each later native callback of the request. */
  enterCallback(): void {
    this.scope.cork.enter(this.native);
    this.#stream?.enterCallback();
  }

  /** True when nothing more may be sent. */
  get isAnswered(): boolean {
    return this.#state === 'done' || this.#state === 'aborted';
  }

  /** True when the native response may not be asked for anything: it is answered, or has become a WebSocket. */
  get isNativeGone(): boolean {
    return this.isAnswered || this.#webSocket !== undefined || this.#tunnel !== undefined;
  }

  get isUntouched(): boolean {
    return this.#state === 'idle';
  }

  onAborted(callback: () => void): void {
    if (this.aborted) {
      callback();
      return;
    }
    if (this.isAnswered) return;
    const earlier = this.#abortCallback;
    const both = (): void => {
      earlier?.();
      callback();
    };
    this.#abortCallback = earlier === undefined ? callback : both;
  }

  get sending(): SendingByTries | undefined {
    return this.#sending;
  }

  /** Made for a body that comes in chunks. */
  gathering(): GatheredBody {
    const gathered = new GatheredBody(this.scope.bodies, this);
    if (this.isAnswered) gathered.letGo();
    else this.#gathered = gathered;
    return gathered;
  }

  /** Made for a body that is passed on, while nothing is answered. */
  clientHold(): ClientHold {
    const { native } = this;
    const attempt = (): Tried => this.#stream?.sendOn() ?? 'all';
    const sending = new SendingByTries(native, TRIES_LAST_MS, attempt, () => hold.sent());
    const socket = {
      pause: () => native.pause(),
      resume: () => {
        if (!sending.isUnderWay) native.resume();
      },
    };
    const hold = new ClientHold(socket, this.scope, () => this.#stream?.isFull === true && !sending.isUnderWay);
    this.#sending = sending;
    this.#hold = hold;
    return hold;
  }

  /** All of the body has come: what is sent from now on is the binary's matter. */
  readWhole(): void {
    const wasSending = this.#sending?.stop();
    this.#sending = undefined;
    if (wasSending === true) this.#hold?.sent();
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.#state !== 'idle') return;
    this.#hold?.letGo();
    if (this.scope.isStopping && body.length > AT_ONCE_MAX && !this.#isHeadRequest && !isBodiless(status)) {
      this.start(status, headers, true);
      this.end(typeof body === 'string' ? Buffer.from(body) : body);
      return;
    }
    this.#finish();
    if (this.scope.cork.isOpenFor(this.native)) this.#writeWhole(status, headers, body);
    else this.native.cork(() => this.#writeWhole(status, headers, body));
  }

  #writeWhole(status: number, headers: HeaderList, body: Uint8Array | string): void {
    writeHead(this.native, status, headers);
    if (isBodiless(status)) this.#endBodiless(undefined);
    else if (this.#isHeadRequest) this.#endBodiless(Buffer.byteLength(body));
    else this.native.end(body, this.scope.isStopping);
  }

  start(status: number, headers: HeaderList, isVerbatim = false): void {
    if (this.#state !== 'idle') return;
    if (this.#isHeadRequest || isBodiless(status)) {
      this.#hold?.letGo();
      this.#isBodiless = true;
      this.#finish();
      this.native.cork(() => {
        writeHead(this.native, status, headers);
        this.#endBodiless(isBodiless(status) ? undefined : lengthSaid(headers));
      });
      return;
    }
    this.#state = 'ongoing';
    this.scope.ongoing++;
    const isEager = this.#request?.isEager ?? false;
    this.#request = undefined;
    const length = isVerbatim ? lengthSaid(headers) : undefined;
    this.#stream =
      length === undefined
        ? new UwsStream(this, status, headers, isVerbatim, isEager)
        : new UwsSizedStream(this, status, headers, length);
  }

  startWebSocket(protocol: string, framing: MessageFraming): void {
    const offer = this.#request?.offer;
    if (this.#state !== 'idle' || offer === undefined) return;
    this.#upgrade(offer, protocol, framing);
  }

  /**
   * Opens before this returns. Outside of a cork: behind one the binary looks once more at the memory of the response, which it has given
   * back by then, and closes the connection where that has become something else.
   */
  #upgrade({ key, context }: WebSocketOffer, protocol: string, framing: MessageFraming): void {
    this.#state = 'ongoing';
    this.#request = undefined;
    const data: WebSocketData = { response: this, framing };
    this.native.upgrade(data, key, protocol, '', context);
  }

  /** See ConnectionUpgrade.take. */
  handOver({ rawHeaders }: SwitchHead): RawConnection {
    const tunnel = new UwsTunnel(this.native, this.scope);
    const offer = this.#request?.offer;
    if (this.#state !== 'idle' || offer === undefined) {
      tunnel.destroy();
      return { stream: tunnel, head: NOTHING };
    }
    this.#abortCallback = undefined;
    this.#tunnel = tunnel;
    this.#upgrade(offer, rawHeaderValue(rawHeaders, 'sec-websocket-protocol'), 'lines');
    return { stream: tunnel, head: NOTHING };
  }

  /** The native response has become this. */
  onOpen(native: NativeWebSocket<WebSocketData>): void {
    if (this.#tunnel === undefined) this.#webSocket = new UwsWebSocket(native, native.getUserData().framing);
    else this.#tunnel.onOpen(native);
  }

  /** A message of the client: for the backend, or for nobody. */
  onMessage(lent: ArrayBuffer, isBinary: boolean): void {
    if (this.#tunnel !== undefined) this.#tunnel.onMessage(lent, isBinary);
    else if (lent.byteLength > MESSAGE_BYTES_MAX) this.#webSocket?.refuse(CLOSE_TOO_BIG);
  }

  /** The WebSocket is closed. */
  onClosed(code: number, lentReason: ArrayBuffer): void {
    this.#tunnel?.onClosed(code, lentReason);
    this.onNativeAborted();
  }

  /** The WebSocket has sent some of what it held. */
  onDrain(): void {
    if (this.#tunnel !== undefined) {
      this.#tunnel.onDrain();
      return;
    }
    // Not in the native callback: there the binary forgets to go on with a long message that a socket takes in part.
    setImmediate(() => {
      const webSocket = this.#webSocket;
      if (this.isAnswered || webSocket?.hasRoom !== true || webSocket.onDrained === undefined) return;
      this.guarded(webSocket.onDrained);
    });
  }

  write(bytes: Uint8Array): boolean {
    if (this.#state !== 'ongoing') return this.#isBodiless;
    return (this.#webSocket ?? this.#stream)?.write(bytes) ?? false;
  }

  onDrained(callback: () => void): void {
    const sink = this.#webSocket ?? this.#stream;
    if (sink !== undefined) sink.onDrained = callback;
  }

  end(last?: Uint8Array): void {
    if (this.#state !== 'ongoing') return;
    if (last !== undefined) this.write(last);
    const webSocket = this.#webSocket;
    if (webSocket === undefined) {
      this.readWhole();
      this.#hold?.letGo();
      this.#stream?.end();
      return;
    }
    this.#finish();
    webSocket.end();
  }

  streamEnded(): void {
    this.#finish();
  }

  abort(): void {
    if (this.isAnswered) return;
    if (this.#tunnel !== undefined) this.#tunnel.destroy();
    else if (this.#webSocket !== undefined) this.#webSocket.cut();
    else this.native.close();
    // Closing runs the native abort callback, if the listener had attached it already.
    this.onNativeAborted();
  }

  /** Too much is kept for it. */
  destroy(): void {
    this.abort();
  }

  /** The native abort: the socket is gone. */
  onNativeAborted(): void {
    if (this.isAnswered) return;
    const callback = this.#abortCallback;
    this.#finish();
    this.#state = 'aborted';
    if (callback !== undefined) this.guarded(callback);
  }

  keepAlive(): void {
    this.#stream?.keepAlive();
  }

  /**
   * Ends an answer that has no body. The length is written as a header like any other: given to the binary, it waits for
   * as many bytes, which never come. The connection is left for the client to close.
   */
  #endBodiless(contentLength: number | undefined): void {
    if (contentLength !== undefined) this.native.writeHeader('Content-Length', String(contentLength));
    if (this.scope.isStopping) this.native.writeHeader('Connection', 'close');
    this.native.endWithoutBody();
  }

  #finish(): void {
    this.#state = 'done';
    this.#abortCallback = undefined;
    this.#sending?.stop();
    this.#sending = undefined;
    this.#hold?.drop();
    this.#gathered?.letGo();
    this.#gathered = undefined;
    this.scope.outstanding--;
    if (this.#stream === undefined) return;
    this.scope.ongoing--;
    this.#stream.drop();
    this.#stream = undefined;
  }

  guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.abort();
      this.scope.onError(error);
    }
  }
}

function rawHeaderValue(rawHeaders: readonly string[], name: string): string {
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.toLowerCase() === name) return rawHeaders[i + 1]!;
  return '';
}
