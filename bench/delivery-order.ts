// Whether a watcher saw what it had to: each write once, in order for each object. A writer has one object and one write
// under way, so its writes are numbered from 0 and come in that order or something is wrong.

/** What is wrong with deliveries: all of them 0, or the server is broken. */
export interface DeliveryFaults {
  /** Events that never came. */
  readonly lost: number;
  /** Events that came again right away. */
  readonly duplicated: number;
  /** Events that came after a later one of the same object. */
  readonly outOfOrder: number;
}

/** Which write of which writer a number stands for. Numbers are given out in turn, whichever writer is free. */
export class WriteNumbers {
  readonly #writer: Uint16Array;
  readonly #ordinal: Int32Array;
  /** Writes of each writer. */
  readonly counts: Int32Array;

  constructor(writesMax: number, writers: number) {
    this.#writer = new Uint16Array(writesMax);
    this.#ordinal = new Int32Array(writesMax);
    this.counts = new Int32Array(writers);
  }

  /** Notes that a writer makes this write now. */
  assign(sequence: number, writer: number): void {
    this.#writer[sequence] = writer;
    this.#ordinal[sequence] = this.counts[writer]!;
    this.counts[writer]! += 1;
  }

  writerOf(sequence: number): number {
    return this.#writer[sequence]!;
  }

  ordinalOf(sequence: number): number {
    return this.#ordinal[sequence]!;
  }
}

/** The order in which one watcher gets events. */
export class DeliveryOrder {
  readonly #numbers: WriteNumbers;
  /** The next ordinal of each writer. */
  readonly #next: Int32Array;
  #gaps = 0;
  #duplicated = 0;
  #outOfOrder = 0;

  constructor(numbers: WriteNumbers) {
    this.#numbers = numbers;
    this.#next = new Int32Array(numbers.counts.length);
  }

  /** An event of that write has come. */
  see(sequence: number): void {
    const writer = this.#numbers.writerOf(sequence);
    const ordinal = this.#numbers.ordinalOf(sequence);
    const next = this.#next[writer]!;
    if (ordinal >= next) {
      this.#gaps += ordinal - next;
      this.#next[writer] = ordinal + 1;
    } else if (ordinal === next - 1) {
      this.#duplicated += 1;
    } else {
      // It was counted as missing when the later one came.
      this.#outOfOrder += 1;
      this.#gaps = Math.max(0, this.#gaps - 1);
    }
  }

  /** What is wrong once everything must have come. */
  faults(): DeliveryFaults {
    let lost = this.#gaps;
    for (const [writer, count] of this.#numbers.counts.entries()) lost += Math.max(0, count - this.#next[writer]!);
    return { lost, duplicated: this.#duplicated, outOfOrder: this.#outOfOrder };
  }
}
