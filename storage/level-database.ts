// How this program opens LevelDB.
import { Level } from 'level';

/** A change of one key, as LevelDB takes it: no encoding is left to be done. */
export type LevelOperation =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: string };

/** The library's types name only what it can do in browsers as well; on a disk it compacts too. */
export type LevelDatabase = Level<string, Uint8Array> & {
  compactRange(start: string, end: string): Promise<void>;
  /** What its own `batch` calls with operations that it has copied, encoded and offered to hooks. */
  _batch(operations: readonly LevelOperation[], options: { readonly sync: boolean }): Promise<void>;
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

/**
 * Commits a batch and waits for the disk, as `batch` does, without its copies of each operation: they took more than LevelDB
 * itself. Rejects with LevelDB's error.
 */
export async function writeSynced(database: LevelDatabase, operations: readonly LevelOperation[]): Promise<void> {
  // The binding below does not look.
  if (database.status !== 'open') throw new Error(`the database is ${database.status}`);
  await database._batch(operations, { sync: true });
}
