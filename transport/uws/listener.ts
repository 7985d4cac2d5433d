// The fast listener: HTTP/1.1, plain or TLS, on uWebSockets.js. Owns the native app, its listen socket and the timer
// that keeps stalled clients connected. It offers no HTTP/2, and of upgrades WebSockets only.
//
// What the binary decides by itself: HTTP/1.0, absolute request targets and malformed requests are refused with short
// HTML pages; a connection that sends no whole request for ten seconds, or a body slower than 16 KB/s, is closed, and so
// is an idle one after ten seconds; the handshake of a client whose certificate nobody vouches for ends; a second request
// on a connection whose first is not answered yet closes it.

import type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  TemplatedApp,
  us_socket_context_t,
} from 'uWebSockets.js';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { BODIES_BYTES_MAX } from '../gathered-body.ts';
import type { Listener, ListenerOptions, TlsMaterial } from '../http.ts';
import { FAILURE_HEADERS, failureBody, MALFORMED } from '../http-status.ts';
import { KeptBytes } from '../kept-bytes.ts';
import { lastAnswersTaken } from '../last-answers.ts';
import { runHandler } from '../run-handler.ts';
import { reasonAgainstAuthorities, reasonAgainstUws } from '../tls/listener-limits.ts';
import { TOKEN } from '../token.ts';
import { webSocketKey } from '../websocket/handshake.ts';
import { listenError, probeAddress } from './address-probe.ts';
import { loadUws, prepareUws, type UwsModule } from './binary.ts';
import { Cork } from './cork.ts';
import { writeHead } from './head.ts';
import type { KeptAlive, ParkedResponses } from './parking.ts';
import { RemoteAddresses } from './remote-addresses.ts';
import { type Peers, UwsRequest } from './request.ts';
import { UwsResponse, type WebSocketData } from './response.ts';
import { ShownCertificates } from './shown-certificates.ts';
import type { UwsResponseScope } from './stream.ts';

/** The binary cuts a socket whose bytes are refused for ten seconds; its clock ticks every four. */
const KEEP_ALIVE_INTERVAL_MS = 4000;

/** A WebSocket whose client answers no ping for so long is closed. */
const WEB_SOCKET_IDLE_SECONDS = 120;
/** Of what is passed on to a backend, the longest messages are what a client reads from a pipe or a file at a time. */
const CLIENT_MESSAGE_BYTES_MAX = 1024 * 1024;
/** Of the loop, while connections are closed: about five of those that wait for their handshake a turn. */
const CLOSING_TURNS_MAX = 10_000;

const SHARE_PORT = 0;
const EXCLUSIVE_PORT = 1;

/**
 * Opens the listener. Rejects with BadConfiguration when the address is taken or the TLS material cannot be used, and
 * with the loader's error where the binary does not fit this machine.
 */
export async function openUwsListener(options: ListenerOptions): Promise<Listener> {
  prepareUws(options.headerBytesMax);
  const uws = await loadUws();
  const parked = new ParkedSet();
  const scope = scopeOf(options, parked);
  const peers: Peers = {
    addresses: new RemoteAddresses(),
    certificates: options.tls?.clientCaPem === undefined ? undefined : new ShownCertificates(),
  };
  const openConnections = (): number => apps.reduce((sum, { connections }) => sum + connections, 0);
  const isFull = (): boolean => openConnections() > (options.connectionsMax ?? Number.POSITIVE_INFINITY);
  const serving = async (tls: TlsMaterial | undefined): Promise<ServingApp> =>
    servingApp(await createApp(uws, tls), options, scope, peers, isFull);
  const front = await serving(options.tls);
  /** Those that connections are on: the front, and the one that took its place last. */
  let apps = [front];
  const { port, closeSocket } = await listen(uws, front.app, options);
  return {
    kind: 'uws',
    port,
    get openConnections() {
      return openConnections();
    },
    async replaceTls(tls) {
      const next = await serving(tls);
      const replaced = apps.at(-1)!;
      // The front goes on accepting, and hands what it accepts to the app that is its child.
      distributing(front.app).addChildAppDescriptor(distributing(next.app).getDescriptor());
      if (replaced !== front)
        distributing(front.app).removeChildAppDescriptor(distributing(replaced.app).getDescriptor());
      apps = [...apps.filter((one) => one === front || one.connections > 0 || one === replaced), next];
    },
    sendAway() {
      scope.isStopping = true;
    },
    stopAccepting() {
      scope.isStopping = true;
      closeSocket();
    },
    async close(isBroken = false) {
      scope.isStopping = true;
      closeSocket();
      await lastAnswersTaken(() => (isBroken ? scope.ongoing : scope.outstanding), options.lastAnswersMs);
      // The binary puts handshakes it has no time for into a queue that closing does not reach, and takes a few of them out
      // in each turn of the loop. A thread that ended with one of them open would abort the process.
      // What the front has handed over arrives a turn later.
      const leastTurns = apps.length > 1 ? 3 : 1;
      for (let turn = 0; turn < leastTurns || (openConnections() > 0 && turn < CLOSING_TURNS_MAX); turn++) {
        for (const { app } of apps) app.close();
        await new Promise((resolve) => setImmediate(resolve));
      }
      parked.stop();
    },
  };
}

