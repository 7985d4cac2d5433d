// What a database is called while a restore, a move or a repair fills it: it has its own name when it is whole. And what it is called
// when it was moved into etcd. No start may make a new store beside one, which would be taken for what was to be there.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { foundDatabase } from './found-files.ts';
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

/** Where the `number`th store is kept that was moved into etcd from a data directory. */
export function keptMoved(number: number): string {
  return `moved-${number}`;
}

/** Throws OrchError StoreUnusable for a data directory without a store in which one of these was cut short, or whose store is in etcd. */
export function refuseUnfinished(directory: string): void {
  if (existsSync(foundDatabase(join(directory, DATABASE_DIRECTORY)))) return;
  const found = WORK.find(([name]) => existsSync(join(directory, name)))?.[1] ?? movedStore(directory);
  if (found === undefined) return;
  throw new OrchError('StoreUnusable', `the data directory ${directory} holds ${found}`);
}

/** An empty store in the place of a moved one would be served to clients that know its objects. */
function movedStore(directory: string): string | undefined {
  const isMoved = (name: string) => /^moved-\d+$/.test(name) && existsSync(join(directory, name, DATABASE_DIRECTORY));
  const kept = existsSync(directory) ? readdirSync(directory).find(isMoved) : undefined;
  if (kept === undefined) return undefined;
  return `a store that was moved into etcd (${kept}): start with --store-servers, or remove ${kept} to begin with an empty store`;
}
