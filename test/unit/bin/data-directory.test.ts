import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { claimDirectory } from '../../../bin/data-directory.ts';

test('a stop goes on where the file of its claim cannot be removed', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-claim-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const release = claimDirectory(directory);
  // What nobody can remove as a file, root included.
  rmSync(join(directory, 'orch.pid'));
  mkdirSync(join(directory, 'orch.pid'));
  t.notThrows(release);
});
