// The listener of an ingress: opens it as the options say, keeps its certificates as the files have them, and lets browsers be
// told what they are to be told before a request goes on. Owns the listening sockets of its thread.
import type { ActorContext } from '../../runtime/actor.ts';
import { HEADER_BYTES_MAX, type Listener, type RequestHandler, type TlsMaterial } from '../../transport/http.ts';
import type { OpenListener } from '../../transport/open-listener.ts';
import { handshakeErrors } from '../../transport/tls/handshake-errors.ts';
import type { TlsFiles } from '../../transport/tls/material-files.ts';
import { connectionRoom } from './connection-room.ts';
import type { BrowserRules } from './pipeline/browser-rules.ts';
import { ServingTls } from './serving-tls.ts';

export interface IngressListenerOptions {
  readonly listener: 'auto' | 'uws' | 'node';
  readonly openListener: OpenListener;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMaterial | undefined;
  /** Where the material is from; absent: it never changes. */
  readonly tlsFiles: TlsFiles | undefined;
  /** Of the Strict-Transport-Security header; none: it is not sent. */
  readonly transportDirectives: readonly string[];
  /** Regular expressions of the origins whose scripts may call. */
  readonly originPatterns: readonly string[];
  /** Several ingresses, or other processes, listen on the same port. */
  readonly sharedPort: boolean;
  /** HTTP/2 streams that one connection may have open; 0: the listener's default. */
  readonly streamsPerConnectionMax: number;
  /** Share of HTTP/2 requests whose connection is sent away; 0: none. */
  readonly goawayChance: number;
}

const IDLE_TIMEOUT_SECONDS = 120;
const REFUSAL_LOGGED_EACH_MS = 60_000;
/** Of the connections that the listener may have, so many more at the further one: out of what is kept for others. */
const DOOR_SHARE = 1 / 8;

export class IngressListener {
  readonly #context: ActorContext;
  readonly #options: IngressListenerOptions;
  #listener: Listener | undefined;
  #servingTls: ServingTls | undefined;
  #rules: BrowserRules | undefined;
  #connectionsMax: number | undefined;
  #isSentAway = false;
  #refusalLoggedMs = Number.NEGATIVE_INFINITY;

  constructor(context: ActorContext, options: IngressListenerOptions) {
    this.#context = context;
    this.#options = options;
  }

  get kind(): Listener['kind'] | 'none' {
    return this.#listener?.kind ?? 'none';
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  get openConnections(): number {
    return this.#listener?.openConnections ?? 0;
  }

  /** Listens; requests go to `handler`. Rejects as openListener does. */
  async open(handler: RequestHandler): Promise<void> {
    const { host, port, sharedPort, streamsPerConnectionMax, goawayChance, listener, openListener } = this.#options;
    const { log, metrics, random } = this.#context;
    const tls = await this.#tls();
    this.#rules = await this.#browserRules();
    this.#connectionsMax = await connectionRoom(this.#context.disk, this.#context.refs('ingress').length);
    const opened = await openListener(listener, {
      host,
      port,
      ...(tls === undefined ? {} : { tls }),
      headerBytesMax: HEADER_BYTES_MAX,
      idleTimeoutSeconds: IDLE_TIMEOUT_SECONDS,
      sharedPort,
      connectionsMax: this.#connectionsMax,
      onConnectionRefused: () => this.#refused(),
      ...(streamsPerConnectionMax === 0 ? {} : { streamsPerConnectionMax }),
      ...(goawayChance === 0 ? {} : { sendsAway: () => random.next() < goawayChance }),
      handler: this.#ruled(handler),
      ownHeaders: this.#rules?.transport ?? [],
      onHandshakeError: () => handshakeErrors(metrics).add(1),
    });
    this.#listener = opened.listener;
    // Where nobody tells of them, there is no 0 that would say that there were none.
    if (tls !== undefined && opened.listener.kind === 'node') handshakeErrors(metrics);
    if (this.#isSentAway) opened.listener.sendAway();
    if (tls !== undefined) await this.#servingTls?.follow(opened.listener, tls);
    if (opened.note !== undefined) log.warn(opened.note);
  }

  /** A further listener of Node's, with the same certificates, on a port that the system chooses. The caller's to close. */
  async openDoor(handler: RequestHandler): Promise<Listener> {
    const { host, openListener } = this.#options;
    const connectionsMax = this.#connectionsMax;
    const tls = this.#servingTls?.material ?? this.#options.tls;
    const { listener } = await openListener('node', {
      host,
      port: 0,
      ...(connectionsMax === undefined ? {} : { connectionsMax: Math.ceil(connectionsMax * DOOR_SHARE) }),
      onConnectionRefused: () => this.#refused(),
      ...(tls === undefined ? {} : { tls }),
      headerBytesMax: HEADER_BYTES_MAX,
      idleTimeoutSeconds: IDLE_TIMEOUT_SECONDS,
      sharedPort: false,
      handler: this.#ruled(handler),
      ownHeaders: this.#rules?.transport ?? [],
    });
    if (tls !== undefined) await this.#servingTls?.follow(listener, tls);
    return listener;
  }

  /** Clients are told to go elsewhere, while everything is served. */
  sendAway(): void {
    this.#isSentAway = true;
    this.#listener?.sendAway();
  }

  stopAccepting(): void {
    this.#listener?.stopAccepting();
  }

  /** Closes everything that is left. See Listener.close. */
  async close(isBroken = false): Promise<void> {
    this.#servingTls?.stop();
    this.stopAccepting();
    await this.#listener?.close(isBroken);
  }

  #refused(): void {
    const { clock, log, metrics } = this.#context;
    const help = 'Connections that were closed as they came, since as many as may be were open.';
    metrics.counter('orch_ingress_connections_refused_total', help).add(1);
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#refusalLoggedMs < REFUSAL_LOGGED_EACH_MS) return;
    this.#refusalLoggedMs = nowMs;
    log.warn('connections are refused: as many are open as the limit on open files leaves room for');
  }

  #ruled(handler: RequestHandler): RequestHandler {
    const rules = this.#rules;
    if (rules === undefined) return handler;
    return (request, response) => {
      const passed = rules.apply(request, response);
      if (passed !== undefined) handler(request, passed);
    };
  }

  /** As the files have it by now: this may be a thread's second start. */
  async #tls(): Promise<TlsMaterial | undefined> {
    const { tls, tlsFiles } = this.#options;
    if (tls === undefined || tlsFiles === undefined) return tls;
    this.#servingTls = new ServingTls(this.#context, tlsFiles, tls);
    return this.#servingTls.read();
  }

  /** Undefined where nothing is told to browsers. */
  async #browserRules(): Promise<BrowserRules | undefined> {
    const { transportDirectives, originPatterns } = this.#options;
    if (transportDirectives.length === 0 && originPatterns.length === 0) return undefined;
    const { BrowserRules } = await import('./pipeline/browser-rules.ts');
    if (originPatterns.length === 0) return new BrowserRules({ transportDirectives, allowsOrigin: undefined });
    const { OriginPatterns } = await import('../../transport/origin-patterns.ts');
    const patterns = new OriginPatterns(originPatterns);
    return new BrowserRules({ transportDirectives, allowsOrigin: (origin) => patterns.allow(origin) });
  }
}
