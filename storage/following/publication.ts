// What the store publishes, as every reader of it sees it: where records lie, and how to walk them.
import { recordLength, type Slab } from '../records/slab-record.ts';
import type { SlabMemories, SlabView } from '../records/thread-slabs.ts';

/** A value in the store that nobody here can read: it is encrypted otherwise, or damaged, or of no form that is known. */
export interface UnreadableValue {
  readonly key: string;
  /** Its name in the engine, as clients are told it. */
  readonly path: string;
  /** In the words that clients are told; nothing of the value. */
  readonly why: string;
  /** The versions from here on are without it; 0: all that there are. */
  readonly since: number;
  /** Readers have the object as it was before; else they have heard nothing of it. */
  readonly isKnown: boolean;
}

/** One commit batch as published, or several: the records lie in shared memory, in order of revision. */
export interface Publication {
  /** Of the store that published it. */
  readonly incarnation: number;
  /** Counts publications of this store incarnation, from 1, without gaps. */
  readonly sequence: number;
  /** The publication that this one comes directly after: the one before it, or an earlier one where several were sent as one. */
  readonly after: number;
  readonly lastRevision: number;
  /** Events up to here are forgotten: readers drop them, then report `sequence` as their epoch. */
  readonly compactedRevision: number;
  /** Runs of records: slab, byte offset of the first record, count; three numbers a run. */
  readonly runs: readonly number[];
  /** Runs of records that only lie elsewhere now: same keys, revisions and bytes, and no event. */
  readonly movedRuns: readonly number[];
  /** Slabs the subscriber has not seen. */
  readonly newSlabs: SlabMemories;
  /** All values that cannot be read as of this publication; absent: as before. */
  readonly unreadable?: readonly UnreadableValue[] | undefined;
}

/** Everything a reader needs to begin: all live objects, or those of the types it follows, and the events of the history window. */
export interface PresentState {
  /** Drawn anew at each start of the store, whose publications are counted anew. */
  readonly incarnation: number;
  readonly sequence: number;
  readonly revision: number;
  readonly compactedRevision: number;
  /** See storage/shared-state.ts: the committed revision, and the epoch slots of readers. */
  readonly sharedState: SharedArrayBuffer;
  /** The reader's epoch slot in sharedState. */
  readonly readerSlot: number;
  readonly slabs: SlabMemories;
  /** The records of live objects: slab and offset, two numbers each, otherwise in no particular order. */
  readonly live: Uint32Array;
  /** How many of them, at the beginning, are those that were to come before all others. */
  readonly first: number;
  /**
   * The events after compactedRevision, in order of revision, four numbers each: slab and offset of the event's record,
   * slab and offset of the record it replaced (NO_SLAB where the event created the object). Empty for who needs none.
   */
  readonly history: Uint32Array;
  /** Random bytes made with the store, for authenticating continue tokens; or none (SharedContents). Same after a restart. */
  readonly tokenKey: Uint8Array;
  /** Others write as well: what is committed here is not all that was acknowledged (`barrier` of the store). */
  readonly isShared: boolean;
  /** What cannot be read; of some of it `live` has what it was before. Absent: nothing. */
  readonly unreadable?: readonly UnreadableValue[] | undefined;
}

/** Visits every record of the runs in order. */
export function forEachRecord(
  runs: readonly number[],
  slabs: SlabView,
  visit: (slab: Slab, slabNumber: number, offset: number) => void,
): void {
  for (let run = 0; run < runs.length; run += 3) {
    const number = runs[run]!;
    const slab = slabs.slab(number);
    let offset = runs[run + 1]!;
    for (let left = runs[run + 2]!; left > 0; left--) {
      visit(slab, number, offset);
      offset += recordLength(slab, offset);
    }
  }
}
