// The names of the objects of one type in each namespace.
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { parseKey } from '../../../storage/object-key.ts';

const NONE: ReadonlySet<string> = new Set();

export class NamesByNamespace {
  readonly #names = new Map<string, Set<string>>();

  /** `keys`: of all objects that there are. */
  constructor(keys: Iterable<string>) {
    for (const key of keys) this.#add(parseKey(key));
  }

  clear(): void {
    this.#names.clear();
  }

  /** Of an object of the type. */
  onEvent(event: FeedEvent): void {
    if (event.type === 'delete') this.#remove(event);
    else this.#add(event);
  }

  of(namespace: string): ReadonlySet<string> {
    return this.#names.get(namespace) ?? NONE;
  }

  #add({ namespace, name }: Pick<FeedEvent, 'namespace' | 'name'>): void {
    const names = this.#names.get(namespace);
    if (names === undefined) this.#names.set(namespace, new Set([name]));
    else names.add(name);
  }

  #remove({ namespace, name }: FeedEvent): void {
    const names = this.#names.get(namespace);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(namespace);
  }
}
