// What a file is called while it is written, before it takes the place of the one that it is for. Whoever is killed meanwhile leaves it,
// with whatever secret is in it.
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const LEFT = /\.\d+-[0-9a-f]{8}-\d+\.tmp$/;
const RANDOM_BYTES = 4;

let made = 0;

/** A name beside `path` that nobody else writes to. */
export function temporaryFor(path: string): string {
  return `${path}.${process.pid}-${randomBytes(RANDOM_BYTES).toString('hex')}-${++made}.tmp`;
}

/** Removes what those who were killed have left in the folder, if there is one. Nobody else may be writing there. */
export function removeTemporaries(folder: string): void {
  try {
    for (const name of readdirSync(folder)) if (LEFT.test(name)) rmSync(join(folder, name), { force: true });
  } catch {
    // What keeps us from looking, or from removing, whoever writes there will tell.
  }
}
