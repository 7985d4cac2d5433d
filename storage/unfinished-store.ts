// What a database is called while a restore, a move or a repair fills it: it has its own name when it is whole. No start may make a
// new store beside one, which would be taken for what was to be there.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OrchError } from '../runtime/errors.ts';
import { DATABASE_DIRECTORY } from './level-layout.ts';

export const RESTORED_DIRECTORY = `${DATABASE_DIRECTORY}.restored`;
export const MOVED_DIRECTORY = `${DATABASE_DIRECTORY}.moving`;
export const REPAIRED_DIRECTORY = `${DATABASE_DIRECTORY}.repaired`;

const WORK = [
  [RESTORED_DIRECTORY, `a restore that was not finished: run it again, or remove ${RESTORED_DIRECTORY}`],
  [MOVED_DIRECTORY, `a move that was not finished: run it again, or remove ${MOVED_DIRECTORY}`],
  // Whole, since the damaged one has lost its name.
  [REPAIRED_DIRECTORY, 'a repair that was not finished: run it again'],
] as const;

/** Throws OrchError StoreUnusable for a data directory without a store in which one of these was cut short. */
export function refuseUnfinished(directory: string): void {
  if (existsSync(join(directory, DATABASE_DIRECTORY))) return;
  const cut = WORK.find(([name]) => existsSync(join(directory, name)));
  if (cut === undefined) return;
  throw new OrchError('StoreUnusable', `the data directory ${directory} holds ${cut[1]}`);
}
