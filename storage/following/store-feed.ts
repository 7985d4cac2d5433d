// The stored objects of some types as a stream of changes, for actors that follow the store without being a hub
// (scheduler, controllers). Owns the reader's epoch; reads records straight from shared memory, and parses an object
// only when asked to.

import type { JsonObject } from '../../api/json/json-value.ts';
import { parseKey } from '../object-key.ts';
import type { RecordPlace } from '../records/followed-records.ts';
import { ParsedRecords } from '../records/parsed-records.ts';
import { fieldIs } from '../records/record-fields.ts';
import { mayBeTied, mayHaveMember, recordUid, uidEnd, uidStart } from '../records/record-head.ts';
import { parseFollowed } from '../records/record-reading.ts';
import {
  CREATED,
  DELETED,
  keyBeginsWith,
  keyEndsWith,
  recordKey,
  recordRevision,
  recordType,
  type Slab,
  valueView,
} from '../records/slab-record.ts';
import type { SlabView } from '../records/thread-slabs.ts';
import { SharedState } from '../shared-state.ts';
import { forEachRecord, type PresentState, type Publication } from './publication.ts';

/** An object where it lies: may be parsed until its next event, or until `onMoved` tells of it anew. */
export interface KeptRecord {
  readonly revision: number;
  object(): Record<string, unknown>;
}

/** One object as of the present state, or one change after it, and where its record lies, for an index of records. */
export interface FeedEvent extends RecordPlace {
  /** `present`: in the present state. `put`: created or changed. `delete`: removed; `object()` is its last state. */
  readonly type: 'present' | 'put' | 'delete';
  /** ResourceType.storageKey, such as `core/pods`. */
  readonly storageKey: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /**
   * The object, parsed once for all who follow the store on the thread: not to be changed. Call this and the methods below
   * within the callback: the record may be gone afterwards.
   */
  object(): JsonObject;
  /** What `parse` makes of the object's JSON, which is without managedFields: for who needs a part of it. */
  parsed<T>(parse: (text: string) => T): T;
  /** metadata.uid, read from the record without parsing it; empty when there is none. */
  uid(): string;
  hasUid(): boolean;
  /** False: nobody owns the object, and its deletion waits for no finalizer; answered without parsing it. */
  mayBeTied(): boolean;
  /** For `put`: there was no such object before. */
  isCreation(): boolean;
  /** Whether this is the object's name: cheaper than reading it. */
  isNamed(name: string): boolean;
  /**
   * True when a field that its type lets clients select by has this text (`fieldText`). `index`: among KnownType.storedFields.
   */
  fieldIs(index: number, text: Buffer): boolean;
  /** False: no member of the object has this name, at any depth, behind the first of its metadata. `quotedName`: in quotes. */
  mayHave(quotedName: Buffer): boolean;
  /** For who may want to parse the object later. */
  kept(): KeptRecord;
}

/**
 * Turns `storeBatch` messages into FeedEvents. The actor subscribes (`store.ask({type: 'subscribe', …})`), gives the
 * reply to `begin`, then every `storeBatch` to `apply`; on `storeLost` it begins again with a new present state.
 */
export interface StoreFeed {
  /**
   * Calls back `present` for every live object of the wanted types: each time the iterator is asked for `partObjects` of them, or
   * all; where some come before all others, first for those. Nothing may be applied before all are told; who begins anew leaves the
   * rest.
   */
  begin(present: PresentState, partObjects?: number): Iterator<void, void>;
  /** Calls back `put` and `delete`, in order of revision. */
  apply(batch: Publication): void;
}

export interface StoreFeedOptions {
  /** The slabs of the store its owner follows: `ThreadSlabs.of(context).viewOf(context.name)`. */
  readonly slabs: SlabView;
  /** Those of the thread, where several follow the store. */
  readonly parsed?: ParsedRecords;
  /** Only objects of these types (ResourceType.storageKey); undefined: all. */
  readonly storageKeys?: readonly string[];
  readonly onEvent: (event: FeedEvent) => void;
  /** For who keeps records: the object is as it was, and lies elsewhere. The event's type says nothing. */
  readonly onMoved?: (event: FeedEvent) => void;
}

class LyingRecord implements KeptRecord {
  readonly #slab: Slab;
  readonly #offset: number;

  constructor(slab: Slab, offset: number) {
    this.#slab = slab;
    this.#offset = offset;
  }

