// One request that arrived on a uws listener: everything copied out of the binary's stack in the callback, the body
// read by chunks that are only lent. Knows nothing of what the answer will be.
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { GatheredBody } from '../gathered-body.ts';
import {
  type BodyFlow,
  type BodyReceiver,
  type ConnectionUpgrade,
  type HttpRequest,
  type PeerCertificate,
  RequestAborted,
} from '../http.ts';
import { announceBody, hasHeaderStarting, headersStarting, headerValue } from '../raw-headers.ts';
import type { ClientHold } from './client-hold.ts';
import { isEagerClient } from './eager-clients.ts';
import type { RemoteAddresses } from './remote-addresses.ts';
import type { Asking, UwsResponse, WebSocketOffer } from './response.ts';
import type { ShownCertificates } from './shown-certificates.ts';

/** What is known of clients but from what they send. */
export interface Peers {
  readonly addresses: RemoteAddresses;
  /** Absent where they are not asked for certificates. */
  readonly certificates: ShownCertificates | undefined;
}

// The list that `collectHeader` fills: one callback for all requests instead of a closure for each.
let collecting: string[] = [];
let framings = 0;

function collectHeader(name: string, value: string): void {
  collecting.push(name, value);
  // Most names are shorter than the two that frame a body.
  if (name.length < CONTENT_LENGTH.length) return;
  if (name === CONTENT_LENGTH) framings++;
  // Whatever stands here, the binary reads chunks.
  else if (name === TRANSFER_ENCODING) framings += value.trim().toLowerCase() === 'chunked' ? 1 : 2;
}

const CONTENT_LENGTH = 'content-length';
const TRANSFER_ENCODING = 'transfer-encoding';

/** Names and values in turn, in the order they arrived, names in lower case. */
function copyHeaders(native: NativeRequest): readonly string[] {
  const headers: string[] = [];
  collecting = headers;
  framings = 0;
  native.forEach(collectHeader);
  return headers;
}

export class UwsRequest implements HttpRequest, Asking {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peerCertificate: PeerCertificate | undefined;
  readonly offer: WebSocketOffer | undefined;
  /**
   * It has several Content-Length headers, or is encoded in another way than in chunks (RFC 9112 6.3): whoever passed it on may have gone by
   * something else than the binary, and what the one takes for its body is the next request to the other.
   */
  readonly isFramedUnclearly: boolean;
  readonly #headers: readonly string[];
  readonly #nativeResponse: NativeResponse;
  readonly #response: UwsResponse;
  readonly #addresses: RemoteAddresses;
  #remoteAddress: string | undefined;
  #bodyState: 'unread' | 'read' | 'missed' = 'unread';

  constructor(
    method: string,
    native: NativeRequest,
    nativeResponse: NativeResponse,
    response: UwsResponse,
    offer: WebSocketOffer | undefined,
    { addresses, certificates }: Peers,
  ) {
    this.method = method;
    this.offer = offer;
    this.path = native.getUrl();
    this.query = native.getQuery() ?? '';
    this.#headers = copyHeaders(native);
    this.isFramedUnclearly = framings > 1;
    this.#nativeResponse = nativeResponse;
    this.#response = response;
    this.#addresses = addresses;
    this.peerCertificate = certificates?.of(nativeResponse);
    response.belongsTo(this);
  }

  get isWebSocket(): boolean {
    return this.offer !== undefined;
  }

  /** One request at a time: itself stands for the connection. */
  get connection(): object {
    return this;
  }

