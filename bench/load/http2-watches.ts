// Watches over HTTP/2: many streams on one connection. Stands in for Connector where the load asks for it; like it,
// it hands bodies on without looking at them.
import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from 'node:http2';
import { tlsOptionsOf } from '../endpoint-tls.ts';
import type { Endpoint } from '../load-protocol.ts';
import type { Connection, ConnectionSink } from './connection.ts';

/** What the client lets the server send unasked, for a connection: enough for all its streams. */
const SESSION_WINDOW_BYTES = 64 * 1024 * 1024;
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 60_000;

/** A watch to be opened. */
export interface StreamRequest {
  readonly path: string;
  readonly accept: string;
}

/** An open watch: what a Connection is to the load. */
export type OpenStream = Pick<Connection, 'close' | 'stall'>;

/** Opens one watch for each sink, `streamsEach` on a connection. Rejects when a connection fails. */
export async function openHttp2Watches(
  endpoint: Endpoint,
  { path, accept }: StreamRequest,
  sinks: readonly ConnectionSink[],
  streamsEach: number,
): Promise<readonly OpenStream[]> {
  const opened: OpenStream[] = [];
  for (let from = 0; from < sinks.length; from += streamsEach) {
    const session = await openSession(endpoint);
    const group = sinks.slice(from, from + streamsEach);
    let left = group.length;
    const leave = (): void => {
      left -= 1;
      if (left === 0) session.destroy();
    };
    for (const sink of group) opened.push(openStream(session, endpoint, path, accept, sink, leave));
  }
  return opened;
}

/** Rejects when there is no connection within a minute. */
export function openSession({ host, port, tls }: Endpoint): Promise<ClientHttp2Session> {
  const authority = `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const options: SecureClientSessionOptions = {
    settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
    ...(tls === undefined ? {} : tlsOptionsOf(tls)),
  };
  return new Promise((resolve, reject) => {
    const session = connect(authority, options);
    const timer = setTimeout(() => session.destroy(new Error('no connection within 60 s')), CONNECT_TIMEOUT_MS);
    session.once('connect', () => {
      clearTimeout(timer);
      session.setLocalWindowSize(SESSION_WINDOW_BYTES);
      resolve(session);
    });
    // Later errors reach each stream by itself.
    session.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function openStream(
  session: ClientHttp2Session,
  endpoint: Endpoint,
  path: string,
  accept: string,
  sink: ConnectionSink,
  leave: () => void,
): OpenStream {
  const stream = session.request({
    ':path': path,
    accept,
    'user-agent': 'bench',
    ...(endpoint.authorization === undefined ? {} : { authorization: endpoint.authorization }),
  });
  let closed = false;
  let lostBy: Error | undefined;
  stream.on('response', (headers) => sink.onHead(Number(headers[':status'])));
  stream.on('data', (part: Buffer) => sink.onBody(part, 0, part.length));
  stream.on('end', () => {
    if (!closed) sink.onEnd();
  });
  stream.on('error', (error) => {
    lostBy = error;
  });
  stream.on('close', () => {
    leave();
    if (!closed && lostBy !== undefined) sink.onLost(lostBy);
  });
  return {
    stall: () => {
      stream.pause();
    },
    close: () => {
      closed = true;
      stream.close();
    },
  };
}
