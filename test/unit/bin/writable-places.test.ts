// Files that a program is to add to.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { requireAppendable } from '../../../bin/writable-places.ts';

test('a file is made where it is missing, and otherwise left as it is; a pipe that nobody reads is refused', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-writable-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [made, kept, pipe] = ['made', 'kept', 'pipe'].map((name) => join(folder, name)) as [string, string, string];
  requireAppendable(made);
  t.is(readFileSync(made, 'utf8'), '');
  writeFileSync(kept, 'lines');
  requireAppendable(kept);
  t.is(readFileSync(kept, 'utf8'), 'lines');
  execFileSync('mkfifo', [pipe]);
  t.throws(() => requireAppendable(pipe), { code: 'ENXIO' });
  t.throws(() => requireAppendable(folder), { code: 'EISDIR' });
});
