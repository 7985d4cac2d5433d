// What is in the root of a file system from its making on: a mounted volume that holds nothing else is empty.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOUND_BY_REPAIR = 'lost+found';

/** True for a folder that the file system made for its own repairs, unless one put something there that could be somebody's. */
export function isFileSystems(directory: string, name: string): boolean {
  if (name !== FOUND_BY_REPAIR) return false;
  const path = join(directory, name);
  try {
    return lstatSync(path).isDirectory() && readdirSync(path).length === 0;
  } catch (error) {
    // It is root's, and others may not look into it.
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}
