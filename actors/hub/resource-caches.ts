// The caches of all resource types of one hub, and which of them a record belongs to.
import type { PresentState } from '../../storage/publication.ts';
import { DELETED, keyBeginsWith, NO_SLAB, recordKey, recordType, type Slab } from '../../storage/slab-record.ts';
import type { SlabView } from '../../storage/thread-slabs.ts';
import { type Entry, ResourceCache } from './resource-cache.ts';

/** How many changes of a type can be asked for; undefined: as many as the store remembers. */
export type WindowOf = (storageKey: string) => number | undefined;

export class ResourceCaches {
  readonly #windowOf: WindowOf;
  readonly #byStorageKey = new Map<string, ResourceCache>();
  /** Of the record before: most are of the same type as that. */
  #latest: ResourceCache | undefined;

  constructor(windowOf: WindowOf = () => undefined) {
    this.#windowOf = windowOf;
  }

  values(): IterableIterator<ResourceCache> {
    return this.#byStorageKey.values();
  }

  /** Objects of all types. */
  get objects(): number {
    let objects = 0;
    for (const cache of this.values()) objects += cache.tree.size;
    return objects;
  }

  /** The cache of a type, which is empty where nothing of that type was ever written. */
  of(storageKey: string): ResourceCache {
    let cache = this.#byStorageKey.get(storageKey);
    if (cache === undefined) {
      cache = new ResourceCache(storageKey, this.#windowOf(storageKey));
      this.#byStorageKey.set(storageKey, cache);
    }
    return cache;
  }

  /** The cache of the type that a record is of. */
  ofRecord(slab: Slab, offset: number): ResourceCache {
    if (this.#latest === undefined || !keyBeginsWith(slab, offset, this.#latest.keyPrefix)) {
      const key = recordKey(slab, offset);
      this.#latest = this.of(key.slice(0, key.indexOf('/', key.indexOf('/') + 1)));
    }
    return this.#latest;
  }

  /** Begins anew with the store's present state and its history. */
  begin({ live, history }: PresentState, slabs: SlabView): void {
    this.#byStorageKey.clear();
    this.#latest = undefined;
    const byPlace = new Map<string, Entry>();
    const entryAt = (number: number, offset: number): Entry => {
      const place = `${number}/${offset}`;
      let entry = byPlace.get(place);
      if (entry === undefined) {
        const slab = slabs.slab(number);
        entry = this.ofRecord(slab, offset).entryAt(slab, number, offset);
        byPlace.set(place, entry);
      }
      return entry;
    };
    const recent = new Set<string>();
    for (let i = 0; i < history.length; i += 4) recent.add(`${history[i]}/${history[i + 1]}`);
    for (let i = 0; i < live.length; i += 2) {
      const [number, offset] = [live[i]!, live[i + 1]!];
      const slab = slabs.slab(number);
      const cache = this.ofRecord(slab, offset);
      // One Entry for an object and its event: a move then changes both.
      const isRecent = recent.has(`${number}/${offset}`);
      cache.place(isRecent ? entryAt(number, offset) : cache.entryAt(slab, number, offset));
    }
    for (let i = 0; i < history.length; i += 4) {
      const slab = slabs.slab(history[i]!);
      const entry = entryAt(history[i]!, history[i + 1]!);
      const deleted = recordType(slab, entry.offset) === DELETED;
      const previous = history[i + 2] === NO_SLAB ? undefined : entryAt(history[i + 2]!, history[i + 3]!);
      this.ofRecord(slab, entry.offset).recall({ revision: entry.revision, deleted, entry, previous });
    }
  }
}
