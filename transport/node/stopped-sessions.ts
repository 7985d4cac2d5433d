// HTTP/2 sessions on which nothing is sent any more. A client whose frames cannot be read (a header beyond what the protocol library
// holds, a frame of a wrong length) is told so (GOAWAY), and the library sends and takes nothing from then on. Older Nodes (20, the first
// of 22) tell nobody and leave the connection open: its watches would wait for good.
import type { ServerHttp2Session } from 'node:http2';

/** A session on which nothing went out between two looks is asked for an answer, and is over where not even that goes out until the next. */
const LOOK_INTERVAL_MS = 15_000;

/** How a session stood at the last look. */
interface Standing {
  bytesWritten: number;
  /** A PING was to go out since. */
  isAsked: boolean;
}

/** What Node keeps of a socket beside its own streams, which a session's bytes pass by. */
interface NativeSocket {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

function ignore(): void {}

export class StoppedSessions {
  readonly #sessions = new Map<ServerHttp2Session, Standing>();
  readonly #lookIntervalMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(lookIntervalMs = LOOK_INTERVAL_MS) {
    this.#lookIntervalMs = lookIntervalMs;
  }

  /** From here on the session is destroyed when it has stopped. */
  add(session: ServerHttp2Session): void {
    this.#sessions.set(session, { bytesWritten: 0, isAsked: false });
    session.once('close', () => this.#delete(session));
    this.#timer ??= setInterval(() => this.#look(), this.#lookIntervalMs).unref();
  }

  #delete(session: ServerHttp2Session): void {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    for (const [session, standing] of this.#sessions) {
      if (session.closed || session.destroyed) continue;
      const { bytesWritten } = session.socket;
      const isQuiet = bytesWritten === standing.bytesWritten;
      if (isQuiet && standing.isAsked && isTakenWhole(session)) {
        session.destroy();
        continue;
      }
      standing.bytesWritten = bytesWritten;
      // Where an answer is still to come nothing is asked again: Node has room for ten.
      standing.isAsked = isQuiet && (standing.isAsked || session.ping(ignore));
    }
  }
}

/** Not so where a client stands still: what it is asked waits behind what it has not read. */
function isTakenWhole({ socket, state }: ServerHttp2Session): boolean {
  const { _handle } = socket as unknown as NativeSocket;
  return _handle?.writeQueueSize === 0 && (state.outboundQueueSize ?? 0) > 0;
}
