// How this program opens LevelDB.
import { Level } from 'level';
import { keepBinary } from './kept-binary.ts';

/** LevelDB's own batch, as its chained batches write to it: without encodings, hooks and events. */
interface NativeBatch {
  _put(key: string, value: Uint8Array): void;
  _del(key: string): void;
  _clear(): void;
  _write(options: { readonly sync: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** The library's types name only what it can do in browsers as well; on a disk it compacts too. */
export type LevelDatabase = Level<string, Uint8Array> & {
  compactRange(start: string, end: string): Promise<void>;
};

/** A handle on the database in `path`, made when opened. It takes the lock as soon as it is made. */
export function openLevelDatabase(path: string): LevelDatabase {
  keepBinary();
  return new Level<string, Uint8Array>(path, {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
    createIfMissing: true,
    // Values are read only at start; the rest of the memory is better spent on slabs.
    cacheSize: 1024 * 1024,
    writeBufferSize: 8 * 1024 * 1024,
    // Objects of a type are alike: together they take half the room, on the disk and where a start reads and checks them.
    blockSize: 32 * 1024,
  }) as LevelDatabase;
}

/** The most that a native batch may have held to be used again: it keeps the room for it until it is collected. */
const KEPT_BYTES_MAX = 1024 * 1024;
const SYNCED = { sync: true };
const batches = new WeakMap<LevelDatabase, LevelBatch>();

/** What is committed together. */
class LevelBatch {
  readonly native: NativeBatch;
  /** Of keys and values. */
  bytes = 0;

  constructor(database: LevelDatabase) {
    this.native = database.batch() as unknown as NativeBatch;
  }

  clear(): void {
    this.native._clear();
    this.bytes = 0;
  }

  /** A change of one key; without a value it is removed. */
  add(key: string, value: Uint8Array | undefined): void {
    this.bytes += key.length;
    if (value === undefined) {
      this.native._del(key);
      return;
    }
    this.native._put(key, value);
    this.bytes += value.byteLength;
  }
}

/**
 * Commits what `gather` adds and waits for the disk, as `batch` does, without its copies of each operation: they took more than
 * LevelDB itself, and where the binding is given operations it looks up the members of each. One at a time. Rejects with LevelDB's
 * error.
 */
export async function writeSynced(database: LevelDatabase, gather: (batch: LevelBatch) => void): Promise<void> {
  // The binding below does not look.
  if (database.status !== 'open') throw new Error(`the database is ${database.status}`);
  const batch = batches.get(database) ?? new LevelBatch(database);
  batch.clear();
  gather(batch);
  if (batch.bytes <= KEPT_BYTES_MAX) batches.set(database, batch);
  else batches.delete(database);
  await batch.native._write(SYNCED);
  if (batch.bytes > KEPT_BYTES_MAX) await batch.native.close();
}

/**
 * Has all files written again: until then, what was overwritten or removed still lies in them. LevelDB does not tell that it could not,
 * and refuses what is written next: that is `key`, with the value that it has. Rejects with LevelDB's error.
 */
export async function rewriteFiles(database: LevelDatabase, key: string, value: Uint8Array): Promise<void> {
  await database.compactRange('', '\u{10ffff}');
  await database.put(key, value, SYNCED);
}
