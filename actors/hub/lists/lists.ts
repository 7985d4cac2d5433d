// Which records a list consists of. Works on a tree of one revision; copies places, never bytes.
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { Entry, Tree } from '../caches/resource-cache.ts';
import { attributesFor, type CompiledSelection } from '../selection.ts';

export interface Gathered {
  /** Slab and offset of each record, two numbers each, in key order. */
  readonly places: Uint32Array;
  /** Key of the last record when more follow, else empty. */
  readonly continueAfter: string;
  /** How many follow; undefined where only a scan could tell. */
  readonly remaining: number | undefined;
}

export interface GatheringParts {
  /** Must stay as it is until all is gathered, or `keepState` is called. */
  readonly tree: Tree;
  readonly selection: CompiledSelection;
  readonly slabs: SlabView;
  /** 0: all. */
  readonly limit: number;
  /** Records behind this key; empty: from the first on. */
  readonly after: string;
  /** How many there are behind it, whether or not the selector takes them; undefined: who needs it has to count. */
  readonly behind?: number | undefined;
}

/** The first `limit` selected records after a key, looked for in as many goes as its owner wants. */
export class Gathering {
  readonly #parts: GatheringParts;
  #tree: Tree;
  readonly #entries: IterableIterator<[string, Entry]>;
  /** Keys from here on are not selected; undefined: there are none. */
  readonly #end: string | undefined;
  #places: Uint32Array<ArrayBuffer>;
  #count = 0;
  #last = '';
  #hasMore = false;

  constructor(parts: GatheringParts) {
    const { after, limit, selection, tree } = parts;
    const { from, end } = rangeOf(tree, selection);
    this.#parts = parts;
    this.#tree = tree;
    this.#end = end;
    this.#entries = tree.entries(after > (from ?? '') ? after : from);
    const isEverything = selection.namespace === '' && selection.matches === undefined;
    this.#places = new Uint32Array(capacityFor(tree.size, limit, isEverything) * 2);
  }

  /** Looks at so many entries more. True: that is all. */
  goOn(entries: number): boolean {
    const { after, limit, selection, slabs } = this.#parts;
    const { matches } = selection;
    for (let left = entries; left > 0; left--) {
      const { done, value } = this.#entries.next();
      if (done === true) return true;
      const [key, entry] = value;
      if (this.#end !== undefined && key >= this.#end) return true;
      if (key === after) continue;
      if (matches !== undefined && !matches(attributesFor(selection, entry, slabs))) continue;
      if (limit > 0 && this.#count === limit) {
        this.#hasMore = true;
        return true;
      }
      this.#take(key, entry);
    }
    return false;
  }

  /** The tree may be changed from now on: what is yet to be looked at is as it was. */
  keepState(): Tree {
    // A tree never changes the nodes that a copy has, and those are the ones that the entries are read from.
    this.#tree = this.#tree.clone();
    return this.#tree;
  }

  #take(key: string, { slab, offset }: Entry): void {
    const at = this.#count++ * 2;
    if (at === this.#places.length) this.#places = grown(this.#places);
    this.#places[at] = slab;
    this.#places[at + 1] = offset;
    this.#last = key;
  }

  /** What was found, once that is all. */
  get gathered(): Gathered {
    return {
      places: this.#places.subarray(0, this.#count * 2),
      continueAfter: this.#hasMore ? this.#last : '',
      remaining: this.#hasMore ? this.#remaining() : 0,
    };
  }

  #remaining(): number | undefined {
    const { after, behind, selection } = this.#parts;
    if (selection.matches !== undefined) return undefined;
    const known = after === '' && selection.namespace === '' ? this.#tree.size : behind;
    return known === undefined ? countAfter(this.#tree, this.#last, this.#end) : known - this.#count;
  }
}

/** The keys among which all that is selected lies: from the first on, and before the end. */
function rangeOf(tree: Tree, { namespace, fixed }: CompiledSelection): { from?: string; end?: string } {
  const isNamed = fixed?.of === 'field' && fixed.name === 'metadata.name';
  // Keys of what has no namespace begin with '/', and so does the key after all of a type that has none.
  if (isNamed && (namespace !== '' || tree.maxKey()?.startsWith('/') === true)) {
    const key = `${namespace}/${fixed.value}`;
    return { from: key, end: `${key}\0` };
  }
  // '0' is the character after '/': keys of the namespace end before it.
  return namespace === '' ? {} : { from: `${namespace}/`, end: `${namespace}0` };
}

function capacityFor(size: number, limit: number, everything: boolean): number {
  if (limit > 0) return Math.min(limit, size);
  return everything ? size : Math.min(size, 64);
}

function grown(places: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(16, places.length * 2));
  larger.set(places);
  return larger;
}

function countAfter(tree: Tree, key: string, end: string | undefined): number {
  let count = 0;
  const upTo = end ?? (tree.maxKey() as string);
  tree.forRange(key, upTo, end === undefined, (_key: string, _entry: Entry) => {
    count++;
  });
  return count - 1;
}
