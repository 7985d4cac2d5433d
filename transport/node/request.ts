// One request that arrived on the node listener, by HTTP/1.1 or HTTP/2. Header names and values are taken from the raw
// list, so that repeated headers read the same as on the other listener.
import type { IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { headerTextOf } from '../../values/header-text.ts';
import { unmappedText } from '../../values/ip.ts';
import type { GatheredBody } from '../gathered-body.ts';
import {
  type BodyFlow,
  type BodyReceiver,
  type ConnectionUpgrade,
  type HttpRequest,
  type PeerCertificate,
  RequestAborted,
} from '../http.ts';
import type { Endable } from '../kept-bytes.ts';
import { announceBody, hasHeaderStarting, headersStarting, headerValue } from '../raw-headers.ts';
import { isOfGoodPurpose } from '../tls/client-purpose.ts';

/** A request as Node hands it over, by whichever protocol it came. */
export interface RequestSource {
  readonly method: string;
  /** As sent, with the query. */
  readonly target: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  /** As `HttpRequest.connection`. */
  readonly connection: Endable;
  /** What `connection` runs over. Undefined when it is gone. */
  readonly socketOf: (connection: Endable) => Socket | undefined;
}

/** An answer, as far as its request's body has to know of it. */
export interface Gathering {
  /** Made for the body, which is kept until this is answered. */
  gathering(): GatheredBody;
}

/** A request by HTTP/1.1. */
export function http1Source(native: IncomingMessage): RequestSource {
  const { method = 'GET', url = '/', rawHeaders, socket } = native;
  return { method, target: url, rawHeaders, body: native, connection: socket, socketOf: ownSocket };
}

function ownSocket(connection: Endable): Socket {
  return connection as Socket;
}

/** A body that stands still for so long is given up. HTTP/1.1 bodies have a limit in all, too. */
const BODY_STALL_MS = 10_000;

/** What is the same in all requests of a connection. */
interface Peer {
  readonly address: string;
  /** Undefined until it is asked for: reading one from the socket copies it. Null: there is none. */
  certificate: PeerCertificate | null | undefined;
}

const peers = new WeakMap<Endable, Peer>();

function peerOf({ connection, socketOf }: RequestSource): Peer {
  const known = peers.get(connection);
  if (known !== undefined) return known;
  const peer = { address: unmappedText(socketOf(connection)?.remoteAddress), certificate: undefined };
  peers.set(connection, peer);
  return peer;
}

export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly isWebSocket: boolean;
  readonly connection: Endable;
  readonly #body: Readable;
  readonly #socketOf: RequestSource['socketOf'];
  readonly #authorities: () => ReadonlySet<string>;
  readonly #answer: Gathering;
  readonly #headers: readonly string[];
  readonly #peer: Peer;
  readonly upgrade: ConnectionUpgrade | undefined;
  #isBodyTaken = false;

  /** `authorities`: fingerprints of those that clients' certificates are of. */
  constructor(
    source: RequestSource,
    authorities: () => ReadonlySet<string>,
    answer: Gathering,
    isWebSocket = false,
    upgrade?: ConnectionUpgrade,
  ) {
    const target = originForm(source.target);
    const question = target.indexOf('?');
    this.method = source.method;
    this.path = question < 0 ? target : target.slice(0, question);
    this.query = question < 0 ? '' : target.slice(question + 1);
    this.connection = source.connection;
    this.#body = source.body;
    this.#socketOf = source.socketOf;
    this.#authorities = authorities;
    this.#answer = answer;
    this.isWebSocket = isWebSocket;
    this.upgrade = upgrade;
    this.#headers = copyHeaders(source.rawHeaders);
    this.#peer = peerOf(source);
  }

  get remoteAddress(): string {
    return this.#peer.address;
  }

  get peerCertificate(): PeerCertificate | undefined {
    const peer = this.#peer;
    if (peer.certificate === undefined) {
      const socket = this.#socketOf(this.connection) as TLSSocket | undefined;
      peer.certificate = shownCertificate(socket, this.#authorities);
    }
    return peer.certificate ?? undefined;
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

  get bringsBody(): boolean {
    const { endAfterHeaders } = this.#body as Partial<Pick<ServerHttp2Stream, 'endAfterHeaders'>>;
    return endAfterHeaders === undefined ? announceBody(this.#headers) : !endAfterHeaders;
  }

  body(bytesMax: number): Promise<Uint8Array | null> {
    if (this.#isBodyTaken) return Promise.reject(new Error('the body was read twice'));
    this.#isBodyTaken = true;
    const body = readBody(this.#body, bytesMax, this.#answer.gathering());
    // A handler that answers without waiting for the body must not bring the process down when the client goes away.
    body.catch(() => {});
    return body;
  }

  bodyFlow(): BodyFlow {
    this.#isBodyTaken = true;
    return new NodeBodyFlow(this.#body);
  }
}

/** Node holds the client back by itself while nobody reads. */
class NodeBodyFlow implements BodyFlow {
  readonly #native: Readable;

  constructor(native: Readable) {
    this.#native = native;
  }

  start({ onChunk, onEnd, onLost }: BodyReceiver): void {
    const native = this.#native;
    if (native.destroyed) {
      onLost('aborted');
      return;
    }
    let isOver = false;
    native.on('data', (chunk: Buffer) => {
      if (!onChunk(chunk)) native.pause();
    });
    native.once('end', () => {
      if (isBrokenOff(native)) return;
      isOver = true;
      onEnd();
    });
    native.once('close', () => {
      if (!isOver) onLost('aborted');
    });
  }

  resume(): void {
    this.#native.resume();
  }
}

/** A body that stands still is cut off. The stream keeps what listens to it, so nothing of the body is left there when it is whole. */
function readBody(native: Readable, bytesMax: number, gathered: GatheredBody): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    let stalled: NodeJS.Timeout | undefined = setTimeout(() => native.destroy(), BODY_STALL_MS).unref();
    native.on('data', (chunk: Buffer) => {
      stalled?.refresh();
      bytes += chunk.length;
      if (bytes <= bytesMax) {
        gathered.add(chunk);
        return;
      }
      gathered.letGo();
      resolve(null);
    });
    native.on('end', () => {
      if (isBrokenOff(native)) return;
      clearTimeout(stalled);
      stalled = undefined;
      resolve(bytes > bytesMax ? null : gathered.whole());
    });
    native.on('close', () => {
      clearTimeout(stalled);
      reject(new RequestAborted());
    });
    if (native.destroyed) reject(new RequestAborted());
  });
}

/** Whether the client reset an HTTP/2 stream before its end. Node ends such a body as if it were whole; `close` follows. */
function isBrokenOff(native: Readable & { readonly aborted?: boolean }): boolean {
  return native.aborted === true;
}

/** Names in lower case and values in turn, without HTTP/2's pseudo headers: as text, which the other listener has them as. */
function copyHeaders(rawHeaders: readonly string[]): readonly string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name === ':authority') headers.push('host', rawHeaders[i + 1]!);
    else if (!name.startsWith(':')) headers.push(name.toLowerCase(), headerTextOf(rawHeaders[i + 1]!));
  }
  // What has grown has room for more; a watch keeps this for hours.
  return headers.slice();
}

