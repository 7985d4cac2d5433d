// Work on large objects that may be interrupted: each part takes some tens of milliseconds at most, where the whole may take seconds.
// What it works on must stay as it is meanwhile. Pure.

/** Of an object, as it is sent or as it is stored: to read or write more takes a thread some milliseconds each time. */
const LARGE_BYTES = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES;
}

/** Yields nothing: who goes on with it may do something else first. */
export type InParts<T> = Generator<undefined, T, undefined>;

/** What the work comes to, done in one go. */
export function inOneGo<T>(parts: InParts<T>): T {
  let part = parts.next();
  while (!part.done) part = parts.next();
  return part.value;
}

/**
 * Work that is one part. (A generator is told apart once and used by all: one that is made within a function is given a prototype and
 * hidden classes of its own with its first call, which costs as much as a small step of a write.)
 */
// biome-ignore lint/correctness/useYield: there is but one part.
export function* inOnePart<T>(work: () => T): InParts<T> {
  return work();
}
