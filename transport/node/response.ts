// One answer of the node listener, by HTTP/1.1 or HTTP/2. Node's streams send bytes after `write` has returned, so a body is
// copied unless it is said to stay as it is: it may lie in memory that is used again.
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { totalmem } from 'node:os';
import { copyBytes } from '../../values/copy-bytes.ts';
import { headerValueOf, isBeyondAscii } from '../../values/header-text.ts';
import { GatheredBody } from '../gathered-body.ts';
import type { HeaderList } from '../http.ts';
import { isBodiless } from '../http-status.ts';
import type { Endable, KeptBytes } from '../kept-bytes.ts';
import { isFramingHeader, lengthSaid, safeHeaderValue } from '../response-headers.ts';
import type { TrackedResponse } from '../run-handler.ts';
import type { MessageFraming } from '../websocket/handshake.ts';
import { keepUnread, PARSER_STOPS_BYTES } from './unread-requests.ts';
import type { UntakenAnswers } from './untaken-answers.ts';
import type { OpenUpgrade } from './upgrade.ts';
import { NodeWebSocket } from './web-socket.ts';

/** What an answer is written to: a response by HTTP/1.1, or one by HTTP/2. */
export interface NativeResponse {
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  write(bytes: Uint8Array): boolean;
  end(bytes?: Uint8Array): unknown;
  setTimeout(ms: number, callback: () => void): unknown;
  on(event: 'close' | 'drain' | 'error', callback: () => void): unknown;
  destroy(): unknown;
}

/**
 * Of answers that one connection has not taken: of HTTP/2, whose clients have many requests at once, and by pipelining, which hardly any
 * do.
 */
const STREAMS_BYTES_MAX = 256 * 1024 * 1024;
const PIPELINE_BYTES_MAX = 16 * 1024 * 1024;
/**
 * Of all connections together: this part of the memory there is, or 512 MiB where that is less. Who opens thousands of watches at once needs
 * some; what is behind each that is counted may be as much again.
 */
export const ANSWERS_BYTES_MAX = Math.max(512 * 1024 * 1024, memoryBytes() / 16);
/** Of an answer, or of a chunk; what is smaller is not counted. */
const COUNTED_BYTES = 64 * 1024;

const NO_BYTES = Buffer.alloc(0);

/** What responses of one listener share. */
export interface NodeResponseScope {
  /** While true, connections are closed after their answer. */
  isStopping: boolean;
  /** Of HTTP/1.1: whether the connection is closed after its answer in any case. */
  isOutdated(connection: Endable): boolean;
  /**
   * Answers, and chunks of streamed ones, that clients have not taken: each is a copy. On HTTP/2, and by pipelining, a client asks for
   * thousands of them on one connection and need not read any.
   */
  readonly waiting: KeptBytes;
  /** Bodies, until their requests are answered. */
  readonly bodies: KeptBytes;
  readonly untaken: UntakenAnswers;
  /** An answer's stream, or its connection, is closed. */
  onGone(connection: Endable): void;
  onError(error: unknown): void;
}

/** What is needed to go on as a WebSocket: the upgrade, and the handshake's key. */
export interface WebSocketOffer extends Pick<OpenUpgrade, 'socket' | 'head' | 'letGo'> {
  readonly key: string;
}

type State = 'idle' | 'streaming' | 'done';

function ignore(): void {}

export class NodeResponse implements TrackedResponse {
  aborted = false;
  readonly #native: NativeResponse;
  readonly #connection: Endable;
  /** The HTTP/1.1 response; undefined on HTTP/2. */
  readonly #http1: ServerResponse | undefined;
  readonly #scope: NodeResponseScope;
  readonly #isHeadRequest: boolean;
  #state: State = 'idle';
  /** A streamed answer that is over with its head: what is written to it is sent nowhere. */
  #isBodiless = false;
  readonly #offer: WebSocketOffer | undefined;
  #webSocket: NodeWebSocket | undefined;
  #abortCallback: (() => void) | undefined;
  #drainCallback: (() => void) | undefined;
  #gathered: GatheredBody | undefined;
  /** In what the scope has waiting. */
  #waitingBytes = 0;

