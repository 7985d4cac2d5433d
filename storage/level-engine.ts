// The default engine: one LevelDB directory, every batch synced. Owns the database handle and the head marker beside it.
// LevelDB does not write on soundly after a write that failed, so the database is then closed, what of the batch reached
// its log is cut off, and it is opened again by the next write: reads come from memory and need no database.
// Keys: `<prefix>/o/<key>` latest values, `<prefix>/e/<last revision>` event records, `m/…` metadata of the directory, each
// with a checksum of its own.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ClassicLevel } from 'classic-level';
import { OrchError } from '../runtime/errors.ts';
import type { EngineBatch, EngineContents, StorageEngine } from './engine.ts';
import { HeadMarker } from './head-marker.ts';
import { cutFromLog } from './level-log.ts';
import { refusedWrite } from './write-refusal.ts';

export interface LevelEngineOptions {
  readonly directory: string;
  /** `--store-prefix`, without a closing slash. */
  readonly prefix: string;
  /** A directory belongs to one dialect and is refused under the other. */
  readonly dialect: string;
}

const FORMAT = 1;
const META_FORMAT = 'm/format';
const META_TOKEN_KEY = 'm/token-key';
const META_COMPACTED = 'm/compacted';
const TOKEN_KEY_BYTES = 32;
const CHECKSUM_BYTES = 4;
/** Event records removed in one slice, between which commits run. */
const COMPACT_SLICE_RECORDS = 500;
const LOAD_SLICE = 1000;

const UNWRITABLE_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EEXIST',
  'EISDIR',
  'ENOSPC',
  'ENOTDIR',
  'EPERM',
  'EROFS',
]);

type Database = ClassicLevel<string, Uint8Array>;

export class LevelEngine implements StorageEngine {
  readonly #options: LevelEngineOptions;
  readonly #valuePrefix: string;
  readonly #eventPrefix: string;
  /** Made when opened: LevelDB's binding takes the lock as soon as it is made. */
  #handle: Database | undefined;
  #marker: HeadMarker | undefined;
  #lastRevision = 0;
  #compactedRevision = 0;
  /** Why the database is closed since a write failed. */
  #refusal: OrchError | undefined;

  constructor(options: LevelEngineOptions) {
    this.#options = options;
    this.#valuePrefix = `${options.prefix}/o/`;
    this.#eventPrefix = `${options.prefix}/e/`;
  }

  async open(): Promise<EngineContents> {
    const { directory } = this.#options;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      this.#handle = openDatabase(join(directory, 'store'));
      await this.#handle.open();
      const tokenKey = await this.#identify();
      this.#marker = new HeadMarker(join(directory, 'head'));
      const compacted = await this.#meta(META_COMPACTED);
      this.#compactedRevision = compacted === undefined ? 0 : compacted.readDoubleLE();
      this.#lastRevision = await this.#newestRevision();
      return { tokenKey, compactedRevision: this.#compactedRevision, markedRevision: this.#marker.revision };
    } catch (error) {
      // Whoever refuses a directory does not keep it locked.
      await this.close();
      throw openError(directory, error);
    }
  }

  async loadValues(visit: (key: string, value: Uint8Array) => unknown): Promise<void> {
    await this.#scan(this.#valuePrefix, visit);
  }

