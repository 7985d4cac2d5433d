// What is made, or loaded, when it is first asked for. What could not be made is tried again with the next who asks: the files of a
// server may be replaced while it runs, and the system may be out of descriptors for a moment.

export class Lazy<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** The one, made with the first call. Rejects with what kept it from being made. */
  get(): Promise<T> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  /** What has been made, or is being made; undefined where that is nothing, or comes to nothing. */
  async present(): Promise<T | undefined> {
    return this.#made?.catch(() => undefined);
  }
}
