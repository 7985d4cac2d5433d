// The folder of the database as others find it: what it takes, and whether it is still there.
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

/**
 * The error of the system where the files have been removed, or moved away. Whoever has them open writes on, and is told of no error; no
 * start finds what was written.
 */
export async function goneFrom(path: string): Promise<Error | undefined> {
  try {
    await stat(join(path, ALWAYS_THERE));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? (error as Error) : undefined;
  }
}
