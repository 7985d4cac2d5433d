// How this program opens LevelDB.
import { ClassicLevel } from 'classic-level';

export type LevelDatabase = ClassicLevel<string, Uint8Array>;

/** A handle on the database in `path`, made when opened. It takes the lock as soon as it is made. */
export function openLevelDatabase(path: string): LevelDatabase {
  return new ClassicLevel(path, {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
    createIfMissing: true,
    // Values are read only at start; the rest of the memory is better spent on slabs.
    cacheSize: 1024 * 1024,
    writeBufferSize: 8 * 1024 * 1024,
  });
}
