// What a request says of itself, as the pipeline's steps ask: whether it can be read, how long it may take, whose it is and what is to be
// allowed. Reads; decides nothing.
import { type AccessAttributes, pathAccess } from '../../../api/authorization/attributes.ts';
import { authorizationNamespace, type RequestInfo } from '../../../api/requests/request-info.ts';
import { badRequest, unauthorized } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { HttpRequest } from '../../../transport/http.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { PROFILES_PATH } from '../paths/profiles/profile-answers.ts';
import { webSocketOffer } from '../watch/web-socket-offer.ts';

const AUTHORIZATION = 'authorization';

const LONG_RUNNING_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Throws 400 for what its path or query says in vain. A query that goes to a node, pod or service is in a form of theirs. */
export function requireReadable({ info, query }: Exchange): void {
  if (!info.isResource && info.badRequest !== undefined) throw new StatusError(badRequest(info.badRequest));
  if (isProxied(info)) return;
  if (query.badRequest !== '') throw new StatusError(badRequest(query.badRequest));
}

/** Whether the request is for what stands behind a node, pod or service. */
export function isProxied(info: RequestInfo): boolean {
  return info.isResource && info.subresource === 'proxy';
}

/** Whether the request may take as long as its client likes: not bounded in time, and not counted among those in flight. */
export function isLongRunning(info: RequestInfo): boolean {
  if (!info.isResource) return info.path.startsWith(PROFILES_PATH);
  const { verb, subresource } = info;
  return verb === 'watch' || (subresource !== '' && LONG_RUNNING_SUBRESOURCES.has(subresource));
}

/**
 * The Authorization header, of several the first. Browsers cannot set one on a WebSocket: theirs stands for itself among the
 * protocols. Throws 401 for one that cannot be read.
 */
export function authorizationOf(request: HttpRequest, bearerPrefix: string): string {
  const header = request.header(AUTHORIZATION);
  // A scheme may have commas of its own.
  if (header.includes(','))
    return request.headersWithPrefix(AUTHORIZATION).find(([name]) => name === AUTHORIZATION)![1];
  if (header !== '' || !request.isWebSocket) return header;
  const { token, isMalformed } = webSocketOffer(request, bearerPrefix);
  if (isMalformed) throw new StatusError(unauthorized());
  return token === '' ? '' : `Bearer ${token}`;
}

/** What authorization is asked about. */
export function accessOf(exchange: Exchange): AccessAttributes {
  exchange.access ??= newAccess(exchange);
  return exchange.access;
}

function newAccess({ info, request }: Exchange): AccessAttributes {
  if (!info.isResource) return pathAccess(info.verb, info.path);
  const { verb, group, version, resource, subresource, name } = info;
  const namespace = authorizationNamespace(info);
  return { verb, isResource: true, group, version, resource, subresource, namespace, name, path: request.path };
}
