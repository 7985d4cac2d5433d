// A body while it comes in chunks, and until its request is answered: how long that takes, and how much of it there is, clients choose
// before anybody knows who they are.
import { addChunk, wholeOf } from './body-chunks.ts';
import type { Endable, KeptBytes } from './kept-bytes.ts';

/** Of all bodies of a listener together, whole or not: as many of the longest as there are requests at work at a time. */
export const BODIES_BYTES_MAX = 1024 * 1024 * 1024;

export class GatheredBody {
  readonly #kept: KeptBytes;
  readonly #connection: Endable;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isLetGo = false;

  /** `connection` is ended where it has sent most of what is too much for all together. */
  constructor(kept: KeptBytes, connection: Endable) {
    this.#kept = kept;
    this.#connection = connection;
  }

  add(chunk: Uint8Array): void {
    if (this.#isLetGo) return;
    this.#bytes += chunk.length;
    addChunk(this.#chunks, chunk);
    if (!this.#kept.admit(this.#connection, chunk.length)) this.letGo();
  }

  /** All that has been added, in a buffer of its own; still counted, since whoever reads it keeps it until the answer. */
  whole(): Uint8Array {
    const whole = wholeOf(this.#chunks, this.#isLetGo ? 0 : this.#bytes);
    this.#chunks = [];
    return whole;
  }

  /** Nothing of it is kept from here on: its request has been answered, or has come to its end in another way. */
  letGo(): void {
    if (this.#isLetGo) return;
    this.#isLetGo = true;
    this.#chunks = [];
    this.#kept.gone(this.#connection, this.#bytes);
  }
}
