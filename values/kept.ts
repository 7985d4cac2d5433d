// Maps that what clients send cannot make grow for ever.

/**
 * Sets an entry of a map that is emptied when it holds `max` already. For what is looked up all the time and made again without
 * loss: no order is kept of its entries.
 */
export function keep<K, V>(map: Map<K, V>, max: number, key: K, value: V): void {
  if (map.size >= max) map.clear();
  map.set(key, value);
}

/** A map of at most so many entries: the oldest makes room. */
export class Kept<K, V> {
  readonly #max: number;
  readonly #entries = new Map<K, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#max) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(key, value);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
