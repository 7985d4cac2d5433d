// What is wrong with a file, and where.

export interface FileDamage {
  /** In bytes from the file's beginning. */
  readonly offset: number;
  /** One line. */
  readonly what: string;
}

/** One version of a key: what LevelDB calls an entry. */
export interface Entry {
  readonly key: string;
  /** The higher one is the newer one. */
  readonly sequence: number;
  /** Undefined: the key was removed. */
  readonly value: Buffer | undefined;
}
