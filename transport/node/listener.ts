// The listener for what uws cannot do: HTTP/2, client certificates, TLS 1.3 alone. Plain it speaks HTTP/1.1, with TLS
// HTTP/1.1 and HTTP/2 as the client chooses. Owns the server and its limits.
import { createServer, type IncomingMessage, type Server as PlainServer, type ServerResponse } from 'node:http';
import type { Http2SecureServer, SecureServerOptions } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BODIES_BYTES_MAX } from '../gathered-body.ts';
import type { HeaderList, Listener, ListenerOptions } from '../http.ts';
import { FAILURE_HEADERS, failureBody, statusLine } from '../http-status.ts';
import { KeptBytes } from '../kept-bytes.ts';
import { lastAnswersTaken } from '../last-answers.ts';
import { runHandler } from '../run-handler.ts';
import { listenError } from '../uws/address-probe.ts';
import { webSocketKey } from '../websocket/handshake.ts';
import { Connections } from './connections.ts';
import { type Http2Response, handleStreams } from './http2-stream.ts';
import { OpenAnswers } from './open-answers.ts';
import { OVERSIZED, type ParserError, parserRefusal } from './parser-refusals.ts';
import { http1Source, NodeRequest, type RequestSource } from './request.ts';
import { ANSWERS_BYTES_MAX, NodeResponse, type NodeResponseScope, type WebSocketOffer } from './response.ts';
import { createSecureServers } from './secure-server.ts';
import { UntakenAnswers } from './untaken-answers.ts';
import { handleUpgrades, type OpenUpgrade } from './upgrade.ts';

/** Time for a request's headers, and for a whole request with its body (HTTP/1.1). */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 120_000;
const CHECK_INTERVAL_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Time for a refused client to send the rest and read why: on a connection that is closed over unread bytes the answer is lost. */
const REFUSED_MS = 1_000;

/** Probes of the operating system that find out about peers which vanished without a word. */
const TCP_PROBE_DELAY_MS = 60_000;

const TCP = { noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_PROBE_DELAY_MS };

/** Streams of one connection where the operator does not say: a client's watches all share one. */
const STREAMS_PER_CONNECTION_DEFAULT = 1000;

/** Memory that the streams of one HTTP/2 connection may take, in megabytes. */
const SESSION_MEMORY_MAX_MB = 64;

/** Headers of one HTTP/2 request; more reset the stream. */
const HEADERS_MAX = 1000;

/** What requests and answers of one listener have in common. */
interface NodeScope extends NodeResponseScope {
  /** Fingerprints of those that clients' certificates are of. */
  readonly authorities: () => ReadonlySet<string>;
}

const NO_AUTHORITIES: ReadonlySet<string> = new Set();

function ignored(): void {}

type NodeServer = PlainServer | Http2SecureServer;

