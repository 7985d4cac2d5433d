// The default engine: one LevelDB directory, every batch synced. Owns the database handle and the head marker beside it.
// LevelDB does not write on soundly after a write that failed, so the database is then closed, what of the batch reached
// its log is cut off, and it is opened again by the next write: reads come from memory and need no database.
// Keys: `<prefix>/o/<key>` latest values, `<prefix>/e/<last revision>` event records, `m/…` metadata of the directory, each
// with a checksum of its own.
// What the folder is known by is folder-identity.ts, how it is read whole whole-reading.ts.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OrchError } from '../../runtime/errors.ts';
import type { CloseOptions, EngineBatch, EngineContents, EngineView, LocalEngine } from '../engines/local-engine.ts';
import { firstOf, MARKER_DAMAGE, storeDamage } from '../engines/store-damage.ts';
import { refusedWrite, unsureWrite } from '../files/write-refusal.ts';
import { tableDamages } from '../leveldb/database-files.ts';
import { RefusedTail } from '../leveldb/log-tail.ts';
import { folderAt, folderBytes, goneFrom } from './database-folder.ts';
import { isLocked } from './database-lock.ts';
import { type FolderOptions, identify, metadataAt } from './folder-identity.ts';
import { FoundFiles, putBackLeft } from './found-files.ts';
import { HeadMarker, isMarkerDamaged, markedRevision } from './head-marker.ts';
import { type LevelDatabase, openLevelDatabase, rewriteFiles, writeSynced } from './level-database.ts';
import {
  compactedValue,
  DATABASE_DIRECTORY,
  EVENTS,
  HEAD_FILE,
  META_COMPACTED,
  META_FORMAT,
  revisionKey,
  VALUES,
} from './level-layout.ts';
import { openError } from './open-error.ts';
import { refuseUnfinished } from './unfinished-store.ts';
import { lastKey, viewOf, visitAll } from './whole-reading.ts';

/** Event records removed in one slice, between which commits run. */
const COMPACT_SLICE_RECORDS = 500;
/** Less than this may stay mapped: opening the database again takes some ten milliseconds. */
const MAPPED_BYTES_MAX = 16 * 1024 * 1024;
export class LevelEngine implements LocalEngine {
  readonly #options: FolderOptions;
  readonly #valuePrefix: string;
  readonly #eventPrefix: string;
  /** Made when opened: LevelDB's binding takes the lock as soon as it is made. */
  #handle: LevelDatabase | undefined;
  /** The folder of the handle: none while it is closed. */
  #folder: string | undefined;
  #marker: HeadMarker | undefined;
  /** What a refused start puts back. */
  #found: FoundFiles | undefined;
  #lastRevision = 0;
  #compactedRevision = 0;
  /** The last revisions of the event records that were loaded or committed and not removed, in order. */
  readonly #records: number[] = [];
  #loadedBytes = 0;
  /** Why the database is closed since a write failed. */
  #refusal: OrchError | undefined;
  readonly #refusedTail: RefusedTail;

  constructor(options: FolderOptions) {
    this.#options = options;
    this.#refusedTail = new RefusedTail(join(options.directory, DATABASE_DIRECTORY));
    this.#valuePrefix = options.prefix + VALUES;
    this.#eventPrefix = options.prefix + EVENTS;
  }

