// What the engine on disk does with a write that fails where the files cannot even be mended: a file system that has become
// read-only, a process that may open no more files.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { EngineBatch } from '../../../storage/engines/local-engine.ts';
import { LevelEngine } from '../../../storage/level/level-engine.ts';
import { DATABASE_DIRECTORY } from '../../../storage/level/level-layout.ts';

const BYTES = new Uint8Array([1, 2, 3]);

function batch(lastRevision: number): EngineBatch {
  return { firstRevision: lastRevision, lastRevision, events: BYTES, writes: [{ key: 'k', value: BYTES }] };
}

/** A batch whose write fails. */
function failing(revision: number): EngineBatch {
  const { firstRevision, lastRevision, writes } = batch(revision);
  return {
    firstRevision,
    lastRevision,
    writes,
    get events(): never {
      throw new Error('on purpose');
    },
  };
}

/** An engine after one batch, and what makes the next one fail with its files out of reach. */
async function opened(t: ExecutionContext) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-refused-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const database = join(directory, DATABASE_DIRECTORY);
  const engine = new LevelEngine({ directory, prefix: '/registry', dialect: 'orch' });
  await engine.open();
  await engine.commit(batch(1));
  const fail = async (): Promise<void> => {
    const refused = engine.commit(failing(2));
    renameSync(database, `${database}.away`);
    await t.throwsAsync(refused, {
      code: 'StorageUnsure',
      message: /cannot be written to: .*; whether this write is kept/,
    });
  };
  const mend = (): void => renameSync(`${database}.away`, database);
  return { engine, database, fail, mend };
}

/** Folders that have the names of the tables which LevelDB makes next. */
function inTheWayOfTables(database: string): readonly string[] {
  const newest = Math.max(...readdirSync(database).map((name) => Number(/\d+/.exec(name)?.[0] ?? 0)));
  const names = Array.from({ length: 10 }, (_, index) => `${newest + 1 + index}`.padStart(6, '0'));
  const paths = names.map((name) => join(database, `${name}.ldb`));
  for (const path of paths) mkdirSync(path);
  return paths;
}

test('what was overwritten is said to be gone from the disk only where the files could be written again without it', async (t) => {
  const { engine, database } = await opened(t);
  const inTheWay = inTheWayOfTables(database);
  await t.throwsAsync(engine.reclaim(), { code: 'StorageFailed', message: /cannot be written to/ });
  for (const path of inTheWay) rmdirSync(path);
  await engine.reclaim();
  await engine.commit(batch(2));
  await engine.close();
});

test('a write that fails and cannot be taken back is told so; later ones are refused, and made when the files can be mended', async (t) => {
  const { engine, fail, mend } = await opened(t);
  await fail();
  await t.throwsAsync(engine.commit(batch(2)), { code: 'StorageFailed', message: /ENOENT/ });
  await t.throwsAsync(engine.probe(), { code: 'StorageFailed' });
  mend();
  await engine.commit(batch(2));
  await engine.probe();
  await engine.close();
});
