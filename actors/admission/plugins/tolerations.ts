// Tolerations as sets: which of two tolerates more, and sets without what is tolerated twice.
import { deepEqual } from '../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { setNumberAt, textAt } from '../../../api/json/object-fields.ts';

/** Those of both, without those that another one tolerates as well. Of the same two the first stays. */
export function mergedTolerations(first: readonly JsonObject[], second: readonly JsonObject[]): readonly JsonObject[] {
  const all = [...first, ...second];
  const merged: JsonObject[] = [];
  all.forEach((one, index) => {
    const isCovered =
      merged.some((other) => toleratesAll(other, one)) ||
      all.slice(index + 1).some((other) => !deepEqual(one, other) && toleratesAll(other, one));
    if (!isCovered) merged.push(one);
  });
  return merged;
}

/** Whether each of them is covered by one that is allowed. Where none are named, all are. */
export function areTolerationsAllowed(tolerations: readonly JsonObject[], allowed: readonly JsonObject[]): boolean {
  return allowed.length === 0 || tolerations.every((one) => allowed.some((other) => toleratesAll(other, one)));
}

/** Whether `wide` tolerates everything that `narrow` does. */
function toleratesAll(wide: JsonObject, narrow: JsonObject): boolean {
  if (deepEqual(wide, narrow)) return true;
  const operator = textAt(wide, 'operator', 'Equal');
  const isAnyKey = textAt(wide, 'key') === '' && operator === 'Exists';
  if (textAt(narrow, 'key') !== textAt(wide, 'key') && !isAnyKey) return false;
  const effect = textAt(wide, 'effect');
  if (effect !== '' && effect !== textAt(narrow, 'effect')) return false;
  if (effect === 'NoExecute' && !lastsAsLong(wide, narrow)) return false;
  if (operator === 'Exists') return true;
  return (
    operator === 'Equal' && textAt(narrow, 'operator') === 'Equal' && textAt(narrow, 'value') === textAt(wide, 'value')
  );
}

function lastsAsLong(wide: JsonObject, narrow: JsonObject): boolean {
  const seconds = setNumberAt(wide, 'tolerationSeconds');
  if (seconds === undefined) return true;
  const needed = setNumberAt(narrow, 'tolerationSeconds');
  return needed !== undefined && needed <= seconds;
}
