// Finding what stands twice in a list, without allocating for the short lists that objects have, and without taking
// quadratic time for the long ones that they could have.

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
): boolean {
  for (let i = 0; i < end; i++) if (keyOf(list[i]!, context) === key) return true;
  return false;
}

/** Finds the first element of a name; cheap to make for short lists. */
export function byName<T extends { readonly name?: string }>(list: readonly T[]): (name: string) => T | undefined {
  if (list.length <= PAIRWISE_MAX) return (name) => list.find((element) => element.name === name);
  const elements = new Map<string, T>();
  for (const element of list) {
    if (element.name !== undefined && !elements.has(element.name)) elements.set(element.name, element);
  }
  return (name) => elements.get(name);
}
