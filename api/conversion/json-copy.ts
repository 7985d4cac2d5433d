// Copies of JSON values that may be changed in place, as decoding does.
import { isJsonObject, PROTOTYPE_KEY } from '../json-value.ts';

/** A deep copy without the members that are undefined. Values nest no deeper than decoding allows. */
export function jsonCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonCopy);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (name === PROTOTYPE_KEY) {
      const own = { value: jsonCopy(member), enumerable: true, configurable: true, writable: true };
      Object.defineProperty(copy, name, own);
    } else copy[name] = jsonCopy(member);
  }
  return copy;
}
