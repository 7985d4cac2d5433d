// Which objects each namespace holds, by type and name, kept from the feed's keys alone: no object is parsed. Costs a
// set entry an object, whose string the feed has made anyway.
import type { FeedEvent } from '../../storage/store-feed.ts';

type NamesByType = Map<string, Set<string>>;

const NONE: ReadonlyMap<string, ReadonlySet<string>> = new Map();

export class NamespaceContents {
  readonly #byNamespace = new Map<string, NamesByType>();

  clear(): void {
    this.#byNamespace.clear();
  }

  /** Counts one event of a namespaced type. True when it added or removed an object. */
  onEvent(event: FeedEvent): boolean {
    return event.type === 'delete' ? this.#remove(event) : this.#add(event);
  }

  /** The names in a namespace by storage key; types without objects are left out. */
  of(namespace: string): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#byNamespace.get(namespace) ?? NONE;
  }

  isEmpty(namespace: string): boolean {
    return !this.#byNamespace.has(namespace);
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
    let types = this.#byNamespace.get(event.namespace);
    if (types === undefined) {
      types = new Map();
      this.#byNamespace.set(event.namespace, types);
    }
    const names = types.get(event.storageKey);
    if (names === undefined) {
      types.set(event.storageKey, new Set([event.name]));
      return true;
    }
    const before = names.size;
    return names.add(event.name).size > before;
  }

  #remove(event: FeedEvent): boolean {
    const types = this.#byNamespace.get(event.namespace);
    const names = types?.get(event.storageKey);
    if (types === undefined || !names?.delete(event.name)) return false;
    if (names.size === 0) types.delete(event.storageKey);
    if (types.size === 0) this.#byNamespace.delete(event.namespace);
    return true;
  }
}
