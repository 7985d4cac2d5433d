// How this program opens LevelDB.
import { Level } from 'level';

/** A change of one key; undefined removes it. */
export interface LevelWrite {
  readonly key: string;
  readonly value: Uint8Array | undefined;
}

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

/** A native batch keeps the room of the largest that was in it, until it is collected: it is used again up to this size. */
const KEPT_BYTES_MAX = 1024 * 1024;
const SYNCED = { sync: true };
const batches = new WeakMap<LevelDatabase, NativeBatch>();

/**
 * Commits a batch and waits for the disk, as `batch` does, without its copies of each operation: they took more than LevelDB
 * itself, and where the binding is given operations it looks up the members of each. One at a time. Keys of `writes` get
 * `prefix`. Rejects with LevelDB's error.
 */
export async function writeSynced(
  database: LevelDatabase,
  first: LevelWrite,
  prefix: string,
  writes: readonly LevelWrite[],
): Promise<void> {
  // The binding below does not look.
  if (database.status !== 'open') throw new Error(`the database is ${database.status}`);
  const batch = batchOf(database);
  batch._clear();
  let bytes = add(batch, first.key, first.value);
  for (const { key, value } of writes) bytes += add(batch, prefix + key, value);
  if (bytes > KEPT_BYTES_MAX) batches.delete(database);
  await batch._write(SYNCED);
  if (bytes > KEPT_BYTES_MAX) await batch.close();
}

function batchOf(database: LevelDatabase): NativeBatch {
  let batch = batches.get(database);
  if (batch === undefined) {
    batch = database.batch() as unknown as NativeBatch;
    batches.set(database, batch);
  }
  return batch;
}

function add(batch: NativeBatch, key: string, value: Uint8Array | undefined): number {
  if (value === undefined) {
    batch._del(key);
    return key.length;
  }
  batch._put(key, value);
  return key.length + value.byteLength;
}
