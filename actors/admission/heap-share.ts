// How many writes of what is large are at work at a time. Each holds its objects on the heap until it is answered, in turns between which
// the others go on. Begun all together, thirty bodies of many small values, or as many patches of one object that is stored with as many,
// fill the heap of a thread, which ends the process.
import type { HeapRoom } from '../../runtime/memory/heap-room.ts';
import { heapBytesOfBody } from '../../transport/heap-of-body.ts';
import type { WriteRequest } from './protocol.ts';

/** To look through less costs more than it is worth: as many such bodies as are served at a time come to a fraction of a heap. */
const COUNTED_BYTES_MIN = 32 * 1024;

/** About what the body of a write takes of the heap at most; 0 where that is too little to be counted. */
export function heapBytesOf({ payload, contentType }: Pick<WriteRequest, 'payload' | 'contentType'>): number {
  return payload.length < COUNTED_BYTES_MIN ? 0 : heapBytesOfBody(payload, contentType);
}

/** What one write takes of that room. */
export class HeapShare {
  readonly #room: HeapRoom;
  #ofBody = 0;
  #bytes = 0;
  #growth: Promise<void> | undefined;
  #hasEnded = false;

  constructor(room: HeapRoom) {
    this.#room = room;
  }

  /** Before its body is read: resolves when there is room for it. */
  async takeForBody(bytes: number): Promise<void> {
    this.#ofBody = bytes;
    await this.#grow(bytes);
  }

  /** The same before a stored object is, of those that it reads one after the other. */
  async takeForStored(bytes: number): Promise<void> {
    while (!this.#hasEnded && this.#bytes < this.#ofBody + bytes) {
      this.#growth ??= this.#grow(this.#ofBody + bytes - this.#bytes);
      await this.#growth;
    }
  }

  /** When it has ended; also where a part of it still waits for more, as one of several workers does when another has failed. */
  giveBack(): void {
    this.#hasEnded = true;
    if (this.#bytes === 0 || this.#growth !== undefined) return;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#room.giveBack(bytes);
  }

  async #grow(bytes: number): Promise<void> {
    await this.#room.take(bytes, this.#bytes > 0);
    this.#bytes += bytes;
    this.#growth = undefined;
    if (this.#hasEnded) this.giveBack();
  }
}
