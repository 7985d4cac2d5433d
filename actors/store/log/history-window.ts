// The events that can still be watched from: where their records lie, and those they replaced. Keeps both alive in the
// pool until they are forgotten.
import type { SlabPool } from '../../../storage/records/slab-pool.ts';
import { DELETED, NO_SLAB, recordLength, recordType } from '../../../storage/records/slab-record.ts';
import { firstIndex } from '../../../values/first-index.ts';
import type { Place } from '../protocol.ts';

/** Words of an event's places: its own slab and offset, and those of what it replaced. */
const WORDS = 4;
const ROOM_MIN = 64;

export class HistoryWindow {
  /** Bytes of records that only the window keeps. */
  bytes = 0;
  readonly #pool: SlabPool;
  /** In order of revision, from `#first` on; 24 bytes an event. */
  #revisions = new Float64Array(ROOM_MIN);
  #places = new Uint32Array(ROOM_MIN * WORDS);
  #first = 0;
  #end = 0;

  constructor(pool: SlabPool) {
    this.#pool = pool;
  }

  /** How many events there are. */
  get length(): number {
    return this.#end - this.#first;
  }

  /** Slab and offset of each event and of what it replaced, four numbers each, in order of revision. */
  places(): Uint32Array {
    return this.#places.slice(this.#first * WORDS, this.#end * WORDS);
  }

  /** Adds the next event. Its record and the one it replaced (NO_SLAB: none) are live in the pool already. */
  add({ revision, slab, offset }: Place, previousSlab: number, previousOffset: number): void {
    if (this.#end === this.#revisions.length) this.#makeRoom();
    const event = this.#end++;
    this.#revisions[event] = revision;
    const at = event * WORDS;
    this.#places[at] = slab;
    this.#places[at + 1] = offset;
    this.#places[at + 2] = previousSlab;
    this.#places[at + 3] = previousOffset;
    this.bytes += this.#keptBytes(event);
  }

  /** Takes back the newest events, which nobody has seen: what they replaced is live again as what is current. */
  retract(count: number): void {
    for (let left = count; left > 0; left--) {
      const event = --this.#end;
      this.bytes -= this.#keptBytes(event);
      if (this.#isRemoval(event)) this.#pool.release(this.#slab(event), this.#offset(event));
    }
  }

  /** Drops events up to a revision and releases what only they kept. */
  forget(upToRevision: number): void {
    while (this.#first < this.#end && this.#revisions[this.#first]! <= upToRevision) this.#release(this.#first++);
  }

  /** The lowest revision to compact to so that the window holds at most so many bytes and events; 0: none need go. */
  revisionForBounds(bytesMax: number, eventsMax: number): number {
    let { bytes } = this;
    let revision = 0;
    for (let event = this.#first; event < this.#end; event++) {
      if (bytes <= bytesMax && this.#end - event <= eventsMax) break;
      bytes -= this.#keptBytes(event);
      revision = this.#revisions[event]!;
    }
    return revision;
  }

  /** The revision of the n-th event, from 1; Infinity when there are fewer. */
  revisionOfEvent(n: number): number {
    return n > this.length ? Number.POSITIVE_INFINITY : this.#revisions[this.#first + n - 1]!;
  }

  /** The store moved a record: the event that wrote it, if it is still in the window, finds it there. */
  moved(record: Place, to: { readonly slab: number; readonly offset: number }): void {
    const first = firstIndex(this.#first, this.#end, (event) => this.#revisions[event]! >= record.revision);
    for (let event = first; event < this.#end && this.#revisions[event] === record.revision; event++) {
      if (this.#slab(event) !== record.slab || this.#offset(event) !== record.offset) continue;
      this.#places[event * WORDS] = to.slab;
      this.#places[event * WORDS + 1] = to.offset;
      return;
    }
  }

  /** Moves what there is to the front, to larger arrays unless half of these were forgotten. */
  #makeRoom(): void {
    const { length } = this;
    const room = length * 2 <= this.#revisions.length ? this.#revisions.length : this.#revisions.length * 2;
    const revisions = new Float64Array(room);
    const places = new Uint32Array(room * WORDS);
    revisions.set(this.#revisions.subarray(this.#first, this.#end));
    places.set(this.#places.subarray(this.#first * WORDS, this.#end * WORDS));
    this.#revisions = revisions;
    this.#places = places;
    this.#first = 0;
    this.#end = length;
  }

  #slab(event: number): number {
    return this.#places[event * WORDS]!;
  }

  #offset(event: number): number {
    return this.#places[event * WORDS + 1]!;
  }

  #release(event: number): void {
    this.bytes -= this.#keptBytes(event);
    const previousSlab = this.#places[event * WORDS + 2]!;
    if (previousSlab !== NO_SLAB) this.#pool.release(previousSlab, this.#places[event * WORDS + 3]!);
    if (this.#isRemoval(event)) this.#pool.release(this.#slab(event), this.#offset(event));
  }

  /** Bytes that only this event keeps: what it replaced, and a removal's own record. */
  #keptBytes(event: number): number {
    const previousSlab = this.#places[event * WORDS + 2]!;
    const replaced = previousSlab === NO_SLAB ? 0 : this.#bytesAt(previousSlab, this.#places[event * WORDS + 3]!);
    return replaced + (this.#isRemoval(event) ? this.#bytesAt(this.#slab(event), this.#offset(event)) : 0);
  }

  #bytesAt(slab: number, offset: number): number {
    return recordLength(this.#pool.slab(slab), offset);
  }

  #isRemoval(event: number): boolean {
    return recordType(this.#pool.slab(this.#slab(event)), this.#offset(event)) === DELETED;
  }
}
