// How many writes of what is large are at work at a time. Each holds its object on the heap until it is answered, in turns between which
// the others go on. Begun all together, thirty bodies of many small values fill the heap of a thread, which ends the process.
import { heapBytesOfBody } from '../../transport/heap-of-body.ts';
import type { WriteRequest } from './protocol.ts';

/** To look through less costs more than it is worth: as many such bodies as are served at a time come to a fraction of a heap. */
const COUNTED_BYTES_MIN = 32 * 1024;
/** Of something stored, for each of its bytes: it is not looked through, and may be a list of empty objects. */
const STORED_FACTOR = 100;

/** About what a write takes of the heap at most; 0 where that is too little to be counted. */
export function heapBytesOf({ payload, contentType }: Pick<WriteRequest, 'payload' | 'contentType'>): number {
  return payload.length < COUNTED_BYTES_MIN ? 0 : heapBytesOfBody(payload, contentType);
}

/** About what a write takes of the heap at most that reads and changes what is stored as so many bytes. */
export function heapBytesOfStored(bytes: number): number {
  return bytes * STORED_FACTOR;
}

type Work = () => Promise<void> | undefined;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

export class HeapRoom {
  readonly #bytesMax: number;
  readonly #waiting: Waiting[] = [];
  /** Those that have found out that they need more, or that they need some at all. They are under way, so they go first. */
  readonly #growing: Waiting[] = [];
  #bytes = 0;
  /** Who has room and does not wait for more. */
  #atWork = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Begins work that takes so many bytes until it ends: at once, or when those that came before leave room for it. What takes more than
   * there is at all is at work alone. `work` never throws.
   */
  whenRoom(bytes: number, work: Work): void {
    const end = (): void => {
      this.#give(bytes, true);
      this.#goOn();
    };
    const begin = (): void => {
      const working = work();
      // Who called goes on with the next: a line of thousands that nobody waits for any more is no stack of as many calls.
      if (working === undefined) this.#give(bytes, true);
      else working.then(end, end);
    };
    this.#waiting.push({ bytes, begin });
    this.#goOn();
  }

  /**
   * Resolves when there is room for so much more, with what gives it back. Where all that are at work wait for more, nobody else can
   * make room: then the first of them goes on, beyond the bound.
   *
   * @param isAtWork it is part of what `whenRoom` has begun.
   */
  more(bytes: number, isAtWork: boolean): Promise<() => void> {
    if (isAtWork) this.#atWork--;
    const giveBack = (): void => {
      this.#give(bytes, !isAtWork);
      this.#goOn();
    };
    return new Promise((resolve) => {
      this.#growing.push({ bytes, begin: () => resolve(giveBack) });
      this.#goOn();
    });
  }

  #goOn(): void {
    for (;;) {
      const line = this.#growing.length > 0 ? this.#growing : this.#waiting;
      const [next] = line;
      if (next === undefined || !this.#hasRoom(next)) return;
      line.shift();
      this.#bytes += next.bytes;
      this.#atWork++;
      next.begin();
    }
  }

  #hasRoom({ bytes }: Waiting): boolean {
    return this.#atWork === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  #give(bytes: number, isOver: boolean): void {
    this.#bytes -= bytes;
    if (isOver) this.#atWork--;
  }
}
