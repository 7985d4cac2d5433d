// Brings a revision log back from what the engine holds, and refuses to when the engine lost or changed anything: the
// event log must be dense and chained, reach the head marker, and agree with the values on their number, revisions and
// digest. Reads everything once; parses no object but those that are stored in another version than the current one.
import { crc32 } from 'node:zlib';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import { type EventRecord, type LoggedEvent, readEventRecord } from '../../storage/event-log.ts';
import type { EngineContents, LocalEngine } from '../../storage/local-engine.ts';
import { isSealedValue, noProvider, readOpenedValue } from '../../storage/sealed-value.ts';
import type { SlabPool } from '../../storage/slab-pool.ts';
import {
  CREATED,
  DELETED,
  markStale,
  NO_SLAB,
  type RecordType,
  recordRevision,
  UPDATED,
} from '../../storage/slab-record.ts';
import { storeDamage } from '../../storage/store-damage.ts';
import { type StoredValue, storedValueChecksum } from '../../storage/stored-value.ts';
import type { CommitTime } from './commit-times.ts';
import type { HistoryEvent } from './history-window.ts';
import type { Place } from './protocol.ts';
import type { CurrentRecord, RevisionLog } from './revision-log.ts';
import type { CurrentVersion } from './settings.ts';

const asStored: CurrentVersion = (_key, value) => value;

/** What stands between the bytes on the disk and objects in memory. */
export interface StoredForms {
  readonly currentVersion?: CurrentVersion | undefined;
  /** Absent: nothing is encrypted. */
  readonly encryption?: StoredEncryption | undefined;
}

/**
 * Fills `log` from an opened engine, each value brought into its current version. Returns the commit times of the history
 * window.
 * Throws OrchError StoreUnusable with one line that says what is damaged.
 */
export async function recover(
  log: RevisionLog,
  pool: SlabPool,
  engine: LocalEngine,
  contents: EngineContents,
  { currentVersion = asStored, encryption }: StoredForms = {},
): Promise<CommitTime[]> {
  const records = await readChain(engine, contents);
  const writes = lastWrites(records);
  const take = (key: string, bytes: Uint8Array, plain: Uint8Array): void => {
    const value = readOpenedValue(key, bytes, plain);
    if (value === undefined) throw storeDamage(`the value of ${key} ${mismatch(bytes)}`);
    const write = writes.get(key);
    if (write?.revision === value.revision && write.valueChecksum !== storedValueChecksum(bytes)) {
      throw storeDamage(`the value of ${key} is not the one written at revision ${value.revision}`);
    }
    const current = currentVersion(key, value);
    const place = writeRecord(pool, key, current, value.bornRevision === value.revision ? CREATED : UPDATED);
    if (current !== value || encryption?.isStale(key, bytes)) markStale(pool.slab(place.slab), place.offset);
    const keyChecksum = crc32(key);
    log.current.set(key, currentRecord(place, value.bornRevision, keyChecksum));
    log.digests.change(key, keyChecksum, 0, value.revision);
  };
  await engine.loadValues((key, bytes) => {
    const plain = openStored(encryption, key, bytes);
    return plain instanceof Promise ? plain.then((opened) => take(key, bytes, opened)) : take(key, bytes, plain);
  });
  const last = records.at(-1);
  log.compactedRevision = contents.compactedRevision;
  log.revision = last?.lastRevision ?? contents.compactedRevision;
  log.lastChecksum = last?.checksum ?? 0;
  checkAgainstValues(log, last);
  await rebuildHistory(log, pool, records, currentVersion, encryption);
  return records.map((record) => ({ revision: record.lastRevision, wallMs: record.wallMs }));
}

async function readChain(engine: LocalEngine, contents: EngineContents): Promise<EventRecord[]> {
  const records: EventRecord[] = [];
  await engine.loadEvents((bytes) => {
    const before = records.at(-1);
    const record = readEventRecord(bytes);
    const expected = (before?.lastRevision ?? contents.compactedRevision) + 1;
    if (record === undefined)
      throw storeDamage(`the event record after revision ${expected - 1} does not match its checksum`);
    // The first record kept may have begun before the compacted revision.
    if (record.firstRevision !== expected && (before !== undefined || record.firstRevision > expected)) {
      throw storeDamage(`events ${expected} to ${record.firstRevision - 1} are missing`);
    }
    if (before !== undefined && record.previousChecksum !== before.checksum) {
      throw storeDamage(`the event record at revision ${record.firstRevision} does not follow the one before it`);
    }
    records.push(record);
  });
  const reached = records.at(-1)?.lastRevision ?? contents.compactedRevision;
  if (reached < contents.markedRevision) {
    throw storeDamage(`events ${reached + 1} to ${contents.markedRevision} were acknowledged and are missing`);
  }
  return records;
}

