// Which process a data folder belongs to: of several that want it, after a reboot, beside a copy, and where its file system does not
// go along.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { claimDirectory, isInUse } from '../../../bin/directory-claim.ts';

const MODULE = new URL('../../../bin/directory-claim.js', import.meta.url).href;
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
    process.stdin.once('data', () => {
      try {
        claimDirectory(${JSON.stringify(directory)});
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

test('a folder that cannot be claimed is named', (t) => {
  const directory = folder(t);
  mkdirSync(join(directory, 'orch.pid'));
  t.throws(() => claimDirectory(directory), { message: `${join(directory, 'orch.pid')} cannot be read (EISDIR)` });
  const missing = join(directory, 'missing');
  t.throws(() => claimDirectory(missing), { message: `the data directory ${missing} is not writable (ENOENT)` });
});

test('a stop goes on where the file of its claim cannot be removed', (t) => {
  const directory = folder(t);
  const release = claimDirectory(directory);
  // What nobody can remove as a file, root included.
  rmSync(join(directory, 'orch.pid'));
  mkdirSync(join(directory, 'orch.pid'));
  t.notThrows(release);
});

test('who gives up a folder leaves the file of another that has it by now', (t) => {
  const directory = folder(t);
  const release = claimDirectory(directory);
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
    const release = claimDirectory(free);
    t.is(readFileSync(join(free, 'orch.pid'), 'utf8'), `${process.pid}\n`);
    release();
  }
});
