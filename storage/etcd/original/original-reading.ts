// What etcd tells in the original's layout, as the store is told it: values of others are read into our stored form, a commit of this
// process is known by its counter and told in the form that it had. Keeps the ranges and the services' claims up with what is told,
// in its order.

import { unreadable, unreadableIn } from '../../encryption/sealed-value.ts';
import type { Follower, SharedEvent, SharedTransaction, SharedValue } from '../../engines/shared-engine.ts';
import { decodeStored } from '../../forms/stored-json.ts';
import { readStoredValue } from '../../forms/stored-value.ts';
import { parseKey } from '../../object-key.ts';
import type { EtcdEvent, EtcdPair } from '../etcd-cluster.ts';
import type { OriginalForms } from './original-forms.ts';
import { type OriginalKeys, RANGES_AS, SERVICES } from './original-keys.ts';
import type { PlannedWrite } from './original-writes.ts';
import type { RangeAllocations, RangeBits } from './range-allocation.ts';
import { RecordsOfView } from './records-of-view.ts';
import type { ServiceRanges } from './service-ranges.ts';

/** A commit of this process whose outcome is not known yet. */
export interface Flight {
  /** The key that tells it from others. */
  readonly counter: string;
  readonly transaction: SharedTransaction;
  readonly planned: PlannedWrite;
}

export interface OriginalReadingParts {
  readonly keys: OriginalKeys;
  readonly forms: OriginalForms;
  readonly ranges: ServiceRanges;
  readonly allocations: RangeAllocations;
}

export class OriginalReading {
  readonly #parts: OriginalReadingParts;
  readonly #flights = new Map<string, Flight>();

  constructor(parts: OriginalReadingParts) {
    this.#parts = parts;
  }

  begin(flight: Flight): void {
    this.#flights.set(flight.counter, flight);
  }

  end({ counter }: Flight): void {
    this.#flights.delete(counter);
  }

  /** What was read so far is void. */
  clear(): void {
    this.#parts.ranges.clear();
  }

  /**
   * The events of one revision, as `FeedView.arrived` has it. Whose they are is found out at once: when they are read, their commit
   * may have been answered, and its counter raised by the next. Reading throws, or rejects with, OrchError StoreUnusable.
   */
  arrived(
    events: readonly EtcdEvent[],
    revision: number,
  ): () => readonly SharedEvent[] | Promise<readonly SharedEvent[]> {
    const flight = this.#flightOf(events);
    if (flight === undefined) return () => this.#read(events, revision);
    return () => (events.some(({ key }) => key.startsWith(`${flight.counter}/`)) ? [] : this.own(flight, revision));
  }

  /** A commit of this process that held, as it was formed here. */
  own({ transaction, planned }: Flight, revision: number): readonly SharedEvent[] {
    this.#parts.ranges.wrote(planned.rangeWrites, revision);
    return transaction.writes.map(({ key, value, last }): SharedEvent => {
      this.#noteService(key, value);
      return { key, value, place: undefined, ...(last && { last }) };
    });
  }

