// Beside what is kept of a store, no start makes a new one.
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { refuseUnfinished } from '../../../storage/level/unfinished-store.ts';
import { moveFolder } from '../../../storage/move/move-folder.ts';
import { scratchDirectory, storeIn } from '../store/store-on-disk.ts';

test('a folder whose store was moved into etcd is not begun anew by a start that does not name the etcd', async (t) => {
  const directory = scratchDirectory(t);
  t.not(typeof (await storeIn(directory)), 'string');
  const kept = moveFolder(directory).putAside();
  const before = readdirSync(directory);
  t.regex(
    String(await storeIn(directory)),
    /holds a store that was moved into etcd \(moved-1\): start with --store-servers, or remove moved-1 to begin with an empty store/,
  );
  t.deepEqual(readdirSync(directory), before);
  renameSync(join(kept, 'store'), join(directory, 'store'));
  renameSync(join(kept, 'head'), join(directory, 'head'));
  t.not(typeof (await storeIn(directory)), 'string');
});

test('a store that was moved out of etcd again is opened beside the one that is kept, and one that is kept nowhere is begun', async (t) => {
  const directory = scratchDirectory(t);
  t.not(typeof (await storeIn(directory)), 'string');
  mkdirSync(join(directory, 'moved-2', 'store'), { recursive: true });
  t.not(typeof (await storeIn(directory)), 'string');
  const other = scratchDirectory(t);
  mkdirSync(join(other, 'moved-1'));
  t.not(typeof (await storeIn(other)), 'string');
});

test('a store that was moved into etcd and back is not said to be there still while a start that was cut short has its files', (t) => {
  const directory = scratchDirectory(t);
  mkdirSync(join(directory, 'moved-1', 'store'), { recursive: true });
  t.throws(() => refuseUnfinished(directory), { message: /moved into etcd/ });
  mkdirSync(join(directory, 'store.as-found'));
  t.notThrows(() => refuseUnfinished(directory));
});
