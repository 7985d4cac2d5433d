// Whose turn it is to change the quotas of a namespace, among the writes of this thread: first come, first served. Writes of
// other threads are told apart by the store; without turns every one of ours but one would lose each time.
type Go = () => void;

export class Turns {
  /** By namespace, those who wait behind the one whose turn it is. */
  readonly #waiting = new Map<string, Go[]>();

  /** Undefined: at once. Who has had a turn ends it with `end`. */
  begin(namespace: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(namespace);
    if (waiting === undefined) {
      this.#waiting.set(namespace, []);
      return undefined;
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  end(namespace: string): void {
    const next = this.#waiting.get(namespace)?.shift();
    if (next === undefined) this.#waiting.delete(namespace);
    else next();
  }
}
