// How this program opens LevelDB.
import { Level } from 'level';

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
  }) as LevelDatabase;
}
