// Copies bytes between memory of this thread's own and memory that threads share.

/**
 * Copies all of `source` to a place in `target` that has room for it, and does not hold any of `source`; returns where it ends.
 *
 * As `target.set(source, at)` does. But where either is shared, V8 does that byte by byte unless both lie at the same distance from a
 * multiple of eight, at four to five times the cost of copying; what Buffer fills with is copied as it lies.
 */
export function copyBytes(target: Buffer, at: number, source: Uint8Array): number {
  const end = at + source.length;
  if (source.length > 0) target.fill(source, at, end);
  return end;
}
