// Pieces of work that must not overlap, such as what is put into force beside what others have put into force.

/** Each piece begins when the one before it has ended, however that did. */
export class InOrder {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as the work does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
