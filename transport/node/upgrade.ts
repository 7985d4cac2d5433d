// Requests that ask for another protocol, on the node listener. Node hands their connections over and forgets them, so that
// here they are either served after all or taken by the handler. What asks for a protocol nobody tunnels (such as h2c) is
// served without that wish, as RFC 9110 7.8 allows: Node 24.9 and newer ask which these are, older ones have it read again.
import { type IncomingMessage, type Server as PlainServer, ServerResponse } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { ConnectionUpgrade, SwitchHead } from '../http.ts';
import type { OpenAnswers } from './open-answers.ts';

/** Protocols that are tunnelled to a backend as they are. */
const TUNNELLED = /^(?:websocket|spdy\/3\.1)$/i;

/** An upgrade whose connection may still be taken. */
export interface OpenUpgrade {
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
  /** To be called before somebody else reads the socket. */
  letGo(): void;
  /** As the handler sees it; `onTaken` is called before the connection goes. */
  handOver(onTaken: () => void): ConnectionUpgrade;
}

type ServeUpgrade = (native: IncomingMessage, response: ServerResponse, upgrade: OpenUpgrade) => void;

/** Serves the server's upgrade requests. One that comes before earlier answers are out closes its connection. */
export function handleUpgrades(
  server: PlainServer | Http2SecureServer,
  answers: OpenAnswers,
  serve: ServeUpgrade,
): void {
  const accepts = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  Object.assign(server, { shouldUpgradeCallback: isTunnelled });
  server.on('upgrade', (native: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    // Node has let go of the connection, and with it of what waits for its turn there.
    if (answers.isBusy(socket)) {
      socket.destroy();
      return;
    }
    if (!isTunnelled(native)) {
      socket.unshift(Buffer.concat([withoutUpgrade(native), head]));
      server.emit(accepts, socket);
      return;
    }
    const response = new ServerResponse(native);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    response.once('finish', () => {
      response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
      socket.end(() => socket.destroy());
    });
    const letGo = watchForEnd(socket);
    const handOver = (onTaken: () => void): ConnectionUpgrade => ({
      passesFrames: true,
      take: (answer) => {
        onTaken();
        letGo();
        response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
        socket.write(headText(answer), 'latin1');
        return { stream: socket, head };
      },
    });
    socket.on('drain', () => response.emit('drain'));
    serve(native, response, { socket, head, letGo, handOver });
  });
}

/**
 * Ends the connection of a client that goes away before somebody takes it: until then nobody reads it, and its end would not be seen.
 * What it sends meanwhile is left where it is. Returns what ends the watch.
 */
function watchForEnd(socket: Duplex): () => void {
  const look = (): void => void socket.read(0);
  const end = (): void => void socket.end();
  socket.on('readable', look).once('end', end);
  return () => void socket.off('readable', look).off('end', end);
}

/** Status line and headers as the backend sent them, each byte as a character. */
function headText({ reason, rawHeaders }: SwitchHead): string {
  const lines = [`HTTP/1.1 101 ${reason}`];
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** One with a body is an ordinary request: in a tunnel the body would be lost. */
function isTunnelled({ headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return !hasBody && TUNNELLED.test(headers.upgrade ?? '');
}

/** The head of the request as it was sent, but for the headers that ask for another protocol. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (name === 'upgrade' || name === 'http2-settings') continue;
    if (name !== 'connection') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
    else lines.push(`${rawHeaders[i]}: ${otherTokens(rawHeaders[i + 1]!)}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function otherTokens(value: string): string {
  const tokens = value.split(',').map((token) => token.trim());
  return tokens.filter((token) => !/^(?:upgrade|http2-settings)$/i.test(token)).join(', ') || 'keep-alive';
}
