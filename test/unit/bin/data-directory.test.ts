// Which process a data folder belongs to, where its file system does not go along.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { claimDirectory } from '../../../bin/data-directory.ts';

test('a folder that cannot be claimed is named', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-claim-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  symlinkSync(join(directory, 'missing', 'file'), join(directory, 'orch.pid'));
  t.throws(() => claimDirectory(directory), { message: `the data directory ${directory} is not writable (ENOENT)` });
});

test('a stop goes on where the file of its claim cannot be removed', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-claim-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const release = claimDirectory(directory);
  // What nobody can remove as a file, root included.
  rmSync(join(directory, 'orch.pid'));
  mkdirSync(join(directory, 'orch.pid'));
  t.notThrows(release);
});
