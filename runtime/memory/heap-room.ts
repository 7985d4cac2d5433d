// A part of a thread's heap that is shared by work in turns: each piece of it holds something large until it has ended, so no more is
// begun than there is room for. Knows bytes alone; who asks for them has estimated what its work takes. Beside it is a smaller room for
// work so small that it would cost more to be counted than it is worth: that is taken by what it can come to at most, and never waited for.

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/** Of the room, that which is beside it for small work. */
const SMALL_SHARE = 1 / 4;

/** What those who share it take together. */
export class HeapRoom {
  readonly #bytesMax: number;
  /** Those that hold nothing yet, in their order. */
  readonly #newcomers: Waiting[] = [];
  /** Those that hold something and wait for more: they come first. */
  readonly #growing: Waiting[] = [];
  #bytes = 0;
  #smallBytes = 0;
  /** Those that hold something and do not wait. */
  #atWork = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Resolves when there is room for so many bytes, in the order of those who ask. What there is no room for is at work alone: where all
   * others wait as well, nobody else would make room for any of them.
   */
  take(bytes: number, holdsSome: boolean): Promise<void> {
    if (holdsSome) this.#atWork--;
    const queue = holdsSome ? this.#growing : this.#newcomers;
    return new Promise((resolve) => {
      queue.push({ bytes, begin: resolve });
      this.#beginNext();
    });
  }

  /** Takes them in this turn, as `take` does; false where it would have to wait. */
  takeNow(bytes: number, holdsSome: boolean): boolean {
    if (this.#growing.length > 0 || (!holdsSome && this.#newcomers.length > 0)) return false;
    const othersAtWork = this.#atWork - (holdsSome ? 1 : 0);
    if (othersAtWork > 0 && this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    if (!holdsSome) this.#atWork++;
    return true;
  }

  /** True where so many bytes more would not be more than all. */
  holds(bytes: number): boolean {
    return this.#bytes + bytes <= this.#bytesMax;
  }

  /** Takes what small work comes to at most; false where there is much of that already: then it has to be counted. */
  takeSmall(bytesAtMost: number): boolean {
    if (this.#smallBytes + bytesAtMost > this.#bytesMax * SMALL_SHARE) return false;
    this.#smallBytes += bytesAtMost;
    return true;
  }

  giveBackSmall(bytesAtMost: number): void {
    this.#smallBytes -= bytesAtMost;
  }

  /** Who is not waiting has ended: all that it took. */
  giveBack(bytes: number): void {
    this.#bytes -= bytes;
    this.#atWork--;
    this.#beginNext();
  }

  #beginNext(): void {
    for (;;) {
      const queue = this.#growing.length > 0 ? this.#growing : this.#newcomers;
      const next = queue[0];
      if (next === undefined) return;
      if (this.#atWork > 0 && this.#bytes + next.bytes > this.#bytesMax) return;
      queue.shift();
      this.#bytes += next.bytes;
      this.#atWork++;
      next.begin();
    }
  }
}
