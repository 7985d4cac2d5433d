// Work on large objects that may be interrupted: each part takes some tens of milliseconds at most, where the whole may take seconds.
// What it works on must stay as it is meanwhile. Pure.

/** Yields nothing: who goes on with it may do something else first. */
export type InParts<T> = Generator<undefined, T, undefined>;

/** What the work comes to, done in one go. */
export function inOneGo<T>(parts: InParts<T>): T {
  let part = parts.next();
  while (!part.done) part = parts.next();
  return part.value;
}
