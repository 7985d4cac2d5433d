// Binary search in what is ordered.

/** The first index from `from` on, and before `end`, at which something holds that holds at all later ones too; `end`: at none. */
export function firstIndex(from: number, end: number, holdsAt: (index: number) => boolean): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holdsAt(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
