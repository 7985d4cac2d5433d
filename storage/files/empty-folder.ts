// Takes away what a folder holds and leaves the folder: one that a store is filled under keeps every start away by its name.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Throws where it cannot be read, or something in it cannot be removed. */
export function emptyFolder(path: string): void {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
}
