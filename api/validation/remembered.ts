// What rules find out about a part of an object that all elements of a list are held to: once, and not for each of them.

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
