// LevelDB with nothing in front of it. What the server has since done to the engine itself (larger blocks, batches past the library:
// storage/level/level-database.ts) is not done here, so that ratios stay comparable with those that budgets were set by. With both it
// costs some three fifths.
import { Level } from 'level';

export type BareEngine = Level<string, Uint8Array>;

/** Opens one in a folder of its own. */
export async function openBareEngine(directory: string): Promise<BareEngine> {
  const database: BareEngine = new Level(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
    cacheSize: 1024 * 1024,
    writeBufferSize: 8 * 1024 * 1024,
  });
  await database.open();
  return database;
}
