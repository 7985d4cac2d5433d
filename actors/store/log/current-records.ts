// What is current: the record of each key that has an object. An index over the slabs, so that it costs some 24 bytes an object;
// what else there is to know of a record is read from it. Walked in the order in which keys came.
import { ByType } from '../../../storage/by-type.ts';
import { nameHash } from '../../../storage/name-hash.ts';
import { type PlacesInOrder, RecordIndex, type SlabsByNumber } from '../../../storage/records/record-index.ts';
import { hasKey, recordBornRevision, recordKey, recordRevision } from '../../../storage/records/slab-record.ts';
import type { FirstObjects, Place } from '../protocol.ts';

/** The current state of one key. */
export interface CurrentRecord extends Place {
  readonly bornRevision: number;
}

export class CurrentRecords {
  readonly #slabs: SlabsByNumber;
  readonly #index: RecordIndex;
  /** Types are told apart by numbers. */
  readonly #types: ByType<number> = new ByType(() => this.#types.size);
  /** What was asked about last: a write asks about its key several times. */
  #lastKey = '';
  #lastHash = nameHash('');

  constructor(slabs: SlabsByNumber) {
    this.#slabs = slabs;
    this.#index = new RecordIndex(slabs, hasKey);
  }

  get size(): number {
    return this.#index.size;
  }

  has(key: string): boolean {
    return this.position(key) >= 0;
  }

  get(key: string): CurrentRecord | undefined {
    const position = this.position(key);
    return position < 0 ? undefined : this.#at(position);
  }

  /** The revision of the last change; 0 where there is no object. */
  revisionOf(key: string): number {
    const position = this.position(key);
    return position < 0 ? 0 : this.revisionAt(position);
  }

  revisionAt(position: number): number {
    return recordRevision(this.#slabs.slab(this.#index.slabAt(position)), this.#index.offsetAt(position));
  }

  /** A record that lies in its slab already. Returns its position. */
  set(key: string, { slab, offset }: { readonly slab: number; readonly offset: number }): number {
    return this.#index.put(key, this.#hashOf(key), slab, offset, this.#types.of(key));
  }

  delete(key: string): void {
    this.#index.remove(key, this.#hashOf(key));
  }

  clear(): void {
    this.#index.clear();
  }

  /** Where in the order a key is; -1 where there is no object. Good until another key comes. */
  position(key: string): number {
    return this.#index.find(key, this.#hashOf(key));
  }

  #at(position: number): CurrentRecord {
    const number = this.#index.slabAt(position);
    const offset = this.#index.offsetAt(position);
    const slab = this.#slabs.slab(number);
    return {
      revision: recordRevision(slab, offset),
      slab: number,
      offset,
      bornRevision: recordBornRevision(slab, offset),
    };
  }

  *keys(): Generator<string> {
    for (const { slab, offset } of this.values()) yield recordKey(this.#slabs.slab(slab), offset);
  }

  *values(): Generator<CurrentRecord> {
    for (let position = 0; position < this.#index.end; position++)
      if (!this.#index.isHole(position)) yield this.#at(position);
  }

  /** Slab and offset of all objects, two numbers each. */
  places(): Uint32Array {
    return this.#index.places().places;
  }

  /** Those of some types, or all; some of them before all others. */
  placesInOrder(types: readonly string[] | undefined, first: FirstObjects | undefined): PlacesInOrder {
    return this.#index.places(types && this.#marksOf(types), first && this.#positionsOf(first));
  }

  /** By the types' numbers: 1 for each of these. */
  #marksOf(types: readonly string[]): Uint8Array {
    const marks = new Uint8Array(this.#types.size);
    for (const type of types) {
      const number = this.#types.get(type);
      if (number !== undefined) marks[number] = 1;
    }
    return marks;
  }

  /** By position: 1 for each of these. */
  #positionsOf({ types = [], keys = [] }: FirstObjects): Uint8Array {
    const ofType = this.#marksOf(types);
    const marks = new Uint8Array(this.#index.end);
    for (let position = 0; position < marks.length; position++) marks[position] = ofType[this.#index.tagAt(position)]!;
    for (const key of keys) {
      const position = this.position(key);
      if (position >= 0) marks[position] = 1;
    }
    return marks;
  }

  #hashOf(key: string): number {
    if (key !== this.#lastKey) {
      this.#lastKey = key;
      this.#lastHash = nameHash(key);
    }
    return this.#lastHash;
  }
}