function scopeOf({ bodiesBytesMax, onError }: ListenerOptions, parked: ParkedResponses): UwsResponseScope {
  return {
    isStopping: false,
    ongoing: 0,
    outstanding: 0,
    parked,
    waiting: { bytes: 0 },
    bodies: new KeptBytes(bodiesBytesMax ?? BODIES_BYTES_MAX),
    cork: new Cork(),
    onError: onError ?? (() => {}),
  };
}

/** An app with its routes, and how many connections are on it. */
interface ServingApp {
  readonly app: TemplatedApp;
  connections: number;
}

function servingApp(
  app: TemplatedApp,
  options: ListenerOptions,
  scope: UwsResponseScope,
  peers: Peers,
  isFull: () => boolean,
): ServingApp {
  const serving: ServingApp = { app, connections: 0 };
  const { addresses } = peers;
  const countConnection = (native: NativeResponse, change: unknown): void => {
    serving.connections += Number(change);
    if (Number(change) < 0) {
      addresses.closed();
      return;
    }
    addresses.opened(native);
    if (!isFull()) return;
    options.onConnectionRefused?.();
    native.close();
  };
  app.filter(countConnection);
  app.ws<WebSocketData>('/*', {
    maxPayloadLength: CLIENT_MESSAGE_BYTES_MAX,
    // Nothing is dropped: who writes is told when the socket is full.
    maxBackpressure: 0,
    idleTimeout: WEB_SOCKET_IDLE_SECONDS,
    sendPingsAutomatically: true,
    upgrade: (response, request, context) => serve(options, scope, peers, response, request, context),
    open: (socket) => socket.getUserData().response.onOpen(socket),
    drain: (socket) => socket.getUserData().response.onDrain(),
    message: (socket, message, isBinary) => socket.getUserData().response.onMessage(message, isBinary),
    close: (socket, code, reason) => {
      // The filter is not told of connections that have become WebSockets.
      serving.connections--;
      addresses.closed();
      socket.getUserData().response.onClosed(code, reason);
    },
  });
  app.any('/*', (response, request) => serve(options, scope, peers, response, request));
  return serving;
}

/** How one app hands connections to another: there, and left out of the declared type. */
interface DistributingApp {
  getDescriptor(): object;
  addChildAppDescriptor(child: object): void;
  removeChildAppDescriptor(child: object): void;
}

function distributing(app: TemplatedApp): DistributingApp {
  return app as unknown as DistributingApp;
}

function serve(
  options: ListenerOptions,
  scope: UwsResponseScope,
  peers: Peers,
  native: NativeResponse,
  nativeRequest: NativeRequest,
  context?: us_socket_context_t,
): void {
  // Only this way of asking leaves the method as it was sent: the other lowers it in place.
  const sent = nativeRequest.getCaseSensitiveMethod();
  // The one text for all requests: its hash is known, and it is told by its address.
  const method = sent === 'GET' ? 'GET' : sent;
  // The binary takes for it whatever comes before the first blank.
  if (method !== 'GET' && !TOKEN.test(method)) {
    refuse(native, options);
    return;
  }
  const key = context === undefined ? undefined : webSocketKey(method, (name) => nativeRequest.getHeader(name));
  const offer = context === undefined || key === undefined ? undefined : { key, context };
  const response = new UwsResponse(native, scope);
  const request = new UwsRequest(method, nativeRequest, native, response, offer, peers);
  if (request.isFramedUnclearly) {
    response.abort();
    return;
  }
  scope.cork.during(() => runHandler(options, request, response, scope.onError));
  if (response.isNativeGone) return;
  // Half the bytes of a closure, and nothing of what is made here is kept by it: an open watch keeps it, and there may be tens of thousands.
  native.onAborted(response.onNativeAborted.bind(response));
  request.settle();
}

/**
 * Answers what is no request, and closes its connection: as a rule it begins with the body of the request before, which said no length, so
 * that nobody can tell what else is wrong.
 */
