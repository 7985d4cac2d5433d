// What a database is called while a restore or a move fills it: it has its own name when it is whole. No start may make a new store
// beside one, which would be taken for what was to be there.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OrchError } from '../runtime/errors.ts';
import { DATABASE_DIRECTORY } from './level-layout.ts';

export const RESTORED_DIRECTORY = `${DATABASE_DIRECTORY}.restored`;
export const MOVED_DIRECTORY = `${DATABASE_DIRECTORY}.moving`;

const WORK = [
  [RESTORED_DIRECTORY, 'a restore'],
  [MOVED_DIRECTORY, 'a move'],
] as const;

/** Throws OrchError StoreUnusable for a data directory without a store in which one of these was cut short. */
export function refuseUnfinished(directory: string): void {
  if (existsSync(join(directory, DATABASE_DIRECTORY))) return;
  const cut = WORK.find(([name]) => existsSync(join(directory, name)));
  if (cut === undefined) return;
  throw new OrchError(
    'StoreUnusable',
    `the data directory ${directory} holds ${cut[1]} that was not finished: run it again, or remove ${cut[0]}`,
  );
}
