// A question whose answer must be newer than the asking: many who ask at once share one answer. At most one is under way and
// one waits to be asked; who comes while one is under way takes part in the next.

export class MergedAsks<Answer> {
  readonly #ask: () => Promise<Answer>;
  #running: Promise<Answer> | undefined;
  #waiting: Promise<Answer> | undefined;

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask;
  }

  /** An answer that was asked for after this call. */
  answer(): Promise<Answer> {
    this.#waiting ??= this.#askAfter(this.#running);
    return this.#waiting;
  }

  async #askAfter(before: Promise<Answer> | undefined): Promise<Answer> {
    // How the one before went is its askers' worry. Without one this waits for what else is asked in this turn's step.
    await before?.catch(() => {});
    this.#running = this.#waiting;
    this.#waiting = undefined;
    return this.#ask();
  }
}
