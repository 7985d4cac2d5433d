// A reader that takes its time: knows which records it may still read, and what their bytes were when it learnt of them.
import { crc32 } from 'node:zlib';
import type { PresentState, StoreBatch } from '../../../actors/store/protocol.ts';
import { forEachRecord } from '../../../storage/following/publication.ts';
import {
  DELETED,
  NO_SLAB,
  recordKey,
  recordLength,
  recordRevision,
  recordType,
  type Slab,
} from '../../../storage/records/slab-record.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';

interface HeldRecord {
  readonly slab: Slab;
  readonly offset: number;
  readonly checksum: number;
}

interface TrackedEvent {
  readonly revision: number;
  readonly key: string;
  place: string;
  readonly previous: string | undefined;
}

export class SlowReader {
  readonly #slabs: SlabView;
  /** Everything that the reported epoch lets it read. */
  #mayRead = new Map<string, HeldRecord>();
  #current = new Map<string, string>();
  #events: TrackedEvent[] = [];
  /** Places at which a second record was seen: the memory was used again. */
  reused = 0;

  constructor(slabs: SlabView) {
    this.#slabs = slabs;
  }

  /** Takes up a subscription. What it read before stays readable until `letGo`. */
  begin({ slabs, live, history, incarnation }: PresentState): void {
    this.#slabs.learn(slabs, incarnation);
    this.#current = new Map();
    this.#events = [];
    for (let i = 0; i < live.length; i += 2) {
      const place = this.#hold(live[i]!, live[i + 1]!);
      this.#current.set(recordKey(this.#slabs.slab(live[i]!), live[i + 1]!), place);
    }
    for (let i = 0; i < history.length; i += 4) {
      const [slab, offset, previousSlab, previousOffset] = history.slice(i, i + 4) as unknown as [
        number,
        number,
        number,
        number,
      ];
      this.#events.push({
        revision: recordRevision(this.#slabs.slab(slab), offset),
        key: recordKey(this.#slabs.slab(slab), offset),
        place: this.#hold(slab, offset),
        previous: previousSlab === NO_SLAB ? undefined : this.#hold(previousSlab, previousOffset),
      });
    }
  }

  apply(batch: StoreBatch): void {
    this.#slabs.learn(batch.newSlabs, batch.incarnation);
    forEachRecord(batch.runs, this.#slabs, (slab, number, offset) => {
      const key = recordKey(slab, offset);
      const place = this.#hold(number, offset);
      this.#events.push({ revision: recordRevision(slab, offset), key, place, previous: this.#current.get(key) });
      if (recordType(slab, offset) === DELETED) this.#current.delete(key);
      else this.#current.set(key, place);
    });
    forEachRecord(batch.movedRuns, this.#slabs, (slab, number, offset) => {
      const key = recordKey(slab, offset);
      const from = this.#current.get(key);
      const place = this.#hold(number, offset);
      for (const event of this.#events) if (event.place === from) event.place = place;
      this.#current.set(key, place);
    });
    this.#events = this.#events.filter(({ revision }) => revision > batch.compactedRevision);
  }

  /** Keeps only what is alive now: call it when reporting the epoch. */
  letGo(): void {
    const alive = new Set(this.#current.values());
    for (const { place, previous } of this.#events) {
      alive.add(place);
      if (previous !== undefined) alive.add(previous);
    }
    this.#mayRead = new Map([...this.#mayRead].filter(([place]) => alive.has(place)));
  }

  /** How many of the records it may read are not what they were. */
  overwritten(): number {
    let count = 0;
    for (const { slab, offset, checksum } of this.#mayRead.values()) {
      if (checksumAt(slab, offset) !== checksum) count++;
    }
    return count;
  }

  #hold(number: number, offset: number): string {
    const place = `${number}/${offset}`;
    const slab = this.#slabs.slab(number);
    const checksum = checksumAt(slab, offset);
    const known = this.#mayRead.get(place);
    if (known === undefined) {
      if (this.#seen.has(place)) this.reused++;
      this.#seen.add(place);
      this.#mayRead.set(place, { slab, offset, checksum });
    }
    return place;
  }

  readonly #seen = new Set<string>();
}

function checksumAt(slab: Slab, offset: number): number {
  return crc32(slab.bytes.subarray(offset, offset + recordLength(slab, offset)));
}
