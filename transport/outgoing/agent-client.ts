// The way out: HTTP requests to node agents, pods and services, their answers streamed to our client with backpressure both
// ways, and connections of other protocols joined as raw bytes. Owns the outgoing sockets of its thread.
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { headerValueOf } from '../../values/header-text.ts';
import { bracketed } from '../../values/host-text.ts';
import type { HeaderList, RawConnection, SwitchHead } from '../http.ts';
import { safeHeaderValue } from '../response-headers.ts';
import { believing } from '../tls/certificates.ts';
import { USUAL_SUITES } from '../tls/usual-suites.ts';
import { type AgentRequest, type AgentTarget, type AgentTls, AgentUnreachable } from './agent-address.ts';
import { type AgentAnswer, settle, switched, unreachable } from './agent-answer.ts';
import { checkedLookup } from './checked-lookup.ts';
import { DialTimeout } from './dial-words.ts';
import { type EgressWay, type OnDial, throughWay } from './egress.ts';
import { retire } from './idle-connections.ts';
import { watchForNames } from './nameless-peers.ts';
import { sharedLookup } from './shared-lookup.ts';
import { joinSides } from './tunnel-sides.ts';
import { onUnaskedSwitch } from './unasked-switch.ts';

/** Connections to one backend that are kept for the next request, where the settings say nothing. */
const IDLE_SOCKETS_MAX = 8;
/** Of all headers of an answer: many times what any backend sends. */
const HEADER_BYTES_MAX = 512 * 1024;
const CONTENT_LENGTH = 'content-length';
const TRANSFER_ENCODING = 'transfer-encoding';
/** A connection that says nothing is asked from then on whether its other end is still there: a machine goes down without a word. */
const PROBE_MS = 15_000;

export interface AgentClientSettings {
  readonly tls: AgentTls;
  /** Until a connection, with its TLS handshake, must stand. */
  readonly connectTimeoutMs: number;
  /** Connections to one backend that are kept for the next request. */
  readonly idleMax?: number;
  /** Absent: straight. */
  readonly way?: EgressWay | undefined;
  readonly onDial?: OnDial | undefined;
  /** Told of each connection to a backend whose certificate names it in its subject alone. */
  readonly onNameless?: (() => void) | undefined;
}

type Trust = AgentTarget['trust'];

export class AgentClient {
  readonly #settings: AgentClientSettings;
  #tls: AgentTls;
  readonly #plainAgent: PlainAgent;
  readonly #tlsAgents = new Map<Trust, TlsAgent>();
  readonly #tunnels = new Set<Duplex>();

  constructor(settings: AgentClientSettings) {
    this.#settings = settings;
    this.#tls = settings.tls;
    const maxFreeSockets = settings.idleMax ?? IDLE_SOCKETS_MAX;
    this.#plainAgent = throughWay(new PlainAgent({ keepAlive: true, maxFreeSockets }), settings.way, settings.onDial);
  }

