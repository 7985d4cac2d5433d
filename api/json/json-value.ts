// The shapes parsed JSON has, and the guards every pure function over it shares: what counts as an object, which key is
// never taken from a client, how deep a value may be.

/** A parsed JSON object. Members are read with `Object.hasOwn` or checked by type: keys come from clients. */
export type JsonObject = { readonly [key: string]: unknown };

/** Levels of nesting an object may have. Deeper ones would overflow the stack of recursive code, `JSON.stringify` first. */
export const NESTING_MAX = 1000;

/** Assigning to it changes an object's prototype, so it is refused as a key wherever keys are written. */
export const PROTOTYPE_KEY = '__proto__';

/** True for objects that are neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value[key]` where `value` is an object with such a member of its own, else undefined. */
export function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Levels of objects and lists in `value`: 0 for a scalar. Stops counting, and answers `limit + 1`, beyond `limit`. */
export function nestingOf(value: unknown, limit = NESTING_MAX): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit <= 0) return 1;
  let deepest = 0;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof member !== 'object' || member === null) continue;
    const levels = nestingOf(member, limit - 1);
    if (levels > deepest) deepest = levels;
    if (deepest >= limit) break;
  }
  return deepest + 1;
}
