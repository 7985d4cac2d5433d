// The files of a database as a start found them, kept until the start is over. LevelDB rewrites its log when it opens and
// deletes what it came from, damaged or not: a start that is refused in the end puts everything back, so that whoever
// repairs the store has all there is, and where a start was cut short the next one does. Costs a directory of links; where
// links cannot be made, nothing is kept. What has the name of what is kept is whole, and nothing was acknowledged since.
import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory, syncFile } from '../files/sync-directory.ts';
import { unusedFiles } from '../leveldb/database-files.ts';
import { lockDatabase } from './database-lock.ts';
import { DATABASE_DIRECTORY } from './level-layout.ts';

const KEPT_SUFFIX = '.as-found';
/** What has this name counts for nothing: it is not whole yet, or not needed any more. */
const DISCARDED_SUFFIX = '.discarded';
/** These are LevelDB's own notes, written in place: nothing is lost with them. */
const NOT_DATA: ReadonlySet<string> = new Set(['LOCK', 'LOG', 'LOG.old']);

/** Where the files of a database are as the last start found them that is not over, else as they are. Changes nothing. */
export function foundDatabase(database: string): string {
  const kept = database + KEPT_SUFFIX;
  return existsSync(kept) ? kept : database;
}

/**
 * Puts back what a start kept that was cut short, or that was cut short while it put it back: then the database has no name. No other
 * process opens it meanwhile.
 */
export function finishPuttingBack(database: string): void {
  const kept = database + KEPT_SUFFIX;
  if (!existsSync(kept)) return;
  const discarded = database + DISCARDED_SUFFIX;
  rmSync(discarded, { recursive: true, force: true });
  if (existsSync(database)) renameSync(database, discarded);
  renameSync(kept, database);
  syncDirectory(dirname(database));
  rmSync(discarded, { recursive: true, force: true });
}

/**
 * The same for the database of a data directory that another process may have open. Throws OrchError StoreUnusable where one has: then
 * it is its start that is in progress.
 */
export async function putBackLeft(directory: string): Promise<void> {
  const database = join(directory, DATABASE_DIRECTORY);
  if (foundDatabase(database) === database) return;
  const unlock = await lockDatabase(directory);
  try {
    finishPuttingBack(database);
  } finally {
    await unlock();
  }
}

/** On the disk before it counts: the file that it was copied from may be written over next. */
function copied(from: string, to: string): void {
  copyFileSync(from, to);
  syncFile(to);
}

export class FoundFiles {
  readonly #database: string;
  readonly #kept: string;
  readonly #discarded: string;
  #isKept = false;
  #forgotten: Promise<void> = Promise.resolve();

  /** `database`: the directory whose files are kept; none is made where there is none. Nothing is left of an earlier start. */
  constructor(database: string) {
    this.#database = database;
    this.#kept = database + KEPT_SUFFIX;
    this.#discarded = database + DISCARDED_SUFFIX;
    rmSync(this.#discarded, { recursive: true, force: true });
    if (!existsSync(database)) return;
    try {
      mkdirSync(this.#discarded, { mode: 0o700 });
      const unused = new Set(unusedFiles(database));
      for (const name of readdirSync(database)) {
        // A link is the same file, and into one that it does not know LevelDB may write. None is taken away from where it lies: another
        // process may have the database open, and be making it.
        if (!NOT_DATA.has(name))
          (unused.has(name) ? copied : linkSync)(join(database, name), join(this.#discarded, name));
      }
      renameSync(this.#discarded, this.#kept);
      this.#isKept = true;
    } catch {
      // No links on this file system, or no room: opening goes on without.
      rmSync(this.#discarded, { recursive: true, force: true });
    }
  }

  /**
   * The start went well: from its return on nothing is put back, whatever happens. Resolves when nothing is kept any more; asked
   * again, it answers for the first time. Throws what the file system throws.
   */
  forget(): Promise<void> {
    if (!this.#isKept) return this.#forgotten;
    if (existsSync(this.#kept)) renameSync(this.#kept, this.#discarded);
    // What is acknowledged next must not be undone by the start after a loss of power.
    syncDirectory(dirname(this.#database));
    this.#isKept = false;
    // What cannot be removed now, the next start removes.
    this.#forgotten = rm(this.#discarded, { recursive: true, force: true }).catch(() => {});
    return this.#forgotten;
  }

  /** The process ends. Where the start cannot be forgotten, nothing was written since: the next one may as well begin where it did. */
  async end(): Promise<void> {
    try {
      await this.forget();
    } catch {
      // As said.
    }
  }

  /** The start was refused, and the database is closed again. */
  putBack(): void {
    if (!this.#isKept) return;
    this.#isKept = false;
    finishPuttingBack(this.#database);
  }
}
