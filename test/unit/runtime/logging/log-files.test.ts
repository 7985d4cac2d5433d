import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { LogOutlets } from '../../../../runtime/logging/log-files.ts';
import type { LogFileOptions } from '../../../../runtime/logging/log-options.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'orch-log-'));
test.after.always(() => rmSync(FOLDER, { recursive: true }));
const MODULE = new URL('../../../../runtime/logging/log-files.js', import.meta.url).href;
const LOST = 'lost\n';
const options = (given: Partial<LogFileOptions> & Pick<LogFileOptions, 'paths'>): LogFileOptions => ({
  ownFileOnly: false,
  bytesMax: 0,
  flushMs: 0,
  head: '',
  ...given,
});
const read = (path: string): string => readFileSync(path, 'utf8');

test('a file is for its owner alone, begins with its head, and several threads append whole lines to it', (t) => {
  const path = join(FOLDER, 'shared');
  const outlets = [1, 2].map(() => new LogOutlets(options({ paths: [['I', path]], head: 'head\n' }), LOST));
  outlets[0]!.line('I', 'one\n');
  outlets[1]!.line('E', 'two\n');
  outlets[0]!.line('W', 'three\n');
  t.is(read(path), 'head\none\ntwo\nthree\n');
  t.is(statSync(path).mode & 0o777, 0o600);
});

test('a file that would grow beyond its limit is begun anew', (t) => {
  const path = join(FOLDER, 'bounded');
  const outlets = new LogOutlets(options({ paths: [['I', path]], head: 'head\n', bytesMax: 20 }), LOST);
  for (const line of ['aaaaaaa\n', 'bbbbbb\n', 'cccccc\n']) outlets.line('I', line);
  t.is(read(path), 'head\ncccccc\n');
});

test('the limit of a file is one of bytes, however few characters they are', (t) => {
  const path = join(FOLDER, 'bounded-bytes');
  const outlets = new LogOutlets(options({ paths: [['I', path]], bytesMax: 20 }), LOST);
  for (const line of ['ééééé\n', 'üüüüü\n']) outlets.line('I', line);
  t.is(read(path), 'üüüüü\n');
});

test('each severity has its file, which has what is more severe too, unless each is to have its own only', (t) => {
  for (const ownFileOnly of [false, true]) {
    const [info, errors] = ['info', 'errors'].map((name) => join(FOLDER, `${name}-${ownFileOnly}`)) as [string, string];
    const paths = [
      ['I', info],
      ['E', errors],
    ] as const;
    const outlets = new LogOutlets(options({ paths, ownFileOnly }), LOST);
    outlets.line('I', 'fine\n');
    outlets.line('E', 'bad\n');
    t.deepEqual([read(info), read(errors)], [ownFileOnly ? 'fine\n' : 'fine\nbad\n', 'bad\n']);
  }
});

test('a file that was moved away is made again, and none is lost without a word', async (t) => {
  const path = join(FOLDER, 'moved');
  const outlets = new LogOutlets(options({ paths: [['I', path]] }), LOST);
  outlets.line('I', 'before\n');
  renameSync(path, `${path}.1`);
  for (let lines = 0; !existsSync(path); lines++) {
    outlets.line('I', `${lines}\n`);
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  t.regex(read(`${path}.1`), /^before\n/);
  t.regex(read(path), /^\d+\n$/);
});

test('lines that cannot be written are said to be lost once they can', (t) => {
  const folder = join(FOLDER, 'not-there-yet');
  const path = join(folder, 'log');
  const outlets = new LogOutlets(options({ paths: [['I', path]] }), LOST);
  outlets.line('I', 'gone\n');
  t.false(outlets.isWritable());
  t.false(existsSync(path));
  mkdirSync(folder);
  for (const line of ['here\n', 'and here\n']) outlets.line('I', line);
  t.is(read(path), 'lost\nhere\nand here\n');
  t.true(outlets.isWritable());
});

test('a full disk makes no log unwritable: who is restarted over it does not come up again where the store is on that disk', (t) => {
  const outlets = new LogOutlets(options({ paths: [['I', '/dev/full']] }), LOST);
  outlets.line('I', 'gone\n');
  t.true(outlets.isWritable());
});

test('a line of which a full disk took the beginning is lost, and the next one begins a line of its own', (t) => {
  const path = join(FOLDER, 'cut');
  const program = `
    const { LogOutlets } = await import(${JSON.stringify(MODULE)});
    const { truncateSync } = await import('node:fs');
    const files = { ownFileOnly: false, bytesMax: 0, flushMs: 0, head: '', paths: [['I', ${JSON.stringify(path)}]] };
    const outlets = new LogOutlets(files, 'lost\\n');
    outlets.line('I', 'a'.repeat(399) + '\\n');
    outlets.line('I', 'b'.repeat(900) + '\\n');
    outlets.line('I', 'there is no room for this\\n');
    truncateSync(${JSON.stringify(path)}, 403);
    if (outlets.isWritable()) outlets.line('I', 'whole\\n');`;
  // The size of files has a limit, in units of half a kilobyte or a whole one.
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -f 1 && exec "$0" --input-type=module -e "$1"', process.execPath, program],
    { encoding: 'utf8' },
  );
  t.is(status, 0, stderr);
  t.deepEqual(read(path).split('\n'), ['a'.repeat(399), 'bbb', 'lost', 'whole', '']);
});

test('what was written is brought to the disk once for all lines until then, and nothing where nothing was', async (t) => {
  const synced: number[] = [];
  const path = join(FOLDER, 'flushed');
  const other = join(FOLDER, 'silent');
  const outlets = [path, other].map(
    (one) =>
      new LogOutlets(options({ paths: [['I', one]], flushMs: 5 }), LOST, (descriptor, callback) => {
        synced.push(descriptor);
        callback();
      }),
  );
  for (let count = 0; count < 10; count++) outlets[0]!.line('I', 'line\n');
  await waitFor(() => synced.length > 0);
  t.is(synced.length, 1);
  outlets[0]!.line('I', 'line\n');
  await waitFor(() => synced.length > 1);
  t.is(synced[1], synced[0]);
});

async function waitFor(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}
