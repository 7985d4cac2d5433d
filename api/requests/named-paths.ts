// What the paths of single objects mean, by what stands before the name. Most requests are about objects of few types in few
// namespaces: such a path is told by comparing its beginning with one that was read before. Holds so many; decides nothing that
// request-info.ts has not decided for the same beginning.

/** What the paths of all names behind one beginning have in common. */
interface Meaning {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
}

interface Beginning extends Meaning {
  /** With the slash before the name. */
  readonly path: string;
}

/** One for each length, beyond that they take each other's places. A power of two. */
const PLACES = 64;
const LENGTH_MAX = 256;
const places: (Beginning | undefined)[] = new Array<Beginning | undefined>(PLACES).fill(undefined);

/** What a path begins with that names an object, where that is known. `nameStart`: as `plainNameStart` found it. */
export function knownBeginning(path: string, nameStart: number): Beginning | undefined {
  const known = places[nameStart & (PLACES - 1)];
  // A third of what `startsWith` takes.
  return known?.path === path.slice(0, nameStart) ? known : undefined;
}

/** Keeps what a path begins with whose last segment is the name of an object, and stands for itself. */
export function learnBeginning(
  path: string,
  nameStart: number,
  { group, version, resource, namespace }: Meaning,
): void {
  if (nameStart > LENGTH_MAX || path.includes('%')) return;
  places[nameStart & (PLACES - 1)] = { path: path.slice(0, nameStart), group, version, resource, namespace };
}

/** Where the last segment begins; 0 where it does not stand for itself, or may be none that names something. */
export function plainNameStart(path: string): number {
  const last = path.length - 1;
  for (let i = last; i >= 0; i--) {
    const code = path.charCodeAt(i);
    if (code === SLASH) return last - i > 2 || (last > i && path.charCodeAt(last) !== DOT) ? i + 1 : 0;
    if (code <= BLANK || code === PERCENT || code === DELETE) return 0;
  }
  return 0;
}

const BLANK = 0x20;
const PERCENT = 0x25;
const DOT = 0x2e;
const SLASH = 0x2f;
const DELETE = 0x7f;
