// Runs the engine contract over the engines there are, and what only an engine with a directory must refuse.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Level } from 'level';
import type { OrchError } from '../../runtime/errors.ts';
import { MemoryEngine } from '../../storage/engines/memory-engine.ts';
import type { FolderOptions } from '../../storage/level/folder-identity.ts';
import { LevelEngine } from '../../storage/level/level-engine.ts';
import { revisionKey, sealed } from '../../storage/level/level-layout.ts';
import { batchOf, engineContract, load } from './engine-contract.ts';

engineContract('memory', async () => {
  const engine = new MemoryEngine(new Uint8Array(32).fill(7));
  return { make: () => engine, dispose: async () => {} };
});

engineContract('level', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'engine-'));
  return {
    make: () => new LevelEngine(optionsFor(directory)),
    dispose: () => rm(directory, { recursive: true }),
  };
});

function optionsFor(directory: string, overrides: Partial<FolderOptions> = {}): FolderOptions {
  return { directory, prefix: '/registry', dialect: 'orch', ...overrides };
}

function freshDirectory(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'engine-'));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

/** A directory that holds one committed batch. */
async function usedDirectory(t: ExecutionContext): Promise<string> {
  const directory = freshDirectory(t);
  const engine = new LevelEngine(optionsFor(directory));
  await engine.open();
  await engine.commit(batchOf(1, 1, [['g/r//a', 'x']]));
  await engine.close();
  return directory;
}

