// What a start makes in its data directory, where the disk does not take it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { adminToken } from '../../../bin/server/data-directory.ts';
import { signingAuthority } from '../../../bin/server/signing-authority.ts';

test('a start whose token or authority the disk does not take says which folder it is about', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-data-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // A file in the place of the folder: what refuses is the same call as on a full disk.
  const directory = join(folder, 'file');
  writeFileSync(directory, '');
  for (const make of [adminToken, signingAuthority]) {
    await t.throwsAsync(make(directory), {
      code: 'BadConfiguration',
      message: `the data directory ${directory} is not writable (ENOTDIR)`,
    });
  }
});