  get revision(): number {
    return recordRevision(this.#slab, this.#offset);
  }

  object(): Record<string, unknown> {
    return JSON.parse(valueView(this.#slab, this.#offset).toString('utf8')) as Record<string, unknown>;
  }
}

/** What the keys of some objects begin with. */
interface Room {
  readonly prefix: Buffer;
  readonly storageKey: string;
  readonly namespace: string;
}

function roomOf(slab: Slab, offset: number): Room {
  const key = recordKey(slab, offset);
  const { storageKey, namespace } = parseKey(key);
  return { prefix: Buffer.from(`${storageKey}/${namespace}/`), storageKey, namespace };
}

/** An event over the record it lies in. */
class RecordEvent implements FeedEvent {
  readonly type: FeedEvent['type'];
  readonly storageKey: string;
  readonly namespace: string;
  readonly revision: number;
  readonly slab: Slab;
  readonly slabNumber: number;
  readonly offset: number;
  readonly #room: Room;
  readonly #records: ParsedRecords;
  #name: string | undefined;

  constructor(
    type: FeedEvent['type'],
    room: Room,
    slab: Slab,
    slabNumber: number,
    offset: number,
    parsed: ParsedRecords,
  ) {
    this.type = type;
    this.storageKey = room.storageKey;
    this.namespace = room.namespace;
    this.revision = recordRevision(slab, offset);
    this.slab = slab;
    this.slabNumber = slabNumber;
    this.offset = offset;
    this.#room = room;
    this.#records = parsed;
  }

  /** Most who are told of an object do not ask for it. */
  get name(): string {
    this.#name ??= recordKey(this.slab, this.offset, this.#room.prefix.length);
    return this.#name;
  }

  object(): JsonObject {
    return this.#records.object(this.slab, this.offset);
  }

  parsed<T>(parse: (text: string) => T): T {
    return parseFollowed(this.slab, this.offset, parse);
  }

  uid(): string {
    return recordUid(this.slab, this.offset);
  }

  hasUid(): boolean {
    return uidStart(this.slab, this.offset) < uidEnd(this.slab, this.offset);
  }

  mayBeTied(): boolean {
    return mayBeTied(this.slab, this.offset);
  }

  isCreation(): boolean {
    return recordType(this.slab, this.offset) === CREATED;
  }

  isNamed(name: string): boolean {
    return keyEndsWith(this.slab, this.offset, this.#room.prefix.length, name);
  }

  fieldIs(index: number, text: Buffer): boolean {
    return fieldIs(this.slab, this.offset, index, text);
  }

  mayHave(quotedName: Buffer): boolean {
    return mayHaveMember(this.slab, this.offset, quotedName);
  }

  kept(): KeptRecord {
    return new LyingRecord(this.slab, this.offset);
  }
}

/** See StoreFeed. */
export function createStoreFeed(options: StoreFeedOptions): StoreFeed {
  const { slabs, onEvent, onMoved, parsed = new ParsedRecords() } = options;
  const wanted = options.storageKeys?.map((storageKey) => Buffer.from(`${storageKey}/`));
  let shared: SharedState | undefined;
  let readerSlot = 0;

  const isWanted = (slab: Slab, offset: number): boolean => {
    if (wanted === undefined) return true;
    for (const prefix of wanted) if (keyBeginsWith(slab, offset, prefix)) return true;
    return false;
  };
  /** Of the last object that was wanted: most are of the same type and namespace. */
  let room: Room = { prefix: Buffer.from('//'), storageKey: '', namespace: '' };

  const deliver = (slab: Slab, slabNumber: number, offset: number, isPresent: boolean, to = onEvent): void => {
    if (!keyBeginsWith(slab, offset, room.prefix)) {
      if (!isWanted(slab, offset)) return;
      room = roomOf(slab, offset);
    }
    const type = isPresent ? 'present' : recordType(slab, offset) === DELETED ? 'delete' : 'put';
    to(new RecordEvent(type, room, slab, slabNumber, offset, parsed));
  };

  function* begin(present: PresentState, partObjects = Number.POSITIVE_INFINITY): Generator<void, void> {
    slabs.learn(present.slabs, present.incarnation);
    const state = new SharedState(present.sharedState);
    const { live, first, readerSlot: slot } = present;
    let left = first > 0 ? first : partObjects;
    for (let i = 0; i < live.length; i += 2) {
      if (left-- === 0) {
        yield;
        left = partObjects - 1;
      }
      deliver(slabs.slab(live[i]!), live[i]!, live[i + 1]!, true);
    }
    shared = state;
    readerSlot = slot;
    state.setReaderEpoch(slot, present.sequence);
  }

  return {
    begin,
    apply(batch) {
      slabs.learn(batch.newSlabs, batch.incarnation);
      forEachRecord(batch.runs, slabs, (slab, number, offset) => deliver(slab, number, offset, false));
      if (onMoved !== undefined)
        forEachRecord(batch.movedRuns, slabs, (slab, number, offset) => deliver(slab, number, offset, true, onMoved));
      // Everything was read within this turn: no record is held but those of live objects, which stay where they were told to be.
      shared?.setReaderEpoch(readerSlot, batch.sequence);
    },
  };
}
