// Makes a new database for the level engine out of objects that were stored before: what a repair saves and what a snapshot
// holds. The objects keep their revisions; there is no history, so that whoever watched the old store is told to list anew.
// Until it is finished, what it makes is refused by every start.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { refusedWrite } from '../files/write-refusal.ts';
import { storedRevision } from '../forms/stored-value.ts';
import { EventRecordWriter, liveDigestOf } from '../records/event-log.ts';
import { type LevelDatabase, openLevelDatabase } from './level-database.ts';
import {
  compactedValue,
  EVENTS,
  formatValue,
  META_COMPACTED,
  META_FORMAT,
  META_TOKEN_KEY,
  revisionKey,
  sealed,
  VALUES,
} from './level-layout.ts';

export interface NewStore {
  readonly dialect: string;
  readonly prefix: string;
  readonly tokenKey: Uint8Array;
  /** Above every revision that anyone was ever told of; the store's own is the next one. */
  readonly compactedRevision: number;
  readonly wallMs: number;
}

const BATCH_BYTES = 4 * 1024 * 1024;

type Put = { readonly type: 'put'; readonly key: string; readonly value: Uint8Array };

export class LevelStoreWriter {
  readonly #database: LevelDatabase;
  /** Where the database's own is. */
  readonly #directory: string;
  readonly #store: NewStore;
  #batch: Put[] = [];
  #batchBytes = 0;
  #objects = 0;
  #digest = 0;

  private constructor(database: LevelDatabase, directory: string, store: NewStore) {
    this.#database = database;
    this.#directory = directory;
    this.#store = store;
  }

  /** `path`: the database's own directory, not there yet. This and the others reject with an OrchError where the disk refuses. */
  static async create(path: string, store: NewStore): Promise<LevelStoreWriter> {
    const directory = dirname(path);
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const database = openLevelDatabase(path);
      await database.open();
      return new LevelStoreWriter(database, directory, store);
    } catch (error) {
      throw refusedWrite(directory, error);
    }
  }

  /** Adds one object; `bytes` is its stored form, unchanged until this resolves. Each key once. */
  async add(key: string, bytes: Uint8Array): Promise<void> {
    const revision = storedRevision(key, bytes);
    if (revision === undefined) throw new Error(`the stored form of ${key} is damaged`);
    this.#objects++;
    this.#digest = (this.#digest + liveDigestOf(crc32(key), revision)) >>> 0;
    this.#batch.push({ type: 'put', key: this.#store.prefix + VALUES + key, value: bytes });
    this.#batchBytes += bytes.byteLength;
    if (this.#batchBytes >= BATCH_BYTES) await this.#flush();
  }

  /** Writes what makes it a store, and closes it. Returns its revision. */
  async finish(): Promise<number> {
    await this.#flush();
    const { dialect, prefix, tokenKey, compactedRevision, wallMs } = this.#store;
    const revision = compactedRevision + 1;
    const events = new EventRecordWriter();
    events.begin();
    const { bytes } = events.finish({
      previousChecksum: 0,
      firstRevision: revision,
      lastRevision: revision,
      wallMs,
      liveObjects: this.#objects,
      liveDigest: this.#digest,
    });
    this.#batch = [
      { type: 'put', key: META_FORMAT, value: formatValue(dialect, prefix) },
      { type: 'put', key: META_TOKEN_KEY, value: sealed(tokenKey) },
      { type: 'put', key: META_COMPACTED, value: compactedValue(compactedRevision) },
      { type: 'put', key: prefix + EVENTS + revisionKey(revision), value: bytes },
    ];
    await this.#flush();
    await this.#database.close();
    return revision;
  }

  /** Gives up. */
  async close(): Promise<void> {
    await this.#database.close();
  }

  async #flush(): Promise<void> {
    try {
      if (this.#batch.length > 0) await this.#database.batch(this.#batch, { sync: true });
    } catch (error) {
      throw refusedWrite(this.#directory, error);
    }
    this.#batch = [];
    this.#batchBytes = 0;
  }
}
