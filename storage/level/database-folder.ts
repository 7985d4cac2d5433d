// The folder of the database as others find it: what it takes, and whether it is still there.
import { statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** LevelDB replaces it, and never is without it. */
const ALWAYS_THERE = 'CURRENT';

/** Bytes of all files. Rejects where the folder cannot be read. */
export async function folderBytes(path: string): Promise<number> {
  const names = await readdir(path);
  // One that LevelDB has just removed counts for nothing.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(path, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Which folder has the name: another in its place, a copy of it say, is another one. Throws what the file system says. */
export function folderAt(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev} ${ino}`;
}

/**
 * Why what is written will not be found, undefined where it will: the files have been removed, moved away, or replaced by others. Whoever
 * has them open writes on, and is told of no error. `folder`: the one that is open, where one is.
 */
export async function goneFrom(path: string, folder?: string): Promise<Error | undefined> {
  try {
    await stat(join(path, ALWAYS_THERE));
    const isSame = folder === undefined || folderAt(path) === folder;
    return isSame ? undefined : new Error('another database is in the place of the one that is open');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? (error as Error) : undefined;
  }
}
