// Finds the name that a mistyped one was probably meant to be.

const NAME_LENGTH_MAX = 80;

/** How many letters must be put in, taken out or replaced to turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}

/** The nearest of `names` to `typed`; undefined when none is near enough to be what was meant. */
export function nearestName(typed: string, names: Iterable<string>): string | undefined {
  if (typed.length > NAME_LENGTH_MAX) return undefined;
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(typed.length / 4)) + 1;
  for (const name of names) {
    const distance = editDistance(typed, name);
    if (distance < least && distance < name.length) {
      nearest = name;
      least = distance;
    }
  }
  return nearest;
}
