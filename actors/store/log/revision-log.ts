// The store's decisions, without any I/O: which transactions hold, which revisions they get, what is current, what the
// history window keeps. Forms one batch at a time: writes its records into slabs and its stored bytes into scratch memory
// for the engine. Nothing it forms may be shown to anyone before the engine has made the batch durable.
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { EngineWrite } from '../../../storage/engines/local-engine.ts';
import { keyChecksum } from '../../../storage/forms/key-checksum.ts';
import {
  clearRevisions,
  isPlainForm,
  type StorageMedia,
  storedValueBytesMax,
  storedValueChecksum,
  writeStoredValue,
} from '../../../storage/forms/stored-value.ts';
import { LiveDigests } from '../../../storage/live-digest.ts';
import { EventRecordWriter } from '../../../storage/records/event-log.ts';
import type { SlabPool, SlabRoom } from '../../../storage/records/slab-pool.ts';
import {
  CREATED,
  DELETED,
  itemOffset,
  NO_SLAB,
  type RecordType,
  recordAttributes,
  recordKey,
  recordLength,
  recordSchemaGeneration,
  restampRecord,
  revisionOffset,
  stampRevision,
  UPDATED,
  valueStart,
  valueView,
} from '../../../storage/records/slab-record.ts';
import type { Place, PublishedPlace, PutOperation, Transaction, TransactionResult } from '../protocol.ts';
import { type CurrentRecord, CurrentRecords } from './current-records.ts';
import { HistoryWindow } from './history-window.ts';
import { refusalOf } from './transaction-check.ts';

/** A batch ready for the engine. `writes` and `events` are valid until the next batch is formed. */
export interface FormedBatch {
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly writes: readonly EngineWrite[];
  readonly events: Uint8Array;
  /** Runs of the records written, as StoreBatch publishes them. */
  readonly runs: readonly number[];
}

/** What a batch being formed began from: `retract` goes back to it. */
interface BatchStart {
  readonly revision: number;
  readonly lastChecksum: number;
  readonly events: number;
  /** Every key written, with what was current before, in order. */
  readonly replaced: (readonly [key: string, before: CurrentRecord | undefined])[];
}

/** Scratch memory grows up to here with the batches, beyond it only for a value that is larger. */
const SCRATCH_BYTES_KEPT = 2 * 1024 * 1024;

export class RevisionLog {
  readonly current: CurrentRecords;
  readonly window: HistoryWindow;
  revision = 0;
  compactedRevision = 0;
  /** Checksum of the last event record. */
  lastChecksum = 0;
  /** Of `current`. */
  readonly digests = new LiveDigests();
  /** Recovery found values in the history that are not written in their form any more. */
  hasStaleHistory = false;

  readonly #pool: SlabPool;
  readonly #media: StorageMedia;
  readonly #incarnation: number;
  readonly #encryption: StoredEncryption | undefined;
  /** By key: current values that a start found in another form than they would be written in now, unencrypted. */
  readonly #foundForms = new Map<string, Buffer>();
  readonly #events = new EventRecordWriter();
  #scratch = Buffer.allocUnsafeSlow(256 * 1024);
  #scratchEnd = 0;
  #writes: (EngineWrite & { readonly value: Buffer | undefined })[] = [];
  #runs: number[] = [];
  #start: BatchStart = { revision: 0, lastChecksum: 0, events: 0, replaced: [] };

  readonly #revisionOf = (key: string): number => this.current.revisionOf(key);

  /**
   * `encryption`: what goes to disk passes through it; slabs hold values as they are. `incarnation`: of the store, for the
   * places it answers with.
   */
  constructor(pool: SlabPool, media: StorageMedia, encryption?: StoredEncryption, incarnation = 0) {
    this.#incarnation = incarnation;
    this.window = new HistoryWindow(pool);
    this.current = new CurrentRecords(pool);
    this.#pool = pool;
    this.#media = media;
    this.#encryption = encryption;
  }

  /**
   * The unencrypted form in which recovery found the current value of a key. Events may tell earlier values by it, so the event of
   * its next change is to hold exactly that.
   */
  foundAs(key: string, form: Buffer): void {
    const again = this.#formOf(key, this.current.get(key)!);
    if (storedValueChecksum(again) !== storedValueChecksum(form)) this.#foundForms.set(key, form);
  }

  /** The engine has no events any more up to a revision: what such events wrote need not be told any more. */
  forgetFound(upToRevision: number): void {
    for (const [key, form] of this.#foundForms) {
      if (clearRevisions(form).revision <= upToRevision) this.#foundForms.delete(key);
    }
  }

  /** Starts a batch. */
  begin(): void {
    this.#events.begin();
    this.#scratchEnd = 0;
    this.#writes = [];
    this.#runs = [];
    const { revision, lastChecksum } = this;
    this.#start = { revision, lastChecksum, events: this.window.length, replaced: [] };
  }

