// What `orch store check` and `repair` take for a folder with a store.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { refuseWithoutStore } from '../../../bin/store/store-check.ts';

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-store-check-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  return path;
}

test('a repair that a start says is to be run again finds a store, though only what it has made is there', (t) => {
  const path = folder(t);
  t.throws(() => refuseWithoutStore(path), { code: 'StoreUnusable', message: `there is no store in ${path}` });
  mkdirSync(join(path, 'store.repaired'));
  t.notThrows(() => refuseWithoutStore(path));
});
