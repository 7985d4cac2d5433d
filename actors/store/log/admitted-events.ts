// Brings into a revision log what an engine says was committed, by whomever: under a revision that is given, not taken. Writes
// no event records; where the store numbers its commits itself, revision-log.ts does all this.
import { keyChecksum } from '../../../storage/forms/key-checksum.ts';
import type { StoredValue } from '../../../storage/forms/stored-value.ts';
import type { SlabPool, SlabRoom } from '../../../storage/records/slab-pool.ts';
import {
  CREATED,
  DELETED,
  markStale,
  NO_SLAB,
  stampRevision,
  UPDATED,
  valueStart,
} from '../../../storage/records/slab-record.ts';
import type { Place } from '../protocol.ts';
import type { CurrentRecord } from './current-records.ts';
import { addToRuns, type RevisionLog } from './revision-log.ts';

/** Far more than may be on their way at once. */
const ANSWERS_KEPT = 256;

export class AdmittedEvents {
  readonly #log: RevisionLog;
  readonly #pool: SlabPool;
  #runs: number[] = [];
  /** Records that answers alone name. */
  readonly #answers: SlabRoom[] = [];

  constructor(log: RevisionLog, pool: SlabPool) {
    this.#log = log;
    this.#pool = pool;
  }

  /** Runs of the records written since the last call, as publications have them. */
  takeRuns(): readonly number[] {
    const runs = this.#runs;
    this.#runs = [];
    return runs;
  }

  /** An object that was there before anybody watched. */
  load(key: string, revision: number, value: StoredValue, isStale: boolean): void {
    this.#write(key, revision, value, { isStale, isTold: false }, undefined);
  }

  /** Takes back all that was loaded, which nobody has seen. */
  unload(): void {
    const { current, digests } = this.#log;
    for (const key of current.keys()) {
      const { slab, offset, revision } = current.get(key)!;
      this.#pool.release(slab, offset);
      digests.change(key, keyChecksum(key), revision, 0);
    }
    current.clear();
  }

  /** An object was created or changed. `isStale`: it lies in the engine in a form that is not written here any more. */
  put(key: string, revision: number, value: StoredValue, isStale: boolean): Place {
    const before = this.#log.current.get(key);
    const place = this.#write(key, revision, value, { isStale, isTold: true }, before);
    this.#remember(place, before);
    return place;
  }

  /**
   * An object was removed; undefined when there was none. Watches are shown what was current. `last`: what it was when it went, where
   * that is another: who removed it is answered with that.
   */
  remove(key: string, revision: number, last?: StoredValue): Place | undefined {
    const { current, digests } = this.#log;
    const before = current.get(key);
    if (before === undefined) return undefined;
    const place = { revision, ...this.#log.writeRemoval(before, revision) };
    current.delete(key);
    digests.change(key, keyChecksum(key), before.revision, 0);
    this.#remember(place, before);
    return last === undefined ? place : { revision, ...this.#writeLast(key, revision, last, before) };
  }

  #write(
    key: string,
    revision: number,
    value: StoredValue,
    { isStale, isTold }: { readonly isStale: boolean; readonly isTold: boolean },
    before: CurrentRecord | undefined,
  ): Place {
    const { current, digests } = this.#log;
    const bornRevision = value.bornRevision === 0 ? revision : value.bornRevision;
    // To readers an object begins with its first value that they are told, whatever could not be read before.
    const isNew = isTold && before === undefined;
    const type = bornRevision === revision || isNew ? CREATED : UPDATED;
    const room = this.#pool.write({ ...value, revision, bornRevision, type }, key, value.attributes, value.json);
    const slab = this.#pool.slab(room.slab);
    stampRevision(slab.bytes, valueStart(slab, room.offset) + value.revisionOffset, revision);
    if (isStale) markStale(slab, room.offset);
    const place = { revision, slab: room.slab, offset: room.offset };
    current.set(key, place);
    digests.change(key, keyChecksum(key), before?.revision ?? 0, revision);
    return place;
  }

  /** Nobody but who is answered reads it: it is kept until that has certainly been done. */
  #writeLast(key: string, revision: number, last: StoredValue, { bornRevision }: CurrentRecord): SlabRoom {
    const head = { ...last, revision, bornRevision, type: DELETED };
    const room = this.#pool.write(head, key, last.attributes, last.json);
    const slab = this.#pool.slab(room.slab);
    stampRevision(slab.bytes, valueStart(slab, room.offset) + last.revisionOffset, revision);
    this.#answers.push(room);
    const old = this.#answers.length > ANSWERS_KEPT ? this.#answers.shift() : undefined;
    if (old !== undefined) this.#pool.release(old.slab, old.offset);
    return room;
  }

  #remember(place: Place, before: CurrentRecord | undefined): void {
    this.#log.window.add(place, before?.slab ?? NO_SLAB, before?.offset ?? 0);
    addToRuns(this.#runs, place.slab, place.offset);
  }
}
