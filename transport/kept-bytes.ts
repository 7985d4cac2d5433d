// Bytes that a listener keeps since clients take their time: answers that they do not read, bodies that they do not end. How many of them
// there are is the clients' choice, and some choose before anybody knows who they are.

/** A connection, or a request, as far as it can be ended. */
export interface Endable {
  destroy(): unknown;
}

export class KeptBytes {
  readonly #bytesMax: number;
  readonly #byConnection = new Map<Endable, number>();
  readonly #ended = new WeakSet<Endable>();
  #bytes = 0;

  /** `bytesMax`: of all connections together. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Counts bytes that are about to be kept. False where their connection has been ended instead: with these too many would be kept
   * for it, or most of all.
   */
  admit(connection: Endable, bytes: number, ofConnectionMax = Number.POSITIVE_INFINITY): boolean {
    if (this.#ended.has(connection)) return false;
    const held = this.#byConnection.get(connection) ?? 0;
    if (held > 0 && held + bytes > ofConnectionMax) {
      this.#end(connection);
      return false;
    }
    this.#count(connection, bytes);
    if (this.#bytes > this.#bytesMax) this.#end(this.#largest());
    return !this.#ended.has(connection);
  }

  /** They are kept no more. */
  gone(connection: Endable, bytes: number): void {
    if (!this.#ended.has(connection)) this.#count(connection, -bytes);
  }

  #count(connection: Endable, bytes: number): void {
    const held = (this.#byConnection.get(connection) ?? 0) + bytes;
    this.#bytes += bytes;
    if (held > 0) this.#byConnection.set(connection, held);
    else this.#byConnection.delete(connection);
  }

  /** Its bytes count no more from here on: that they are gone is heard later, and in pieces. */
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
