// The binary's cork, as far as it matters here: whose writes are gathered in its one buffer, and what surely fits into that.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';

/** The binary's buffer: one for all sockets of a thread, lent to the one that is corked. */
const CORK_BYTES = 16 * 1024;
/** What frames a piece: its length between two line ends, the empty line behind it, the closing chunk. */
const FRAMING_BYTES_MAX = 32;

/**
 * The response in whose native callback the thread is, or was last: until that returns, the binary has it corked, and all
 * that is written to it shares one buffer.
 */
export class Cork {
  #holder: NativeResponse | undefined;
  #room = 0;
  #isOpen = false;

  /** To be called first in each native callback of a request. */
  enter(native: NativeResponse): void {
    this.#holder = native;
    this.#room = CORK_BYTES;
    this.#isOpen = false;
  }

  /** Runs the rest of the callback that was entered last, which ends with it. */
  during(rest: () => void): void {
    this.#isOpen = true;
    try {
      rest();
    } finally {
      this.#isOpen = false;
    }
  }

  /** True while what is written to the response is gathered without another word. */
  isOpenFor(native: NativeResponse): boolean {
    return this.#isOpen && this.#holder === native;
  }

  holds(native: NativeResponse): boolean {
    return this.#holder === native;
  }

  /** The callback has returned. */
  leave(native: NativeResponse): void {
    if (this.#holder === native) this.#holder = undefined;
  }

  /** Bytes that surely fit, with what frames them. */
  room(native: NativeResponse): number {
    return (this.#holder === native ? this.#room : CORK_BYTES) - FRAMING_BYTES_MAX;
  }

  fill(native: NativeResponse, bytes: number): void {
    if (this.#holder === native) this.#room -= bytes + FRAMING_BYTES_MAX;
  }
}
