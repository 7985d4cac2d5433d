// Holds back a client that sends faster than somebody takes it: the binary is told to look at the socket no more. Nothing is known of the
// client then, so that the listener's timer has a look from time to time.
import { type KeptAlive, type Pausable, renew } from './parking.ts';
import type { UwsResponseScope } from './stream.ts';

/** Bytes that wait for who takes them slowly before the client is held back. */
export const HELD_AT_BYTES = 256 * 1024;
/** More is given up of a client that cannot be held back: one that does not read what it is sent, either. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/**
 * Of all clients of a listener, before such as have more than the above are given up. What the kernel has of a client comes all at once,
 * held or not, with what is sent meanwhile: the binary goes on as long as each read fills its buffer.
 */
const ALL_WAITING_BYTES_MAX = 256 * 1024 * 1024;
type HoldScope = Pick<UwsResponseScope, 'parked' | 'waiting'>;

/** Turns of the listener's timer between two looks at a client that is held: a minute. */
const LOOK_TURNS = 15;

export class ClientHold implements KeptAlive {
  readonly #socket: Pausable;
  readonly #scope: HoldScope;
  readonly #hasUnsent: () => boolean;
  /** In what the scope has of all. */
  #counted = 0;
  #isHeld = false;
  #isOver = false;
  #turns = 0;

  /** @param hasUnsent the binary holds some of what was written: it sends nothing of a socket that it does not look at. */
  constructor(socket: Pausable, scope: HoldScope, hasUnsent: () => boolean) {
    this.#socket = socket;
    this.#scope = scope;
    this.#hasUnsent = hasUnsent;
  }

  /** To be told with each piece how many bytes wait, whether it is held or not. False: that is too much, give it up. */
  waiting(bytes: number): boolean {
    if (bytes <= HELD_AT_BYTES) return true;
    if (this.#isOver || this.#hasUnsent()) return bytes <= WAITING_BYTES_MAX;
    this.#isHeld = true;
    this.#turns = 0;
    this.#count(bytes);
    this.#scope.parked.add(this);
    this.#socket.pause();
    return bytes <= WAITING_BYTES_MAX || this.#scope.waiting.bytes <= ALL_WAITING_BYTES_MAX;
  }

  /** The binary holds nothing of it any more, and the client was not read meanwhile. */
  sent(): void {
    if (!this.#isHeld) renew(this.#socket);
  }

  goOn(): void {
    this.#count(0);
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#scope.parked.delete(this);
    renew(this.#socket);
  }

  /**
   * All that there was has come. Who is no longer held has ten seconds by the binary's clock, which nothing stops once everything has come:
   * it is renewed until the answer ends.
   */
  gotAll(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    renew(this.#socket);
  }

  /** Ends it for good, before the socket is left to the binary. */
  letGo(): void {
    this.goOn();
    this.drop();
  }

  /** The socket is gone. */
  drop(): void {
    this.#isOver = true;
    this.#isHeld = false;
    this.#count(0);
    this.#scope.parked.delete(this);
  }

  keepAlive(): void {
    if (this.#isHeld && ++this.#turns < LOOK_TURNS) return;
    renew(this.#socket);
  }

  #count(bytes: number): void {
    this.#scope.waiting.bytes += bytes - this.#counted;
    this.#counted = bytes;
  }
}
