// What is known of each resource type, found by the keys of its objects. Keys of one type come in rows, so that the type of the key
// before is tried first, and no text is cut out of a key for it.
import { storageKeyOf } from './object-key.ts';

export class ByType<T> {
  readonly #make: (storageKey: string) => T;
  readonly #known = new Map<string, T>();
  #latest: { readonly prefix: string; readonly value: T } | undefined;

  /** `make`: what is known of a type when the first key of it is asked about. */
  constructor(make: (storageKey: string) => T) {
    this.#make = make;
  }

  /** How many types have been asked about. */
  get size(): number {
    return this.#known.size;
  }

  /** What is known of the type that a key is of. */
  of(key: string): T {
    if (this.#latest !== undefined && key.startsWith(this.#latest.prefix)) return this.#latest.value;
    const storageKey = storageKeyOf(key);
    if (!this.#known.has(storageKey)) this.#known.set(storageKey, this.#make(storageKey));
    const value = this.#known.get(storageKey) as T;
    this.#latest = { prefix: `${storageKey}/`, value };
    return value;
  }

  /** Of a type; undefined where no key of it has been asked about. */
  get(storageKey: string): T | undefined {
    return this.#known.get(storageKey);
  }

  values(): Iterable<T> {
    return this.#known.values();
  }
}
