// What is current: the record of each key that has an object. An index over the slabs, so that it costs some 24 bytes an object;
// what else there is to know of a record is read from it. Walked in the order in which keys came.
import { ByType } from '../../storage/by-type.ts';
import { nameHash } from '../../storage/name-hash.ts';
import { RecordIndex, type SlabsByNumber } from '../../storage/record-index.ts';
import { hasKey, recordBornRevision, recordKey, recordRevision } from '../../storage/slab-record.ts';
import type { Place } from './protocol.ts';

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

  /** Slab and offset of the objects of some types, or of all, two numbers each; those of the type `first` before all others. */
  places(types?: readonly string[], first?: string): Uint32Array {
    const firstType = first === undefined ? undefined : this.#types.get(first);
    if (types === undefined) return this.#index.places(undefined, firstType);
    const isWanted = new Uint8Array(this.#types.size);
    for (const type of types) {
      const number = this.#types.get(type);
      if (number !== undefined) isWanted[number] = 1;
    }
    return this.#index.places(isWanted, firstType);
  }

  #hashOf(key: string): number {
    if (key !== this.#lastKey) {
      this.#lastKey = key;
      this.#lastHash = nameHash(key);
    }
    return this.#lastHash;
  }
}
