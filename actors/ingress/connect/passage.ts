// A request that another server answers, on its way there and back: passed on with its body, its answer streamed to our client; or
// joined to that server as a connection of another protocol. Where it goes and what it is shown is its callers' matter.
import { forwardedResponseHeaders } from '../../../api/connect/forwarded.ts';
import type { ProxyPlace } from '../../../api/connect/seen-from-outside.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import { badRequest } from '../../../api/status/failures.ts';
import { type Status, StatusError } from '../../../api/status/status.ts';
import type { BodyFlow, HeaderList, SwitchHead } from '../../../transport/http.ts';
import { AgentUnreachable } from '../../../transport/outgoing/agent-address.ts';
import type { AgentAnswer } from '../../../transport/outgoing/agent-answer.ts';
import type { AgentClient } from '../../../transport/outgoing/agent-client.ts';
import { isPlainJson, uncached } from '../../../transport/response-headers.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { seenOutside } from './pages.ts';
import { type Place, REDIRECTED, REDIRECTIONS_MAX, type Redirections, redirectedTo } from './redirections.ts';
import type { UpgradeDoor } from './upgrade-door.ts';

/** Where a request goes, and what is asked there. */
export interface Route extends Place {
  /** What a failure to connect is answered with. `isUnbelieved`: for the certificate that was shown. */
  readonly unreachable: (detail: string, isUnbelieved?: boolean) => Status;
}

/** How a request is passed on. */
export interface Passed {
  readonly headers: HeaderList;
  readonly body: BodyFlow | undefined;
  /** Where the client sees the backend, whose redirections and links are told so; absent where it speaks of our paths itself. */
  readonly place?: ProxyPlace;
  /** Gets what gives it up. */
  readonly onSent?: (cancel: () => void) => void;
  /** Looks at the answer before it is passed back; rejects to answer something else. */
  readonly check?: (answer: AgentAnswer) => Promise<void>;
}

/** How a request for another protocol is passed on. */
export interface Joined extends Pick<Passed, 'onSent'> {
  /** As forwardedRequestHeaders makes them. */
  readonly headers: HeaderList;
  /** How far redirections of the backend are followed; absent: they are not. */
  readonly followed?: Redirections | undefined;
  /** What a backend is answered with that neither switches nor refuses. */
  readonly unswitched: (detail: string) => Status;
}

/** What a WebSocket's two ends agree on about its frames (RFC 6455 9). */
const FRAME_EXTENSIONS = 'sec-websocket-extensions';
/** Protocols that make no sense to a backend but in a tunnel. */
const TUNNELLED = /^(?:websocket|spdy)/i;
/** The least status of a refusal, which a client may be told as it is. */
const REFUSAL_MIN = 400;
const SPDY = /^spdy\/3\.1$/i;
/** A kept connection may have been closed by the backend: what changes nothing is sent again, on another. */
const STALE_TRIES_MAX = 3;
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the request asks for a protocol that only a tunnel can carry. */
export function asksForTunnel({ request }: Exchange): boolean {
  return TUNNELLED.test(request.header('upgrade'));
}

/** Passes a request on, and its answer back. Throws StatusError; AgentUnreachable where the client has gone. */
export async function relay(client: AgentClient, exchange: Exchange, route: Route, passed: Passed): Promise<void> {
  const { request, response } = exchange;
  const outgoing = { method: request.method, path: route.path, headers: passed.headers, body: passed.body };
  const send = (): Promise<AgentAnswer> =>
    client.send(route.target, outgoing, (cancel) => {
      response.onAborted(cancel);
      passed.onSent?.(cancel);
    });
  const answer = await repeated(send, passed.body === undefined && REPEATABLE.has(request.method)).catch(
    (error: unknown) => {
      throw error instanceof AgentUnreachable && !response.aborted
        ? new StatusError(route.unreachable(error.message, error.isUnbelieved))
        : error;
    },
  );
  await passed.check?.(answer);
  const { headers, stages } = seenOutside(answer, passed.place, request.method !== 'HEAD');
  exchange.start(answer.status, uncached(headers), !isEventStream(exchange, answer));
  await answer.relay(response, () => exchange.cutOff(), stages);
}

