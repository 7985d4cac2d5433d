// The slabs that the actors of one thread know: shared memory, by the store that published it and the slab's number. A
// restarted store counts its slabs from 0 again, and until every follower of the thread has heard of it, the memory of
// both is read side by side: none of the one's may be taken for the other's. What nobody follows any more is let go.

import type { JsonObject } from '../../api/json/json-value.ts';
import { OrchError } from '../../runtime/errors.ts';
import { decodeOwned, decodeRecord } from './record-reading.ts';
import { mapSlab, recordRevision, type Slab } from './slab-record.ts';

/** Slabs by number, with their memory. */
export type SlabMemories = readonly (readonly [slab: number, memory: SharedArrayBuffer])[];

/** Where a record lies. */
export interface SlabPlace {
  /** Of the store that wrote it. */
  readonly incarnation: number;
  readonly slab: number;
  /** In bytes from the slab's beginning. */
  readonly offset: number;
}

/** The slabs of one store. */
export class StoreSlabs {
  readonly incarnation: number;
  readonly #slabs: (Slab | undefined)[] = [];

  constructor(incarnation: number) {
    this.incarnation = incarnation;
  }

  /** Adds slabs that are not known yet. */
  learn(slabs: SlabMemories): void {
    for (const [number, memory] of slabs) {
      if (this.#slabs[number]?.memory !== memory) this.#slabs[number] = mapSlab(memory);
    }
  }

  /** The slab of that number; a place that names an unknown one is a broken invariant. */
  slab(number: number): Slab {
    const slab = this.#slabs[number];
    if (slab === undefined) throw new Error(`slab ${number} was never published to this thread`);
    return slab;
  }

  /** By number, for an answer that goes on over several turns: it keeps them, whatever becomes of the store. */
  get byNumber(): readonly (Slab | undefined)[] {
    return this.#slabs;
  }
}

/** What one actor reads: the slabs of the store whose publications it follows. */
export class SlabView {
  readonly #thread: ThreadSlabs;
  readonly #follower: string;
  #store = new StoreSlabs(-1);

  /** `follower`: the actor's name. Without a thread the view is nobody else's. */
  constructor(thread = new ThreadSlabs(), follower = '') {
    this.#thread = thread;
    this.#follower = follower;
  }

  /** Of the store that is followed; -1 before the first. */
  get incarnation(): number {
    return this.#store.incarnation;
  }

  /** Adds slabs that are not known yet. `incarnation`: of the store they are of, which is the one followed from here on. */
  learn(slabs: SlabMemories, incarnation: number): void {
    if (incarnation !== this.#store.incarnation) this.#store = this.#thread.follow(this.#follower, incarnation);
    this.#store.learn(slabs);
  }

  /** See StoreSlabs. */
  slab(number: number): Slab {
    return this.#store.slab(number);
  }
}

/** The slabs of every store that some actor of the thread follows. */
export class ThreadSlabs {
  readonly #stores = new Map<number, StoreSlabs>();
  /** The store that each actor follows. */
  readonly #followed = new Map<string, number>();

  /** Those of the actor's thread: all its actors share them. */
  static of(context: { threadLocal<T>(key: string, create: () => T): T }): ThreadSlabs {
    return context.threadLocal('slabs', () => new ThreadSlabs());
  }

  /** What the actor `follower` reads. */
  viewOf(follower: string): SlabView {
    return new SlabView(this, follower);
  }

  /** The slabs of the store that the actor `follower` follows from here on. */
  follow(follower: string, incarnation: number): StoreSlabs {
    this.#followed.set(follower, incarnation);
    const present = new Set(this.#followed.values());
    for (const known of this.#stores.keys()) if (!present.has(known)) this.#stores.delete(known);
    let store = this.#stores.get(incarnation);
    if (store === undefined) {
      store = new StoreSlabs(incarnation);
      this.#stores.set(incarnation, store);
    }
    return store;
  }

  /**
   * The slabs of the store that an answer speaks of.
   *
   * @throws OrchError ActorDown when that store is gone, and all of this thread follow another by now.
   */
  ofStore(incarnation: number): StoreSlabs {
    const store = this.#stores.get(incarnation);
    if (store === undefined) throw new OrchError('ActorDown', 'the store has restarted, try again');
    return store;
  }

  /**
   * The slab that a place is in.
   *
   * @throws OrchError as `ofStore`.
   */
  slab(place: SlabPlace): Slab {
    return this.ofStore(place.incarnation).slab(place.slab);
  }

  /**
   * The object whose record lies at a place. Call it in the turn that was told the place.
   *
   * @throws OrchError as `ofStore`.
   */
  decode(place: SlabPlace): JsonObject {
    return decodeRecord(this.slab(place), place.offset);
  }

  /** The same for who writes it again (`decodeOwned` of record-reading.ts). */
  decodeOwned(place: SlabPlace): JsonObject {
    return decodeOwned(this.slab(place), place.offset).object;
  }

  /**
   * True when the record that was written at a place is the one this thread sees there: false for a slab, or a store, that
   * is not known yet or no more. A store that died may have written the same revision at the same place without having
   * stored it, which is why the place says whose it is.
   */
  holds({ incarnation, slab: number, offset, revision }: SlabPlace & { readonly revision: number }): boolean {
    const slab = this.#stores.get(incarnation)?.byNumber[number];
    return slab !== undefined && offset < slab.memory.byteLength && recordRevision(slab, offset) === revision;
  }
}