  async open(): Promise<EngineContents> {
    const { directory } = this.#options;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const database = join(directory, DATABASE_DIRECTORY);
      await putBackLeft(directory);
      refuseUnfinished(directory);
      const isUsed = markedRevision(join(directory, HEAD_FILE)) > 0;
      if (isMarkerDamaged(join(directory, HEAD_FILE))) throw storeDamage(MARKER_DAMAGE, directory);
      this.#refuseDamaged(database, isUsed);
      this.#found = new FoundFiles(database);
      this.#handle = openLevelDatabase(database);
      await this.#handle.open();
      this.#folder = folderAt(database);
      const tokenKey = await identify(this.#handle, this.#options, isUsed);
      this.#marker = new HeadMarker(join(directory, HEAD_FILE));
      const compacted = await metadataAt(this.#handle, META_COMPACTED, directory);
      this.#compactedRevision = compacted === undefined ? 0 : compacted.readDoubleLE();
      this.#lastRevision = await this.#newestRevision();
      return { tokenKey, compactedRevision: this.#compactedRevision, markedRevision: this.#marker.revision };
    } catch (error) {
      // Whoever refuses a directory does not keep it locked. Files of which another process has the lock stay with it.
      const refusal = openError(directory, error);
      await this.close({ asFound: !isLocked(error) });
      throw refusal;
    }
  }

  async loadValues(visit: (key: string, value: Uint8Array) => unknown): Promise<void> {
    await this.#scan(this.#valuePrefix, visit);
  }

  async loadEvents(visit: (events: Uint8Array) => void): Promise<void> {
    // Records at or below the compacted revision are left over when a compaction was cut short.
    const from = `${this.#eventPrefix}${revisionKey(this.#compactedRevision)}`;
    this.#records.length = 0;
    await this.#scan(this.#eventPrefix, (key, value) => {
      this.#records.push(Number.parseInt(key, 16));
      if (this.#eventPrefix + key > from) visit(value);
    });
  }

  /** LevelDB maps every table that it reads from, and unmaps them when it is closed: all that was read would stay resident. */
  async loaded(): Promise<void> {
    if (this.#loadedBytes < MAPPED_BYTES_MAX) return;
    try {
      await this.#database.close();
      await this.#database.open();
    } catch (error) {
      throw openError(this.#options.directory, error);
    }
  }

  async commit(batch: EngineBatch): Promise<void> {
    await this.#writing(batch.lastRevision, async (database) => {
      // The start went well, and what is kept of it takes room on the disk.
      void this.#found?.forget();
      await writeSynced(database, (gathered) => {
        gathered.add(this.#eventPrefix + revisionKey(batch.lastRevision), batch.events);
        for (const { key, value } of batch.writes) gathered.add(this.#valuePrefix + key, value);
      });
      this.#marker!.advance(batch.lastRevision);
    });
    this.#lastRevision = batch.lastRevision;
    this.#records.push(batch.lastRevision);
  }

  async compact(upToRevision: number): Promise<boolean> {
    if (upToRevision > this.#compactedRevision) {
      // On disk before any record is gone: a record missing after the compacted revision would be damage.
      await this.#writing(undefined, (database) =>
        database.put(META_COMPACTED, compactedValue(upToRevision), { sync: true }),
      );
      this.#compactedRevision = upToRevision;
    }
    return this.#writing(undefined, async (database) => {
      // LevelDB is not asked which there are: it would read every record to say so, and first step over all that were removed before.
      const removed = this.#records.slice(0, COMPACT_SLICE_RECORDS).filter((revision) => revision <= upToRevision);
      const keys = removed.map((revision) => this.#eventPrefix + revisionKey(revision));
      if (keys.length > 0) await database.batch(keys.map((key) => ({ type: 'del' as const, key })));
      this.#records.splice(0, removed.length);
      return this.#records.length > 0 && this.#records[0]! <= upToRevision;
    });
  }

  async reclaim(): Promise<void> {
    const last = compactedValue(this.#compactedRevision);
    await this.#writing(undefined, (database) => rewriteFiles(database, META_COMPACTED, last));
  }

  view(): EngineView {
    if (this.#refusal !== undefined) throw this.#refusal;
    const { directory } = this.#options;
    return viewOf(this.#database, this.#valuePrefix, (error) => openError(directory, error));
  }

  async diskBytes(): Promise<number> {
    await this.#lookForFiles();
    return await folderBytes(join(this.#options.directory, DATABASE_DIRECTORY));
  }

  async probe(): Promise<void> {
    await this.#lookForFiles();
    if (this.#refusal?.code === 'StorageFull') return;
    if (this.#refusal !== undefined) throw this.#refusal;
    await this.#database.get(META_FORMAT);
  }

  /** Writes from now on are refused where the files are gone or others: they would be acknowledged, and no start would find them. */
  async #lookForFiles(): Promise<void> {
    const { directory } = this.#options;
    const gone = await goneFrom(join(directory, DATABASE_DIRECTORY), this.#folder);
    if (gone !== undefined) this.#refusal = refusedWrite(directory, gone);
  }

  async close({ asFound }: CloseOptions = { asFound: false }): Promise<void> {
    await this.#closeHandle();
    this.#marker?.close();
    this.#marker = undefined;
    if (asFound) this.#found?.putBack();
    else await this.#found?.end();
    this.#found = undefined;
  }

  /**
   * Runs a write, after opening what an earlier failure has closed. `revision`: of the batch that must be gone from the
   * log when the write fails. Rejects as `commit` does.
   */
  async #writing<T>(revision: number | undefined, write: (database: LevelDatabase) => Promise<T>): Promise<T> {
    await this.#reopen();
    try {
      return await write(this.#database);
    } catch (error) {
      const { directory } = this.#options;
      this.#refusal = refusedWrite(directory, error);
      await this.#closeHandle();
      // A batch that is not to be found later has no revision: 0 has no record.
      const left = this.#refusedTail.cut(this.#eventPrefix + revisionKey(revision ?? 0));
      throw left === undefined ? this.#refusal : unsureWrite(this.#refusal);
    }
  }

  /** Opens the database again after a write that failed. Rejects as `commit` does while it still cannot be written to. */
  async #reopen(): Promise<void> {
    if (this.#refusal === undefined) return;
    const { directory } = this.#options;
    const database = join(directory, DATABASE_DIRECTORY);
    const gone = await goneFrom(database, this.#folder);
    // Where the files were gone, it is open until they are back.
    if (gone === undefined) await this.#closeHandle();
    const left = gone ?? this.#refusedTail.cut();
    if (left !== undefined) throw refusedWrite(directory, left);
    this.#handle = openLevelDatabase(database);
    let found: number;
    try {
      await this.#handle.open({ createIfMissing: false });
      this.#folder = folderAt(database);
      found = await this.#newestRevision();
    } catch (error) {
      await this.#closeHandle();
      this.#refusal = refusedWrite(directory, error);
      throw this.#refusal;
    }
    if (found !== this.#lastRevision) {
      throw storeDamage(`after a failed write it ends at revision ${found}, not ${this.#lastRevision}`, directory);
    }
    this.#refusal = undefined;
  }

  async #closeHandle(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    this.#folder = undefined;
  }

  get #database(): LevelDatabase {
    if (this.#handle === undefined) throw new Error('the engine is not open');
    return this.#handle;
  }

  /** Before LevelDB sees the files: it would make a new database of those it cannot use, or end the process over them. */
  #refuseDamaged(database: string, isUsed: boolean): void {
    const { directory } = this.#options;
    const damages = tableDamages(database);
    if (damages.length > 0) throw storeDamage(firstOf(damages), directory);
    if (isUsed && !existsSync(join(database, 'CURRENT'))) throw storeDamage('the database is missing', directory);
  }

  /** The revision of the last event record, or what is compacted when there is none. */
  async #newestRevision(): Promise<number> {
    const newest = await lastKey(this.#database, this.#eventPrefix);
    return newest === undefined ? this.#compactedRevision : Number.parseInt(newest, 16);
  }

  async #scan(prefix: string, visit: (key: string, value: Uint8Array) => unknown): Promise<void> {
    try {
      this.#loadedBytes += await visitAll(this.#database, prefix, visit);
    } catch (error) {
      throw openError(this.#options.directory, error);
    }
  }
}
