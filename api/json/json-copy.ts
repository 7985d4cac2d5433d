// Copies of JSON values that may be changed in place, as decoding does.
import { isJsonObject } from './json-value.ts';
import { setMember } from './own-copy.ts';

/** A deep copy without the members that are undefined. Values nest no deeper than decoding allows. */
export function jsonCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonCopy);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member !== undefined) setMember(copy, name, jsonCopy(member));
  }
  return copy;
}
