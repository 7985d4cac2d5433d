// A data directory holds every secret of a cluster, so nobody but its owner may look into it. Before a start, what others
// could read is closed to them; a directory that is not ours to close, or not ours alone, is refused.
import { chmodSync, type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, parse } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { warn } from '../command-line/print-lines.ts';

/** What files and folders of this process leave to group and others: nothing. */
export const UMASK = 0o077;
const OTHERS = 0o077;

/**
 * Takes from group and others whatever they may do with the directory and with what is in it. Answers in one line what was
 * done, and nothing where all was closed. Throws BadConfiguration for an open directory of another user. Links in it are
 * left alone, since what they lead to is not part of it. `uid`: ours; undefined where the system has no users of this kind.
 */
export function closeDirectory(path: string, uid: number | undefined = process.geteuid?.()): string | undefined {
  if (uid === undefined) return undefined;
  refuseForeignDirectory(path, uid);
  // The directory may be named by a link.
  const real = realpathSync(path);
  const closed = [real, ...inside(real)].filter((entry) => close(entry, uid)).length;
  return closed === 0
    ? undefined
    : `${path} was open to other users: ${closed} of its files and folders are closed now`;
}

/**
 * Throws BadConfiguration for an open directory of another user, or of several: closed, it would keep them from what is theirs.
 * Changes nothing.
 */
export function refuseForeignDirectory(path: string, uid: number | undefined = process.geteuid?.()): void {
  const found = statSync(path);
  const { uid: owner, mode } = found;
  if (uid === undefined || !found.isDirectory() || (mode & OTHERS) === 0) return;
  const reason = owner === uid ? sharedBecause(path, uid) : `belongs to user ${owner}`;
  if (reason === undefined) return;
  throw new OrchError(
    'BadConfiguration',
    `the data directory ${path} ${reason} and is open to others (mode ${(mode & 0o777).toString(8)}); ` +
      'name a folder for this server alone, in it or elsewhere',
  );
}

/** Says so where root writes into the directory of another, whose server can then not read what it finds. */
export function warnOfOwner(
  path: string,
  uid: number | undefined = process.geteuid?.(),
  say: (line: string) => void = warn,
): void {
  const { uid: owner } = statSync(path);
  if (uid === undefined || owner === uid) return;
  say(
    `${path} belongs to user ${owner}, and what this process makes in it to user ${uid}: a server of user ${owner} cannot start on it then`,
  );
}

/** Why others need the directory, as `/` or `/tmp`, if so. What is root's, as `lost+found`, root comes to in any case. */
function sharedBecause(path: string, uid: number): string | undefined {
  if (parse(path).root === path) return 'is the root of all';
  const owners = readdirSync(path).map((name) => lstatSync(join(path, name), { throwIfNoEntry: false })?.uid);
  const other = owners.find((owner) => owner !== undefined && owner !== uid && owner !== 0);
  return other === undefined ? undefined : `holds files of user ${other}`;
}

/**
 * The paths of all that is in it, but of what we may not look into, as root's `lost+found`: nothing of ours is there. Not by Node's own
 * walk, which follows links to folders from version 24 on.
 */
function inside(directory: string): string[] {
  return entriesOf(directory).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? [path, ...inside(path)] : [path];
  });
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return [];
    throw error;
  }
}

/** True when it was open, and ours to close. Behind a closed directory a file of another user is out of reach as well. */
function close(path: string, uid: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink() || found.uid !== uid || (found.mode & OTHERS) === 0) return false;
  chmodSync(path, found.mode & 0o7777 & ~OTHERS);
  return true;
}
