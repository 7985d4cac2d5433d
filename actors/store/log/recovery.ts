// Brings a revision log back from what the engine holds, and refuses to when the engine lost or changed anything: the
// event log must be dense and chained, reach the head marker, and agree with the values on their number, revisions and
// digest. Reads everything once; parses no object but those that are stored in another version than the current one.

import { isSealedValue, noProvider, readOpenedValue } from '../../../storage/encryption/sealed-value.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { EngineContents, LocalEngine } from '../../../storage/engines/local-engine.ts';
import { storeDamage } from '../../../storage/engines/store-damage.ts';
import { keyChecksum } from '../../../storage/forms/key-checksum.ts';
import { type StoredValue, storedValueChecksum } from '../../../storage/forms/stored-value.ts';
import {
  EarlierForms,
  type EventRecordHead,
  type LoggedEvent,
  readEventRecordHead,
} from '../../../storage/records/event-log.ts';
import type { SlabPool, SlabRoom } from '../../../storage/records/slab-pool.ts';
import { CREATED, DELETED, markStale, NO_SLAB, recordRevision, UPDATED } from '../../../storage/records/slab-record.ts';
import type { CommitTime } from '../commit-times.ts';
import type { CurrentVersion } from '../settings.ts';
import type { CurrentRecords } from './current-records.ts';
import { EarlierStates, LoggedEvents } from './logged-events.ts';
import type { RevisionLog } from './revision-log.ts';

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
  /** Of the stored forms, by the keys' positions. */
  const checksums: number[] = [];
  /** What updates in the history window wrote: what they replaced may be told by it. */
  const forms = new Map<string, Buffer>();
  const take = (key: string, bytes: Uint8Array, plain: Uint8Array): void => {
    const checksum = keyChecksum(key);
    const value = readOpenedValue(key, bytes, plain, checksum);
    if (value === undefined) throw storeDamage(`the value of ${key} ${mismatch(bytes)}`);
    const current = currentVersion(key, value);
    const place = writeRecord(pool, key, current);
    if (current !== value || encryption?.isStale(key, bytes)) markStale(pool.slab(place.slab), place.offset);
    checksums[log.current.set(key, place)] = storedValueChecksum(bytes);
    log.digests.change(key, checksum, 0, value.revision);
    const isCreation = value.revision === value.bornRevision;
    if (isCreation || value.revision <= contents.compactedRevision || isSealedValue(bytes)) return;
    const form = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
    forms.set(key, form);
    log.foundAs(key, form);
  };
  await engine.loadValues((key, bytes) => {
    const plain = openStored(encryption, key, bytes);
    return plain instanceof Promise ? plain.then((opened) => take(key, bytes, opened)) : take(key, bytes, plain);
  });
  // After the values: of what it takes, nothing then lies between slabs that stay.
  const { heads, events } = await readChain(engine, contents);
  const last = heads.at(-1);
  log.compactedRevision = contents.compactedRevision;
  log.revision = last?.lastRevision ?? contents.compactedRevision;
  log.lastChecksum = last?.checksum ?? 0;
  checkAgainstValues(log, last);
  await rebuildHistory({ log, pool, events, checksums, forms: new EarlierForms(forms), currentVersion, encryption });
  return heads.map(({ lastRevision, wallMs }) => ({ revision: lastRevision, wallMs }));
}

interface Chain {
  readonly heads: readonly EventRecordHead[];
  readonly events: LoggedEvents;
}

async function readChain(engine: LocalEngine, contents: EngineContents): Promise<Chain> {
  const heads: EventRecordHead[] = [];
  const events = new LoggedEvents();
  await engine.loadEvents((bytes) => {
    const before = heads.at(-1);
    const record = readEventRecordHead(bytes, (source, at, before) => events.add(source, at, before));
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
    heads.push(record);
  });
  const reached = heads.at(-1)?.lastRevision ?? contents.compactedRevision;
  if (reached < contents.markedRevision) {
    throw storeDamage(`events ${reached + 1} to ${contents.markedRevision} were acknowledged and are missing`);
  }
  return { heads, events };
}

/** Throws for a value that is not the one its event speaks of. `position`: of the event's key, -1 where that is gone. */
function checkAgainstEvent(
  { key, revision, valueChecksum }: LoggedEvent,
  position: number,
  current: CurrentRecords,
  checksums: readonly number[],
): void {
  if (position >= 0 && current.revisionAt(position) === revision && checksums[position] !== valueChecksum)
    throw storeDamage(`the value of ${key} is not the one written at revision ${revision}`);
}

