// The connections of one listener, and the HTTP/2 sessions on some of them: how many there are, which are idle, and how they are told that
// they end.
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Endable } from '../kept-bytes.ts';
import { StoppedSessions } from './stopped-sessions.ts';

/** Time for an idle client of HTTP/2 to read that its connection ends. */
const GOAWAY_MS = 1_000;

/** The requests of a session that are not over. */
interface SessionStreams {
  open: number;
  /** When there came to be none. */
  idleSinceMs: number;
}

/**
 * Tells a client that its connection ends, and ends it when there was time to hear that: a session that is closed in one step waits
 * for its client to close too, which one that stands still never does.
 */
function endIdle(session: ServerHttp2Session, streams: SessionStreams): NodeJS.Timeout {
  session.goaway();
  return setTimeout(() => (streams.open > 0 ? session.close() : session.destroy()), GOAWAY_MS).unref();
}

/** The open connections, and the HTTP/2 sessions on some of them. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #streams = new WeakMap<Endable, SessionStreams>();
  readonly #stopped = new StoppedSessions();
  #isStopping = false;

  get count(): number {
    return this.#sockets.size;
  }

  /** Of HTTP/2; one that was told to close does so when its last stream has been read. */
  get sessions(): number {
    return this.#sessions.size;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** A session without streams is closed when it has been idle for `idleTimeoutMs`; one with watches is not idle. */
  addSession(session: ServerHttp2Session, idleTimeoutMs: number): void {
    const streams = { open: 0, idleSinceMs: performance.now() };
    this.#streams.set(session, streams);
    // Not set anew with each request: it looks, when it is due, how long there has been none.
    const look = (): void => {
      const leftMs = streams.open > 0 ? idleTimeoutMs : streams.idleSinceMs + idleTimeoutMs - performance.now();
      if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs)).unref();
      else if (!session.closed && !session.destroyed) timer = endIdle(session, streams);
    };
    let timer = setTimeout(look, idleTimeoutMs).unref();
    session.once('close', () => clearTimeout(timer));
    session.on('error', () => {});
    this.#sessions.add(session);
    this.#stopped.add(session);
    session.once('close', () => this.#sessions.delete(session));
    if (this.#isStopping) session.close();
  }

  streamBegins(session: Endable): void {
    const streams = this.#streams.get(session);
    if (streams !== undefined) streams.open++;
  }

  /** Of HTTP/1.1 as well, where it says nothing. */
  streamGone(session: Endable): void {
    const streams = this.#streams.get(session);
    if (streams === undefined) return;
    streams.open--;
    if (streams.open === 0) streams.idleSinceMs = performance.now();
  }

  /** GOAWAY alone: who ends a connection that has just had one leaves it open whether what is on its way was served. */
  sendAway(): void {
    for (const session of this.#sessions) if (!session.closed && !session.destroyed) session.goaway();
  }

  /** Tells HTTP/2 clients to open no more streams here (GOAWAY). */
  closeSessions(): void {
    this.#isStopping = true;
    for (const session of this.#sessions) session.close();
  }

  destroyAll(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}
