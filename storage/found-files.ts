// The files of a database as a start found them, kept until the start is over. LevelDB rewrites its log when it opens and
// deletes what it came from, damaged or not: a start that is refused in the end puts everything back, so that whoever
// repairs the store has all there is. Costs a directory of links; where links cannot be made, nothing is kept.
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

const KEPT_SUFFIX = '.as-found';
const DISCARDED_SUFFIX = '.discarded';
/** These are LevelDB's own notes, written in place: nothing is lost with them. */
const NOT_DATA: ReadonlySet<string> = new Set(['LOCK', 'LOG', 'LOG.old']);

/** Ends what a process that ended while putting back had begun: between the two names the database has none. */
export function finishPuttingBack(database: string): void {
  const kept = database + KEPT_SUFFIX;
  if (!existsSync(database) && existsSync(kept)) renameSync(kept, database);
}

export class FoundFiles {
  readonly #database: string;
  readonly #kept: string;
  readonly #discarded: string;
  #isKept = false;
  #forgotten: Promise<void> = Promise.resolve();

  /** `database`: the directory whose files are kept; none is made where there is none. */
  constructor(database: string) {
    this.#database = database;
    this.#kept = database + KEPT_SUFFIX;
    this.#discarded = database + DISCARDED_SUFFIX;
    this.#finishEarlier();
    if (!existsSync(database)) return;
    try {
      mkdirSync(this.#kept, { mode: 0o700 });
      for (const name of readdirSync(database)) {
        if (!NOT_DATA.has(name)) linkSync(join(database, name), join(this.#kept, name));
      }
      this.#isKept = true;
    } catch {
      // No links on this file system, or no room: opening goes on without.
      rmSync(this.#kept, { recursive: true, force: true });
    }
  }

  /** The start went well. Resolves when nothing is kept any more; asked again, it answers for the first time. */
  forget(): Promise<void> {
    if (!this.#isKept) return this.#forgotten;
    this.#isKept = false;
    // What cannot be removed now, the next start removes.
    this.#forgotten = rm(this.#kept, { recursive: true, force: true }).catch(() => {});
    return this.#forgotten;
  }

  /** The start was refused, and the database is closed again. */
  putBack(): void {
    if (!this.#isKept) return;
    this.#isKept = false;
    renameSync(this.#database, this.#discarded);
    renameSync(this.#kept, this.#database);
    rmSync(this.#discarded, { recursive: true, force: true });
  }

  /** What an earlier start left that was cut short. */
  #finishEarlier(): void {
    finishPuttingBack(this.#database);
    rmSync(this.#kept, { recursive: true, force: true });
    rmSync(this.#discarded, { recursive: true, force: true });
  }
}
