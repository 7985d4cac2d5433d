// Lists that a client gave empty. Canonical form has null for them, whether they came empty or not at all; who gave one owns it all
// the same, since it is written.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { ownCopy } from '../json/own-copy.ts';
import { memberStep } from './field-path.ts';
import { type FieldSet, hasSelf } from './field-set.ts';

const EMPTY: readonly unknown[] = Object.freeze([]);

/**
 * The object with empty lists at the paths (`Decoded.emptied`) where it has null, to be compared with what is stored: an empty list is
 * another value than null. What is not on the way there is shared.
 *
 * @param reset fields that this write leaves as they are stored, whatever it says.
 */
export function withEmptied(object: JsonObject, paths: readonly string[], reset: FieldSet): JsonObject {
  let result = object;
  for (const path of paths) {
    const [first = '', ...rest] = path.split(/[.[\]]+/).filter((part) => part !== '');
    const kept = reset[memberStep(first)];
    if (kept === undefined || !hasSelf(kept)) result = withEmpty(result, first, rest) as JsonObject;
  }
  return result;
}

function withEmpty(value: unknown, part: string, [next, ...rest]: readonly string[]): unknown {
  if (!(isJsonObject(value) || Array.isArray(value)) || !Object.hasOwn(value, part)) return value;
  const held = (value as JsonObject)[part];
  const changed = next === undefined ? (held === null ? EMPTY : held) : withEmpty(held, next, rest);
  if (changed === held) return value;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : ownCopy(value);
  (copy as Record<string, unknown>)[part] = changed;
  return copy;
}
