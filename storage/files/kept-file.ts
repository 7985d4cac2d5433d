// A file that is made for whoever asked for it, as a snapshot: it has its name only when it is whole and on the disk.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { syncDirectory } from './sync-directory.ts';

/**
 * Gives the file what `write` puts into an open one; answers what it answers. Throws OrchError BadConfiguration where the disk
 * does not let it, and leaves nothing then.
 */
export async function keepFile<T>(file: string, write: (descriptor: number) => T | Promise<T>): Promise<T> {
  const place = placeOf(file);
  const temporary = `${place}.new`;
  let descriptor: number | undefined;
  try {
    // What an earlier one left is not written into: it may live, and the file would hold something of both.
    rmSync(temporary, { force: true });
    descriptor = openSync(temporary, 'wx', 0o600);
    const written = await write(descriptor);
    fsyncSync(descriptor);
    if (!isAt(temporary, descriptor))
      throw new OrchError('Refused', `${file} is being written by another process, which began later`);
    renameSync(temporary, place);
    syncDirectory(dirname(place));
    return written;
  } catch (error) {
    if (descriptor !== undefined && isAt(temporary, descriptor)) rmSync(temporary, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (error instanceof OrchError || syscall === undefined) throw error;
    throw new OrchError('BadConfiguration', `${file} cannot be written (${code})`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Whether the open file still has the name. */
function isAt(path: string, descriptor: number): boolean {
  const [named, open] = [statSync(path, { throwIfNoEntry: false }), fstatSync(descriptor)];
  return named?.ino === open.ino && named.dev === open.dev;
}

/** Where the file is: where a link leads to. Whatever else has the name would be replaced by it, as a device or a pipe. */
function placeOf(file: string): string {
  if (!existsSync(file)) return resolve(file);
  const place = realpathSync(file);
  const found = statSync(place);
  if (found.isFile()) return place;
  throw new OrchError(
    'BadConfiguration',
    `${file} cannot be written: ${found.isDirectory() ? 'it is a folder' : 'it is no file'}`,
  );
}
