// The records of the objects that an actor follows, by key or by uid: where each lies, and no copy of it. To be told of every
// event of these objects and of every move, since what is compared are the records themselves; and within a turn that the
// events of came in, or of objects that are there.
import { bytesHash, nameHash } from './name-hash.ts';
import { uidEnd, uidStart } from './record-head.ts';
import { RecordIndex, type SlabsByNumber } from './record-index.ts';
import {
  hasKey,
  RECORD_HEADER_BYTES,
  recordKey,
  recordKeyLength,
  recordRevision,
  type Slab,
  sameBytes,
  sameKey,
} from './slab-record.ts';

/** A record, where it lies. */
export interface RecordPlace {
  readonly slab: Slab;
  readonly slabNumber: number;
  readonly offset: number;
}

/** By what records are told apart. */
interface Naming {
  readonly hash: (name: string) => number;
  readonly hashAt: (slab: Slab, offset: number) => number;
  readonly has: (slab: Slab, offset: number, name: string) => boolean;
  readonly isSame: (slab: Slab, offset: number, other: Slab, otherOffset: number) => boolean;
}

export const BY_KEY: Naming = {
  hash: nameHash,
  hashAt: (slab, offset) => {
    const start = offset + RECORD_HEADER_BYTES;
    return bytesHash(slab.bytes, start, start + recordKeyLength(slab, offset));
  },
  has: hasKey,
  isSame: sameKey,
};

/** Of objects that have one. */
export const BY_UID: Naming = {
  hash: nameHash,
  hashAt: (slab, offset) => bytesHash(slab.bytes, uidStart(slab, offset), uidEnd(slab, offset)),
  has: (slab, offset, uid) => slab.bytes.toString('latin1', uidStart(slab, offset), uidEnd(slab, offset)) === uid,
  isSame: (slab, offset, other, otherOffset) => {
    const [start, otherStart] = [uidStart(slab, offset), uidStart(other, otherOffset)];
    const length = uidEnd(slab, offset) - start;
    return length === uidEnd(other, otherOffset) - otherStart && sameBytes(slab, start, other, otherStart, length);
  },
};

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
  readonly #naming: Naming;
  readonly #slabs = new MetSlabs();
  readonly #index: RecordIndex<string | RecordPlace>;

  constructor(naming: Naming) {
    this.#naming = naming;
    this.#index = new RecordIndex<string | RecordPlace>(this.#slabs, (slab, offset, name) =>
      typeof name === 'string' ? naming.has(slab, offset, name) : naming.isSame(slab, offset, name.slab, name.offset),
    );
  }

  get size(): number {
    return this.#index.size;
  }

  /** Takes an object as it is now; true when it was not there. `tag`: a number that it keeps while it is there. */
  put(at: RecordPlace, tag = 0): boolean {
    const { size } = this.#index;
    this.#slabs.meet(at);
    this.#index.put(at, this.#naming.hashAt(at.slab, at.offset), at.slabNumber, at.offset, tag);
    return this.#index.size > size;
  }

  /** Nothing has changed but where a record lies, which may be that of an earlier state. */
  moved(at: RecordPlace): void {
    const position = this.#index.find(at, this.#naming.hashAt(at.slab, at.offset));
    if (position < 0) return;
    const known = this.#slabs.slab(this.#index.slabAt(position));
    if (recordRevision(known, this.#index.offsetAt(position)) !== recordRevision(at.slab, at.offset)) return;
    this.#slabs.meet(at);
    this.#index.moveTo(position, at.slabNumber, at.offset);
  }

  /** Forgets an object, by its last record or that of its removal; true when it was there. */
  remove(at: RecordPlace): boolean {
    return this.#index.remove(at, this.#naming.hashAt(at.slab, at.offset));
  }

  has(name: string): boolean {
    return this.#find(name) >= 0;
  }

  /** The key of an object; undefined when it is not there. */
  keyOf(name: string): string | undefined {
    const position = this.#find(name);
    return position < 0 ? undefined : this.#keyAt(position);
  }

  /** The tag of an object, 0 when it is not there. */
  tagOf(name: string | RecordPlace): number {
    const position = this.#find(name);
    return position < 0 ? 0 : this.#index.tagAt(position);
  }

  /** Of an object that is there. */
  tag(name: string, tag: number): void {
    const position = this.#find(name);
    if (position >= 0) this.#index.tag(position, tag);
  }

  /** The keys of all that have a tag, by looking at every one. */
  keysTagged(tag: number): string[] {
    const keys: string[] = [];
    for (let position = 0; position < this.#index.end; position++)
      if (!this.#index.isHole(position) && this.#index.tagAt(position) === tag) keys.push(this.#keyAt(position));
    return keys;
  }

  clear(): void {
    this.#index.clear();
    this.#slabs.clear();
  }

  #find(name: string | RecordPlace): number {
    const hash = typeof name === 'string' ? this.#naming.hash(name) : this.#naming.hashAt(name.slab, name.offset);
    return this.#index.find(name, hash);
  }

  #keyAt(position: number): string {
    return recordKey(this.#slabs.slab(this.#index.slabAt(position)), this.#index.offsetAt(position));
  }
}