  async loadEvents(visit: (events: Uint8Array) => void): Promise<void> {
    // Records at or below the compacted revision are left over when a compaction was cut short.
    const from = `${this.#eventPrefix}${revisionKey(this.#compactedRevision)}`;
    await this.#scan(this.#eventPrefix, (key, value) => {
      if (this.#eventPrefix + key > from) visit(value);
    });
  }

  async commit(batch: EngineBatch): Promise<void> {
    const operations: ({ type: 'put'; key: string; value: Uint8Array } | { type: 'del'; key: string })[] = [
      { type: 'put', key: this.#eventPrefix + revisionKey(batch.lastRevision), value: batch.events },
    ];
    for (const { key, value } of batch.writes) {
      operations.push(
        value === undefined
          ? { type: 'del', key: this.#valuePrefix + key }
          : { type: 'put', key: this.#valuePrefix + key, value },
      );
    }
    await this.#writing(batch.lastRevision, async (database) => {
      await database.batch(operations, { sync: true });
      this.#marker!.advance(batch.lastRevision);
    });
    this.#lastRevision = batch.lastRevision;
  }

  readBarrier(): Promise<number> {
    return Promise.resolve(this.#lastRevision);
  }

  /** One process owns the directory: there are no other commits. */
  onForeignBatch(): void {}

  async compact(upToRevision: number): Promise<boolean> {
    if (upToRevision > this.#compactedRevision) {
      // On disk before any record is gone: a record missing after the compacted revision would be damage.
      const revision = Buffer.alloc(8);
      revision.writeDoubleLE(upToRevision);
      await this.#writing(undefined, (database) => database.put(META_COMPACTED, sealed(revision), { sync: true }));
      this.#compactedRevision = upToRevision;
    }
    const range = { gt: this.#eventPrefix, lte: this.#eventPrefix + revisionKey(upToRevision) };
    return this.#writing(undefined, async (database) => {
      const keys = await database.keys({ ...range, limit: COMPACT_SLICE_RECORDS }).all();
      if (keys.length > 0) await database.batch(keys.map((key) => ({ type: 'del' as const, key })));
      return keys.length === COMPACT_SLICE_RECORDS;
    });
  }

  async probe(): Promise<void> {
    if (this.#refusal?.code === 'StorageFull') return;
    if (this.#refusal !== undefined) throw this.#refusal;
    await this.#database.get(META_FORMAT);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    this.#marker?.close();
    this.#marker = undefined;
  }

  /**
   * Runs a write, after opening what an earlier failure has closed. `revision`: of the batch that must be gone from the
   * log when the write fails. Rejects as `commit` does.
   */
  async #writing<T>(revision: number | undefined, write: (database: Database) => Promise<T>): Promise<T> {
    await this.#reopen();
    try {
      return await write(this.#database);
    } catch (error) {
      const { directory } = this.#options;
      this.#refusal = refusedWrite(directory, error);
      await this.#handle?.close();
      this.#handle = undefined;
      // A batch that is not to be found later has no revision: 0 has no record.
      cutFromLog(join(directory, 'store'), this.#eventPrefix + revisionKey(revision ?? 0));
      throw this.#refusal;
    }
  }

  /** Opens the database again after a write that failed. Rejects as `commit` does while it still cannot be written to. */
  async #reopen(): Promise<void> {
    if (this.#refusal === undefined) return;
    const { directory } = this.#options;
    const handle = openDatabase(join(directory, 'store'));
    try {
      await handle.open();
    } catch (error) {
      await handle.close();
      this.#refusal = refusedWrite(directory, error);
      throw this.#refusal;
    }
    this.#handle = handle;
    const found = await this.#newestRevision();
    if (found !== this.#lastRevision) {
      throw damaged(directory, `after a failed write it ends at revision ${found}, not ${this.#lastRevision}`);
    }
    this.#refusal = undefined;
  }

  get #database(): Database {
    if (this.#handle === undefined) throw new Error('the engine is not open');
    return this.#handle;
  }

  /** Checks whose directory this is, or writes it down in a new one. Returns the token key. */
  async #identify(): Promise<Uint8Array> {
    const { directory, dialect, prefix } = this.#options;
    const known = await this.#meta(META_FORMAT);
    if (known === undefined) {
      const [any] = await this.#database.keys({ limit: 1 }).all();
      if (any !== undefined) throw damaged(directory, 'what it belongs to is missing');
      const tokenKey = randomBytes(TOKEN_KEY_BYTES);
      const format = Buffer.from(JSON.stringify({ format: FORMAT, dialect, prefix }));
      await this.#database.batch(
        [
          { type: 'put', key: META_FORMAT, value: sealed(format) },
          { type: 'put', key: META_TOKEN_KEY, value: sealed(tokenKey) },
        ],
        { sync: true },
      );
      return tokenKey;
    }
    const stored = JSON.parse(known.toString()) as { format: number; dialect: string; prefix: string };
    const mismatch =
      stored.format !== FORMAT
        ? `has format ${stored.format}, this release reads format ${FORMAT}`
        : stored.dialect !== dialect
          ? `belongs to the API dialect ${stored.dialect}, not ${dialect}`
          : stored.prefix !== prefix
            ? `was made with --store-prefix ${stored.prefix}, not ${prefix}`
            : undefined;
    if (mismatch !== undefined) throw new OrchError('StoreUnusable', `the data directory ${directory} ${mismatch}`);
    const tokenKey = await this.#meta(META_TOKEN_KEY);
    if (tokenKey === undefined) throw damaged(directory, 'its key for continue tokens is missing');
    return tokenKey;
  }

  /** Metadata without its checksum. */
  async #meta(key: string): Promise<Buffer | undefined> {
    const bytes = await this.#database.get(key);
    if (bytes === undefined) return undefined;
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = value.length - CHECKSUM_BYTES;
    if (end < 0 || value.readUInt32LE(end) !== crc32(value.subarray(0, end))) {
      throw damaged(this.#options.directory, `${key} does not match its checksum`);
    }
    return value.subarray(0, end);
  }

  /** The revision of the last event record, or what is compacted when there is none. */
  async #newestRevision(): Promise<number> {
    const range = { gt: this.#eventPrefix, lt: endOf(this.#eventPrefix) };
    const [newest] = await this.#database.keys({ ...range, reverse: true, limit: 1 }).all();
    return newest === undefined ? this.#compactedRevision : Number.parseInt(newest.slice(this.#eventPrefix.length), 16);
  }

  async #scan(prefix: string, visit: (key: string, value: Uint8Array) => void): Promise<void> {
    const iterator = this.#database.iterator({ gte: prefix, lt: endOf(prefix), fillCache: false });
    try {
      for (;;) {
        const entries = await iterator.nextv(LOAD_SLICE);
        if (entries.length === 0) return;
        for (const [key, value] of entries) visit(key.slice(prefix.length), value);
      }
    } finally {
      await iterator.close();
    }
  }
}

