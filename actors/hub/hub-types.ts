// Keeps what a thread knows of types and groups in step with what its hub has applied: whoever knows a custom type on this thread
// finds its objects in the hub, and whoever has waited for the hub knows the type.
import type { JsonObject } from '../../api/json/json-value.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { parseFollowed } from '../../storage/records/record-reading.ts';
import type { SlabView } from '../../storage/records/thread-slabs.ts';
import type { Entry, ResourceCache } from './caches/resource-cache.ts';
import type { ResourceCaches } from './caches/resource-caches.ts';

/** What the objects of one type say about the types and groups there are. */
export interface FollowedTypes {
  /** Where those objects are stored. They are in no namespace. */
  readonly storageKey: string;
  reset(): void;
  /** An object from its JSON; what of it nobody may ask for need not be parsed. */
  parse(text: string): JsonObject;
  /** Answers with where objects are stored that are shown otherwise from now on; undefined: none are. */
  put(object: JsonObject, revision: number): string | undefined;
  /** By where objects are stored, what they are shown by: another text, and they are shown otherwise. */
  editions(): ReadonlyMap<string, string>;
  /** Where the objects are stored whose type has the name; undefined: it has none. */
  storageKeyOf(name: string): string | undefined;
  /** The same of objects that are of no type any more. */
  remove(name: string): string | undefined;
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

  /** The present state has been taken over. Answers with where objects are stored that are shown otherwise than before. */
  begin(caches: ResourceCaches): readonly string[] {
    this.#byCache.clear();
    const changed: string[] = [];
    for (const types of this.#followers) {
      const before = types.editions();
      types.reset();
      const cache = caches.of(types.storageKey);
      this.#byCache.set(cache, types);
      for (const entry of cache.tree.values()) this.#put(types, entry);
      const after = types.editions();
      for (const [key, edition] of before) if (after.get(key) !== edition) changed.push(key);
    }
    return changed;
  }

  /** What has gone in the history that was taken over: where its objects were, and when. */
  *ended(): Iterable<readonly [storageKey: string, revision: number]> {
    for (const [cache, types] of this.#byCache) {
      for (const { deleted, revision, entry } of cache.events) {
        const storageKey = deleted ? types.storageKeyOf(nameOf(entry)) : undefined;
        if (storageKey !== undefined) yield [storageKey, revision];
      }
    }
  }

  /** A change has come; of all types. Answers with where objects are stored that are shown otherwise from now on. */
  apply(cache: ResourceCache, entry: Entry, isDeleted: boolean): string | undefined {
    const types = this.#byCache.get(cache);
    if (types === undefined) return undefined;
    return isDeleted ? types.remove(nameOf(entry)) : this.#put(types, entry);
  }

  #put(types: FollowedTypes, entry: Entry): string | undefined {
    try {
      return types.put(parseFollowed(this.#slabs.slab(entry.slab), entry.offset, types.parse), entry.revision);
    } catch (error) {
      // One object that cannot be read must not keep the others from being served.
      this.#log.error({ type: types.storageKey, name: nameOf(entry), err: error }, 'definition not understood');
      return types.remove(nameOf(entry));
    }
  }
}

/** In no namespace. */
function nameOf({ key }: Entry): string {
  return key.slice(key.indexOf('/') + 1);
}
