// The disk that loses power does what it says: what was synced is there, what was not may be gone, whole or in part.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { Level } from 'level';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { testNeeding } from '../server/machine-tools.ts';
import type { Operation } from './journal.ts';
import { afterPowerCut, type Fate } from './power-cut.ts';
import { readTree, UnsyncedDisk } from './unsynced-disk.ts';

const testCompiled = testNeeding(test, ['cc']);
// Whatever the folder of temporary files is called.
process.env.TMPDIR = mkdtempSync(join(tmpdir(), 'a folder '));
process.once('exit', () => rmSync(process.env.TMPDIR!, { recursive: true, force: true }));
const WRITER = fileURLToPath(new URL('./unsynced-writer.js', import.meta.url));

/** A folder with one old file, after a process did a deed there and the power went. */
async function afterDeed(t: ExecutionContext, deed: string, fate: Fate): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'unsynced-'));
  const disk = new UnsyncedDisk(folder, 0);
  t.teardown(() => {
    disk.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync(join(folder, 'old'), 'old');
  const env = { ...process.env, ...disk.arm() };
  const child = spawn(process.execPath, [WRITER, folder, deed], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  t.is(line.toString(), 'done\n');
  child.kill('SIGKILL');
  await once(child, 'close');
  disk.cut(fate);
  return folder;
}

function textsIn(folder: string): Record<string, string | null> {
  return Object.fromEntries(
    [...readTree(folder)].map(([path, bytes]) => [relative(folder, path), bytes?.toString() ?? null]),
  );
}

/** By path; folders are null. */
type Texts = Readonly<Record<string, string | null>>;

/** What a process does, what is left of it at least, and what when the process alone dies. */
const DEEDS: readonly (readonly [string, string, Texts, Texts])[] = [
  ['a file that was not synced is gone', 'unsynced', { old: 'old' }, { old: 'old', a: 'lost' }],
  [
    'a file holds what was written before its sync',
    'synced',
    { old: 'old', a: 'kept' },
    { old: 'old', a: 'kept lost' },
  ],
  [
    'writes of the thread pool count as well',
    'asynchronous',
    { old: 'old', a: 'one two ' },
    { old: 'old', a: 'one two  lost' },
  ],
  ['an overwritten file is as it was', 'overwritten', { old: 'old' }, { old: 'NEW' }],
  ['a file is as long as at its last sync', 'truncated', { old: 'o' }, { old: '' }],
  ['a file that was emptied has its content again', 'emptied', { old: 'old' }, { old: '' }],
  ['a name that was synced may lead to a file that was not', 'renamed', { old: '' }, { old: 'lost' }],
  ['a file under a second name is one file', 'linked', { old: 'old', second: 'old' }, { second: 'NEW' }],
  [
    'a folder moves with what is in it',
    'moved',
    { old: 'old', two: null, 'two/a': 'kept' },
    { old: 'old', three: null, 'three/a': 'kept' },
  ],
  ['a removed file is back', 'removed', { old: 'old' }, {}],
  ['a file is gone when its folder was synced after the removal', 'removedForGood', {}, {}],
];

for (const [title, deed, least, most] of DEEDS) {
  testCompiled(title, async (t) => {
    t.deepEqual(textsIn(await afterDeed(t, deed, 'none')), least);
    t.deepEqual(textsIn(await afterDeed(t, deed, 'all')), most);
  });
}

testCompiled('a LevelDB keeps the batches that were synced and loses the others', async (t) => {
  const valuesAfter = async (fate: Fate): Promise<(string | undefined)[]> => {
    const database = new Level(join(await afterDeed(t, 'level', fate), 'level'));
    await database.open();
    const values = await database.getMany(['a', 'b']);
    await database.close();
    return values;
  };
  t.deepEqual(await valuesAfter('none'), ['kept', undefined]);
  t.deepEqual(await valuesAfter('all'), ['kept', 'lost']);
});

test('by chance a write survives whole, not at all, up to a byte, and in sectors with zeros between', (t) => {
  const bytes = Buffer.alloc(4096, 'x');
  const operations: Operation[] = [
    { number: 0, kind: 'create', file: 0, path: '/f' },
    { number: 1, kind: 'syncDirectory', path: '/', before: 1 },
    { number: 2, kind: 'write', file: 0, offset: 0, bytes },
  ];
  const seen = new Set<string>();
  for (let seed = 0; seed < 100; seed++) {
    const left = afterPowerCut(new Map(), operations, new SeededRandom(seed)).get('/f')!;
    if (left.length === 0) seen.add('nothing');
    else if (left.equals(bytes)) seen.add('everything');
    else if (left.equals(bytes.subarray(0, left.length))) seen.add('a beginning');
    else {
      for (let at = 0; at < left.length; at += 512) {
        const sector = left.subarray(at, at + 512);
        t.true(sector.every((byte) => byte === sector[0]) && [0, 0x78].includes(sector[0]!));
      }
      seen.add('sectors');
    }
  }
  t.deepEqual([...seen].sort(), ['a beginning', 'everything', 'nothing', 'sectors']);
});

test('a write within one sector is there whole or not at all', (t) => {
  const bytes = Buffer.alloc(16, 'x');
  const operations: Operation[] = [
    { number: 0, kind: 'create', file: 0, path: '/f' },
    { number: 1, kind: 'syncDirectory', path: '/', before: 1 },
    { number: 2, kind: 'write', file: 0, offset: 0, bytes },
    { number: 3, kind: 'write', file: 0, offset: 504, bytes },
  ];
  const lengths = new Set<number>();
  for (let seed = 0; seed < 300; seed++) {
    const left = afterPowerCut(new Map(), operations, new SeededRandom(seed)).get('/f')!;
    lengths.add(left.length);
    const first = left.subarray(0, 16);
    if (left.length > 0) t.true(first.equals(bytes) || first.every((byte) => byte === 0));
  }
  t.true([0, 16, 520].every((length) => lengths.has(length)) && lengths.size > 3, [...lengths].join());
});

test('names change in order: of those that are not durable, the first few are kept', (t) => {
  const operations: Operation[] = [
    { number: 0, kind: 'create', file: 0, path: '/a' },
    { number: 1, kind: 'sync', file: 0, before: 1 },
    { number: 2, kind: 'create', file: 1, path: '/b' },
    { number: 3, kind: 'rename', path: '/a', to: '/c' },
    { number: 4, kind: 'unlink', path: '/b' },
  ];
  const seen = new Set<string>();
  for (let seed = 0; seed < 50; seed++) {
    seen.add([...afterPowerCut(new Map(), operations, new SeededRandom(seed)).keys()].sort().join());
  }
  t.deepEqual([...seen].sort(), ['/a', '/a,/b', '/b,/c', '/c']);
});
