// HTTP as the ingress sees it, whichever listener carried it. The listeners (uws, node) implement it; a
// response stays on the thread of its socket.
import type { Duplex } from 'node:stream';
import type { CipherChoice } from './cipher-suites.ts';
import type { MessageFraming } from './websocket/handshake.ts';

/** What arrived. Header names are lower case. The values are copied: they outlive the listener's callback. */
export interface HttpRequest {
  readonly method: string;
  /** The path as sent, still percent-encoded, without the query. */
  readonly path: string;
  /** The query as sent, without the `?`; empty when there is none. */
  readonly query: string;
  /** One header's value, several joined by `, `; empty when absent. */
  header(name: string): string;
  /** Whether there is a header whose name begins with `prefix`. */
  hasHeaderWithPrefix(prefix: string): boolean;
  /** All headers whose name begins with `prefix`; all there are for the empty one. */
  headersWithPrefix(prefix: string): readonly (readonly [name: string, value: string])[];
  /** The client asks to go on as a WebSocket (RFC 6455 4.2.1), and `HttpResponse.startWebSocket` can answer it. */
  readonly isWebSocket: boolean;
  /** Stands for the connection: the same for the requests that share one at a time (HTTP/2). */
  readonly connection: object;
  /** The peer's address, textual; empty when unknown. Ask before the answer is given: it costs a system call. */
  readonly remoteAddress: string;
  /** The certificate that the client showed, where the listener asks for one. */
  readonly peerCertificate: PeerCertificate | undefined;
  /**
   * Reads the whole body. Answers null as soon as more than `bytesMax` have arrived (the rest is discarded), and rejects
   * with `RequestAborted` when the client goes away first. Call at most once, in the same turn as the request arrived.
   */
  body(bytesMax: number): Promise<Uint8Array | null>;
  /** Whether a body follows, which may be empty where its length is not said. */
  readonly bringsBody: boolean;
  /** The body as it arrives, in place of `body`, for who passes it on. Call in the same turn as the request arrived. */
  bodyFlow(): BodyFlow;
  /** Where the client asks for another protocol that the listener can hand over: on `uws` a WebSocket only. */
  readonly upgrade: ConnectionUpgrade | undefined;
}

/** A body on its way. Until `start`, what has arrived waits, and where the listener can, the client is held back. */
export interface BodyFlow {
  /** Delivers what waits and what comes; called once. After `onLost` nothing more comes. */
  start(receiver: BodyReceiver): void;
  /** Goes on after `onChunk` answered false. */
  resume(): void;
}

export interface BodyReceiver {
  /** One chunk, the receiver's to keep. False: no more until `resume`. */
  onChunk(chunk: Uint8Array): boolean;
  onEnd(): void;
  /** The client went away (`aborted`), or sent more than could be held for a slow receiver (`tooFast`). */
  onLost(reason: 'aborted' | 'tooFast'): void;
}

/** The head of a backend's answer that switches protocols. */
export interface SwitchHead {
  readonly reason: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
}

/** A connection that can be taken out of HTTP. */
export interface ConnectionUpgrade {
  /** False: only the messages of a WebSocket pass, so that what the two ends agree on about frames does not. */
  readonly passesFrames: boolean;
  /**
   * Passes on that the protocol is switched, and hands over the connection: what its taker writes and reads there is the
   * backend's side of the conversation. The response does nothing then.
   */
  take(head: SwitchHead): RawConnection;
}

export interface RawConnection {
  readonly stream: Duplex;
  /** Bytes that came with the request. */
  readonly head: Uint8Array;
}

/** The name of the error a body read rejects with when the client went away. */
export class RequestAborted extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'RequestAborted';
  }
}

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Where the answer goes. After an abort every method does nothing. */
export interface HttpResponse {
  readonly aborted: boolean;
  /** Called once if the client goes away before `end`; at once when it already has. */
  onAborted(callback: () => void): void;
  /**
   * A whole answer in one write. `body` is read before the call returns; it may lie in shared memory. The listener adds
   * what frames it (length, transfer coding, date) and sends no body where none belongs (HEAD, 204, 304).
   */
  respond(status: number, headers: HeaderList, body: Uint8Array | string): void;
  /**
   * Begins a streamed answer (chunked, or of the length that is said for a body that is verbatim: `write` sends no other number of
   * bytes). A client that waits for the headers of a watch, or of any plain JSON stream, gets
   * them at once; on `uws` the headers of other streams (lists in Protobuf, gzip, `isVerbatim`) travel with the first chunk.
   *
   * @param isVerbatim the bytes are somebody else's: not even a blank is added.
   */
  start(status: number, headers: HeaderList, isVerbatim?: boolean): void;
  /**
   * Begins a WebSocket in place of a streamed answer, where the request asks for one. `write` then sends the messages of a
   * chunk, `end` closes it in order; what the client sends is passed over. `protocol`: the one chosen of those that the
   * client offered, or empty.
   */
  startWebSocket(protocol: string, framing: MessageFraming): void;
  /**
   * Sends one chunk, flushed to the client at once. `bytes` is read before the call returns. False means the socket is
   * full: write nothing more until `onDrained` is called (these bytes are on their way). Where no body belongs all bytes are
   * taken, and none is sent. A plain JSON chunk that ends in
   * a newline may be followed by a blank on the wire: white space between two values.
   *
   * @param isForMany `bytes` go to many clients, never change, and are no shared memory: an answer may keep them until they are sent,
   *   and neither copies them nor counts them as kept for its client.
   */
  write(bytes: Uint8Array, isForMany?: boolean): boolean;
  /** Called each time the socket has drained after a refused write. */
  onDrained(callback: () => void): void;
  /**
   * Ends a streamed answer with its closing chunk. `last`: bytes before that; unlike a chunk of `write` they may follow a
   * refused one, so that an answer to a client that does not read can still say why it is over. A client that takes
   * nothing for half a minute is cut off.
   */
  end(last?: Uint8Array): void;
  /** Cuts the connection without a proper end. */
  abort(): void;
}