  get upgrade(): ConnectionUpgrade | undefined {
    if (!this.isWebSocket) return undefined;
    return { passesFrames: false, take: (head) => this.#response.handOver(head) };
  }

  get remoteAddress(): string {
    if (this.#remoteAddress === undefined && this.#response.isNativeGone) return '';
    this.#remoteAddress ??= this.#addresses.of(this.#nativeResponse);
    return this.#remoteAddress;
  }

  get isEager(): boolean {
    return isEagerClient(this.header('user-agent'), this.header('accept-encoding'));
  }

  header(name: string): string {
    return headerValue(this.#headers, name);
  }

  hasHeaderWithPrefix(prefix: string): boolean {
    return hasHeaderStarting(this.#headers, prefix);
  }

  headersWithPrefix(prefix: string): readonly (readonly [name: string, value: string])[] {
    return headersStarting(this.#headers, prefix);
  }

  body(bytesMax: number): Promise<Uint8Array | null> {
    if (this.#response.aborted) return Promise.reject(new RequestAborted());
    if (this.#bodyState !== 'unread' || this.#response.isAnswered) {
      return Promise.reject(new Error('the body was read twice, or after the turn in which the request arrived'));
    }
    this.#bodyState = 'read';
    const body = new Promise<Uint8Array | null>((resolve, reject) => {
      this.#response.onAborted(() => reject(new RequestAborted()));
      readBody(this.#nativeResponse, bytesMax, this.#response, (body) => {
        this.#response.enterCallback();
        resolve(body);
      });
    });
    // A handler that answers without waiting for the body must not bring the process down when the client goes away.
    body.catch(() => {});
    return body;
  }

  bodyFlow(): BodyFlow {
    const flow = new UwsBodyFlow();
    if (this.#response.aborted) flow.lose('aborted');
    else if (this.#bodyState !== 'unread' || this.#response.isAnswered) flow.end();
    else {
      this.#bodyState = 'read';
      this.#response.onAborted(() => flow.lose('aborted'));
      if (!this.bringsBody) flow.end();
      else {
        flow.hold = this.#response.clientHold();
        this.#nativeResponse.onData((lent, isLast) => {
          this.#response.enterCallback();
          if (isLast) this.#response.readWhole();
          flow.add(lent, isLast);
        });
      }
    }
    return flow;
  }

  /**
   * To be called when the handler has returned: a body that it left alone is discarded, and a later `body` fails
   * instead of waiting for bytes that are gone.
   */
  settle(): void {
    if (this.#bodyState !== 'unread' || this.#response.isAnswered || !this.bringsBody) return;
    this.#nativeResponse.onData(() => {
      this.#bodyState = 'missed';
    });
  }

  get bringsBody(): boolean {
    return announceBody(this.#headers);
  }
}

/** A client that is held back goes on when no more bytes wait for a slow receiver. */
const GOES_ON_AT_BYTES = 64 * 1024;
/** What a chunk costs beside its bytes: a client may send them one by one. */
const CHUNK_COST_BYTES = 256;

class UwsBodyFlow implements BodyFlow {
  hold: ClientHold | undefined;
  #receiver: BodyReceiver | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isHeld = true;
  #ending: 'ended' | 'aborted' | 'tooFast' | undefined;

  start(receiver: BodyReceiver): void {
    this.#receiver = receiver;
    this.resume();
  }

  resume(): void {
    const receiver = this.#receiver;
    if (receiver === undefined) return;
    this.#isHeld = false;
    while (!this.#isHeld && this.#waiting.length > 0) {
      const chunk = this.#waiting.shift()!;
      this.#waitingBytes -= chunk.length + CHUNK_COST_BYTES;
      if (!receiver.onChunk(chunk)) this.#isHeld = true;
    }
    if (this.#waitingBytes <= GOES_ON_AT_BYTES) this.hold?.goOn();
    const ending = this.#ending;
    if (this.#waiting.length > 0 || ending === undefined) return;
    this.#receiver = undefined;
    if (ending === 'ended') receiver.onEnd();
    else receiver.onLost(ending);
  }

  add(lent: ArrayBuffer, isLast: boolean): void {
    if (this.#ending !== undefined) return;
    if (lent.byteLength > 0) {
      this.#waiting.push(new Uint8Array(lent.slice(0)));
      this.#waitingBytes += lent.byteLength + CHUNK_COST_BYTES;
    }
    if (!this.#isHeld) this.resume();
    // Behind the last nothing comes that would have to be held back.
    if (isLast) this.end();
    else if (this.hold?.waiting(this.#waitingBytes) === false) this.lose('tooFast');
  }

  end(): void {
    this.#ending ??= 'ended';
    this.hold?.gotAll();
    if (!this.#isHeld || this.#waiting.length === 0) this.resume();
  }

  lose(reason: 'aborted' | 'tooFast'): void {
    if (this.#ending === 'ended' && this.#receiver === undefined) return;
    this.#ending = reason;
    this.hold?.goOn();
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.resume();
  }
}

/** Gathers chunks until the last; one chunk costs one copy. Answers null once, when there are too many bytes. */
function readBody(
  native: NativeResponse,
  bytesMax: number,
  response: UwsResponse,
  resolve: (body: Uint8Array | null) => void,
): void {
  let gathered: GatheredBody | undefined;
  let bytes = 0;
  native.onData((lent, isLast) => {
    bytes += lent.byteLength;
    if (bytes > bytesMax) {
      gathered?.letGo();
      resolve(null);
      return;
    }
    if (isLast && gathered === undefined) {
      resolve(copyOf(lent));
      return;
    }
    gathered ??= response.gathering();
    if (lent.byteLength > 0) gathered.add(copyOf(lent));
    if (isLast) resolve(gathered.whole());
  });
}

/** What is lent for the length of a call. From Node's pool: memory of its own for each small body has to be allocated and swept. */
function copyOf(lent: ArrayBuffer): Uint8Array {
  const copy = Buffer.allocUnsafe(lent.byteLength);
  copy.set(new Uint8Array(lent));
  return copy;
}
