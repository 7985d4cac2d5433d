// Finding what stands twice in a list, without allocating for the short lists that objects have, and without taking
// quadratic time for the long ones that they could have.
import type { Report } from './report.ts';
import type { Rule } from './rule.ts';

/** Up to so many elements are compared with each other. */
const PAIRWISE_MAX = 12;

/**
 * Calls `report` for each element whose key an earlier one has. Elements whose key is undefined or '' do not count.
 * `context` is handed to both functions, so that they need not be closures.
 */
export function eachRepeated<T, C>(
  list: readonly T[],
  keyOf: (element: T, context: C) => string | number | undefined,
  report: (key: string | number, index: number, context: C) => void,
  context: C,
): void {
  if (list.length < 2) return;
  const seen = list.length > PAIRWISE_MAX ? new Set<string | number>() : undefined;
  for (let i = 0; i < list.length; i++) {
    const key = keyOf(list[i]!, context);
    if (key === undefined || key === '') continue;
    if (seen === undefined ? stoodBefore(list, keyOf, key, i, context) : seen.has(key)) report(key, i, context);
    else seen?.add(key);
  }
}

function stoodBefore<T, C>(
  list: readonly T[],
  keyOf: (element: T, context: C) => string | number | undefined,
  key: string | number,
  end: number,
  context: C,
  without?: ReadonlySet<unknown>,
): boolean {
  for (let i = 0; i < end; i++) {
    if (keyOf(list[i]!, context) === key && without?.has(list[i]) !== true) return true;
  }
  return false;
}

/**
 * A rule for elements of lists: none before has the same key. Elements whose key is undefined or '' do not count, and
 * with `onlySound` those with errors neither. `report` is told of one that has, where it stands; as a duplicate of its
 * key unless given.
 */
export function distinct<T>(
  keyOf: (element: T) => string | number | undefined,
  report: (key: string | number, element: T, at: Report) => void = (key, _element, at) => at.duplicate('', key),
  onlySound = false,
): Rule<T> {
  return (element, at) => {
    const key = keyOf(element);
    if (key === undefined || key === '') return;
    const { list, index, start } = at;
    if (list.length <= PAIRWISE_MAX) {
      const without = onlySound ? at.faulty : undefined;
      if (index > 0 && stoodBefore(list as readonly T[], keyOf, key, index, undefined, without))
        report(key, element, at);
      return;
    }
    const met = at.metIn(list, keyOf);
    if (met.has(key)) report(key, element, at);
    else if (!onlySound || at.count === start) met.set(key, element);
  };
}

/** The first element with the key, of those that nothing is wrong with where `onlySound` is set. */
export function found<T>(
  list: readonly T[],
  keyOf: (element: T) => string | undefined,
  key: string,
  at: Report,
  onlySound = false,
): T | undefined {
  const counts = (element: T): boolean => !onlySound || !at.faulty.has(element);
  if (list.length <= PAIRWISE_MAX) return list.find((element) => keyOf(element) === key && counts(element));
  const met = at.metIn(list, keyOf);
  if (met.size === 0) {
    for (const element of list.toReversed()) if (counts(element)) met.set(keyOf(element), element);
  }
  return met.get(key) as T | undefined;
}
