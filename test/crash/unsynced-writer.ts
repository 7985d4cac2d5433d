// A process that does one thing to the files of a folder, says so, and waits to be killed. Run by unsynced-disk.test.ts.
// Arguments: the folder, the name of the deed.
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
  writev,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Level } from 'level';

const [folder = '', deed = ''] = process.argv.slice(2);
const path = (name: string): string => join(folder, name);

function syncFolder(): void {
  const file = openSync(folder, 'r');
  fsyncSync(file);
  closeSync(file);
}

const DEEDS: Readonly<Record<string, () => void | Promise<void>>> = {
  unsynced() {
    writeSync(openSync(path('a'), 'w'), 'lost');
  },
  synced() {
    const file = openSync(path('a'), 'w');
    writeSync(file, 'kept');
    fdatasyncSync(file);
    writeSync(file, ' lost');
  },
  async asynchronous() {
    const file = await open(path('a'), 'w');
    await promisify(writev)(file.fd, [Buffer.from('one '), Buffer.from('two ')], 0);
    await file.sync();
    await file.write(' lost', 8);
  },
  overwritten() {
    const file = openSync(path('old'), 'r+');
    writeSync(file, 'NEW', 0);
  },
  truncated() {
    const file = openSync(path('old'), 'r+');
    ftruncateSync(file, 1);
    fsyncSync(file);
    ftruncateSync(file, 0);
  },
  emptied() {
    openSync(path('old'), 'w');
  },
  renamed() {
    const file = openSync(path('new'), 'w');
    writeSync(file, 'lost');
    closeSync(file);
    renameSync(path('new'), path('old'));
    syncFolder();
  },
  linked() {
    linkSync(path('old'), path('second'));
    syncFolder();
    rmSync(path('old'));
    writeSync(openSync(path('second'), 'r+'), 'NEW');
  },
  moved() {
    mkdirSync(path('one'));
    const file = openSync(path('one/a'), 'w');
    writeSync(file, 'kept');
    fsyncSync(file);
    renameSync(path('one'), path('two'));
    syncFolder();
    renameSync(path('two'), path('three'));
  },
  removed() {
    rmSync(path('old'));
  },
  removedForGood() {
    rmSync(path('old'));
    syncFolder();
  },
  async level() {
    const database = new Level(path('level'));
    await database.open();
    await database.batch([{ type: 'put', key: 'a', value: 'kept' }], { sync: true });
    await database.batch([{ type: 'put', key: 'b', value: 'lost' }]);
  },
};

await DEEDS[deed]!();
process.stdout.write('done\n');
setInterval(() => {}, 1000);
