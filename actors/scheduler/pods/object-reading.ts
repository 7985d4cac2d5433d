// Reads members of a parsed JSON object whose shape the compiler cannot know. Every reader is total: a member of another
// type counts as absent, so that no object in the store can make the scheduler throw.

export type JsonObject = Readonly<Record<string, unknown>>;

const EMPTY_OBJECT: JsonObject = Object.freeze({});
const EMPTY_LIST: readonly unknown[] = Object.freeze([]);

/** The value as an object; an empty one when it is none. */
export function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : EMPTY_OBJECT;
}

/** The value as a list; an empty one when it is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : EMPTY_LIST;
}

/** The value as text; empty when it is none. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a finite number; 0 when it is none. */
export function asNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** A string-to-string map such as labels; members that are not text are left out. */
export function asTextMap(value: unknown): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [key, text] of Object.entries(asObject(value))) {
    if (typeof text === 'string') map.set(key, text);
  }
  return map;
}
