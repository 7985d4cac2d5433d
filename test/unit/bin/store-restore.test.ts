// A folder that a snapshot is restored into belongs to one restore alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { serve } from '../../../bin/serve.ts';
import { restore } from '../../../bin/store/store-restore.ts';
import { refuseUnfinished } from '../../../storage/level/unfinished-store.ts';

const CLAIM = new URL('../../../bin/server/directory-claim.js', import.meta.url).href;

/** A folder as a restore has it that is under way, and a file to restore into it. */
function begun(t: ExecutionContext): { readonly file: string; readonly target: string } {
  const directory = mkdtempSync(join(tmpdir(), 'orch-restore-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const [file, target] = [join(directory, 'snapshot'), join(directory, 'target')];
  writeFileSync(file, 'too short to be one');
  mkdirSync(join(target, 'store.restored'), { recursive: true });
  return { file, target };
}

test('a restore is refused while another process restores into the folder, and leaves that one’s work alone', async (t) => {
  const { file, target } = begun(t);
  const program = `
    const { claimDirectory } = await import(${JSON.stringify(CLAIM)});
    await claimDirectory(${JSON.stringify(target)});
    process.stdout.write('claimed');
    process.stdin.resume();`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', program, 'orch']);
  t.teardown(() => other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  await t.throwsAsync(restore([file, target]), { message: /is in use by process \d+$/ });
  t.deepEqual(readdirSync(target).sort(), ['orch.pid', 'store.restored']);
});

test('the claim of a restore that was killed keeps no later one from the folder', async (t) => {
  const { file, target } = begun(t);
  writeFileSync(join(target, 'orch.pid'), '4194303\n');
  writeFileSync(join(target, 'orch.pid.4194303'), '4194303\n');
  // It came as far as to read the file.
  await t.throwsAsync(restore([file, target]), { message: /snapshot is no snapshot$/ });
  t.deepEqual(readdirSync(target), ['orch.pid.4194303']);
});

test('a start that is refused because of a restore that was cut short leaves nothing that keeps it from being run again', async (t) => {
  const { file, target } = begun(t);
  await t.throwsAsync(serve('up', ['--data-dir', target]), {
    message: /a restore that was not finished: run it again/,
  });
  t.deepEqual(readdirSync(target), ['store.restored']);
  await t.throwsAsync(restore([file, target]), { message: /snapshot is no snapshot$/ });
});

test('a restore that is killed before it has read anything, at its first try or a later one, leaves a folder that no start begins anew', async (t) => {
  const { file, target } = begun(t);
  const other = `${target}-too`;
  writeFileSync(join(target, 'store.restored', '000003.log'), 'a part');
  // As far as each comes without waiting for anything, and what is there then.
  const tries = [target, other].map((folder) => restore([file, folder]));
  for (const folder of [target, other])
    t.throws(() => refuseUnfinished(folder), { message: /a restore that was not finished: run it again/ });
  for (const one of tries) await t.throwsAsync(one, { message: /snapshot is no snapshot$/ });
  // Nothing was cut short by now.
  for (const folder of [target, other]) t.notThrows(() => refuseUnfinished(folder));
});
