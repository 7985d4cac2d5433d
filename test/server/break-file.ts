// How a test tells an actor of breakable-roster.ts to break.

/** The name of the file, in the data directory, that an actor of this kind looks for. */
export function breakFile(kind: string): string {
  return `break-${kind}`;
}