  /** One pair of the state that is there at the start. */
  async load(pair: EtcdPair, follower: Follower): Promise<void> {
    const { ranges, forms } = this.#parts;
    const { key: path, modRevision, value } = pair;
    if (ranges.isRange(path)) {
      ranges.told(path, await this.#rangeOf(path, value), modRevision);
      return;
    }
    let values: readonly SharedValue[];
    try {
      values = await this.valuesAt(pair);
    } catch (error) {
      if (follower.unreadable === undefined || unreadableIn(error) === undefined) throw error;
      const key = this.#parts.keys.keyOf(path)!;
      ranges.serviceUnread(key);
      follower.unreadable(key, error, () => this.valuesAt(pair));
      return;
    }
    for (const read of values) {
      this.#noteService(read.key, read.value);
      await follower.value(read.key, modRevision, read.value, forms.isStale(read.key, value));
    }
  }

  /** What a pair is of ours; nothing where it is none of ours. */
  async valuesAt({ key: path, createRevision, modRevision, value }: EtcdPair): Promise<readonly SharedValue[]> {
    const { keys, forms } = this.#parts;
    const key = keys.keyOf(path);
    const read = key === undefined ? undefined : await forms.read(key, path, value, createRevision);
    return key === undefined || read === undefined ? [] : [{ key, modRevision, value: read }];
  }

  /** The records that are there at a revision up to which all was read, for a view of it. */
  recordsAt(revision: number): RecordsOfView {
    return new RecordsOfView(this.#parts.ranges, revision);
  }

  #read(events: readonly EtcdEvent[], revision: number): readonly SharedEvent[] | Promise<readonly SharedEvent[]> {
    const read = events.map((event) => this.#readOne(event, revision));
    if (!read.some((one) => one instanceof Promise)) return (read as readonly (readonly SharedEvent[])[]).flat();
    return Promise.all(read).then((all) => all.flat());
  }

  #readOne(event: EtcdEvent, revision: number): readonly SharedEvent[] | Promise<readonly SharedEvent[]> {
    const { keys, forms, ranges } = this.#parts;
    const { key: path, createRevision, value } = event;
    if (ranges.isRange(path)) return this.#readRange(path, value, revision);
    const key = keys.keyOf(path);
    if (key === undefined) return [];
    const told = (read: Uint8Array | undefined): readonly SharedEvent[] => {
      if (read === undefined && value !== undefined && !keys.isMasterLease(key)) {
        const error = unreadable(path, 'it is no object');
        return [{ key, value: undefined, place: undefined, unread: { error, lookAgain: again, mayBeNone: true } }];
      }
      this.#noteService(key, read);
      const isStale = value !== undefined && forms.isStale(key, value);
      return [{ key, value: read, place: undefined, isStale }];
    };
    if (value === undefined) return told(undefined);
    const again = (): ReturnType<OriginalForms['read']> => forms.read(key, path, value, createRevision);
    const unread = (error: unknown): readonly SharedEvent[] => {
      if (unreadableIn(error) === undefined) throw error;
      ranges.serviceUnread(key);
      return [{ key, value: undefined, place: undefined, unread: { error, lookAgain: again } }];
    };
    try {
      const found = again();
      return found instanceof Promise ? found.then(told, unread) : told(found);
    } catch (error) {
      return unread(error);
    }
  }

  #readRange(
    path: string,
    value: Uint8Array | undefined,
    revision: number,
  ): readonly SharedEvent[] | Promise<readonly SharedEvent[]> {
    const { ranges } = this.#parts;
    if (value === undefined) return ranges.told(path, undefined, revision);
    const told = (state: RangeBits): readonly SharedEvent[] => ranges.told(path, state, revision);
    // What is given out then is not known here: who would give out more finds the range changed.
    const unread = (error: unknown): readonly SharedEvent[] => {
      if (unreadableIn(error) === undefined) throw error;
      return [];
    };
    try {
      const state = this.#rangeOf(path, value);
      return state instanceof Promise ? state.then(told, unread) : told(state);
    } catch (error) {
      return unread(error);
    }
  }

  #rangeOf(path: string, value: Uint8Array): RangeBits | Promise<RangeBits> {
    const { forms, allocations } = this.#parts;
    const plain = forms.open(RANGES_AS, path, value);
    return plain instanceof Promise ? plain.then((one) => allocations.read(one)) : allocations.read(plain);
  }

  #flightOf(events: readonly EtcdEvent[]): Flight | undefined {
    for (const { key } of events) {
      const flight = this.#flights.get(key);
      if (flight !== undefined) return flight;
    }
    return undefined;
  }

  #noteService(key: string, stored: Uint8Array | undefined): void {
    if (parseKey(key).storageKey !== SERVICES) return;
    const value = stored === undefined ? undefined : readStoredValue(key, stored);
    this.#parts.ranges.noteService(key, value === undefined ? undefined : decodeStored(value.json));
  }
}