function refuse(native: NativeResponse, { ownHeaders = [] }: ListenerOptions): void {
  const [code, reason, message] = MALFORMED;
  native.cork(() => {
    writeHead(native, code, [...FAILURE_HEADERS, ...ownHeaders]);
    native.end(failureBody(code, reason, message), true);
  });
}

/** Parked responses, with a timer that runs only while there are some. */
class ParkedSet implements ParkedResponses {
  readonly #responses = new Set<KeptAlive>();
  #timer: NodeJS.Timeout | undefined;

  add(response: KeptAlive): void {
    this.#responses.add(response);
    this.#timer ??= setInterval(() => this.#keepAlive(), KEEP_ALIVE_INTERVAL_MS).unref();
  }

  delete(response: KeptAlive): void {
    this.#responses.delete(response);
    if (this.#responses.size === 0) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #keepAlive(): void {
    for (const response of this.#responses) response.keepAlive();
  }
}

/** The binary reads TLS material from files only, while the app is made: they exist no longer than that. */
async function createApp(uws: UwsModule, tls: TlsMaterial | undefined): Promise<TemplatedApp> {
  if (tls === undefined) return uws.App();
  const reason = reasonAgainstUws(tls) ?? reasonAgainstAuthorities(tls.clientCaPem ?? '');
  if (reason !== undefined) throw new OrchError('BadConfiguration', `the uws listener cannot do it: ${reason}`);
  return await withTlsFiles(tls, (keyFile, certFile, clientCaFile) => {
    try {
      return uws.SSLApp({
        key_file_name: keyFile,
        cert_file_name: certFile,
        ...(clientCaFile === undefined ? {} : { ca_file_name: clientCaFile }),
        ...(tls.ciphers === undefined ? {} : { ssl_ciphers: tls.ciphers.older.join(':') }),
      });
    } catch (error) {
      throw new OrchError('BadConfiguration', `the TLS certificate and key cannot be used together (${String(error)})`);
    }
  });
}

async function withTlsFiles<T>(
  { keyPem, certPem, clientCaPem }: TlsMaterial,
  use: (keyFile: string, certFile: string, clientCaFile: string | undefined) => T,
): Promise<T> {
  let directory: string | undefined;
  try {
    directory = await mkdtemp(join(tmpdir(), 'tls-'));
    const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    await writeFile(keyFile, keyPem, { mode: 0o600 });
    await writeFile(certFile, certPem, { mode: 0o600 });
    if (clientCaPem === undefined) return use(keyFile, certFile, undefined);
    const clientCaFile = join(directory, 'clients.pem');
    await writeFile(clientCaFile, clientCaPem, { mode: 0o600 });
    return use(keyFile, certFile, clientCaFile);
  } catch (error) {
    if (error instanceof OrchError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new OrchError(
      'BadConfiguration',
      `the certificate has to be written to a temporary folder for a moment, and ${tmpdir()} cannot be written to (${code}): set TMPDIR, or --ingress node`,
    );
  } finally {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }
}

interface OpenSocket {
  readonly port: number;
  /** Idempotent. */
  readonly closeSocket: () => void;
}

async function listen(uws: UwsModule, app: TemplatedApp, options: ListenerOptions): Promise<OpenSocket> {
  const { host, sharedPort } = options;
  // A free port must be chosen before: the binary does not share one that the system chose.
  const port = options.port === 0 ? await probeAddress(host, 0) : options.port;
  const socket = await listenSocket(app, host, port, sharedPort ? SHARE_PORT : EXCLUSIVE_PORT);
  if (socket === false) {
    app.close();
    // The binary does not say why; whoever shares the port with other threads cannot probe it, for those hold it.
    if (!sharedPort) await probeAddress(host, port);
    throw listenError(host, port, 'EADDRINUSE');
  }
  let isOpen = true;
  return {
    port: uws.us_socket_local_port(socket),
    closeSocket: () => {
      if (isOpen) uws.us_listen_socket_close(socket);
      isOpen = false;
    },
  };
}

/** Resolves with false where the address cannot be listened on. */
function listenSocket(app: TemplatedApp, host: string, port: number, sharing: number): Promise<object | false> {
  // With a blank host the binary listens on a port of the system's choice.
  if (host === '') return new Promise((resolve) => app.listen(port, sharing, resolve));
  // The declared type lacks the form with both a host and options.
  const listenAt = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    callback: (socket: object | false) => void,
  ) => void;
  return new Promise((resolve) => {
    listenAt(host, port, sharing, resolve);
  });
}