  /** Takes back everything since `begin`: the batch was not stored, and nobody has seen it. */
  retract(): void {
    const { revision, lastChecksum, events, replaced } = this.#start;
    this.window.retract(this.window.length - events);
    for (const [key, before] of [...replaced].reverse()) {
      const written = this.current.get(key);
      if (written !== undefined) this.#pool.release(written.slab, written.offset);
      const checksum = keyChecksum(key);
      this.digests.retract(key, checksum, written?.revision ?? 0, before?.revision ?? 0);
      this.#setCurrent(key, before);
    }
    this.revision = revision;
    this.lastChecksum = lastChecksum;
    this.begin();
  }

  /** The transactions of one message, in their order. */
  applyEach(transactions: readonly Transaction[], payload: Uint8Array): readonly TransactionResult[] {
    const results: TransactionResult[] = [];
    for (const transaction of transactions) {
      const [first] = results;
      const isInVain = transaction.isBehindFirst === true && first?.ok === false;
      results.push(isInVain ? { ...first, reason: 'guard' } : this.apply(transaction, payload));
    }
    return results;
  }

  /** Checks one transaction against everything before it, this batch included, and applies it when it holds. */
  apply(transaction: Transaction, payload: Uint8Array): TransactionResult {
    const refusal = refusalOf(transaction, this.#revisionOf);
    if (refusal !== undefined) return refusal;
    if (transaction.operations.length === 0) return { ok: true, revision: this.revision, places: [] };
    const revision = ++this.revision;
    const places: PublishedPlace[] = [];
    for (const operation of transaction.operations) {
      const { slab, offset } =
        'delete' in operation ? this.#remove(operation.key, revision) : this.#put(operation, payload, revision);
      places.push({ revision, slab, offset, incarnation: this.#incarnation });
    }
    if (transaction.thenRemoves !== undefined) this.#removeNext(transaction.thenRemoves);
    return { ok: true, revision, places };
  }

  /** Removes keys that have just been put, under a revision of its own: what was put is an event, and no value of the engine's. */
  #removeNext(keys: readonly string[]): void {
    const revision = ++this.revision;
    for (const key of keys) {
      const [put] = this.#writes.splice(
        this.#writes.findLastIndex((write) => write.key === key),
        1,
      );
      this.#remove(key, revision, put!.value);
    }
  }

  /** Ends a batch that began at `firstRevision`; undefined when nothing was written. */
  finish(firstRevision: number, wallMs: number): FormedBatch | undefined {
    if (this.revision < firstRevision) return undefined;
    const { bytes, checksum } = this.#events.finish({
      previousChecksum: this.lastChecksum,
      firstRevision,
      lastRevision: this.revision,
      wallMs,
      liveObjects: this.current.size,
      liveDigest: this.digests.total,
    });
    this.lastChecksum = checksum;
    return { firstRevision, lastRevision: this.revision, writes: this.#writes, events: bytes, runs: this.#runs };
  }

  /** A batch without events: one revision, whose record vouches for everything there is. */
  checkpoint(wallMs: number): FormedBatch {
    this.begin();
    this.revision++;
    return this.finish(this.revision, wallMs)!;
  }

  /**
   * Moves the live records of a slab to others, so that it can be reused. Returns the runs of the new records; events and
   * revisions stay as they are.
   */
  moveOut(slabNumber: number): number[] {
    const runs: number[] = [];
    const from = this.#pool.slab(slabNumber);
    const end = this.#pool.usedBytes(slabNumber);
    for (let at = 0, length = 0; at < end; at += length) {
      length = recordLength(from, at);
      const key = recordKey(from, at);
      const record = this.current.get(key);
      if (record === undefined || record.slab !== slabNumber || record.offset !== at) continue;
      const room = this.#pool.allocate(length);
      from.bytes.copy(this.#pool.slab(room.slab).bytes, room.offset, at, at + length);
      this.window.moved(record, room);
      this.current.set(key, room);
      this.#pool.release(slabNumber, at);
      addToRuns(runs, room.slab, room.offset);
    }
    return runs;
  }

  /** Forgets events up to a revision; what only they kept is released in the pool. */
  compact(upToRevision: number): void {
    this.window.forget(upToRevision);
    this.compactedRevision = Math.max(this.compactedRevision, Math.min(upToRevision, this.revision));
  }

  #put(operation: PutOperation, payload: Uint8Array, revision: number): Place {
    const { key } = operation;
    const before = this.current.get(key);
    const bornRevision = before?.bornRevision ?? revision;
    const head = {
      revision,
      bornRevision,
      type: before === undefined ? CREATED : UPDATED,
      schemaGeneration: operation.schemaGeneration,
      revisionOffset: operation.revisionOffset,
      itemOffset: operation.itemOffset,
    };
    const { attributes, valueOffset, valueLength } = operation;
    const room = this.#pool.write(head, key, attributes, payload.subarray(valueOffset, valueOffset + valueLength));
    const slab = this.#pool.slab(room.slab);
    const at = valueStart(slab, room.offset);
    stampRevision(slab.bytes, at + operation.revisionOffset, revision);
    const form = this.#writeForm(key, head, attributes, slab.bytes.subarray(at, at + valueLength));
    const stored = this.#sealed(key, form);
    this.#writes.push({ key, value: stored });
    const place = { revision, slab: room.slab, offset: room.offset };
    this.#replace(key, before, place);
    const replaced = before && this.#replacedForm(key, before);
    this.#log(key, head.type, before, place, replaced, stored);
    return place;
  }