/** The path and query of a request target, which clients of proxies send with scheme and host (RFC 9112 3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const scheme = /^https?:\/\/[^/?#]*/i.exec(target);
  if (scheme === null) return target;
  const rest = target.slice(scheme[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function shownCertificate(
  socket: TLSSocket | undefined,
  authorities: () => ReadonlySet<string>,
): PeerCertificate | null {
  // Nothing else is asked of the socket before: getPeerX509Certificate takes the certificates that the client sent beside its own.
  const leaf = socket?.getPeerCertificate?.(true);
  if (socket === undefined || leaf?.raw === undefined) return null;
  const chain = chainOf(leaf);
  const isGood =
    socket.authorized ||
    isOfGoodPurpose(
      socket.authorizationError,
      chain.map(({ raw }) => raw),
      authorities(),
    );
  return { der: new Uint8Array(leaf.raw), chain: isGood ? chain.map(({ fingerprint256 }) => fingerprint256) : [] };
}

/** Longer chains are none that an operator made. */
const CHAIN_MAX = 16;

function chainOf(leaf: DetailedPeerCertificate): readonly DetailedPeerCertificate[] {
  const chain = new Map<string, DetailedPeerCertificate>();
  // An authority is its own issuer.
  for (
    let certificate: DetailedPeerCertificate | undefined = leaf;
    certificate !== undefined && chain.size < CHAIN_MAX && !chain.has(certificate.fingerprint256);
    certificate = certificate.issuerCertificate
  ) {
    chain.set(certificate.fingerprint256, certificate);
  }
  return [...chain.values()];
}
