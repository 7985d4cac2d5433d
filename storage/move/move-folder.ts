// The folder's side of a move: what is done to its files, one call a step, so that a test can stop a move at any of them.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { makeFolder } from '../../runtime/files/make-folder.ts';
import { emptyFolder } from '../files/empty-folder.ts';
import { syncDirectory } from '../files/sync-directory.ts';
import { HeadMarker } from '../level/head-marker.ts';
import { DATABASE_DIRECTORY, HEAD_FILE } from '../level/level-layout.ts';
import { LevelStoreWriter, type NewStore } from '../level/level-store-writer.ts';
import { keptMoved, MOVED_DIRECTORY } from '../level/unfinished-store.ts';

/** What a store is written through. */
export type StoreWriter = Pick<LevelStoreWriter, 'add' | 'finish' | 'close'>;

export interface MoveFolder {
  readonly path: string;
  hasStore(): boolean;
  hasHead(): boolean;
  /**
   * From then on every start refuses the folder, until a store is named. Leaves what was begun before. Throws OrchError
   * BadConfiguration where the folder cannot be written to.
   */
  reserve(): void;
  /** Begins a store in what is reserved, in the place of one begun before. */
  begin(store: NewStore): Promise<StoreWriter>;
  /** Gives what was begun the store's name. */
  name(): void;
  /** Notes up to which revision the store was acknowledged. */
  mark(revision: number): void;
  /** Takes the store, then its marker, out of every start's sight; where only the marker is left, that. Returns where they are. */
  putAside(): string;
}

/** The steps of a move on the data folder at `path`. Changes nothing by itself. */
export function moveFolder(path: string): MoveFolder {
  const database = join(path, DATABASE_DIRECTORY);
  const unfinished = join(path, MOVED_DIRECTORY);
  const head = join(path, HEAD_FILE);
  return {
    path,
    hasStore: () => existsSync(database),
    hasHead: () => existsSync(head),
    reserve: () => {
      try {
        makeFolder(unfinished, 0o700);
        syncDirectory(path);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new OrchError('BadConfiguration', `the directory ${path} cannot be written to (${code})`);
      }
    },
    begin: (store) => {
      // Its own name stays: without it, the folder would be taken for an empty one.
      emptyFolder(unfinished);
      return LevelStoreWriter.create(unfinished, store);
    },
    name: () => {
      renameSync(unfinished, database);
      syncDirectory(path);
    },
    mark: (revision) => {
      const marker = new HeadMarker(head);
      marker.advance(revision);
      marker.close();
      syncDirectory(path);
    },
    putAside: () => {
      const kept = keptIn(path, existsSync(database));
      if (existsSync(database)) renameSync(database, join(kept, DATABASE_DIRECTORY));
      if (existsSync(head)) renameSync(head, join(kept, HEAD_FILE));
      syncDirectory(kept);
      syncDirectory(path);
      return kept;
    },
  };
}

/** A new folder, or the newest, which has the store already. */
function keptIn(path: string, isNew: boolean): string {
  let number = 1;
  while (existsSync(join(path, keptMoved(number), DATABASE_DIRECTORY))) number++;
  const kept = join(path, keptMoved(isNew ? number : Math.max(1, number - 1)));
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  return kept;
}
