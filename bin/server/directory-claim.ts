// Which process a data directory belongs to: the file in it that says so, which is made by one process alone and kept open by it as
// long as it lives. Owns that file. Processes that do not see each other, as those of two containers on one volume, know by the
// database's own lock.
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { DIRECTORY_LOCK, lockDatabase, lockDirectory, refuseLocked } from '../../storage/level/database-lock.ts';
import { DATABASE_DIRECTORY, HEAD_FILE } from '../../storage/level/level-layout.ts';

const PID_FILE = 'orch.pid';
/** A process that holds a directory has one of them open; those of releases before this one all but the first. */
const HELD_OPEN: readonly string[] = [PID_FILE, HEAD_FILE, join(DATABASE_DIRECTORY, 'LOCK')];
/** What file systems say that have no links. */
const WITHOUT_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** Gives up what was claimed. Whoever calls it again gives up nothing more. */
type Release = () => void;

/**
 * Claims the directory for this process. Throws StoreUnusable when another living process holds it, BadConfiguration when it
 * cannot be written to; a file left by one that died is taken over. Returns what gives the claim up.
 */
export async function claimDirectory(directory: string): Promise<Release> {
  // Whoever stopped in order took the file along. The database is opened in any case, which asks for its lock again.
  if (existsSync(join(directory, PID_FILE))) await refuseInUse(directory);
  // Of a server whose objects are elsewhere.
  await refuseLocked(directory);
  return takePlace(directory);
}

/** The same for a server that has its objects elsewhere: no lock of a database speaks for it. */
export async function claimWithoutDatabase(directory: string): Promise<Release> {
  const release = await claimDirectory(directory);
  try {
    const unlock = await lockDirectory(directory);
    return () => {
      release();
      void unlock();
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** The same for who works on the files of the database without opening it: nobody else opens it meanwhile. */
export async function claimDatabase(directory: string): Promise<Release> {
  refuseHeld(directory, join(directory, PID_FILE));
  const unlock = await lockDatabase(directory);
  try {
    const release = takePlace(directory);
    return () => {
      release();
      void unlock();
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

function takePlace(directory: string): Release {
  const path = join(directory, PID_FILE);
  refuseHeld(directory, path);
  const own = `${path}.${process.pid}`;
  let file: number | undefined;
  try {
    file = openSync(own, 'w');
    writeSync(file, `${process.pid}\n`);
    while (!isNamed(own, path)) takeAway(directory, path, `${own}.old`);
  } catch (error) {
    if (file !== undefined) closeSync(file);
    // The first that is written: on a full disk, the system's own words name no file.
    throw error instanceof OrchError ? error : unwritable(directory, error);
  } finally {
    removeIfPossible(own);
  }
  const held = file;
  let isHeld = true;
  return () => {
    // The descriptor may be another file's by now.
    if (!isHeld) return;
    isHeld = false;
    const isOwn = isSame(path, fstatSync(held));
    closeSync(held);
    if (isOwn) removeIfPossible(path);
  };
}

/** The error of a directory that cannot be written to. */
export function unwritable(directory: string, error: unknown): OrchError {
  const { code } = error as NodeJS.ErrnoException;
  return new OrchError('BadConfiguration', `the data directory ${directory} is not writable (${code})`);
}

/** True for the name of what a claim leaves in its directory when its process is killed. */
export function isOfClaim(name: string): boolean {
  return name === PID_FILE || name.startsWith(`${PID_FILE}.`) || name === DIRECTORY_LOCK;
}

/** True while another living process that is seen from here holds the directory. */
export function isInUse(directory: string): boolean {
  return livingHolder(directory, join(directory, PID_FILE)) !== undefined;
}

/** Throws StoreUnusable when another living process holds the directory, or has its database open. Changes nothing. */
export async function refuseInUse(directory: string): Promise<void> {
  refuseHeld(directory, join(directory, PID_FILE));
  const release = await lockDatabase(directory);
  await release();
}

function refuseHeld(directory: string, path: string): void {
  const holder = livingHolder(directory, path);
  if (holder !== undefined) {
    throw new OrchError('StoreUnusable', `the data directory ${directory} is in use by process ${holder}`);
  }
}

/** Gives the file the name that counts; false where another has it. */
function isNamed(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!WITHOUT_LINKS.includes(code)) throw error;
    renameSync(own, path);
    return true;
  }
}

/** Removes the file of a process that died. Another may have done so at the same time, and put its own there: it gets that back. */
function takeAway(directory: string, path: string, aside: string): void {
  refuseHeld(directory, path);
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    refuseHeld(directory, aside);
  } catch (error) {
    isNamed(aside, path);
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** On a file system that has become read-only it stays; a process that has ended holds nothing. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // As said.
  }
}

/** The process that the file at `path` names, if it lives and holds the directory. */
function livingHolder(directory: string, path: string): number | undefined {
  const pid = Number(textOf(path).trim());
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // One of another user lives, too.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  return holds(pid, [path, ...HELD_OPEN.map((name) => join(directory, name))]) ? pid : undefined;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new OrchError('BadConfiguration', `${path} cannot be read (${code})`);
  }
}

/**
 * Whether the process has one of the files open. A pid is given to another after a reboot, to another server even, and a copy of
 * the directory names the process of the first. What processes of other users have open is not told; what they run is.
 */
function holds(pid: number, paths: readonly string[]): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    const open = readdirSync(folder).map((name) => placeOf(join(folder, name)));
    return paths.map(placeOf).some((place) => place !== undefined && open.includes(place));
  } catch {
    return isOrchProcess(pid);
  }
}

function isOrchProcess(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('orch');
  } catch {
    return true;
  }
}

function isSame(path: string, { dev, ino }: { readonly dev: number; readonly ino: number }): boolean {
  return placeOf(path) === `${dev} ${ino}`;
}

/** Undefined for what is not there. */
function placeOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
