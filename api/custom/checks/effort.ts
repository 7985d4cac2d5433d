// How much a check may do before it is another thread's matter. Schemas and objects of megabytes, patterns that are large, and
// alternatives of alternatives take seconds to check, in which a thread would serve nobody. Counted, not timed: the same object is
// checked on the same thread each time. Checks on a thread do not overlap.

/** A unit is about a quarter of a microsecond. */
export const EFFORT = {
  /** A value that is looked at, by one schema. */
  value: 1,
  /** An error that is told. */
  error: 8,
  /** A schema within a definition that is looked at. */
  schema: 6,
  /** A pattern that is compiled, and each instruction that it comes to. */
  pattern: 300,
  instruction: 8,
  /** So many instructions are tried on a character at a time. */
  instructionsTried: 64,
  /** So many characters are written of a value, to be looked up. */
  charactersWritten: 16,
} as const;

/** More than the check may do. */
class TooMuch extends Error {}

let left = Number.POSITIVE_INFINITY;

/** A check says what it is about to do. Throws what `withEffort` waits for. */
export function spend(units: number): void {
  left -= units;
  if (left < 0) throw new TooMuch();
}

/** What a check answers; undefined where it would be more than so many units. */
export function withEffort<T>(units: number, check: () => T): T | undefined {
  left = units;
  try {
    return check();
  } catch (error) {
    if (error instanceof TooMuch) return undefined;
    throw error;
  } finally {
    left = Number.POSITIVE_INFINITY;
  }
}
