// The history that a start reads, as a few numbers an event: the events where they lie in their records, and how each key's states
// are walked back through.
import { type LoggedEvent, loggedEvent, loggedRevision } from '../../../storage/records/event-log.ts';
import type { SlabRoom } from '../../../storage/records/slab-pool.ts';
import { NO_SLAB } from '../../../storage/records/slab-record.ts';
import type { CurrentRecords } from './current-records.ts';

/** Events in the order of their records; each is read when it is asked for. */
export class LoggedEvents {
  readonly #records: Buffer[] = [];
  readonly #recordOf: number[] = [];
  readonly #offsets: number[] = [];
  /** Of the event before each in its record. */
  readonly #before: number[] = [];

  get length(): number {
    return this.#offsets.length;
  }

  /** The next event, by where in its record it lies, and the one before it. */
  add(record: Buffer, offset: number, before: number): void {
    if (this.#records.at(-1) !== record) this.#records.push(record);
    this.#recordOf.push(this.#records.length - 1);
    this.#offsets.push(offset);
    this.#before.push(before);
  }

  at(index: number): LoggedEvent {
    return loggedEvent(this.#records[this.#recordOf[index]!]!, this.#offsets[index]!, this.#before[index]!);
  }

  revisionAt(index: number): number {
    return loggedRevision(this.#records[this.#recordOf[index]!]!, this.#offsets[index]!);
  }
}

/** What each key was after the event that is looked at, while events are walked from the newest to the oldest. */
export class EarlierStates {
  /** Of keys that there are now, by position: slab and offset. */
  readonly #places: Uint32Array;
  /** Of keys that are gone. */
  readonly #gone = new Map<string, SlabRoom | undefined>();

  /** `current`: none of whose keys has been removed yet, so that positions are without gaps. */
  constructor(current: CurrentRecords) {
    this.#places = current.places();
  }

  /** Where the record lies; undefined when there was no object. `position`: of the key, -1 when it is gone now. */
  of(key: string, position: number): SlabRoom | undefined {
    if (position < 0) return this.#gone.get(key);
    const slab = this.#places[position * 2]!;
    return slab === NO_SLAB ? undefined : { slab, offset: this.#places[position * 2 + 1]! };
  }

  set(key: string, position: number, room: SlabRoom | undefined): void {
    if (position < 0) {
      this.#gone.set(key, room);
      return;
    }
    this.#places[position * 2] = room?.slab ?? NO_SLAB;
    this.#places[position * 2 + 1] = room?.offset ?? 0;
  }
}
