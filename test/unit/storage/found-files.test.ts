import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FoundFiles, finishPuttingBack, foundDatabase, putBackLeft } from '../../../storage/level/found-files.ts';
import { openLevelDatabase } from '../../../storage/level/level-database.ts';
import { unusedFiles } from '../../../storage/leveldb/database-files.ts';
import { readFiles, scratchDirectory } from '../store/store-on-disk.ts';
import { until } from '../store/store-rig.ts';

interface Scene {
  readonly directory: string;
  readonly database: string;
}

/** A database of two files, and LevelDB's notes. */
function scene(t: ExecutionContext): Scene {
  const directory = scratchDirectory(t);
  const database = join(directory, 'store');
  mkdirSync(database);
  for (const name of ['000003.log', 'CURRENT', 'LOG', 'LOCK']) writeFileSync(join(database, name), `${name} as found`);
  return { directory, database };
}

/** As LevelDB does when it opens: some files go, others come. */
function open(database: string): void {
  rmSync(join(database, '000003.log'));
  renameSync(join(database, 'CURRENT'), join(database, 'CURRENT.old'));
  writeFileSync(join(database, 'CURRENT'), 'new');
  writeFileSync(join(database, '000005.ldb'), 'new');
  appendFileSync(join(database, 'LOG'), 'opened');
}

function assertAsFound(t: ExecutionContext, { directory, database }: Scene): void {
  t.deepEqual(readdirSync(directory), ['store']);
  t.deepEqual(readdirSync(database).sort(), ['000003.log', 'CURRENT']);
  t.is(readFileSync(join(database, 'CURRENT'), 'utf8'), 'CURRENT as found');
}

test('a refused start puts every file back', (t) => {
  const found = scene(t);
  const files = new FoundFiles(found.database);
  open(found.database);
  files.putBack();
  assertAsFound(t, found);
});

test('a start that went well keeps nothing, and puts nothing back later', async (t) => {
  const { directory, database } = scene(t);
  const files = new FoundFiles(database);
  open(database);
  await files.forget();
  await files.forget();
  files.putBack();
  t.deepEqual(readdirSync(directory), ['store']);
  t.true(existsSync(join(database, '000005.ldb')));
});

test('a process that ended while putting back leaves the next start what was found', (t) => {
  const found = scene(t);
  new FoundFiles(found.database);
  open(found.database);
  renameSync(found.database, `${found.database}.discarded`);
  finishPuttingBack(found.database);
  assertAsFound(t, found);
});

test('a process that ended during its start leaves the next one the database as it had found it', async (t) => {
  const found = scene(t);
  new FoundFiles(found.database);
  open(found.database);
  t.is(foundDatabase(found.database), `${found.database}.as-found`);
  await putBackLeft(found.directory);
  assertAsFound(t, found);
});

test('what is kept is whole: files that a process was keeping as it ended are not put back', async (t) => {
  const { directory, database } = scene(t);
  mkdirSync(`${database}.discarded`);
  await putBackLeft(directory);
  t.is(foundDatabase(database), database);
  new FoundFiles(database).putBack();
  assertAsFound(t, { directory, database });
});

test('once a start is over nothing is put back, though the process ended while what it kept was removed', async (t) => {
  const { directory, database } = scene(t);
  const files = new FoundFiles(database);
  open(database);
  const removed = files.forget();
  t.is(foundDatabase(database), database);
  await removed;
  await putBackLeft(directory);
  t.true(existsSync(join(database, '000005.ldb')));
});

test('a process that ends leaves what it kept where nobody can forget it, and says nothing', async (t) => {
  const { database } = scene(t);
  const files = new FoundFiles(database);
  // Neither a file nor a folder without entries: nothing can take the name.
  mkdirSync(join(`${database}.discarded`, 'taken'), { recursive: true });
  t.throws(() => files.forget());
  await files.end();
  t.is(foundDatabase(database), `${database}.as-found`);
});

test('where there is no database, nothing is kept and none is made', async (t) => {
  const directory = scratchDirectory(t);
  const files = new FoundFiles(join(directory, 'store'));
  files.putBack();
  await files.forget();
  t.deepEqual(readdirSync(directory), []);
});

test('a refused start leaves tables and manifests whole that the manifest in use does not know', async (t) => {
  const directory = scratchDirectory(t);
  const database = join(directory, 'store');
  const made = openLevelDatabase(database);
  await made.open();
  // Past what LevelDB keeps in memory: a table is made, which an edit of the manifest tells of.
  for (let i = 0; i < 10; i++) await made.put(`key-${i}`, randomBytes(1024 * 1024));
  await until(() => !existsSync(join(database, '000003.log')));
  await made.close();
  const manifest = readdirSync(database).find((name) => name.startsWith('MANIFEST'))!;
  const whole = readFileSync(join(database, manifest));
  // Its first two edits alone, which opening made. Each has a head of 7 bytes, with its length at the fourth.
  const first = 7 + whole.readUInt16LE(4);
  truncateSync(join(database, manifest), first + 7 + whole.readUInt16LE(first + 4));
  const [table = ''] = unusedFiles(database);
  t.regex(table, /^\d+\.ldb$/);
  writeFileSync(join(database, 'MANIFEST-000099'), 'left over');
  t.deepEqual(unusedFiles(database), [table, 'MANIFEST-000099']);
  const before = readFiles(directory);
  const files = new FoundFiles(database);
  const opened = openLevelDatabase(database);
  await opened.open();
  await opened.close();
  files.putBack();
  const after = readFiles(directory);
  for (const [name, bytes] of before)
    if (!/LO(?:G|G\.old|CK)$/.test(name)) t.true(after.get(name)?.equals(bytes), name);
});
