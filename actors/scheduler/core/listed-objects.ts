// What a complete list has told of so far, while one is read. A scheduler that stands by reads one for as long as another leads, so
// what has gone since must not be kept. Knows nothing of what the keys stand for.

export class ListedObjects {
  #keys: Set<string> | undefined;

  /** How many keys are kept. */
  get size(): number {
    return this.#keys?.size ?? 0;
  }

  begin(): void {
    this.#keys = new Set();
  }

  /** The object of this key is there. */
  note(key: string): void {
    this.#keys?.add(key);
  }

  /** It is there no more. */
  forget(key: string): void {
    this.#keys?.delete(key);
  }

  /** Answers what is there; undefined where no list is read. */
  end(): ReadonlySet<string> | undefined {
    const keys = this.#keys;
    this.#keys = undefined;
    return keys;
  }
}
