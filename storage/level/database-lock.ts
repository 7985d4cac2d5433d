// LevelDB's lock on the database of a data directory, taken without the database: it holds between processes that do not see each
// other, as those of two containers on one volume, and who works on the files does not open the database, since that rewrites it.
// A directory without a database has a file of its own for it.
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { DATABASE_DIRECTORY } from './level-layout.ts';

const LOCK_FILE = 'LOCK';
/** Stays when it is given up: whoever removed it could take it from another. */
export const DIRECTORY_LOCK = 'orch.lock';

type Unlock = () => Promise<void>;

/**
 * Takes the lock and leaves the database's files as they are. Returns what gives it up. Throws OrchError StoreUnusable where another
 * process has the database open. What cannot be found out, as without a database or a temporary folder, keeps nobody.
 */
export function lockDatabase(directory: string): Promise<Unlock> {
  return lockFile(directory, join(DATABASE_DIRECTORY, LOCK_FILE));
}

/** The same for a directory whose server has no database in it. `name`: of the file that is locked, one that this process has not locked. */
export async function lockDirectory(directory: string, name = DIRECTORY_LOCK): Promise<Unlock> {
  try {
    closeSync(openSync(join(directory, name), 'a', 0o600));
  } catch {
    return notTaken;
  }
  return lockFile(directory, name);
}

/** Throws OrchError StoreUnusable where another process holds the lock of such a directory. */
export async function refuseLocked(directory: string): Promise<void> {
  const unlock = await lockFile(directory, DIRECTORY_LOCK);
  await unlock();
}

async function lockFile(directory: string, name: string): Promise<Unlock> {
  const lock = resolve(directory, name);
  if (!existsSync(lock)) return notTaken;
  let aside: string | undefined;
  try {
    // The lock is the file's, whatever leads to it: an empty database that has it for its own takes it.
    aside = mkdtempSync(join(tmpdir(), 'orch-lock-'));
    symlinkSync(lock, join(aside, LOCK_FILE));
    const { openLevelDatabase } = await import('./level-database.ts');
    const handle = openLevelDatabase(aside);
    await handle.open();
    return () => handle.close();
  } catch (error) {
    if (isLocked(error)) throw usedElsewhere(directory);
    return notTaken;
  } finally {
    if (aside !== undefined) removeIfPossible(aside);
  }
}

/** True for the error of a database that another process has open. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && (error.cause as { code?: string } | undefined)?.code === 'LEVEL_LOCKED';
}

/** What is said of it. */
export function usedElsewhere(directory: string): OrchError {
  return new OrchError('StoreUnusable', `the data directory ${directory} is in use by another process`);
}

async function notTaken(): Promise<void> {}

/** What is open needs no name. */
function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // What is left of it is a temporary file.
  }
}
