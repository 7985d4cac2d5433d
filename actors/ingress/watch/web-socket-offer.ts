// What a client offers with a WebSocket: protocols, and among them, since browsers can send no Authorization header, its
// bearer token. The token is never answered back.
import { isUtf8 } from 'node:buffer';
import type { Dialect } from '../../../config/dialect.ts';
import type { HttpRequest } from '../../../transport/http.ts';

export interface WebSocketOffer {
  /** As the client offered them, without the token. */
  readonly protocols: readonly string[];
  /** Empty for none. */
  readonly token: string;
  /** Several tokens, one that is no text in base64url, or one with no protocol beside it to answer with. */
  readonly isMalformed: boolean;
}

/** Protocols of one request that are looked at. */
const PROTOCOLS_MAX = 32;
/** Base64url without padding (RFC 4648 5). */
const ENCODED = /^[A-Za-z0-9_-]+$/;

/** The beginning of the protocol that a token is offered as. */
export function webSocketBearerPrefix(dialect: Dialect): string {
  return dialect.spell('base64url.bearer.authorization.@group.');
}

/** What the request offers to speak over a WebSocket, and the token it brings that way. */
export function webSocketOffer(request: HttpRequest, bearerPrefix: string): WebSocketOffer {
  const offered = request
    .header('sec-websocket-protocol')
    .split(',', PROTOCOLS_MAX)
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
  const protocols = offered.filter((protocol) => !protocol.startsWith(bearerPrefix));
  const tokens = offered.filter((protocol) => protocol.startsWith(bearerPrefix));
  if (tokens.length === 0) return { protocols, token: '', isMalformed: false };
  const encoded = tokens[0]!.slice(bearerPrefix.length);
  const bytes = Buffer.from(encoded, 'base64url');
  const isMalformed = tokens.length > 1 || protocols.length === 0 || !ENCODED.test(encoded) || !isUtf8(bytes);
  return { protocols, token: isMalformed ? '' : bytes.toString('utf8'), isMalformed };
}
