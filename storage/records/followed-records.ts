// The records of the objects that an actor follows, by uid: where each lies, and no copy of it. To be told of every event of these
// objects and of every move, since what is compared are the records themselves; and within a turn that the events of came
// in, or of objects that are there. Several may share one: who tells it of an event twice changes nothing.
import { bytesHash, nameHash } from '../name-hash.ts';
import { uidEnd, uidStart } from './record-head.ts';
import { RecordIndex, type SlabsByNumber } from './record-index.ts';
import { keyBeginsWith, recordKey, recordRevision, type Slab, sameBytes } from './slab-record.ts';

/** A record, where it lies. */
export interface RecordPlace {
  readonly slab: Slab;
  readonly slabNumber: number;
  readonly offset: number;
}

function hasUid(slab: Slab, offset: number, uid: string): boolean {
  return slab.bytes.toString('latin1', uidStart(slab, offset), uidEnd(slab, offset)) === uid;
}

function hasSameUid(slab: Slab, offset: number, other: Slab, otherOffset: number): boolean {
  const [start, otherStart] = [uidStart(slab, offset), uidStart(other, otherOffset)];
  const length = uidEnd(slab, offset) - start;
  return length === uidEnd(other, otherOffset) - otherStart && sameBytes(slab, start, other, otherStart, length);
}

function uidHash({ slab, offset }: RecordPlace): number {
  return bytesHash(slab.bytes, uidStart(slab, offset), uidEnd(slab, offset));
}

/** The slabs that were met. */
class MetSlabs implements SlabsByNumber {
  #slabs: (Slab | undefined)[] = [];

  meet({ slabNumber, slab }: RecordPlace): void {
    this.#slabs[slabNumber] = slab;
  }

  slab(number: number): Slab {
    return this.#slabs[number]!;
  }

  clear(): void {
    this.#slabs = [];
  }
}

export class FollowedRecords {
  readonly #slabs = new MetSlabs();
  readonly #index = new RecordIndex<string | RecordPlace>(this.#slabs, (slab, offset, name) =>
    typeof name === 'string' ? hasUid(slab, offset, name) : hasSameUid(slab, offset, name.slab, name.offset),
  );
  /** What was put last, and its tag: who shares this tells of it next. */
  #latest: RecordPlace | undefined;
  #latestTag = 0;

  get size(): number {
    return this.#index.size;
  }

  /** Takes an object as it is now. Answers its tag, which is 0 until it is given another; of one without a uid, 0. */
  put(at: RecordPlace): number {
    if (at === this.#latest) return this.#latestTag;
    const [start, end] = [uidStart(at.slab, at.offset), uidEnd(at.slab, at.offset)];
    if (start === end) return 0;
    this.#slabs.meet(at);
    const hash = bytesHash(at.slab.bytes, start, end);
    this.#latest = at;
    this.#latestTag = this.#index.tagAt(this.#index.put(at, hash, at.slabNumber, at.offset));
    return this.#latestTag;
  }

  /** Nothing has changed but where a record lies, which may be that of an earlier state. */
  moved(at: RecordPlace): void {
    const position = this.#index.find(at, uidHash(at));
    if (position < 0) return;
    const known = this.#slabs.slab(this.#index.slabAt(position));
    if (recordRevision(known, this.#index.offsetAt(position)) !== recordRevision(at.slab, at.offset)) return;
    this.#slabs.meet(at);
    this.#index.moveTo(position, at.slabNumber, at.offset);
  }

  /** Forgets an object, by its last record or that of its removal; true when it was there. */
  remove(at: RecordPlace): boolean {
    this.#latest = undefined;
    return this.#index.remove(at, uidHash(at));
  }

  has(uid: string): boolean {
    return this.#find(uid) >= 0;
  }

  /** The key of an object; undefined when it is not there. */
  keyOf(uid: string): string | undefined {
    const position = this.#find(uid);
    return position < 0 ? undefined : this.#keyAt(position);
  }

  /** Gives an object that is there a number to keep. */
  tag(uid: string, tag: number): void {
    this.#latest = undefined;
    const position = this.#find(uid);
    if (position >= 0) this.#index.tag(position, tag);
  }

  /** The keys that begin with some bytes, by looking at every one: for rare occasions. */
  keysBelow(prefix: Uint8Array): string[] {
    const keys: string[] = [];
    for (let position = 0; position < this.#index.end; position++) {
      if (this.#index.isHole(position)) continue;
      const slab = this.#slabs.slab(this.#index.slabAt(position));
      if (keyBeginsWith(slab, this.#index.offsetAt(position), prefix)) keys.push(this.#keyAt(position));
    }
    return keys;
  }

  clear(): void {
    this.#index.clear();
    this.#slabs.clear();
    this.#latest = undefined;
  }

  #find(uid: string): number {
    return this.#index.find(uid, nameHash(uid));
  }

  #keyAt(position: number): string {
    return recordKey(this.#slabs.slab(this.#index.slabAt(position)), this.#index.offsetAt(position));
  }
}