/** The last event of every key that the history window has one of. */
function lastWrites(records: readonly EventRecord[]): ReadonlyMap<string, LoggedEvent> {
  const writes = new Map<string, LoggedEvent>();
  for (const { events } of records) for (const event of events) writes.set(event.key, event);
  return writes;
}

function checkAgainstValues(log: RevisionLog, last: EventRecord | undefined): void {
  if (last === undefined) {
    if (log.current.size > 0) throw storeDamage('there are objects but no event record');
    // Compaction leaves the newest record.
    if (log.compactedRevision > 0) throw storeDamage(`no event record is left after revision ${log.compactedRevision}`);
    return;
  }
  if (log.current.size !== last.liveObjects) {
    throw storeDamage(
      `there must be ${last.liveObjects} objects at revision ${last.lastRevision}, ${log.current.size} were found`,
    );
  }
  if (log.digests.total !== last.liveDigest)
    throw storeDamage(`the objects are not those of revision ${last.lastRevision}`);
}

/** Walks back from the present: what an event replaced is what was current before it. */
async function rebuildHistory(
  log: RevisionLog,
  pool: SlabPool,
  records: readonly EventRecord[],
  currentVersion: CurrentVersion,
  encryption: StoredEncryption | undefined,
): Promise<void> {
  const events = records.flatMap((record) => record.events).filter(({ revision }) => revision > log.compactedRevision);
  const cursor = new Map<string, Place | undefined>();
  const newestFirst: HistoryEvent[] = [];
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i]!;
    const after = cursor.has(event.key) ? cursor.get(event.key) : log.current.get(event.key);
    const { key, previous } = event;
    if (previous.byteLength > 0 && encryption?.isStale(key, previous)) log.hasStaleHistory = true;
    const opened = openPrevious(event, encryption);
    const before = writePrevious(pool, event, opened instanceof Promise ? await opened : opened, currentVersion);
    const place = event.type === DELETED ? removalPlace(log, event, before, after) : after;
    if (place === undefined || placeRevision(pool, place) !== event.revision) {
      throw storeDamage(`the value of ${event.key} at revision ${event.revision} is missing`);
    }
    cursor.set(event.key, before);
    newestFirst.push({
      revision: event.revision,
      slab: place.slab,
      offset: place.offset,
      previousSlab: before?.slab ?? NO_SLAB,
      previousOffset: before?.offset ?? 0,
    });
  }
  for (const event of newestFirst.reverse()) log.window.add(event);
}

function removalPlace(
  log: RevisionLog,
  event: LoggedEvent,
  before: Place | undefined,
  after: Place | undefined,
): Place | undefined {
  if (before === undefined || after !== undefined) return undefined;
  return { revision: event.revision, ...log.writeRemoval(before, event.revision) };
}

/** The stored form an event replaced; empty for a creation. */
function openPrevious(
  { key, previous }: LoggedEvent,
  encryption: StoredEncryption | undefined,
): Uint8Array | Promise<Uint8Array> {
  return previous.byteLength === 0 ? previous : openStored(encryption, key, previous);
}

function writePrevious(
  pool: SlabPool,
  event: LoggedEvent,
  stored: Uint8Array,
  currentVersion: CurrentVersion,
): CurrentRecord | undefined {
  if (stored.byteLength === 0) return undefined;
  const value = readOpenedValue(event.key, event.previous, stored);
  if (value === undefined)
    throw storeDamage(`the value ${event.key} had before revision ${event.revision} ${mismatch(event.previous)}`);
  const current = currentVersion(event.key, value);
  const place = writeRecord(pool, event.key, current, value.bornRevision === value.revision ? CREATED : UPDATED);
  return currentRecord(place, value.bornRevision, 0);
}

function writeRecord(pool: SlabPool, key: string, value: StoredValue, type: RecordType): Place {
  const { slab, offset } = pool.write({ ...value, type }, key, value.attributes, value.json);
  return { revision: value.revision, slab, offset };
}

/** Member by member: of a spread V8 made a shape an object, which was two hundred bytes each and kept the collector busy. */
function currentRecord({ revision, slab, offset }: Place, bornRevision: number, keyChecksum: number): CurrentRecord {
  return { revision, slab, offset, bornRevision, keyChecksum };
}

function placeRevision(pool: SlabPool, place: Place): number {
  return recordRevision(pool.slab(place.slab), place.offset);
}

/** The stored form behind what is on disk. Throws, or rejects with, OrchError StoreUnusable. */
function openStored(
  encryption: StoredEncryption | undefined,
  key: string,
  bytes: Uint8Array,
): Uint8Array | Promise<Uint8Array> {
  if (encryption !== undefined) return encryption.open(key, bytes);
  if (isSealedValue(bytes)) throw noProvider(key, bytes);
  return bytes;
}

/** A form that no tag vouches for may have been decrypted by a wrong key. */
function mismatch(bytes: Uint8Array): string {
  const how = isSealedValue(bytes) ? ' once decrypted: wrong key, or changed bytes' : '';
  return `does not match its checksum${how}`;
}
