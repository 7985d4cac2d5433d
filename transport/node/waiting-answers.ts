// Whole answers of the node listener that clients have not taken: each is a copy. On HTTP/2, and by pipelining, a client asks for
// thousands of them on one connection and need not read any.

/** Of one connection: of HTTP/2, whose clients have many requests at once, and by pipelining, which hardly any do. */
export const STREAMS_BYTES_MAX = 128 * 1024 * 1024;
export const PIPELINE_BYTES_MAX = 16 * 1024 * 1024;
/** Of all together. */
const BYTES_MAX = 512 * 1024 * 1024;
/** Of an answer; what is smaller is not counted. */
export const COUNTED_BYTES = 64 * 1024;

/** A connection, as far as it can be ended. */
export interface Endable {
  destroy(): unknown;
}

export class WaitingAnswers {
  readonly #byConnection = new Map<Endable, number>();
  readonly #ended = new WeakSet<Endable>();
  #bytes = 0;

  /**
   * Counts an answer that is about to be made. False where its connection has been ended instead: with this one too much would wait
   * on it, or most of all that waits.
   */
  admit(connection: Endable, bytes: number, bytesMax = STREAMS_BYTES_MAX): boolean {
    if (this.#ended.has(connection)) return false;
    const held = this.#byConnection.get(connection) ?? 0;
    if (held > 0 && held + bytes > bytesMax) {
      this.#end(connection);
      return false;
    }
    this.#count(connection, bytes);
    if (this.#bytes > BYTES_MAX) this.#end(this.#largest());
    return !this.#ended.has(connection);
  }

  /** The answer is out, or its client is gone. */
  gone(connection: Endable, bytes: number): void {
    if (!this.#ended.has(connection)) this.#count(connection, -bytes);
  }

  #count(connection: Endable, bytes: number): void {
    const held = (this.#byConnection.get(connection) ?? 0) + bytes;
    this.#bytes += bytes;
    if (held > 0) this.#byConnection.set(connection, held);
    else this.#byConnection.delete(connection);
  }

  /** Its answers count no more from here on: that they are gone is heard later, and in pieces. */
  #end(connection: Endable): void {
    this.#ended.add(connection);
    this.#bytes -= this.#byConnection.get(connection) ?? 0;
    this.#byConnection.delete(connection);
    connection.destroy();
  }

  #largest(): Endable {
    let [largest, most] = this.#byConnection.entries().next().value!;
    for (const [connection, held] of this.#byConnection) if (held > most) [largest, most] = [connection, held];
    return largest;
  }
}