  /** The event of a removal carries the last value, stamped with the revision of the removal. `stored`: its form, where that is there. */
  #remove(key: string, revision: number, stored?: Buffer): Place {
    const before = this.current.get(key)!;
    const { slab, offset } = this.writeRemoval(before, revision);
    const place = { revision, slab, offset };
    this.#writes.push({ key, value: undefined });
    this.#replace(key, before, undefined);
    this.#log(key, DELETED, before, place, stored ?? this.#replacedForm(key, before), undefined);
    return place;
  }

  /** Writes the record of a removal: the last record's bytes with another revision. Used by recovery as well. */
  writeRemoval(last: SlabRoom, revision: number): SlabRoom {
    const from = this.#pool.slab(last.slab);
    const length = recordLength(from, last.offset);
    const room = this.#pool.allocate(length);
    const slab = this.#pool.slab(room.slab);
    from.bytes.copy(slab.bytes, room.offset, last.offset, last.offset + length);
    restampRecord(slab, room.offset, DELETED, revision);
    return room;
  }

  #replace(key: string, before: CurrentRecord | undefined, next: Place | undefined): void {
    this.#start.replaced.push([key, before]);
    this.digests.change(key, keyChecksum(key), before?.revision ?? 0, next?.revision ?? 0);
    this.#setCurrent(key, next);
  }

  #setCurrent(key: string, place: Place | undefined): void {
    if (place !== undefined) this.current.set(key, place);
    else this.current.delete(key);
  }

  #log(
    key: string,
    type: RecordType,
    before: CurrentRecord | undefined,
    place: Place,
    replaced: Buffer | undefined,
    stored: Buffer | undefined,
  ): void {
    // Of what is encrypted, two versions have nothing in common.
    const written = stored !== undefined && isPlainForm(stored) ? stored : undefined;
    this.#events.add(place.revision, type, key, replaced, stored ? storedValueChecksum(stored) : 0, written);
    this.window.add(place, before?.slab ?? NO_SLAB, before?.offset ?? 0);
    addToRuns(this.#runs, place.slab, place.offset);
  }

  /** The stored form of a value that is being replaced. */
  #replacedForm(key: string, record: CurrentRecord): Buffer {
    const found = this.#foundForms.size === 0 ? undefined : this.#foundForms.get(key);
    const isCurrent = found !== undefined && clearRevisions(found).revision === record.revision;
    return this.#sealed(key, isCurrent ? found : this.#formOf(key, record));
  }

  /** The stored form of a record, unencrypted, made again from its slab. */
  #formOf(key: string, record: CurrentRecord): Buffer {
    const slab = this.#pool.slab(record.slab);
    const head = {
      revision: record.revision,
      bornRevision: record.bornRevision,
      schemaGeneration: recordSchemaGeneration(slab, record.offset),
      revisionOffset: revisionOffset(slab, record.offset),
      itemOffset: itemOffset(slab, record.offset),
    };
    return this.#writeForm(key, head, recordAttributes(slab, record.offset), valueView(slab, record.offset));
  }

  #sealed(key: string, form: Buffer): Buffer {
    return this.#encryption === undefined ? form : this.#encryption.seal(key, form);
  }

  #writeForm(key: string, head: Parameters<typeof writeStoredValue>[3], attributes: string, json: Uint8Array): Buffer {
    const bytesMax = storedValueBytesMax(attributes, json.byteLength, head.itemOffset);
    if (this.#scratchEnd + bytesMax > this.#scratch.length) {
      // Values already handed out keep the old buffer alive until the batch is written. The next batch may be as large as this.
      const room = Math.min(this.#scratch.length * 2, SCRATCH_BYTES_KEPT);
      this.#scratch = Buffer.allocUnsafeSlow(Math.max(room, bytesMax));
      this.#scratchEnd = 0;
    }
    const at = this.#scratchEnd;
    const length = writeStoredValue(this.#scratch, at, key, head, attributes, json, this.#media);
    this.#scratchEnd += length;
    return this.#scratch.subarray(at, at + length);
  }
}

/** Appends a record to the last run when it lies in the same slab (records of a batch are written back to back). */
export function addToRuns(runs: number[], slab: number, offset: number): void {
  const last = runs.length - 3;
  if (last >= 0 && runs[last] === slab && offset > runs[last + 1]!) runs[last + 2] = runs[last + 2]! + 1;
  else runs.push(slab, offset, 1);
}
