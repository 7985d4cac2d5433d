// The words that all threads share with the store: the committed revision, and one epoch per reader. The store stores
// the revision after a commit is durable and before it publishes it; a reader that has applied at least the revision it
// finds here answers consistently without asking the store.
//
// A record that the store has declared dead in publication N (compacted, or moved elsewhere) may be overwritten once
// every reader's epoch is at least N: a reader raises its epoch when it holds no record that was dead by then.

const COMMITTED_REVISION = 0;
const FIRST_READER = 8;
/** Readers at once: hubs, policies and admission of 64 threads, scheduler, controllers, and room for those who begin again. */
export const READER_SLOTS = 248;

/** The epoch of a slot no reader uses: it holds nothing back. */
const UNUSED = -1n;

export class SharedState {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  /** Maps the words of another thread's store, or makes new ones. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer((FIRST_READER + READER_SLOTS) * 8);
    this.#words = new BigInt64Array(this.memory);
    if (memory === undefined) this.#words.fill(UNUSED, FIRST_READER);
  }

  get committedRevision(): number {
    return Number(Atomics.load(this.#words, COMMITTED_REVISION));
  }

  set committedRevision(revision: number) {
    Atomics.store(this.#words, COMMITTED_REVISION, BigInt(revision));
  }

  /** Takes a free slot for a reader that starts at `sequence`; undefined when all are taken. */
  claimReader(sequence: number): number | undefined {
    for (let slot = 0; slot < READER_SLOTS; slot++) {
      if (Atomics.load(this.#words, FIRST_READER + slot) !== UNUSED) continue;
      Atomics.store(this.#words, FIRST_READER + slot, BigInt(sequence));
      return slot;
    }
    return undefined;
  }

  freeReader(slot: number): void {
    Atomics.store(this.#words, FIRST_READER + slot, UNUSED);
  }

  setReaderEpoch(slot: number, sequence: number): void {
    Atomics.store(this.#words, FIRST_READER + slot, BigInt(sequence));
  }

  readerEpoch(slot: number): number {
    return Number(Atomics.load(this.#words, FIRST_READER + slot));
  }

  /** The lowest epoch of all readers; Infinity when there is none. */
  lowestEpoch(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (let slot = 0; slot < READER_SLOTS; slot++) {
      const epoch = Atomics.load(this.#words, FIRST_READER + slot);
      if (epoch !== UNUSED && Number(epoch) < lowest) lowest = Number(epoch);
    }
    return lowest;
  }
}
