// What of a proxied request and its answer is passed on: the path behind the proxy subresource, and headers without those that are of one
// connection only (RFC 9110 7.6.1) or speak to this server. Pure.

type Headers = readonly (readonly [name: string, value: string])[];

/** Of one connection, or of this server's own framing. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Credentials, which are this server's and not the backend's. */
const OWN_PREFIXES: readonly string[] = ['authorization', 'impersonate-', 'x-remote-', 'x-forwarded-'];
const WEB_SOCKET_PROTOCOLS = 'sec-websocket-protocol';
/** A backend does not speak for this server's origin. */
const CROSS_ORIGIN = 'access-control-';

/**
 * The request's headers as the backend gets them; names are in lower case. `keepsUpgrade`: another protocol is asked for.
 * `bearerPrefix`: of an offered WebSocket protocol that is a token for this server.
 */
export function forwardedRequestHeaders(headers: Headers, keepsUpgrade: boolean, bearerPrefix: string): Headers {
  const named = namedByConnection(headers);
  const kept = headers
    .filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name) && !OWN_PREFIXES.some((own) => name.startsWith(own)))
    .flatMap(([name, value]): Headers => {
      const left = name === WEB_SOCKET_PROTOCOLS ? withoutToken(value, bearerPrefix) : value;
      return left === undefined ? [] : [[name, left]];
    });
  if (!keepsUpgrade) return kept;
  const upgrade = headers.filter(([name]) => name === 'upgrade');
  return [...kept, ['connection', 'Upgrade'], ...upgrade];
}

/** Protocols that are offered, but for the token among them; undefined where nothing is left. */
function withoutToken(offered: string, bearerPrefix: string): string | undefined {
  const protocols = offered.split(',').map((protocol) => protocol.trim());
  const left = protocols.filter((protocol) => !protocol.startsWith(bearerPrefix));
  if (left.length === protocols.length) return offered;
  return left.length === 0 ? undefined : left.join(', ');
}

/** The backend's headers as the client gets them. */
export function forwardedResponseHeaders(headers: Headers): Headers {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP_BY_HOP.has(lower) && !named.has(lower) && !lower.startsWith(CROSS_ORIGIN);
  });
}

function namedByConnection(headers: Headers): ReadonlySet<string> {
  const named = new Set<string>();
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const token of value.split(',')) named.add(token.trim().toLowerCase());
  }
  return named;
}

/**
 * The path at the backend: `rest` is what follows the subresource, decoded, with its leading slash. Dots are resolved, so
 * that they lead nowhere else; a closing slash stays.
 */
export function backendPath(rest: string): string {
  const segments: string[] = [];
  for (const segment of rest.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const path = `/${segments.map(encodedSegment).join('/')}`;
  const isClosed = /\/\.{0,2}$/.test(rest);
  return isClosed && path !== '/' ? `${path}/` : path;
}

function encodedSegment(segment: string): string {
  // What RFC 3986 allows in a segment stays as it is.
  return encodeURIComponent(wellFormed(segment)).replace(/%(?:3A|40|26|3D|2B|24|2C|3B)/g, decodeURIComponent);
}

/** A query as it goes on, with its question mark; blank where there is none. */
export function backendQuery(query: string): string {
  return query === '' ? '' : `?${sendable(query)}`;
}

/**
 * A path as sent, with whatever has no place in one (RFC 3986) encoded: some servers take a backslash for a slash, or what follows a #
 * for no part of it, and would read another path than the one that was authorized.
 */
export function sentPath(path: string): string {
  return path.replace(/[^\w\-.~!$&'()*+,;=:@/%]+/g, (part) => encodeURIComponent(wellFormed(part)));
}

/** A query as sent, with whatever may not stand in a request line encoded. */
function sendable(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(wellFormed(part)));
}

/** Halves of a character, which no encoding has, become the replacement character. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
