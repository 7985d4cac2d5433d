// Bytes that come in pieces and can be read when enough of them are there. How small the pieces are is the sender's choice, and an object
// for each would cost more than a hundred times its one byte: they are copied into one buffer, which grows.

const NO_BYTES = Buffer.alloc(0);

export class GatheredBytes {
  #memory = NO_BYTES;
  #bytes = 0;

  get length(): number {
    return this.#bytes;
  }

  /** All of them; a view, which stays as it is whatever is added. */
  get all(): Buffer {
    return this.#memory.subarray(0, this.#bytes);
  }

  /** `piece` is lent. */
  add(piece: Uint8Array): void {
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#bytes);
      this.#memory = larger;
    }
    this.#memory.set(piece, this.#bytes);
    this.#bytes = bytes;
  }

  /** These alone are left, which may be a view of what there was; the memory of the others is given back. */
  keep(rest: Uint8Array): void {
    this.#memory = NO_BYTES;
    this.#bytes = 0;
    if (rest.length > 0) this.add(rest);
  }
}