/** More than a backend's headers, which are passed on, come to; without it Node sends 64 KB at most by HTTP/2. */
const ANSWER_HEADER_BYTES_MAX = 1024 * 1024;
/** Opens the listener. Rejects with BadConfiguration when the address is taken or the TLS material cannot be used. */
export async function openNodeListener(options: ListenerOptions): Promise<Listener> {
  const secure = options.tls === undefined ? undefined : createSecureServers(secureOptions(options), options.tls);
  const authorities = (): ReadonlySet<string> => secure?.authorities ?? NO_AUTHORITIES;
  const scope: NodeScope = {
    isStopping: false,
    isOutdated: (connection) => secure?.isOutdated(connection) === true,
    waiting: new KeptBytes(ANSWERS_BYTES_MAX),
    bodies: new KeptBytes(options.bodiesBytesMax ?? BODIES_BYTES_MAX),
    untaken: new UntakenAnswers(),
    onGone: (connection) => connections.streamGone(connection),
    authorities,
    onError: options.onError ?? ignored,
  };
  const server = secure?.main ?? createPlain(options);
  const connections = new Connections();
  const answers = new OpenAnswers();
  server.on('connection', (socket: Socket) => connections.add(socket));
  if (options.connectionsMax !== undefined) server.maxConnections = options.connectionsMax;
  server.on('drop', () => options.onConnectionRefused?.());
  // Node takes a connection for idle whose answer is made, though its client has not read it yet.
  for (const one of secure?.all ?? [server]) Object.assign(one, { closeIdleConnections: () => {} });
  for (const one of secure?.all ?? [server]) attach(limited(one, options), options, scope, answers);
  for (const one of secure?.all ?? []) attachStreams(one, options, scope, connections);
  const port = await listen(server, options);
  let stopped: Promise<void> | undefined;
  const stopAccepting = (): void => {
    scope.isStopping = true;
    stopped ??= new Promise((resolve) => server.close(() => resolve()));
    connections.closeSessions();
  };
  return {
    kind: 'node',
    port,
    get openConnections() {
      return connections.count;
    },
    async replaceTls(tls) {
      if (secure?.replace(tls) === true) connections.sendAway();
    },
    sendAway() {
      scope.isStopping = true;
      connections.sendAway();
    },
    stopAccepting,
    async close() {
      stopAccepting();
      await lastAnswersTaken(() => answers.count + connections.sessions, options.lastAnswersMs);
      connections.destroyAll();
      await stopped;
    },
  };
}

/** What both kinds of server need to serve HTTP/1.1. */
function attach(server: NodeServer, options: ListenerOptions, scope: NodeScope, answers: OpenAnswers): void {
  server.on('request', (native: IncomingMessage, nativeResponse: ServerResponse) => {
    serve(native, nativeResponse, options, scope, answers);
  });
  handleUpgrades(server, answers, (native, nativeResponse, upgrade) =>
    serve(native, nativeResponse, options, scope, answers, upgrade),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) =>
    refuse(error, socket, answers, options.ownHeaders),
  );
}

/** After `attach`. */
function attachStreams(
  server: Http2SecureServer,
  options: ListenerOptions,
  scope: NodeScope,
  connections: Connections,
): void {
  const idleTimeoutMs = options.idleTimeoutSeconds * 1000;
  server.on('session', (session) => connections.addSession(session, idleTimeoutMs));
  handleStreams(server, (source, response) => serveStream(source, response, options, scope, connections), {
    ...options,
    isSentAway: () => scope.isStopping,
  });
  server.on('sessionError', () => {});
  server.on('tlsClientError', (_error, socket) => {
    // One whose handshake took too long Node leaves open, and what it is answered waits for the handshake: for ever, also when its
    // client is gone, and it counts as a connection.
    socket.destroy();
    options.onHandshakeError?.();
  });
}

function serve(
  native: IncomingMessage,
  nativeResponse: ServerResponse,
  options: ListenerOptions,
  scope: NodeScope,
  answers: OpenAnswers,
  upgrade?: OpenUpgrade,
): void {
  if (!answers.begin(native.socket, nativeResponse)) return;
  native.on('error', ignored);
  const offer = webSocketOffer(native, upgrade);
  const response = new NodeResponse(nativeResponse, native.socket, scope, native.method === 'HEAD', offer);
  const handOver = upgrade?.handOver(() => response.release());
  const request = new NodeRequest(http1Source(native), scope.authorities, response, offer !== undefined, handOver);
  runHandler(options, request, response, scope.onError);
}

function serveStream(
  source: RequestSource,
  native: Http2Response,
  options: ListenerOptions,
  scope: NodeScope,
  connections: Connections,
): void {
  connections.streamBegins(source.connection);
  const response = new NodeResponse(native, source.connection, scope, source.method === 'HEAD');
  if (headerBytes(source) > options.headerBytesMax) {
    const [code, reason, message] = OVERSIZED;
    response.respond(code, [...FAILURE_HEADERS, ...(options.ownHeaders ?? [])], failureBody(code, reason, message));
    return;
  }
  runHandler(options, new NodeRequest(source, scope.authorities, response), response, scope.onError);
}

