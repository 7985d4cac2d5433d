// Files that have their name when they are whole: beside another that is written at the same time, and after one that was cut short.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { keepFile } from '../../../storage/files/kept-file.ts';

function scratchFile(t: ExecutionContext): { readonly directory: string; readonly file: string } {
  const directory = mkdtempSync(join(tmpdir(), 'orch-kept-file-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, file: join(directory, 'snapshot') };
}

test('of two that write a file at once, the later one is kept whole and the earlier one is told', async (t) => {
  const { directory, file } = scratchFile(t);
  let goOn = (): void => {};
  const earlier = keepFile(file, async (descriptor) => {
    writeSync(descriptor, 'earlier ');
    await new Promise<void>((resolve) => (goOn = resolve));
    writeSync(descriptor, 'and its end');
  });
  let end = (): void => {};
  const later = keepFile(file, async (descriptor) => {
    writeSync(descriptor, 'later');
    await new Promise<void>((resolve) => (end = resolve));
  });
  goOn();
  await t.throwsAsync(earlier, { message: /snapshot is being written by another process/ });
  t.deepEqual(readdirSync(directory), ['snapshot.new'], 'what the later one writes is left to it');
  end();
  await later;
  t.deepEqual(readdirSync(directory), ['snapshot']);
  t.is(readFileSync(file, 'utf8'), 'later');
});

test('what one that was cut short has left is replaced, and nothing is left of one that fails', async (t) => {
  const { directory, file } = scratchFile(t);
  writeFileSync(`${file}.new`, 'a longer text that was cut short');
  await keepFile(file, (descriptor) => writeSync(descriptor, 'whole'));
  t.is(readFileSync(file, 'utf8'), 'whole');
  const failing = keepFile(file, () => {
    throw new Error('no answer');
  });
  await t.throwsAsync(failing, { message: 'no answer' });
  t.deepEqual(readdirSync(directory), ['snapshot']);
  t.is(readFileSync(file, 'utf8'), 'whole');
});

test('what has the name and is no file stays what it is, and a link leads to the file that is replaced', async (t) => {
  const { directory, file } = scratchFile(t);
  const write = (descriptor: number): number => writeSync(descriptor, 'whole');
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await t.throwsAsync(keepFile(pipe, write), { message: `${pipe} cannot be written: it is no file` });
  const folder = join(directory, 'folder');
  mkdirSync(folder);
  await t.throwsAsync(keepFile(folder, write), { message: `${folder} cannot be written: it is a folder` });
  await t.throwsAsync(keepFile(join(directory, 'nowhere', 'x'), write), { message: /x cannot be written \(ENOENT\)$/ });
  const target = join(folder, 'target');
  writeFileSync(target, 'before');
  symlinkSync(target, file);
  await keepFile(file, write);
  t.is(readFileSync(target, 'utf8'), 'whole');
  t.deepEqual(readdirSync(directory).sort(), ['folder', 'pipe', 'snapshot']);
  t.deepEqual(readdirSync(folder), ['target']);
});
