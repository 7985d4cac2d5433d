// The objects that were parsed last on a thread, for actors that follow the store beside each other: each gets the same
// batch in a turn of its own, and the second finds what the first has parsed. Their managedFields are left out. Owns no
// record; who is given an object shares it, and must not change it.
import { freezeJson } from '../../api/json/freeze-json.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { lending, parseFollowed } from './record-reading.ts';
import { recordRevision, type Slab, valueLength } from './slab-record.ts';

/** More than a batch has under load. A power of two: places are taken by the low bits of the revision. */
const KEPT_MAX = 64;
/** Of larger objects, which are rare, one is kept: the last. */
const LARGE_BYTES = 16_384;
const LARGE_PLACE = KEPT_MAX;

interface Parsed {
  readonly slab: Slab;
  readonly offset: number;
  readonly revision: number;
  readonly object: JsonObject;
}

/** Those of one thread. Bounded by KEPT_MAX objects of LARGE_BYTES and a large one. */
export class ParsedRecords {
  readonly #kept: (Parsed | undefined)[] = new Array<Parsed | undefined>(KEPT_MAX + 1).fill(undefined);

  /** The object whose record lies there, in a turn in which the record does. */
  object(slab: Slab, offset: number): JsonObject {
    const revision = recordRevision(slab, offset);
    const place = valueLength(slab, offset) > LARGE_BYTES ? LARGE_PLACE : revision % KEPT_MAX;
    const kept = this.#kept[place];
    if (kept !== undefined && kept.revision === revision && kept.offset === offset && kept.slab === slab)
      return kept.object;
    // Not counted among what is decoded: those are reads.
    const object = parseFollowed(slab, offset, parseObject);
    // Under test: who changes what others are given as well, throws.
    if (lending.wipes) freezeJson(object);
    this.#kept[place] = { slab, offset, revision, object };
    return object;
  }
}

function parseObject(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}
