// Which objects each namespace holds, by type: how many, and where they lie. No object is parsed, and no name is kept. Several
// controllers may share one: each tells it of the events that it is told of.
import { BY_KEY, FollowedRecords } from '../../storage/followed-records.ts';
import { objectKey, parseKey } from '../../storage/object-key.ts';
import type { FeedEvent } from '../../storage/store-feed.ts';

/** The objects of a type in a namespace. */
interface Group {
  readonly number: number;
  count: number;
}

const NONE: ReadonlyMap<string, number> = new Map();

export class NamespaceContents {
  readonly #records = new FollowedRecords(BY_KEY);
  readonly #byNamespace = new Map<string, Map<string, Group>>();
  #groups = 0;
  #last: FeedEvent | undefined;
  #lastCameOrWent = false;

  clear(): void {
    this.#records.clear();
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

  onMoved(event: FeedEvent): void {
    this.#records.moved(event);
  }

  /** How many objects a namespace has, by storage key; types without objects are left out. */
  of(namespace: string): ReadonlyMap<string, number> {
    const types = this.#byNamespace.get(namespace);
    return types === undefined ? NONE : new Map([...types].map(([storageKey, { count }]) => [storageKey, count]));
  }

  count(namespace: string, storageKey: string): number {
    return this.#byNamespace.get(namespace)?.get(storageKey)?.count ?? 0;
  }

  has(namespace: string, storageKey: string, name: string): boolean {
    return this.#records.has(objectKey(storageKey, namespace, name));
  }

  /** Looks at everything there is: for rare occasions. */
  names(namespace: string, storageKey: string): readonly string[] {
    const group = this.#byNamespace.get(namespace)?.get(storageKey);
    return group === undefined ? [] : this.#records.keysTagged(group.number).map((key) => parseKey(key).name);
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
    const { namespace, storageKey } = event;
    let types = this.#byNamespace.get(namespace);
    if (types === undefined) {
      types = new Map();
      this.#byNamespace.set(namespace, types);
    }
    let group = types.get(storageKey);
    if (group === undefined) {
      group = { number: ++this.#groups, count: 0 };
      types.set(storageKey, group);
    }
    const isNew = this.#records.put(event, group.number);
    if (isNew) group.count++;
    return isNew;
  }

  #remove(event: FeedEvent): boolean {
    if (!this.#records.remove(event)) return false;
    const types = this.#byNamespace.get(event.namespace)!;
    const group = types.get(event.storageKey)!;
    if (--group.count === 0) types.delete(event.storageKey);
    if (types.size === 0) this.#byNamespace.delete(event.namespace);
    return true;
  }
}
