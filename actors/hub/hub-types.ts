// Keeps what a thread knows of types and groups in step with what its hub has applied: whoever knows a custom type on this thread
// finds its objects in the hub, and whoever has waited for the hub knows the type.
import type { JsonObject } from '../../api/json-value.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { decodeRecord } from '../../storage/record-reading.ts';
import type { SlabView } from '../../storage/thread-slabs.ts';
import type { Entry, ResourceCache } from './resource-cache.ts';
import type { ResourceCaches } from './resource-caches.ts';

/** What the objects of one type say about the types and groups there are. */
export interface FollowedTypes {
  /** Where those objects are stored. They are in no namespace. */
  readonly storageKey: string;
  reset(): void;
  put(object: JsonObject, revision: number): void;
  remove(name: string): void;
}

export class HubTypes {
  readonly #followers: readonly FollowedTypes[];
  readonly #slabs: SlabView;
  readonly #log: ActorContext['log'];
  readonly #byCache = new Map<ResourceCache, FollowedTypes>();

  /** @param followers none: nobody on this thread asks. */
  constructor(followers: readonly FollowedTypes[], slabs: SlabView, log: ActorContext['log']) {
    this.#followers = followers;
    this.#slabs = slabs;
    this.#log = log;
  }

  /** The present state has been taken over. */
  begin(caches: ResourceCaches): void {
    this.#byCache.clear();
    for (const types of this.#followers) {
      types.reset();
      const cache = caches.of(types.storageKey);
      this.#byCache.set(cache, types);
      for (const entry of cache.tree.values()) this.#put(types, entry);
    }
  }

  /** A change has come; of all types. */
  apply(cache: ResourceCache, entry: Entry, isDeleted: boolean): void {
    const types = this.#byCache.get(cache);
    if (types === undefined) return;
    if (isDeleted) types.remove(nameOf(entry));
    else this.#put(types, entry);
  }

  #put(types: FollowedTypes, entry: Entry): void {
    try {
      types.put(decodeRecord(this.#slabs.slab(entry.slab), entry.offset), entry.revision);
    } catch (error) {
      // One object that cannot be read must not keep the others from being served.
      this.#log.error({ type: types.storageKey, name: nameOf(entry), err: error }, 'definition not understood');
      types.remove(nameOf(entry));
    }
  }
}

/** In no namespace. */
function nameOf({ key }: Entry): string {
  return key.slice(key.indexOf('/') + 1);
}
