// Which process a data folder belongs to: of several that want it, after a reboot, beside a copy, and where its file system does not
// go along.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  claimDatabase,
  claimDirectory,
  claimWithoutDatabase,
  isInUse,
  refuseInUse,
} from '../../../bin/server/directory-claim.ts';
import { LevelEngine } from '../../../storage/level/level-engine.ts';

const MODULE = new URL('../../../bin/server/directory-claim.js', import.meta.url).href;
const DATABASE_MODULE = new URL('../../../storage/level/level-database.js', import.meta.url).href;
const isLinux = process.platform === 'linux';

function folder(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-claim-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A process that claims the folder as soon as it is told to, says what it came to, and lives until its input ends. */
function claimer(t: ExecutionContext, directory: string): ChildProcess {
  const program = `
    const { claimDirectory } = await import(${JSON.stringify(MODULE)});
    process.stdout.write('ready\\n');
    process.stdin.once('data', async () => {
      try {
        await claimDirectory(${JSON.stringify(directory)});
        process.stdout.write('claimed');
      } catch (error) {
        process.stdout.write(error.code);
      }
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, 'orch']);
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function said(child: ChildProcess): Promise<string> {
  return String((await once(child.stdout!, 'data'))[0]);
}

test('a folder that cannot be claimed is named', async (t) => {
  const directory = folder(t);
  mkdirSync(join(directory, 'orch.pid'));
  await t.throwsAsync(claimDirectory(directory), { message: `${join(directory, 'orch.pid')} cannot be read (EISDIR)` });
  const missing = join(directory, 'missing');
  await t.throwsAsync(claimDirectory(missing), { message: `the data directory ${missing} is not writable (ENOENT)` });
});

test('a stop goes on where the file of its claim cannot be removed', async (t) => {
  const directory = folder(t);
  const release = await claimDirectory(directory);
  // What nobody can remove as a file, root included.
  rmSync(join(directory, 'orch.pid'));
  mkdirSync(join(directory, 'orch.pid'));
  t.notThrows(release);
});

test('who gives up a folder leaves the file of another that has it by now', async (t) => {
  const directory = folder(t);
  const release = await claimDirectory(directory);
  rmSync(join(directory, 'orch.pid'));
  writeFileSync(join(directory, 'orch.pid'), '1\n');
  release();
  t.is(readFileSync(join(directory, 'orch.pid'), 'utf8'), '1\n');
});

test('of several processes that claim a folder at once, over the file of one that died, one gets it', async (t) => {
  const directory = folder(t);
  const children = [1, 2, 3, 4].map(() => claimer(t, directory));
  await Promise.all(children.map(said));
  writeFileSync(join(directory, 'orch.pid'), '999999999\n');
  const answers = children.map(said);
  for (const child of children) child.stdin!.write('now');
  const came = await Promise.all(answers);
  t.deepEqual(came.toSorted(), ['StoreUnusable', 'StoreUnusable', 'StoreUnusable', 'claimed']);
  t.deepEqual(readdirSync(directory), ['orch.pid']);
  t.is(readFileSync(join(directory, 'orch.pid'), 'utf8'), `${children[came.indexOf('claimed')]!.pid}\n`);
});

test('a folder is free where its file names a process that has nothing of it open, be it another server', async (t) => {
  if (!isLinux) {
    t.pass();
    return;
  }
  const [directory, other] = [folder(t), folder(t)];
  const child = claimer(t, other);
  await said(child);
  child.stdin!.write('now');
  await said(child);
  t.true(isInUse(other));
  // As after a reboot, and in a copy.
  writeFileSync(join(directory, 'orch.pid'), `${child.pid}\n`);
  const copy = join(directory, 'copy');
  cpSync(other, copy, { recursive: true });
  for (const free of [directory, copy]) {
    t.false(isInUse(free));
    const release = await claimDirectory(free);
    t.is(readFileSync(join(free, 'orch.pid'), 'utf8'), `${process.pid}\n`);
    release();
  }
});

/** A process that nobody sees here, as in another container: no file says that it is there. `hold` says how it holds the folder. */
async function unseen(t: ExecutionContext, module: string, hold: string): Promise<ChildProcess> {
  const program = `
    const module = await import(${JSON.stringify(module)});
    ${hold}
    process.stdout.write('held');
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  t.teardown(() => child.kill('SIGKILL'));
  t.is(await said(child), 'held');
  return child;
}

const opening = (directory: string): string =>
  `await module.openLevelDatabase(${JSON.stringify(join(directory, 'store'))}).open();`;

test('a folder whose database a process has open that is not seen is in use, and that process keeps its file', async (t) => {
  const directory = folder(t);
  const child = await unseen(t, DATABASE_MODULE, opening(directory));
  const found = readdirSync(join(directory, 'store')).toSorted();
  // The number of a process of another container: here it is nobody's, or our own.
  for (const pid of [999999999, process.pid]) {
    writeFileSync(join(directory, 'orch.pid'), `${pid}\n`);
    for (const claim of [claimDirectory, claimDatabase, refuseInUse]) {
      await t.throwsAsync(claim(directory), { code: 'StoreUnusable', message: /is in use by another process$/ });
    }
    t.is(readFileSync(join(directory, 'orch.pid'), 'utf8'), `${pid}\n`);
  }
  rmSync(join(directory, 'orch.pid'));
  await t.throwsAsync(claimDatabase(directory), { message: /is in use by another process$/ });
  await t.throwsAsync(refuseInUse(directory), { message: /is in use by another process$/ });
  t.deepEqual(readdirSync(join(directory, 'store')).toSorted(), found);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const release = await claimDatabase(directory);
  release();
});

test('nobody opens the database of a folder whose files another process works on', async (t) => {
  const directory = folder(t);
  const before = await unseen(t, DATABASE_MODULE, opening(directory));
  before.kill('SIGKILL');
  await once(before, 'exit');
  const claim = `await module.claimDatabase(${JSON.stringify(directory)});`;
  await unseen(t, MODULE, claim);
  rmSync(join(directory, 'orch.pid'));
  const engine = new LevelEngine({ directory, prefix: '/registry', dialect: 'orch' });
  await t.throwsAsync(engine.open(), { code: 'StoreUnusable', message: /is in use by another process$/ });
});

test('a folder of a server that has its objects elsewhere is that server’s alone, among those that do not see each other as well', async (t) => {
  const directory = folder(t);
  const program = `
    const { claimWithoutDatabase } = await import(${JSON.stringify(MODULE)});
    await claimWithoutDatabase(${JSON.stringify(directory)});
    process.stdout.write('claimed');
    process.stdin.resume();`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', program, 'orch']);
  t.teardown(() => other.kill('SIGKILL'));
  t.is(await said(other), 'claimed');
  // As a process in another container has it: a number that is nobody's here.
  writeFileSync(join(directory, 'orch.pid'), '4194303\n');
  const refusal = { code: 'StoreUnusable', message: /is in use by another process$/ };
  await t.throwsAsync(claimWithoutDatabase(directory), refusal);
  await t.throwsAsync(claimDirectory(directory), refusal);
  other.kill('SIGKILL');
  await once(other, 'exit');
  const release = await claimWithoutDatabase(directory);
  release();
});

test('who gives a folder up twice, as a start that fails after a signal, takes nothing from the one that has it next', async (t) => {
  const directory = folder(t);
  const first = await claimDirectory(directory);
  first();
  const second = await claimDirectory(directory);
  t.notThrows(first);
  t.is(readFileSync(join(directory, 'orch.pid'), 'utf8'), `${process.pid}\n`);
  second();
  t.notThrows(second);
  t.deepEqual(readdirSync(directory), []);
});