  constructor(
    native: NativeResponse,
    connection: Endable,
    scope: NodeResponseScope,
    isHeadRequest: boolean,
    offer?: WebSocketOffer,
  ) {
    this.#native = native;
    this.#connection = connection;
    this.#http1 = native instanceof ServerResponse ? native : undefined;
    this.#scope = scope;
    this.#isHeadRequest = isHeadRequest;
    this.#offer = offer;
    this.#native.on('close', () => this.#onGone());
    // Its turn comes when the answer before has been taken, whose time to be taken in is not the time of this one.
    if (this.#http1?.socket === null) {
      this.#http1.setTimeout(0);
      this.#keepRequests();
    }
    // An error is followed by `close`, which says all there is to say.
    this.#native.on('error', ignore);
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

  gathering(): GatheredBody {
    const gathered = new GatheredBody(this.#scope.bodies, this.#connection);
    if (this.#state === 'done') gathered.letGo();
    else this.#gathered = gathered;
    return gathered;
  }

  /** The connection is somebody else's now: nothing is written to it any more, and its end is no abort. */
  release(): void {
    this.#finish();
    this.#abortCallback = undefined;
    this.#drainCallback = undefined;
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.#state !== 'idle') return;
    this.#finish();
    if (isBodiless(status)) {
      this.#writeHead(status, headers, undefined);
      this.#native.end();
      return;
    }
    if (body.length >= COUNTED_BYTES && !this.#isAdmitted(body.length)) return;
    const bytes = typeof body === 'string' ? Buffer.from(body) : ownBytes(body);
    this.#writeHead(status, headers, bytes.length);
    if (this.#isHeadRequest || bytes.length === 0) this.#native.end();
    else this.#native.end(bytes);
    this.#cutWhenUntaken();
  }

  /** Counts bytes that are kept until the client has taken them. False where the connection was ended instead. */
  #isAdmitted(bytes: number): boolean {
    const bytesMax = this.#http1 === undefined ? STREAMS_BYTES_MAX : PIPELINE_BYTES_MAX;
    if (!this.#scope.waiting.admit(this.#connection, bytes, bytesMax)) return false;
    this.#waitingBytes += bytes;
    return true;
  }

  #taken(): void {
    if (this.#waitingBytes === 0) return;
    this.#scope.waiting.gone(this.#connection, this.#waitingBytes);
    this.#waitingBytes = 0;
  }

  start(status: number, headers: HeaderList, isVerbatim = false): void {
    if (this.#state !== 'idle') return;
    const hasNone = isBodiless(status);
    this.#isBodiless = this.#isHeadRequest || hasNone;
    if (this.#isBodiless) this.#finish();
    else this.#state = 'streaming';
    const saysLength = (isVerbatim || this.#isHeadRequest) && !hasNone;
    this.#writeHead(status, headers, saysLength ? lengthSaid(headers) : undefined);
    if (this.#isBodiless) {
      this.#native.end();
      return;
    }
    this.#native.on('drain', () => this.#onDrain());
    this.#sendHead(headers);
  }

  /** Node takes the values of a head that goes out alone for text, and those of one before bytes, be they none, for bytes. */
  #sendHead(headers: HeaderList): void {
    if (headers.some(([, value]) => isBeyondAscii(value))) this.#http1?.write(NO_BYTES);
    else this.#http1?.flushHeaders();
  }

  startWebSocket(protocol: string, framing: MessageFraming): void {
    if (this.#state !== 'idle' || this.#offer === undefined) return;
    const { socket, head, key, letGo } = this.#offer;
    this.#state = 'streaming';
    letGo();
    this.#http1?.detachSocket(socket as Socket);
    this.#webSocket = new NodeWebSocket(socket, head, key, protocol, framing, {
      onGone: () => this.#onClose(),
      onDrained: () => this.#onDrain(),
    });
  }

  write(bytes: Uint8Array, isForMany = false): boolean {
    if (this.#state !== 'streaming') return this.#isBodiless;
    if (this.#webSocket !== undefined) return this.#webSocket.write(bytes);
    if (bytes.length === 0) return !this.#native.writableNeedDrain;
    if (!isForMany && bytes.length >= COUNTED_BYTES && !this.#isAdmitted(bytes.length)) return false;
    const isTaken = this.#native.write(isForMany ? bytes : ownBytes(bytes));
    if (isTaken) this.#taken();
    else this.#keepRequests();
    return isTaken;
  }

  onDrained(callback: () => void): void {
    this.#drainCallback = callback;
  }

  end(last?: Uint8Array): void {
    if (this.#state !== 'streaming') return;
    if (last !== undefined) this.write(last);
    this.#finish();
    if (this.#webSocket !== undefined) {
      this.#webSocket.close();
      return;
    }
    this.#native.end();
    this.#cutWhenUntaken();
  }

  abort(): void {
    if (this.#state === 'done') return;
    if (this.#webSocket === undefined) this.#native.destroy();
    else this.#offer?.socket.destroy();
    this.#onClose();
  }

  #writeHead(status: number, headers: HeaderList, contentLength: number | undefined): void {
    const fields: Record<string, string | string[]> = {};
    for (const [name, value] of headers) {
      if (isFramingHeader(name)) continue;
      const safe = headerValueOf(safeHeaderValue(value));
      const known = fields[name];
      if (known === undefined) fields[name] = safe;
      else fields[name] = Array.isArray(known) ? [...known, safe] : [known, safe];
    }
    if (contentLength !== undefined) fields['Content-Length'] = String(contentLength);
    if (this.#http1 !== undefined && (this.#scope.isStopping || this.#scope.isOutdated(this.#connection)))
      fields.Connection = 'close';
    this.#native.writeHead(status, fields);
  }

  #onGone(): void {
    this.#taken();
    this.#scope.untaken.delete(this.#native);
    this.#scope.onGone(this.#connection);
    this.#onClose();
  }

  #finish(): void {
    this.#state = 'done';
    this.#gathered?.letGo();
    this.#gathered = undefined;
  }

  #onClose(): void {
    if (this.#state === 'done') return;
    this.#finish();
    this.aborted = true;
    const callback = this.#abortCallback;
    this.#abortCallback = undefined;
    this.#drainCallback = undefined;
    if (callback !== undefined) this.#guarded(callback);
  }

  #onDrain(): void {
    this.#taken();
    if (this.#state === 'streaming' && this.#drainCallback !== undefined) this.#guarded(this.#drainCallback);
  }

  #guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.abort();
      this.#scope.onError(error);
    }
  }

  #cutWhenUntaken(): void {
    const { writableLength } = this.#native;
    if (writableLength === 0) return;
    this.#scope.untaken.add(this.#native);
    if (writableLength >= PARSER_STOPS_BYTES) this.#keepRequests();
  }

  /** The next request may come before this answer is taken. */
  #keepRequests(): void {
    if (this.#http1 !== undefined) keepUnread(this.#http1.req);
  }
}

/** What the process may use of the machine's: where nothing limits it, a number beyond all memory is told, or none. */
function memoryBytes(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}

function ownBytes(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafe(bytes.length);
  copyBytes(own, 0, bytes);
  return own;
}
