// The caches of all resource types of one hub, and which of them a record belongs to.

import type { PresentState } from '../../../storage/following/publication.ts';
import { storageKeyOf } from '../../../storage/object-key.ts';
import {
  DELETED,
  keyBeginsWith,
  NO_SLAB,
  recordKey,
  recordRevision,
  recordType,
  type Slab,
} from '../../../storage/records/slab-record.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import { firstIndex } from '../../../values/first-index.ts';
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
      this.#latest = this.of(storageKeyOf(recordKey(slab, offset)));
    }
    return this.#latest;
  }

  /** Forgets events up to a revision, and types that had gone by then and nobody watches. True: there were such. */
  compact(revision: number, isWatched: (cache: ResourceCache) => boolean): boolean {
    const before = this.#byStorageKey.size;
    for (const [storageKey, cache] of this.#byStorageKey) {
      cache.compact(revision);
      if (!cache.isOver(revision) || isWatched(cache)) continue;
      this.#byStorageKey.delete(storageKey);
      if (this.#latest === cache) this.#latest = undefined;
    }
    return this.#byStorageKey.size < before;
  }

  /** Begins anew with the store's present state and its history. */
  begin({ live, history }: PresentState, slabs: SlabView): void {
    this.#byStorageKey.clear();
    this.#latest = undefined;
    const recent = new RecentEntries(history, slabs);
    const present = new Map<ResourceCache, Entry[]>();
    let entries: Entry[] = [];
    let latest: ResourceCache | undefined;
    for (let i = 0; i < live.length; i += 2) {
      const [number, offset] = [live[i]!, live[i + 1]!];
      const slab = slabs.slab(number);
      const cache = this.ofRecord(slab, offset);
      if (cache !== latest) {
        latest = cache;
        entries = present.get(cache) ?? [];
        present.set(cache, entries);
      }
      const entry = cache.entryAt(slab, number, offset);
      recent.keep(entry);
      entries.push(entry);
    }
    for (const [cache, all] of present) cache.load(all);
    this.#recall(history, slabs, recent);
  }

  #recall(history: Uint32Array, slabs: SlabView, recent: RecentEntries): void {
    const entryAt = (number: number, offset: number): Entry => {
      const slab = slabs.slab(number);
      const known = recent.at(number, offset, recordRevision(slab, offset));
      if (known !== undefined) return known;
      const entry = this.ofRecord(slab, offset).entryAt(slab, number, offset);
      recent.keep(entry);
      return entry;
    };
    for (let i = 0; i < history.length; i += 4) {
      const entry = entryAt(history[i]!, history[i + 1]!);
      const slab = slabs.slab(entry.slab);
      const deleted = recordType(slab, entry.offset) === DELETED;
      const previous = history[i + 2] === NO_SLAB ? undefined : entryAt(history[i + 2]!, history[i + 3]!);
      this.ofRecord(slab, entry.offset).recall({ revision: entry.revision, deleted, entry, previous });
    }
  }
}

/** One Entry for an object and its event, and for an event and what replaced it: a move then changes both. */
class RecentEntries {
  readonly #history: Uint32Array;
  /** Of the events, in order. */
  readonly #revisions: Float64Array;
  readonly #entries: (Entry | undefined)[];

  constructor(history: Uint32Array, slabs: SlabView) {
    this.#history = history;
    this.#revisions = new Float64Array(history.length / 4);
    for (let event = 0; event < this.#revisions.length; event++)
      this.#revisions[event] = recordRevision(slabs.slab(history[event * 4]!), history[event * 4 + 1]!);
    this.#entries = new Array<Entry | undefined>(this.#revisions.length).fill(undefined);
  }

  /** Keeps the entry of an event's record; of older ones nothing is kept. */
  keep(entry: Entry): void {
    const event = this.#eventAt(entry.slab, entry.offset, entry.revision);
    if (event >= 0) this.#entries[event] = entry;
  }

  at(slab: number, offset: number, revision: number): Entry | undefined {
    const event = this.#eventAt(slab, offset, revision);
    return event < 0 ? undefined : this.#entries[event];
  }

  /** The event whose record lies there; -1 when there is none. */
  #eventAt(slab: number, offset: number, revision: number): number {
    for (let event = this.#firstOf(revision); this.#revisions[event] === revision; event++)
      if (this.#history[event * 4] === slab && this.#history[event * 4 + 1] === offset) return event;
    return -1;
  }

  /** The first event that is not before a revision. Nearly always each revision is one event, and none is missing. */
  #firstOf(revision: number): number {
    const revisions = this.#revisions;
    const guess = revision - revisions[0]!;
    if (revisions[guess] === revision && revisions[guess - 1] !== revision) return guess;
    return firstIndex(0, revisions.length, (event) => revisions[event]! >= revision);
  }
}