function checkAgainstValues(log: RevisionLog, last: EventRecordHead | undefined): void {
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

interface History {
  readonly log: RevisionLog;
  readonly pool: SlabPool;
  readonly events: LoggedEvents;
  /** Of the values' stored forms, by the keys' positions. */
  readonly checksums: readonly number[];
  readonly forms: EarlierForms;
  readonly currentVersion: CurrentVersion;
  readonly encryption: StoredEncryption | undefined;
}

/** Walks back from the present: what an event replaced is what was current before it. */
async function rebuildHistory(history: History): Promise<void> {
  const { log, pool, events, checksums } = history;
  const { current } = log;
  const states = new EarlierStates(current);
  let first = 0;
  while (first < events.length && events.revisionAt(first) <= log.compactedRevision) first++;
  const places = new Uint32Array((events.length - first) * HISTORY_WORDS);
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events.at(i);
    const { key } = event;
    const position = current.position(key);
    checkAgainstEvent(event, position, current, checksums);
    if (i < first) continue;
    const after = states.of(key, position);
    const replaced = writeReplaced(history, event);
    const before = replaced instanceof Promise ? await replaced : replaced;
    const place = event.type === DELETED ? removalPlace(log, event, before, after) : after;
    if (place === undefined || recordRevision(pool.slab(place.slab), place.offset) !== event.revision) {
      throw storeDamage(`the value of ${key} at revision ${event.revision} is missing`);
    }
    states.set(key, position, before);
    const at = (i - first) * HISTORY_WORDS;
    places[at] = place.slab;
    places[at + 1] = place.offset;
    places[at + 2] = before?.slab ?? NO_SLAB;
    places[at + 3] = before?.offset ?? 0;
  }
  for (let i = first; i < events.length; i++) {
    const at = (i - first) * HISTORY_WORDS;
    const place = { revision: events.revisionAt(i), slab: places[at]!, offset: places[at + 1]! };
    log.window.add(place, places[at + 2]!, places[at + 3]!);
  }
}

const HISTORY_WORDS = 4;

function removalPlace(
  log: RevisionLog,
  event: LoggedEvent,
  before: SlabRoom | undefined,
  after: SlabRoom | undefined,
): SlabRoom | undefined {
  if (before === undefined || after !== undefined) return undefined;
  return log.writeRemoval(before, event.revision);
}

/** Writes what an event replaced into a slab; undefined where that was nothing. */
function writeReplaced(history: History, event: LoggedEvent): SlabRoom | undefined | Promise<SlabRoom | undefined> {
  const { log, forms, encryption } = history;
  const { key } = event;
  const replaced = forms.replacedBy(event);
  if (replaced === undefined) throw unreadableBefore(event, 'cannot be told by the value that was written then');
  if (replaced.length === 0) return undefined;
  if (encryption?.isStale(key, replaced)) log.hasStaleHistory = true;
  const opened = openStored(encryption, key, replaced);
  return opened instanceof Promise
    ? opened.then((plain) => writePrevious(history, event, replaced, plain))
    : writePrevious(history, event, replaced, opened);
}

function writePrevious(
  { pool, forms, currentVersion }: History,
  event: LoggedEvent,
  stored: Buffer,
  plain: Uint8Array,
): SlabRoom {
  const { key } = event;
  const value = readOpenedValue(key, stored, plain);
  if (value === undefined) throw unreadableBefore(event, mismatch(stored));
  if (plain !== stored) forms.opened(key, Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength));
  return writeRecord(pool, key, currentVersion(key, value));
}

function unreadableBefore({ key, revision }: LoggedEvent, why: string): Error {
  return storeDamage(`the value ${key} had before revision ${revision} ${why}`);
}

function writeRecord(pool: SlabPool, key: string, value: StoredValue): SlabRoom {
  const { revision, bornRevision, schemaGeneration, revisionOffset, itemOffset, attributes, json } = value;
  const type = bornRevision === revision ? CREATED : UPDATED;
  const head = { revision, bornRevision, type, schemaGeneration, revisionOffset, itemOffset };
  return pool.write(head, key, attributes, json);
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