  /** Sends a request. Rejects with AgentUnreachable. `onSent` gets what cancels it. */
  send(target: AgentTarget, request: AgentRequest, onSent: (cancel: () => void) => void): Promise<AgentAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#begin(target, request, false);
      onSent(() => outgoing.destroy());
      outgoing.once('response', (message) => settle(target, message, '', resolve, reject));
      onUnaskedSwitch(outgoing, (protocol) => reject(unreachable(target, switched(protocol, ''))));
      outgoing.on('error', (error) => reject(unreachable(target, error, outgoing.reusedSocket)));
      sendBody(outgoing, request, (why) => reject(new AgentUnreachable(why)));
    });
  }

  /**
   * Sends a request for another protocol. When the backend switches, joins the two connections and resolves when both are
   * closed; when it stays with HTTP, resolves with its answer. Rejects with AgentUnreachable. `onSent` gets what cancels it, as
   * long as nothing is joined.
   */
  join(
    target: AgentTarget,
    request: AgentRequest,
    takeClient: (head: SwitchHead) => RawConnection,
    onSent: (cancel: () => void) => void,
  ): Promise<AgentAnswer | undefined> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#begin(target, request, true);
      let isJoined = false;
      onSent(() => {
        if (!isJoined) outgoing.destroy();
      });
      outgoing.once('upgrade', (message: IncomingMessage, backend: Duplex, head: Buffer) => {
        isJoined = true;
        const { statusMessage = '', rawHeaders } = message;
        try {
          const { stream, head: clientHead } = takeClient({ reason: statusMessage, rawHeaders });
          if (head.length > 0) stream.write(head);
          if (clientHead.length > 0) backend.write(clientHead);
          joinSides(stream, backend, this.#tunnels).then(() => resolve(undefined), reject);
        } catch (error) {
          // The client cannot be had any more. In Node's callback it would be the end of the thread.
          backend.destroy();
          reject(error);
        }
      });
      const asked = request.headers.find(([name]) => name === 'upgrade')?.[1] ?? '';
      outgoing.once('response', (message) => settle(target, message, asked, resolve, reject));
      outgoing.on('error', (error) => reject(unreachable(target, error)));
      outgoing.end();
    });
  }

  /** Requests from now on go by other material; those in progress go on. */
  replaceTls(tls: AgentTls): void {
    this.#tls = tls;
    for (const agent of this.#tlsAgents.values()) retire(agent);
    this.#tlsAgents.clear();
  }

  /** Keeps no connection any more: what is under way ends by itself. */
  retire(): void {
    retire(this.#plainAgent);
    for (const agent of this.#tlsAgents.values()) retire(agent);
  }

  /** Ends every connection. */
  close(): void {
    this.#plainAgent.destroy();
    for (const agent of this.#tlsAgents.values()) agent.destroy();
    for (const stream of this.#tunnels) stream.destroy();
  }

  #begin(target: AgentTarget, { method, path, headers, body }: AgentRequest, isUpgrade: boolean): ClientRequest {
    const { scheme, host, port, trust, addressProblem, serverName = isIP(host) === 0 ? host : '' } = target;
    const options = {
      host,
      port,
      method,
      path,
      headers: headerRecord(framed(headers, body !== undefined), target),
      maxHeaderSize: HEADER_BYTES_MAX,
      setHost: false,
      lookup: addressProblem === undefined ? sharedLookup : checkedLookup(addressProblem),
    };
    const outgoing =
      scheme === 'http'
        ? plainRequest({ ...options, agent: isUpgrade ? this.#once(PlainAgent) : this.#plainAgent })
        : tlsRequest({
            ...options,
            ...tlsOptions(this.#tls, trust),
            ...(serverName === '' ? undefined : { servername: serverName }),
            agent: isUpgrade ? this.#once(TlsAgent) : this.#tlsAgent(trust),
          });
    // Counted by bytes: past a number of headers Node would leave the rest out in silence.
    outgoing.maxHeadersCount = 0;
    // Those that are kept for other requests are asked by Node's agent.
    if (isUpgrade) outgoing.once('socket', (socket) => void socket.setKeepAlive(true, PROBE_MS));
    this.#limitConnecting(outgoing, scheme === 'https' ? 'secureConnect' : 'connect');
    const { onNameless } = this.#settings;
    if (onNameless !== undefined)
      outgoing.once('socket', (socket) => {
        if (socket instanceof TLSSocket && !outgoing.reusedSocket) watchForNames(socket, onNameless);
      });
    return outgoing;
  }

  #limitConnecting(outgoing: ClientRequest, connected: 'connect' | 'secureConnect'): void {
    const { connectTimeoutMs } = this.#settings;
    if (connectTimeoutMs <= 0) return;
    const timer = setTimeout(() => {
      outgoing.destroy(new DialTimeout());
    }, connectTimeoutMs);
    outgoing.once('socket', (socket) => {
      // A tunnel stands when it is handed over.
      const stands = connected === 'connect' && !socket.connecting;
      if (outgoing.reusedSocket || stands) clearTimeout(timer);
      else socket.once(connected, () => clearTimeout(timer));
    });
    outgoing.once('close', () => clearTimeout(timer));
  }

  #tlsAgent(trust: Trust): TlsAgent {
    let agent = this.#tlsAgents.get(trust);
    if (agent === undefined) {
      const { idleMax: maxFreeSockets = IDLE_SOCKETS_MAX, way, onDial } = this.#settings;
      agent = throughWay(new TlsAgent({ keepAlive: true, maxFreeSockets, maxCachedSessions: 100 }), way, onDial);
      this.#tlsAgents.set(trust, agent);
    }
    return agent;
  }

  /** For a connection that leaves HTTP, and is never another request's. */
  #once<A extends PlainAgent>(Kind: new () => A): A | false {
    const { way, onDial } = this.#settings;
    return way === undefined ? false : throughWay(new Kind(), way, onDial);
  }
}

function tlsOptions({ caPem, certPem, keyPem }: AgentTls, trust: Trust): object {
  const ciphers = USUAL_SUITES;
  if (trust === 'none') return { ciphers, rejectUnauthorized: false };
  return {
    ciphers,
    ...(certPem === undefined ? undefined : { cert: certPem }),
    ...(keyPem === undefined ? undefined : { key: keyPem }),
    ...(trust === 'unverifiedAgent' || (caPem === undefined && trust !== 'service')
      ? { rejectUnauthorized: false }
      : caPem && believing(caPem)),
  };
}

function headerRecord(headers: HeaderList, { scheme, host, port }: AgentTarget): Record<string, string | string[]> {
  const name = bracketed(host);
  const isDefaultPort = port === (scheme === 'https' ? 443 : 80);
  const record: Record<string, string | string[]> = { host: isDefaultPort ? name : `${name}:${port}` };
  for (const [header, given] of headers) {
    const value = headerValueOf(safeHeaderValue(given));
    const before = Object.hasOwn(record, header) ? record[header]! : [];
    record[header] = before.length === 0 ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return record;
}

/**
 * What says how long the request is, which is nobody's word but that of the body that is sent: Node frames none of a DELETE by itself,
 * and what is taken for the next request at the other end would be believed as ours.
 */
function framed(headers: HeaderList, hasBody: boolean): HeaderList {
  const others = headers.filter(([name]) => name !== TRANSFER_ENCODING && (hasBody || name !== CONTENT_LENGTH));
  return !hasBody || lengthOf(others) !== undefined ? others : [...others, [TRANSFER_ENCODING, 'chunked']];
}

/** Undefined where none is given. */
function lengthOf(headers: HeaderList): number | undefined {
  const given = headers.find(([name]) => name === CONTENT_LENGTH)?.[1];
  return given === undefined ? undefined : Number(given);
}

function sendBody(outgoing: ClientRequest, { body, headers }: AgentRequest, onLost: (why: string) => void): void {
  if (body === undefined) {
    outgoing.end();
    return;
  }
  const length = lengthOf(headers);
  let sent = 0;
  const wrong = (): void => {
    outgoing.destroy();
    onLost('the body is not as long as was said');
  };
  outgoing.on('drain', () => body.resume());
  body.start({
    onChunk: (chunk) => {
      sent += chunk.length;
      if (length !== undefined && !(sent <= length)) wrong();
      return outgoing.destroyed || outgoing.write(chunk);
    },
    onEnd: () => (length === undefined || sent === length ? outgoing.end() : wrong()),
    onLost: (reason) => {
      outgoing.destroy();
      onLost(reason === 'tooFast' ? 'the backend takes the body too slowly' : 'the client went away');
    },
  });
}
