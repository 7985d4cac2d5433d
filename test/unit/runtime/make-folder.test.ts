// Folders are made with those above them, or refused at once.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { makeFolder } from '../../../runtime/files/make-folder.ts';

test('a folder is made with those above it, closed to others where that is asked for, and left alone where it is there', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'orch-folder-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  const path = join(root, 'a', 'b', 'c');
  makeFolder(path, 0o700);
  makeFolder(path);
  t.is(statSync(join(root, 'a')).mode & 0o777, 0o700);
  writeFileSync(join(root, 'file'), '');
  t.throws(() => makeFolder(join(root, 'file')), { code: 'EEXIST' });
  t.throws(() => makeFolder(join(root, 'file', 'a', 'b')), { code: 'ENOTDIR' });
});

test('a file system that makes no folders refuses them', (t) => {
  t.throws(() => makeFolder('/proc/orch/a/b'), { code: 'ENOENT' });
});
