// The events that can still be watched from: where their records lie, and those they replaced. Keeps both alive in the
// pool until they are forgotten.
import type { SlabPool } from '../../storage/slab-pool.ts';
import { DELETED, NO_SLAB, recordLength, recordType } from '../../storage/slab-record.ts';
import type { Place } from './protocol.ts';

/** One event, with the record it replaced (NO_SLAB: none). */
export interface HistoryEvent {
  readonly revision: number;
  slab: number;
  offset: number;
  readonly previousSlab: number;
  readonly previousOffset: number;
}

export class HistoryWindow {
  /** In order of revision. */
  readonly events: HistoryEvent[] = [];
  /** Bytes of records that only the window keeps. */
  bytes = 0;
  readonly #pool: SlabPool;

  constructor(pool: SlabPool) {
    this.#pool = pool;
  }

  /** Adds the next event. Its record and the one it replaced are live in the pool already. */
  add(event: HistoryEvent): void {
    this.events.push(event);
    this.bytes += this.#keptBytes(event);
  }

  /** Takes back the newest events, which nobody has seen: what they replaced is live again as what is current. */
  retract(count: number): void {
    for (let left = count; left > 0; left--) {
      const event = this.events.pop()!;
      this.bytes -= this.#keptBytes(event);
      if (this.#isRemoval(event)) this.#pool.release(event.slab, event.offset);
    }
  }

  /** Drops events up to a revision and releases what only they kept. */
  forget(upToRevision: number): void {
    let dropped = 0;
    for (const event of this.events) {
      if (event.revision > upToRevision) break;
      this.#release(event);
      dropped++;
    }
    if (dropped > 0) this.events.splice(0, dropped);
  }

  /** The lowest revision to compact to so that the window holds at most so many bytes and events; 0: none need go. */
  revisionForBounds(bytesMax: number, eventsMax: number): number {
    let { bytes } = this;
    let count = this.events.length;
    let revision = 0;
    for (const event of this.events) {
      if (bytes <= bytesMax && count <= eventsMax) break;
      bytes -= this.#keptBytes(event);
      count--;
      revision = event.revision;
    }
    return revision;
  }

  /** The revision of the n-th event, from 1; Infinity when there are fewer. */
  revisionOfEvent(n: number): number {
    return this.events[n - 1]?.revision ?? Number.POSITIVE_INFINITY;
  }

  /** The event that wrote a record, if it is still in the window. */
  eventAt(record: Place): HistoryEvent | undefined {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.events[middle]!.revision < record.revision) low = middle + 1;
      else high = middle;
    }
    for (let i = low; this.events[i]?.revision === record.revision; i++) {
      const event = this.events[i]!;
      if (event.slab === record.slab && event.offset === record.offset) return event;
    }
    return undefined;
  }

  #release(event: HistoryEvent): void {
    this.bytes -= this.#keptBytes(event);
    if (event.previousSlab !== NO_SLAB) this.#pool.release(event.previousSlab, event.previousOffset);
    if (this.#isRemoval(event)) this.#pool.release(event.slab, event.offset);
  }

  /** Bytes that only this event keeps: what it replaced, and a removal's own record. */
  #keptBytes(event: HistoryEvent): number {
    const replaced = event.previousSlab === NO_SLAB ? 0 : this.#bytesAt(event.previousSlab, event.previousOffset);
    return replaced + (this.#isRemoval(event) ? this.#bytesAt(event.slab, event.offset) : 0);
  }

  #bytesAt(slab: number, offset: number): number {
    return recordLength(this.#pool.slab(slab), offset);
  }

  #isRemoval(event: HistoryEvent): boolean {
    return recordType(this.#pool.slab(event.slab), event.offset) === DELETED;
  }
}
