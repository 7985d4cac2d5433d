// Files that an operator names and that are no plain files: pipes, devices, folders.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readWholeText, UnreadableFile, whyUnread } from '../../../runtime/files/whole-file.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-whole-file-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  return path;
}

function pipe(t: ExecutionContext): string {
  const path = join(folder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

test('a plain file is read whole, however long it is', (t) => {
  const path = join(folder(t), 'file');
  const text = 'grüße\n'.repeat(50_000);
  writeFileSync(path, text);
  t.is(readWholeText(path), text);
  writeFileSync(path, '');
  t.is(readWholeText(path), '');
});

test('what a pipe is given is read to its end', (t) => {
  const path = pipe(t);
  const writer = spawn('sh', ['-c', 'sleep 0.1; { echo one; sleep 0.1; echo two; } > "$0"', path], { stdio: 'ignore' });
  t.teardown(() => void writer.kill());
  t.is(readWholeText(path, 60_000), 'one\ntwo\n');
});

test('a pipe that nobody writes to is given up', (t) => {
  const path = pipe(t);
  const { message } = t.throws(() => readWholeText(path, 1), { instanceOf: UnreadableFile });
  t.is(message, 'nobody writes to this pipe, or not to its end');
});

test('a device that does not end is given up', (t) => {
  const error = t.throws(() => readWholeText('/dev/zero'), { instanceOf: UnreadableFile });
  t.is(whyUnread(error), 'it does not end within 256 MiB');
  t.is(readWholeText('/dev/null'), '');
});

test('what the system says of a file is its code', (t) => {
  const path = folder(t);
  t.is(whyUnread(t.throws(() => readWholeText(path))), 'EISDIR');
  t.is(whyUnread(t.throws(() => readWholeText(join(path, 'none')))), 'ENOENT');
});

test('a file that is followed is no pipe', async (t) => {
  const { disk } = realEnvironment;
  await t.throwsAsync(disk.readFile(pipe(t)), { message: /a pipe can be read once/ });
  const path = join(folder(t), 'file');
  writeFileSync(path, 'text');
  t.is(Buffer.from(await disk.readFile(path)).toString(), 'text');
});