async function change<T>(directory: string, work: (database: Level<string, Uint8Array>) => Promise<T>): Promise<T> {
  const database = new Level<string, Uint8Array>(join(directory, 'store'), {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Opening fails with one line that names the directory; afterwards nothing keeps the directory locked. */
async function refused(
  t: ExecutionContext,
  options: FolderOptions,
  code: OrchError['code'],
  message: RegExp,
): Promise<void> {
  const error = await t.throwsAsync(new LevelEngine(options).open());
  t.is((error as OrchError).code, code);
  t.regex(error!.message, message);
  t.true(error!.message.includes(options.directory));
  t.false(error!.message.includes('\n'));
}

test('a directory of another dialect is refused, and still opens under its own', async (t) => {
  const directory = await usedDirectory(t);
  const other = optionsFor(directory, { dialect: 'kubernetes' });
  await refused(
    t,
    other,
    'StoreUnusable',
    /was made with --api-dialect orch, not kubernetes: give that, or another --data-dir$/,
  );
  const engine = new LevelEngine(optionsFor(directory));
  t.is((await load(engine)).values.size, 1);
  await engine.close();
});

test('a directory made with another prefix is refused', async (t) => {
  const directory = await usedDirectory(t);
  const other = optionsFor(directory, { prefix: '/elsewhere' });
  await refused(t, other, 'StoreUnusable', /was made with --store-prefix \/registry, not \/elsewhere$/);
  await refused(
    t,
    optionsFor(directory, { prefix: '' }),
    'StoreUnusable',
    /was made with --store-prefix \/registry, not \/$/,
  );
});

/** Has a directory say that it is of another format. */
async function reformat(directory: string, format: number): Promise<void> {
  const value = sealed(Buffer.from(JSON.stringify({ format, dialect: 'orch', prefix: '/registry' })));
  await change(directory, (database) => database.put('m/format', value));
}

test('a directory of the format before this one is read, and is of this one from then on', async (t) => {
  const directory = await usedDirectory(t);
  const written = await change(directory, (database) => database.get('m/format'));
  await reformat(directory, 1);
  const engine = new LevelEngine(optionsFor(directory));
  t.is((await load(engine)).values.size, 1);
  await engine.close();
  t.deepEqual(await change(directory, (database) => database.get('m/format')), written);
});

test('a directory of a later format is refused', async (t) => {
  const directory = await usedDirectory(t);
  await reformat(directory, 99);
  await refused(t, optionsFor(directory), 'StoreUnusable', /has format 99, this release reads format \d+$/);
});

const LOST_METADATA: readonly (readonly [what: string, key: string])[] = [
  ['its description', 'm/format'],
  ['the key for tokens', 'm/token-key'],
];

for (const [what, key] of LOST_METADATA) {
  test(`a directory that has lost ${what} is damaged, not new`, async (t) => {
    const directory = await usedDirectory(t);
    await change(directory, (database) => database.del(key));
    await refused(t, optionsFor(directory), 'StoreUnusable', /is damaged: /);
    await refused(t, optionsFor(directory), 'StoreUnusable', /is damaged: /);
  });
}

for (const key of ['m/format', 'm/token-key', 'm/compacted']) {
  test(`any changed byte of ${key} is damage`, async (t) => {
    const directory = await usedDirectory(t);
    const engine = new LevelEngine(optionsFor(directory));
    await engine.open();
    await engine.commit(batchOf(2, 2));
    await engine.compact(1);
    await engine.close();
    let bytes = 1;
    for (let at = 0; at < bytes; at++) {
      const flip = (database: Level<string, Uint8Array>) => flipByte(database, key, at);
      bytes = await change(directory, flip);
      await refused(t, optionsFor(directory), 'StoreUnusable', /is damaged: /);
      await change(directory, flip);
    }
    t.true(bytes > 8);
  });
}

test('no event record that compaction forgot is left in the directory, one of an earlier process neither', async (t) => {
  const directory = await usedDirectory(t);
  const records = () =>
    change(directory, (database) => database.keys({ gt: '/registry/e/', lt: '/registry/e0' }).all());
  const engine = new LevelEngine(optionsFor(directory));
  await load(engine);
  await engine.commit(batchOf(2, 3));
  await engine.commit(batchOf(4, 4));
  t.false(await engine.compact(3));
  await engine.close();
  t.deepEqual(await records(), [`/registry/e/${revisionKey(4)}`]);
  // As a process leaves it that ended between saying so and removing them.
  await change(directory, (database) => database.put(`/registry/e/${revisionKey(2)}`, new Uint8Array(3)));
  const again = new LevelEngine(optionsFor(directory));
  t.is((await load(again)).events.length, 1);
  await again.commit(batchOf(5, 5));
  t.false(await again.compact(4));
  await again.close();
  t.deepEqual(await records(), [`/registry/e/${revisionKey(5)}`]);
});

/** Changes one byte of a value, or changes it back. Returns the length of the value. */
async function flipByte(database: Level<string, Uint8Array>, key: string, at: number): Promise<number> {
  const value = Buffer.from((await database.get(key))!);
  value[at]! ^= 0x20;
  await database.put(key, value);
  return value.length;
}

test('where the files are gone writes are refused from the next look on, and stored again when the files are back', async (t) => {
  const directory = await usedDirectory(t);
  const engine = new LevelEngine(optionsFor(directory));
  await load(engine);
  await engine.commit(batchOf(2, 2));
  await engine.probe();
  renameSync(join(directory, 'store'), join(directory, 'moved'));
  await t.throwsAsync(engine.probe(), { message: /cannot be written to: ENOENT/ });
  await t.throwsAsync(engine.commit(batchOf(3, 3)), { message: /cannot be written to: ENOENT/ });
  // What an empty folder would be taken for is a new database.
  mkdirSync(join(directory, 'store'));
  await t.throwsAsync(
    engine.diskBytes().then(() => engine.commit(batchOf(3, 3))),
    { message: /cannot be written to/ },
  );
  rmSync(join(directory, 'store'), { recursive: true });
  renameSync(join(directory, 'moved'), join(directory, 'store'));
  await engine.commit(batchOf(3, 3));
  await engine.probe();
  await engine.close();
  const again = new LevelEngine(optionsFor(directory));
  t.is((await load(again)).events.length, 3);
  await again.close();
});

test('where other files are in the place of the open ones writes are refused from the next look on, and stored again when those are back', async (t) => {
  const directory = await usedDirectory(t);
  const [store, copy, moved] = [join(directory, 'store'), join(directory, 'copy'), join(directory, 'moved')];
  cpSync(store, copy, { recursive: true });
  const engine = new LevelEngine(optionsFor(directory));
  await load(engine);
  await engine.commit(batchOf(2, 2));
  await engine.probe();
  // As whoever puts a backup back under a server that runs.
  renameSync(store, moved);
  renameSync(copy, store);
  const error = { message: /another database is in the place of the one that is open/ };
  await t.throwsAsync(engine.probe(), error);
  for (let tries = 0; tries < 2; tries++) await t.throwsAsync(engine.commit(batchOf(3, 3)), error);
  renameSync(store, copy);
  renameSync(moved, store);
  await engine.commit(batchOf(3, 3));
  await engine.probe();
  await engine.close();
  const again = new LevelEngine(optionsFor(directory));
  t.is((await load(again)).events.length, 3);
  await again.close();
});

test('a directory in use by another process is refused', async (t) => {
  const directory = freshDirectory(t);
  const engineUrl = new URL('../../storage/level/level-engine.js', import.meta.url).href;
  const script = `
    const { LevelEngine } = await import(${JSON.stringify(engineUrl)});
    const engine = new LevelEngine(${JSON.stringify(optionsFor(directory))});
    await engine.open();
    process.stdout.write('open');
    process.stdin.resume();`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  await refused(t, optionsFor(directory), 'StoreUnusable', /is in use by another process$/);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const engine = new LevelEngine(optionsFor(directory));
  await t.notThrowsAsync(engine.open());
  await engine.close();
});

test('a directory in use by this process is refused as well', async (t) => {
  const directory = freshDirectory(t);
  const engine = new LevelEngine(optionsFor(directory));
  await engine.open();
  await refused(t, optionsFor(directory), 'StoreUnusable', /is in use/);
  await engine.commit(batchOf(1, 1, [['g/r//a', 'still open']]));
  await engine.close();
});

test('a file in place of the directory, of its parent or of the store in it is refused', async (t) => {
  const directory = freshDirectory(t);
  const file = join(directory, 'file');
  writeFileSync(file, '');
  await refused(t, optionsFor(file), 'BadConfiguration', /is not writable: /);
  await refused(t, optionsFor(join(file, 'below')), 'BadConfiguration', /is not writable: /);
  writeFileSync(join(directory, 'store'), '');
  await refused(t, optionsFor(directory), 'BadConfiguration', /is not writable: /);
});

test('a directory whose head marker cannot be opened is refused and left unlocked', async (t) => {
  const directory = freshDirectory(t);
  mkdirSync(join(directory, 'head'));
  await refused(t, optionsFor(directory), 'BadConfiguration', /is not writable: /);
  await rm(join(directory, 'head'), { recursive: true });
  const engine = new LevelEngine(optionsFor(directory));
  await t.notThrowsAsync(engine.open());
  await engine.close();
});

test('a directory that does not exist yet is made, for its owner alone', async (t) => {
  const directory = join(freshDirectory(t), 'a', 'b');
  const engine = new LevelEngine(optionsFor(directory));
  await engine.open();
  await engine.close();
  t.is(statSync(directory).mode & 0o777, 0o700);
  t.is(statSync(join(directory, 'head')).mode & 0o777, 0o600);
});

test('an engine that was made but not opened touches nothing', async (t) => {
  const directory = freshDirectory(t);
  const made = new LevelEngine(optionsFor(directory));
  const opened = new LevelEngine(optionsFor(join(directory, 'other')));
  await opened.open();
  await opened.close();
  t.deepEqual(readdirSync(directory), ['other']);
  await made.close();
});

test('closing an engine that never opened, or twice, does nothing', async (t) => {
  const engine = new LevelEngine(optionsFor(freshDirectory(t)));
  await t.notThrowsAsync(engine.close());
  const opened = new LevelEngine(optionsFor(freshDirectory(t)));
  await opened.open();
  await opened.close();
  await t.notThrowsAsync(opened.close());
});

test('a closed engine commits nothing and answers no probe', async (t) => {
  const engine = new LevelEngine(optionsFor(freshDirectory(t)));
  await engine.open();
  await engine.close();
  await t.throwsAsync(engine.commit(batchOf(1, 1)));
  await t.throwsAsync(engine.probe());
});
