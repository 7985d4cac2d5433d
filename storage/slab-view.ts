// A thread's view of the store's slabs: shared memory by slab number. The actors of one thread share one view
// (`context.threadLocal`); whichever of them hears of a new slab adds it.
import { mapSlab, recordRevision, type Slab } from './slab-record.ts';

/** Where a record was written. */
interface WrittenPlace {
  readonly slab: number;
  readonly offset: number;
  readonly revision: number;
  /** Of the store that wrote it; absent where this thread has heard of it. */
  readonly incarnation?: number;
}

export class SlabView {
  #slabs: (Slab | undefined)[] = [];
  /** Of the store whose slabs these are. */
  #incarnation = -1;
  /** The view of the store that was followed before: a subscriber of this thread may still be reading what that one sent. */
  #before: { readonly incarnation: number; readonly slabs: (Slab | undefined)[] } | undefined;

  /** Adds slabs that are not known yet. `incarnation`: of the store they are of. */
  learn(slabs: readonly (readonly [number, SharedArrayBuffer])[], incarnation: number): void {
    if (incarnation !== this.#incarnation) this.#turnTo(incarnation);
    for (const [number, memory] of slabs) {
      if (this.#slabs[number]?.memory === memory) continue;
      this.#slabs[number] = mapSlab(memory);
    }
  }

  /**
   * A restarted store counts its slabs from 0 again, so none of the other's may be taken for its own: not even one whose
   * number it has not given yet. Answers in progress keep the array they began with.
   */
  #turnTo(incarnation: number): void {
    const left = { incarnation: this.#incarnation, slabs: this.#slabs };
    this.#slabs = this.#before?.incarnation === incarnation ? this.#before.slabs : [];
    this.#incarnation = incarnation;
    this.#before = left;
  }

  /** The slab of that number; a place that names an unknown one is a broken invariant. */
  slab(number: number): Slab {
    const slab = this.#slabs[number];
    if (slab === undefined) throw new Error(`slab ${number} was never published to this thread`);
    return slab;
  }

  /**
   * True when the record that was written at a place is the one this view shows there: false for a slab that is not known
   * yet, and for one that a restarted store has given a new meaning. A store that died may have written the same revision
   * at the same place without having stored it, which is why the place says whose it is.
   */
  holds({ slab: number, offset, revision, incarnation }: WrittenPlace): boolean {
    if (incarnation !== undefined && incarnation !== this.#incarnation) return false;
    const slab = this.#slabs[number];
    return slab !== undefined && offset < slab.memory.byteLength && recordRevision(slab, offset) === revision;
  }

  /** The slabs as they are now, for an answer that goes on over several turns. */
  get current(): readonly (Slab | undefined)[] {
    return this.#slabs;
  }
}

/** The key under which the actors of a thread share their view. */
export const SLAB_VIEW = 'slab-view';
