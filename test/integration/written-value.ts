// What the writing process and the test that kills it agree on.

/** Few enough that compaction happens within a test's time. */
export const HISTORY_EVENTS_MAX = 3000;

/** The value written to a key, by its size. */
export function writtenValue(key: string, size: number): string {
  return `${key} ${size} `.padEnd(size, 'v');
}
