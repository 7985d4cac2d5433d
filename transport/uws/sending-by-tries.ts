// Sends by tries what the binary holds for a client that is still read, and does not read the client meanwhile. Left to itself, the binary
// sends it while it reads what the client sends, and forgets what it has not deciphered yet of half a MiB: the connection was lost.

/** What the binary has of a socket, whatever it carries. */
export interface TriedSocket {
  pause(): unknown;
  close(): unknown;
  getRemoteAddress(): ArrayBuffer;
}

/** What a try has sent of all that is to be sent. */
export type Tried = 'all' | 'some' | 'nothing';

/** Between two tries: so long at first, and half as long again after each that sent nothing. */
const FIRST_MS = 1;

export class SendingByTries {
  readonly #socket: TriedSocket;
  readonly #lastMs: number;
  readonly #attempt: () => Tried;
  readonly #onSent: () => void;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param lastMs the longest time between two tries.
   * @param attempt may stop this, but not begin it anew.
   * @param onSent the client may be read on.
   */
  constructor(socket: TriedSocket, lastMs: number, attempt: () => Tried, onSent: () => void) {
    this.#socket = socket;
    this.#lastMs = lastMs;
    this.#attempt = attempt;
    this.#onSent = onSent;
  }

  /** The client must not be read. */
  get isUnderWay(): boolean {
    return this.#timer !== undefined;
  }

  /** To be called in the turn in which the binary could not send everything. */
  begin(): void {
    if (this.#timer === undefined) this.#tryAfter(FIRST_MS);
  }

  /** Whoever calls this reads the client on, where it is still there. Returns whether it was not read. */
  stop(): boolean {
    const wasUnderWay = this.isUnderWay;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return wasUnderWay;
  }

  #tryAfter(delayMs: number): void {
    // Anew each time: what a socket does not take whole makes the binary look at it again.
    this.#socket.pause();
    const timer = setTimeout(() => {
      const tried = this.#attempt();
      if (this.#timer !== timer) return;
      if (tried === 'all') {
        this.#timer = undefined;
        this.#onSent();
      } else if (tried === 'some') this.#tryAfter(FIRST_MS);
      // One that has gone is not seen to, while it is not read.
      else if (this.#socket.getRemoteAddress().byteLength === 0) this.#socket.close();
      else this.#tryAfter(Math.min(delayMs * 1.5, this.#lastMs));
    }, delayMs);
    this.#timer = timer;
  }
}
