// What follows from an object that does not change: found out once, and forgotten with it.

/** `find`, asked once about each object, for as long as that is there. */
export function remembered<Whole extends object, Found>(find: (whole: Whole) => Found): (whole: Whole) => Found {
  const known = new WeakMap<Whole, { readonly found: Found }>();
  return (whole) => {
    let one = known.get(whole);
    if (one === undefined) {
      one = { found: find(whole) };
      known.set(whole, one);
    }
    return one.found;
  };
}
