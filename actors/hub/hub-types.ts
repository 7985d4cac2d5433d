// Keeps a thread's types in step with what its hub has applied: whoever knows a custom type on this thread finds its objects in
// the hub, and whoever has waited for the hub knows the type.
import type { JsonObject } from '../../api/json-value.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { decodeRecord } from '../../storage/record-reading.ts';
import type { SlabView } from '../../storage/thread-slabs.ts';
import type { Entry, ResourceCache } from './resource-cache.ts';
import type { ResourceCaches } from './resource-caches.ts';

/** What definitions make of the types there are. */
export interface FollowedTypes {
  /** Where definitions are stored. */
  readonly storageKey: string;
  reset(): void;
  put(object: JsonObject, revision: number): void;
  remove(name: string): void;
}

export class HubTypes {
  readonly #types: FollowedTypes | undefined;
  readonly #slabs: SlabView;
  readonly #log: ActorContext['log'];
  #cache: ResourceCache | undefined;

  /** @param types undefined: nobody on this thread asks for custom types. */
  constructor(types: FollowedTypes | undefined, slabs: SlabView, log: ActorContext['log']) {
    this.#types = types;
    this.#slabs = slabs;
    this.#log = log;
  }

  /** The present state has been taken over. */
  begin(caches: ResourceCaches): void {
    const types = this.#types;
    if (types === undefined) return;
    types.reset();
    this.#cache = caches.of(types.storageKey);
    for (const entry of this.#cache.tree.values()) this.#put(types, entry);
  }

  /** A change has come; of all types. */
  apply(cache: ResourceCache, entry: Entry, isDeleted: boolean): void {
    if (cache !== this.#cache) return;
    if (isDeleted) this.#types!.remove(nameOf(entry));
    else this.#put(this.#types!, entry);
  }

  #put(types: FollowedTypes, entry: Entry): void {
    try {
      types.put(decodeRecord(this.#slabs.slab(entry.slab), entry.offset), entry.revision);
    } catch (error) {
      // One definition that cannot be read must not keep the others from being served.
      this.#log.error({ definition: nameOf(entry), err: error }, 'definition not understood');
      types.remove(nameOf(entry));
    }
  }
}

/** Definitions are in no namespace. */
function nameOf({ key }: Entry): string {
  return key.slice(key.indexOf('/') + 1);
}
