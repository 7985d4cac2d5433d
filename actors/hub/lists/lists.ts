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

/** The first `limit` (0: all) selected records after the key `after`. */
export function gather(
  tree: Tree,
  selection: CompiledSelection,
  slabs: SlabView,
  limit: number,
  after: string,
): Gathered {
  const { namespace, matches } = selection;
  const from = after !== '' ? after : namespace === '' ? undefined : `${namespace}/`;
  // '0' is the character after '/': keys of the namespace end before it.
  const end = namespace === '' ? undefined : `${namespace}0`;
  let places = new Uint32Array(capacityFor(tree.size, limit, namespace === '' && matches === undefined) * 2);
  let count = 0;
  let last = '';
  let more = false;
  for (const [key, entry] of tree.entries(from)) {
    if (end !== undefined && key >= end) break;
    if (key === after) continue;
    if (matches !== undefined && !matches(attributesFor(selection, entry, slabs))) continue;
    if (limit > 0 && count === limit) {
      more = true;
      break;
    }
    if (count * 2 === places.length) places = grown(places);
    places[count * 2] = entry.slab;
    places[count * 2 + 1] = entry.offset;
    count++;
    last = key;
  }
  return {
    places: places.subarray(0, count * 2),
    continueAfter: more ? last : '',
    remaining: more && matches === undefined ? countAfter(tree, last, end) : more ? undefined : 0,
  };
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
