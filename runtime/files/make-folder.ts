// Makes a folder with those above it. The platform's own way tries for ever where a file system takes no folders and says that there
// is no such one, as /proc does.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Leaves one that is there alone. `mode`: of those that are made. Throws what the system refuses the first of them with. */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isFolder(dirname(path))) {
      makeFolder(dirname(path), mode);
      makeFolder(path, mode);
    } else if (code !== 'EEXIST' || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
