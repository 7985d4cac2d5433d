// The store's side of the slabs: hands out room for records, counts what is live in each slab, and reuses a slab when
// nothing in it is live and every reader has let go. Shared buffers are never dropped: V8 does not count their bytes, so
// dropped ones pile up.

import { copyBytes } from '../../values/copy-bytes.ts';
import type { SharedState } from '../shared-state.ts';
import { mapSlab, type RecordFields, recordBytes, recordLength, type Slab, writeRecordHead } from './slab-record.ts';

export interface SlabRoom {
  readonly slab: number;
  readonly offset: number;
}

interface SlabUse {
  readonly slab: Slab;
  /** Bytes of records that are current or inside the history window. */
  liveBytes: number;
  /** Where the next record goes. */
  end: number;
  state: 'open' | 'sealed' | 'retired' | 'free';
  /** Was full already when `sparse` last looked. */
  settled: boolean;
}

interface RetiredSlab {
  readonly slab: number;
  readonly sequence: number;
}

export class SlabPool {
  readonly #uses: SlabUse[] = [];
  readonly #slabBytes: number;
  readonly #shared: SharedState;
  /** Slabs nobody may need any more, with the publication that said so. */
  #retired: RetiredSlab[] = [];
  #free: number[] = [];
  #open = -1;

  constructor(slabBytes: number, shared: SharedState) {
    this.#slabBytes = slabBytes;
    this.#shared = shared;
  }

  get count(): number {
    return this.#uses.length;
  }

  /** Bytes of shared memory held. */
  get reservedBytes(): number {
    return this.#uses.reduce((sum, use) => sum + use.slab.memory.byteLength, 0);
  }

  get liveBytes(): number {
    return this.#uses.reduce((sum, use) => sum + use.liveBytes, 0);
  }

  slab(number: number): Slab {
    return this.#uses[number]!.slab;
  }

  memories(from = 0): (readonly [number, SharedArrayBuffer])[] {
    return this.#uses.slice(from).map((use, index) => [from + index, use.slab.memory] as const);
  }

  /** Room for a record of `length` bytes, counted as live from now on. */
  allocate(length: number): SlabRoom {
    let use = this.#uses[this.#open];
    if (use === undefined || use.end + length > use.slab.memory.byteLength) {
      if (use !== undefined) use.state = 'sealed';
      this.#open = this.#take(length);
      use = this.#uses[this.#open]!;
    }
    const offset = use.end;
    use.end += length;
    use.liveBytes += length;
    return { slab: this.#open, offset };
  }

  /**
   * Writes a record, counted as live from now on. The value is copied as it is: who changes the revision stamps the slot in
   * it too (`stampRevision`).
   */
  write(fields: RecordFields, key: string, attributes: string, value: Uint8Array): SlabRoom {
    const keyBytes = Buffer.byteLength(key);
    const attributesBytes = Buffer.byteLength(attributes);
    const valueBytes = value.byteLength;
    const length = recordBytes(keyBytes, attributesBytes, valueBytes);
    const room = this.allocate(length);
    const slab = this.slab(room.slab);
    const at = writeRecordHead(
      slab,
      room.offset,
      length,
      fields,
      key,
      keyBytes,
      attributes,
      attributesBytes,
      valueBytes,
    );
    copyBytes(slab.bytes, at, value);
    return room;
  }

  /** The record at this place is no longer current nor in the history window. */
  release(slab: number, offset: number): void {
    const use = this.#uses[slab]!;
    use.liveBytes -= recordLength(use.slab, offset);
  }

  /** Retires sealed slabs without live records: reusable once readers have applied publication `sequence`. */
  retireEmpty(sequence: number): void {
    for (let number = 0; number < this.#uses.length; number++) {
      const use = this.#uses[number]!;
      if (use.state !== 'sealed' || use.liveBytes > 0) continue;
      use.state = 'retired';
      this.#retired.push({ slab: number, sequence });
    }
  }

  /**
   * Sealed slabs of which at most `share` (0..1) is live: worth moving the rest out of. One that was still being filled at
   * the last look is left alone: an answer that names a record just written there may be on its way.
   */
  sparse(share: number): number[] {
    const found: number[] = [];
    this.#uses.forEach((use, number) => {
      if (use.state !== 'sealed') return;
      if (this.isSparse(number, share)) found.push(number);
      use.settled = true;
    });
    return found;
  }

  /** Whether `sparse` would still find the slab. */
  isSparse(number: number, share: number): boolean {
    const { state, settled, liveBytes, slab } = this.#uses[number]!;
    return state === 'sealed' && settled && liveBytes > 0 && liveBytes <= slab.memory.byteLength * share;
  }

  /** Where records of a slab begin and end, for walking them. */
  usedBytes(slab: number): number {
    return this.#uses[slab]!.end;
  }

  /** The smallest free slab that fits, so that large ones are left to large records; else a new one. */
  #take(length: number): number {
    this.#reclaim();
    const number = this.#smallestFree(length);
    if (number !== undefined) {
      this.#free.splice(this.#free.indexOf(number), 1);
      const use = this.#uses[number]!;
      use.end = 0;
      use.liveBytes = 0;
      use.state = 'open';
      use.settled = false;
      return number;
    }
    // An object larger than a slab gets one of its own, rounded up so that the next such object can reuse it.
    const bytes = length <= this.#slabBytes ? this.#slabBytes : 2 ** Math.ceil(Math.log2(length));
    this.#uses.push({
      slab: mapSlab(new SharedArrayBuffer(bytes)),
      liveBytes: 0,
      end: 0,
      state: 'open',
      settled: false,
    });
    return this.#uses.length - 1;
  }

  #smallestFree(length: number): number | undefined {
    let smallest: number | undefined;
    let smallestBytes = Number.POSITIVE_INFINITY;
    for (const number of this.#free) {
      const { byteLength } = this.#uses[number]!.slab.memory;
      if (byteLength < length || byteLength >= smallestBytes) continue;
      smallest = number;
      smallestBytes = byteLength;
    }
    return smallest;
  }

  #reclaim(): void {
    if (this.#retired.length === 0) return;
    const epoch = this.#shared.lowestEpoch();
    const kept: RetiredSlab[] = [];
    for (const retired of this.#retired) {
      if (retired.sequence > epoch) {
        kept.push(retired);
        continue;
      }
      this.#uses[retired.slab]!.state = 'free';
      this.#free.push(retired.slab);
    }
    this.#retired = kept;
  }
}
