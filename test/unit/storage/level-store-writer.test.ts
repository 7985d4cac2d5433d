// A new store on a disk that takes none: which folder it is, why, and what is left there.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { LevelStoreWriter } from '../../../storage/level/level-store-writer.ts';
import { inspectStore } from '../../../storage/upkeep/inspection.ts';
import { repairStore } from '../../../storage/upkeep/repair.ts';
import { IDENTITY, scratchDirectory, smallStore } from '../store/store-on-disk.ts';

test('of a new store that the disk does not take it is said which folder cannot be written to, and why', async (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, 'store.restored');
  // A folder that has the name of the first file that LevelDB makes there.
  mkdirSync(join(path, 'MANIFEST-000001'), { recursive: true });
  const store = { ...IDENTITY, tokenKey: new Uint8Array(32), compactedRevision: 1, wallMs: 0 };
  const error = await t.throwsAsync(LevelStoreWriter.create(path, store), { code: 'StorageFailed' });
  t.true(
    error?.message.startsWith(`the data folder ${directory} cannot be written to: IO error: ${path}/`),
    error?.message,
  );
});

test('a repair that comes to nothing leaves the folder as it was', async (t) => {
  const directory = scratchDirectory(t);
  await smallStore(directory);
  const before = readdirSync(directory);
  const found = { ...inspectStore(directory), objects: new Map([['core/pods/default/one', Buffer.alloc(1)]]) };
  await t.throwsAsync(repairStore(directory, found, IDENTITY, 0));
  t.deepEqual(readdirSync(directory), before);
  t.deepEqual(inspectStore(directory).problems, []);
});