/** What it takes to go on as a WebSocket, for a request that asks for it as RFC 6455 has it. */
function webSocketOffer(native: IncomingMessage, upgrade: OpenUpgrade | undefined): WebSocketOffer | undefined {
  if (upgrade === undefined) return undefined;
  const key = webSocketKey(native.method ?? '', (name) => String(native.headers[name] ?? ''));
  return key === undefined ? undefined : { ...upgrade, key };
}

/** Bytes of a request's headers, which HTTP/2's own setting only advises clients of. */
function headerBytes({ rawHeaders }: RequestSource): number {
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0);
}

/** Connections that a refusal was written to. */
const refused = new WeakSet<Duplex>();

/** Answers what the HTTP/1.1 parser could not read, unless another answer is on its way on the same connection. */
function refuse(error: ParserError, socket: Duplex, answers: OpenAnswers, ownHeaders: HeaderList = []): void {
  // The parser refuses every piece of the rest as well.
  if (refused.has(socket) && error.code !== 'ECONNRESET') return;
  if (error.code === 'ECONNRESET' || !socket.writable || answers.isBusy(socket)) {
    socket.destroy();
    return;
  }
  const [code, reason, message] = parserRefusal(error);
  answerRaw(socket, code, ownHeaders, failureBody(code, reason, message));
}

/** Writes a refusal to a connection that no response stands for, and ends it; what still comes is passed over. */
function answerRaw(socket: Duplex, code: number, ownHeaders: HeaderList, body: string): void {
  const head = [
    `HTTP/1.1 ${statusLine(code)}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...ownHeaders.map(([name, value]) => `${name}: ${value}`),
  ];
  refused.add(socket);
  const close = (): void => void socket.destroy();
  socket.once('end', close);
  setTimeout(close, REFUSED_MS).unref();
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function createPlain(options: ListenerOptions): PlainServer {
  return createServer({
    maxHeaderSize: options.headerBytesMax,
    // Taken from the options here, from the property of the same name by the secure server.
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    ...TCP,
  });
}

/** What a secure server is made with, besides TLS. */
function secureOptions(options: ListenerOptions): SecureServerOptions {
  return {
    // Not in the declared options, but passed on to the TCP server.
    ...TCP,
    allowHTTP1: true,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    settings: {
      maxConcurrentStreams: options.streamsPerConnectionMax ?? STREAMS_PER_CONNECTION_DEFAULT,
      maxHeaderListSize: options.headerBytesMax,
    },
    maxHeaderListPairs: HEADERS_MAX,
    maxSendHeaderBlockLength: ANSWER_HEADER_BYTES_MAX,
    // Otherwise a header whose value begins or ends with a blank is left out in silence, and a request as the user "joe " runs as who
    // sends it. Older Nodes (before 24.2) know no such option. Not in the declared options either.
    ...{ strictFieldWhitespaceValidation: false },
    maxSessionMemory: SESSION_MEMORY_MAX_MB,
  };
}

/** The limits of HTTP/1.1, which both kinds of server take as properties. */
function limited<S extends NodeServer>(server: S, options: ListenerOptions): S {
  return Object.assign(server, {
    maxHeaderSize: options.headerBytesMax,
    // Counted by bytes: past a number of headers Node would leave the rest out in silence.
    maxHeadersCount: 0,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: options.idleTimeoutSeconds * 1000,
  });
}

function listen(server: NodeServer, options: ListenerOptions): Promise<number> {
  const { host, port, sharedPort } = options;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(host, port, error.code)));
    // Node shares a port between threads from version 22.12 on; before, the option is ignored and the address taken.
    server.listen({ host, port, exclusive: true, ...(sharedPort ? { reusePort: true } : {}) }, () => {
      server.on('error', options.onError ?? (() => {}));
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