export type RequestHandler = (request: HttpRequest, response: HttpResponse) => void;

/** A certificate, with its intermediates if it has any, and its key, as PEM text. */
export interface KeyPair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A further pair, for clients that ask for one of its names. */
export interface NamedPair extends KeyPair {
  /** Host names, host names whose first labels are `*`, and addresses of ours; none: the names of the certificate. */
  readonly patterns: readonly string[];
}

export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

/** What a listener shows of itself, and what it speaks: PEM texts. */
export interface TlsMaterial extends KeyPair {
  /** Authorities that client certificates are verified against; asks clients for one. */
  readonly clientCaPem?: string;
  /** TLS 1.2 when absent; any other on the `node` listener only. */
  readonly minVersion?: TlsVersion;
  /** The listener's own when absent. */
  readonly ciphers?: CipherChoice;
  /** On the `node` listener only. */
  readonly namedPairs?: readonly NamedPair[];
}

/** What a client showed of itself in TLS. */
export interface PeerCertificate {
  /** DER (ITU-T X.690). */
  readonly der: Uint8Array;
  /**
   * SHA-256 fingerprints (upper-case hexadecimal with colons) of the chain that was verified, its own first and that of the
   * authority last; empty for a certificate that no authority of the listener vouches for, or not for this use, or now.
   */
  readonly chain: readonly string[];
}

/** Bytes of all headers of one request together: many times what any client of the API sends. */
export const HEADER_BYTES_MAX = 64 * 1024;

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Plain HTTP when absent. */
  readonly tls?: TlsMaterial;
  /** Bytes of all headers of one request together; more is answered 431. */
  readonly headerBytesMax: number;
  /** Idle keep-alive connections are closed after this (`node`; the `uws` binary closes them after ten seconds). */
  readonly idleTimeoutSeconds: number;
  /** How long clients have, at the end, to read what they were answered; absent: five seconds. */
  readonly lastAnswersMs?: number;
  /** Several threads listen on the same port (SO_REUSEPORT). */
  readonly sharedPort: boolean;
  /** Connections that may be open at once: what is more is closed as it comes. Absent: no limit. */
  readonly connectionsMax?: number | undefined;
  /** Told of each connection that was closed since there were as many as may be. */
  readonly onConnectionRefused?: () => void;
  /** Of bodies that come in chunks, until their requests are answered; who has sent most of what is too much is cut off. Absent: 1 GiB. */
  readonly bodiesBytesMax?: number;
  /** HTTP/2 streams, and so watches, that one connection may have open (`node` listener only); absent: its default. */
  readonly streamsPerConnectionMax?: number;
  /**
   * Asked at each HTTP/2 request. True: its connection gets a GOAWAY and ends when its streams have, so that the client opens
   * another, and perhaps meets another server.
   */
  readonly sendsAway?: () => boolean;
  readonly handler: RequestHandler;
  /** On answers that the listener makes itself, without the handler (those of the `uws` binary have none of them). */
  readonly ownHeaders?: HeaderList;
  /** Told of what a handler or one of its callbacks threw, after the client has been answered 500 or cut off. */
  readonly onError?: (error: unknown) => void;
  /** Told of each connection whose TLS handshake came to nothing (`node` listener only; the `uws` binary tells nobody). */
  readonly onHandshakeError?: () => void;
}

/** An open listener. */
export interface Listener {
  readonly kind: 'uws' | 'node';
  /** The port in use, which differs from the one asked for when that was 0. */
  readonly port: number;
  readonly openConnections: number;
  /**
   * Connections from now on get other material, which asks for the same kinds of things (a listener that asked for no client
   * certificates does not begin to). Open ones go on; where the authorities of clients change, whoever has one is asked to come anew, as
   * by `sendAway`. Rejects with BadConfiguration when it cannot be used, and keeps what it had.
   */
  replaceTls(tls: TlsMaterial): Promise<void>;
  /**
   * Clients are to go elsewhere, while everything is served: a connection of HTTP/1.1 ends with the next answer that begins,
   * one of HTTP/2 gets a GOAWAY, a new one with its first request.
   */
  sendAway(): void;
  /** Stops accepting; open requests go on. */
  stopAccepting(): void;
  /**
   * Closes everything that is left, once requests are answered and clients have read what they were answered, or have had some
   * seconds for it. `isBroken`: nobody answers any more, and what is not begun need not be waited for.
   */
  close(isBroken?: boolean): Promise<void>;
}