function openDatabase(path: string): Database {
  return new ClassicLevel(path, {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
    createIfMissing: true,
    // Values are read only at start; the rest of the memory is better spent on slabs.
    cacheSize: 1024 * 1024,
    writeBufferSize: 8 * 1024 * 1024,
  });
}

/** The first key after all that begin with a prefix: '0' is the character after its closing '/'. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

/** Fixed width, so that keys sort as revisions do. */
function revisionKey(revision: number): string {
  return revision.toString(16).padStart(14, '0');
}

/** Metadata with the checksum of its bytes behind it. */
function sealed(bytes: Uint8Array): Uint8Array {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(bytes));
  return Buffer.concat([bytes, checksum]);
}

function damaged(directory: string, what: string): OrchError {
  return new OrchError('StoreUnusable', `the store in ${directory} is damaged: ${what}`);
}

function openError(directory: string, error: unknown): OrchError {
  if (error instanceof OrchError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as { code?: string }).code;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (code === 'LEVEL_LOCKED') {
    return new OrchError('StoreUnusable', `the data directory ${directory} is in use by another process`);
  }
  if ((code !== undefined && UNWRITABLE_CODES.has(code)) || /permission denied|not a directory/i.test(text)) {
    return new OrchError('BadConfiguration', `the data directory ${directory} is not writable: ${text}`);
  }
  return new OrchError('StoreUnusable', `the store in ${directory} cannot be opened: ${text}`);
}