/**
 * Joins the client to the backend, or to where that redirects, as far as that is followed. A refusal is passed back. Throws StatusError;
 * AgentUnreachable where the client has gone.
 */
export async function join(
  client: AgentClient,
  exchange: Exchange,
  route: Route,
  { headers, followed = 'none', unswitched, onSent }: Joined,
): Promise<void> {
  const { request, response } = exchange;
  const { upgrade } = request;
  if (upgrade === undefined) throw new StatusError(cannotUpgrade(request.header('upgrade')));
  const passed = upgrade.passesFrames ? headers : headers.filter(([name]) => name !== FRAME_EXTENSIONS);
  const take = (head: SwitchHead) => {
    exchange.leaveHttp();
    return upgrade.take(head);
  };
  const sent = (cancel: () => void): void => {
    response.onAborted(cancel);
    onSent?.(cancel);
  };
  const ask = ({ target, path }: Place, method: string): Promise<AgentAnswer | undefined> =>
    client.join(target, { method, path, headers: passed, body: undefined }, take, sent).catch((error: unknown) => {
      throw error instanceof AgentUnreachable && !response.aborted
        ? new StatusError(route.unreachable(error.message))
        : error;
    });
  let answer = await ask(route, request.method);
  let at: Place = route;
  for (let hops = 1; followed !== 'none' && answer?.status === REDIRECTED; hops++) {
    answer.discard();
    const next = redirectedTo(answer.headers, at, route.target, followed);
    if (typeof next === 'string') throw new StatusError(route.unreachable(next));
    if (hops > REDIRECTIONS_MAX) throw new StatusError(route.unreachable('it redirects in circles'));
    at = next;
    answer = await ask(at, 'GET');
  }
  if (answer === undefined) return;
  // A client of streams goes where it is sent, its credentials along: no backend has a say in where that is.
  if (answer.status < REFUSAL_MIN) {
    answer.discard();
    throw new StatusError(unswitched(`invalid upgrade response: status code ${answer.status}`));
  }
  // The backend stays with HTTP, and so do we.
  exchange.start(answer.status, uncached(forwardedResponseHeaders(answer.headers)), true);
  await answer.relay(exchange.response, () => exchange.cutOff());
}

/**
 * False where the connection can be handed over; true when the client has been sent through the door to where it can. Throws
 * 400 for a request that asks for no other protocol, or for one that cannot be spoken.
 */
export async function isSentElsewhere(
  door: UpgradeDoor | undefined,
  exchange: Exchange,
  info: ResourceRequestInfo,
): Promise<boolean> {
  const { request } = exchange;
  const protocol = request.header('upgrade');
  if (protocol === '') throw new StatusError(badRequest('Upgrade request required'));
  if (request.upgrade !== undefined) return false;
  if (door === undefined || !SPDY.test(protocol)) throw new StatusError(cannotUpgrade(protocol));
  await door.redirect(exchange, info);
  return true;
}

/** What a backend is told of where the request comes from. */
export function forwardedFrom({ request }: Exchange): HeaderList {
  const from = request.remoteAddress;
  const { path } = request;
  return [
    ...(from === '' ? [] : [['x-forwarded-for', from] as const]),
    ['x-forwarded-host', request.header('host')],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-uri', path],
  ];
}

async function repeated(send: () => Promise<AgentAnswer>, mayRepeat: boolean): Promise<AgentAnswer> {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      const isStale = error instanceof AgentUnreachable && error.isStale;
      if (!isStale || !mayRepeat || tries === STALE_TRIES_MAX) throw error;
    }
  }
}

/** A watch's client waits for the headers, which may come long before the first event. */
function isEventStream({ verb }: Exchange, { headers }: AgentAnswer): boolean {
  return verb === 'watch' && isPlainJson(headers);
}

function cannotUpgrade(protocol: string): Status {
  return badRequest(
    `the request is no handshake for ${JSON.stringify(protocol)}, or its connection is shared (HTTP/2)`,
  );
}
