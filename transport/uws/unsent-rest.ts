// What a socket has not taken yet of some bytes, as a copy. Long ones lie in memory that is used again: a long answer to a client that is
// a little slower than the server leaves some of each piece, and V8 marks its whole heap for every few dozen megabytes of new memory.

/** Shorter ones cost little, and would keep many times their memory from others. */
const LONG_BYTES = 32 * 1024;
const ROOM_BYTES = 272 * 1024;
/** Of a thread: what clients who do not read hold of it is no more than this. */
const ROOMS_MAX = 8;

const free: ArrayBuffer[] = [];
let lent = 0;

export class UnsentRest {
  /** What is left of it. */
  bytes: Uint8Array;
  #room: ArrayBuffer | undefined;

  /** Copies `bytes`, which may be changed afterwards. */
  constructor(bytes: Uint8Array) {
    const isLong = bytes.length >= LONG_BYTES && bytes.length <= ROOM_BYTES;
    if (!isLong || lent === ROOMS_MAX) {
      this.bytes = new Uint8Array(bytes);
      return;
    }
    lent += 1;
    this.#room = free.pop() ?? new ArrayBuffer(ROOM_BYTES);
    this.bytes = new Uint8Array(this.#room, 0, bytes.length);
    this.bytes.set(bytes);
  }

  /** Nobody reads it from here on. */
  drop(): void {
    if (this.#room === undefined) return;
    lent -= 1;
    free.push(this.#room);
    this.#room = undefined;
  }
}
