// Where the record of each name lies: a hash table in two typed arrays, some 24 bytes a record, which holds no names. They
// are read from the records themselves, so that these must be in place for as long as they are in the index. What is a name
// (a key, a uid), and what its hash, is its owner's to say.
//
// Records stand in the order in which their names came, as in a Map: a name that is put again keeps its position, one that
// was removed comes last. Positions are good until the next `put` of a new name.
import { NO_SLAB, type Slab } from './slab-record.ts';

/** Who knows the slabs by their numbers. */
export interface SlabsByNumber {
  slab(number: number): Slab;
}

/** Whether the record at a place is of that name, or of whatever else stands for it. */
export type IsNamed<Name> = (slab: Slab, offset: number, name: Name) => boolean;

/** Slab and offset of some records, two numbers each, and how many of them, at the beginning, were to come before the others. */
export interface PlacesInOrder {
  readonly places: Uint32Array;
  readonly first: number;
}

const NOWHERE = -1;
/** Words of a record: hash, slab, offset, tag. */
const WORDS = 4;
const ROOM_MIN = 12;
/** Fuller than this it grows, else what was removed has left gaps enough to close. */
const FULL_SHARE = 0.75;

export class RecordIndex<Name = string> {
  readonly #slabs: SlabsByNumber;
  readonly #isNamed: IsNamed<Name>;
  #entries = new Uint32Array(0);
  /** By hash: position + 1, or 0; linear probing, at most three quarters full. */
  #table = new Uint32Array(0);
  #end = 0;
  #size = 0;

  constructor(slabs: SlabsByNumber, isNamed: IsNamed<Name>) {
    this.#slabs = slabs;
    this.#isNamed = isNamed;
  }

  /** How many records there are. */
  get size(): number {
    return this.#size;
  }

  /** The first position at which there certainly is nothing. */
  get end(): number {
    return this.#end;
  }

  /** The position of a name, -1 where there is none. */
  find(name: Name, hash: number): number {
    const { length } = this.#table;
    if (length === 0) return NOWHERE;
    const mask = length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const position = this.#table[at]! - 1;
      if (position === NOWHERE) return NOWHERE;
      const entry = position * WORDS;
      if (this.#entries[entry] !== hash) continue;
      const slab = this.#slabs.slab(this.#entries[entry + 1]!);
      if (this.#isNamed(slab, this.#entries[entry + 2]!, name)) return position;
    }
  }

  isHole(position: number): boolean {
    return this.#entries[position * WORDS + 1] === NO_SLAB;
  }

  slabAt(position: number): number {
    return this.#entries[position * WORDS + 1]!;
  }

  offsetAt(position: number): number {
    return this.#entries[position * WORDS + 2]!;
  }

  /** What its name was put with first, or has been tagged with since. */
  tagAt(position: number): number {
    return this.#entries[position * WORDS + 3]!;
  }

  tag(position: number, tag: number): void {
    this.#entries[position * WORDS + 3] = tag;
  }

  /** Puts the record of a name, in place of the one before. Returns its position. `tag`: a number of its owner's. */
  put(name: Name, hash: number, slab: number, offset: number, tag = 0): number {
    const known = this.find(name, hash);
    if (known !== NOWHERE) {
      this.moveTo(known, slab, offset);
      return known;
    }
    if ((this.#end + 1) * WORDS > this.#entries.length) this.#makeRoom();
    const position = this.#end++;
    this.#entries[position * WORDS] = hash;
    this.#entries[position * WORDS + 3] = tag;
    this.moveTo(position, slab, offset);
    this.#enter(position);
    this.#size++;
    return position;
  }

  /** The record at a position lies elsewhere now, or another of the same name is in its place. */
  moveTo(position: number, slab: number, offset: number): void {
    this.#entries[position * WORDS + 1] = slab;
    this.#entries[position * WORDS + 2] = offset;
  }

  /** True when there was such a name. */
  remove(name: Name, hash: number): boolean {
    const position = this.find(name, hash);
    if (position === NOWHERE) return false;
    const mask = this.#table.length - 1;
    let free = hash & mask;
    while (this.#table[free] !== position + 1) free = (free + 1) & mask;
    // What was entered behind it because it was there comes closer, so that no search ends too early.
    for (let at = (free + 1) & mask; this.#table[at] !== 0; at = (at + 1) & mask) {
      const wanted = this.#entries[(this.#table[at]! - 1) * WORDS]! & mask;
      if (((at - wanted) & mask) < ((at - free) & mask)) continue;
      this.#table[free] = this.#table[at]!;
      free = at;
    }
    this.#table[free] = 0;
    this.#entries[position * WORDS + 1] = NO_SLAB;
    this.#size--;
    while (this.#end > 0 && this.isHole(this.#end - 1)) this.#end--;
    return true;
  }

  /**
   * All whose tag is wanted. `isWanted`: 1 by tag; absent: all are. `isFirst`: 1 by position for those that come before all others,
   * up to `end`.
   */
  places(isWanted?: Uint8Array, isFirst?: Uint8Array): PlacesInOrder {
    const entries = this.#entries;
    const places = new Uint32Array(this.#size * 2);
    let at = 0;
    let first = 0;
    for (const turn of isFirst === undefined ? [0] : [1, 0]) {
      for (let position = 0; position < this.#end; position++) {
        const entry = position * WORDS;
        const slab = entries[entry + 1]!;
        if (slab === NO_SLAB || (isWanted !== undefined && isWanted[entries[entry + 3]!] !== 1)) continue;
        if (isFirst !== undefined && isFirst[position] !== turn) continue;
        places[at++] = slab;
        places[at++] = entries[entry + 2]!;
      }
      if (turn === 1) first = at / 2;
    }
    return { places: isWanted === undefined ? places : places.slice(0, at), first };
  }

  clear(): void {
    this.#entries = new Uint32Array(0);
    this.#table = new Uint32Array(0);
    this.#end = 0;
    this.#size = 0;
  }

  #enter(position: number): void {
    const mask = this.#table.length - 1;
    let at = this.#entries[position * WORDS]! & mask;
    while (this.#table[at] !== 0) at = (at + 1) & mask;
    this.#table[at] = position + 1;
  }

  /** Closes the gaps, and grows unless they were many. */
  #makeRoom(): void {
    let room = ROOM_MIN;
    while (room * FULL_SHARE <= this.#size) room *= 2;
    const before = this.#entries;
    const entries = room * WORDS === before.length ? before : new Uint32Array(room * WORDS);
    let end = 0;
    for (let position = 0; position < this.#end; position++) {
      if (this.isHole(position)) continue;
      const from = position * WORDS;
      for (let word = 0; word < WORDS; word++) entries[end * WORDS + word] = before[from + word]!;
      end++;
    }
    this.#entries = entries;
    this.#end = end;
    this.#table = new Uint32Array((room * 4) / 3);
    for (let position = 0; position < end; position++) this.#enter(position);
  }
}
