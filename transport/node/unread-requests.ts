// What comes on an HTTP/1.1 connection whose client has not taken the answer before. Node stops the connection's parser then, and
// reads no more. But a TLS connection may have decrypted more by that time (the body of a request is often a record of its
// own), and where the parser reads below the stream, it is given that although it was stopped: an error, which Node takes for
// the client's.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { getDefaultHighWaterMark } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** As much of answers as stops Node's parser while it is not taken: what its sockets hold before they are full. */
export const PARSER_STOPS_BYTES = getDefaultHighWaterMark(false);

const READ_AS_STREAMS = new WeakSet<Socket>();

function ignore(): void {}

/**
 * From here on what has come behind a request over TLS waits in the connection's stream while the parser is stopped. To be called in the
 * turn in which its answer was not taken at once; reading costs a little more from then on.
 */
export function keepUnread(request: IncomingMessage): void {
  if (!(request.socket instanceof TLSSocket)) return;
  // Nothing else comes before this request has come whole, which one without a body has behind the callback in which it is served.
  if (request.complete) readAsStream(request.socket);
  else queueMicrotask(() => request.complete && readAsStream(request.socket));
}

function readAsStream(socket: Socket): void {
  if (READ_AS_STREAMS.has(socket)) return;
  READ_AS_STREAMS.add(socket);
  // Where somebody listens, Node's parser goes by the stream as well, and for good.
  socket.on('data', ignore).off('data', ignore);
}
