// How many objects each namespace holds, by type. No object is parsed, and none is kept: what comes and what goes is counted.
// Several controllers may share one: each tells it of the events that it is told of.
import type { FeedEvent } from '../../../storage/following/store-feed.ts';

const NONE: ReadonlyMap<string, number> = new Map();

export class NamespaceContents {
  /** How many objects, by namespace and storage key. */
  readonly #byNamespace = new Map<string, Map<string, number>>();
  #last: FeedEvent | undefined;
  #lastCameOrWent = false;

  clear(): void {
    this.#byNamespace.clear();
    this.#last = undefined;
  }

  /** Counts one event of a namespaced type. True when it added or removed an object. */
  onEvent(event: FeedEvent): boolean {
    if (event !== this.#last) {
      this.#last = event;
      this.#lastCameOrWent = event.type === 'delete' ? this.#remove(event) : this.#add(event);
    }
    return this.#lastCameOrWent;
  }

  /** How many objects a namespace has, by storage key; types without objects are left out. */
  of(namespace: string): ReadonlyMap<string, number> {
    return this.#byNamespace.get(namespace) ?? NONE;
  }

  count(namespace: string, storageKey: string): number {
    return this.#byNamespace.get(namespace)?.get(storageKey) ?? 0;
  }

  /** True where there is nothing of a type that counts. */
  isEmpty(namespace: string, counts: (storageKey: string) => boolean): boolean {
    for (const storageKey of this.of(namespace).keys()) if (counts(storageKey)) return false;
    return true;
  }

  /** True where there are no objects at all. */
  get isNothing(): boolean {
    return this.#byNamespace.size === 0;
  }

  /** The namespaces that hold anything; the empty name is that of objects in none. */
  namespaces(): Iterable<string> {
    return this.#byNamespace.keys();
  }

  #add(event: FeedEvent): boolean {
    if (event.type === 'put' && !event.isCreation()) return false;
    const { namespace, storageKey } = event;
    let types = this.#byNamespace.get(namespace);
    if (types === undefined) {
      types = new Map();
      this.#byNamespace.set(namespace, types);
    }
    types.set(storageKey, (types.get(storageKey) ?? 0) + 1);
    return true;
  }

  #remove({ namespace, storageKey }: FeedEvent): boolean {
    const types = this.#byNamespace.get(namespace);
    const count = types?.get(storageKey);
    if (types === undefined || count === undefined) return false;
    if (count > 1) types.set(storageKey, count - 1);
    else types.delete(storageKey);
    if (types.size === 0) this.#byNamespace.delete(namespace);
    return true;
  }
}
