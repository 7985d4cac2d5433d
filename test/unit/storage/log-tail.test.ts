// The end of LevelDB's log, on logs that LevelDB wrote: what is cut off, and what LevelDB then finds.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openLevelDatabase } from '../../../storage/level/level-database.ts';
import { logEndBefore, RefusedTail } from '../../../storage/leveldb/log-tail.ts';

/** Around a block's end the pieces of a record get short, and the room left may be too little for a piece. */
const SIZES = [10, 3000, 32_700, 1, 32_768 - 60, 70_000, 0, 5, 32_750, 32_761, 32_740, 100, 200_000, 17];

const BLOCK_BYTES = 32_768;

function directoryFor(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'log-tail-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A closed database with a batch of each size, whose first operation puts `e/<number>`. */
async function written(directory: string): Promise<string> {
  const database = openLevelDatabase(directory);
  await database.open();
  for (const [number, size] of SIZES.entries()) {
    const operations = [`e/${number}`, `o/${number}`].map((key) => ({
      type: 'put' as const,
      key,
      value: Buffer.alloc(size, number),
    }));
    await database.batch(operations, { sync: true });
  }
  await database.close();
  return logOf(directory);
}

function logOf(directory: string): string {
  const [log] = readdirSync(directory).filter((name) => name.endsWith('.log'));
  return join(directory, log!);
}

async function keysIn(directory: string): Promise<string[]> {
  const database = openLevelDatabase(directory);
  await database.open();
  const keys = await database.keys().all();
  await database.close();
  return keys;
}

function keysBefore(number: number): string[] {
  return SIZES.slice(0, number)
    .flatMap((_, n) => [`e/${n}`, `o/${n}`])
    .sort();
}

test('every batch is found by its first key, whatever the blocks', async (t) => {
  const log = readFileSync(await written(directoryFor(t)));
  const ends = SIZES.map((_, number) => logEndBefore(log, `e/${number}`));
  t.is(ends[0], 0);
  t.deepEqual(
    [...ends].sort((a, b) => a - b),
    ends,
  );
  t.is(new Set(ends).size, SIZES.length);
  t.is(logEndBefore(log, 'e/99'), log.length);
  t.is(logEndBefore(log, 'o/3'), log.length, 'only the first operation counts');
  // Cut off anywhere within a batch, the log ends where the batch begins.
  for (const [number, end] of ends.entries()) {
    const next = ends[number + 1] ?? log.length;
    // Behind a piece that is whole, too: one ends with each block.
    const blockEnd = end - (end % BLOCK_BYTES) + BLOCK_BYTES;
    for (const at of [end + 1, end + 6, end + 8, Math.floor((end + next) / 2), blockEnd, next - 1]) {
      if (at > end && at < next) t.is(logEndBefore(log.subarray(0, at), 'e/99'), end, `batch ${number} cut at ${at}`);
    }
  }
});

test('room that was never written ends a log only where nothing sound is behind it', async (t) => {
  const log = readFileSync(await written(directoryFor(t)));
  const [from, to] = [logEndBefore(log, 'e/3'), logEndBefore(log, 'e/4')];
  log.fill(0, from, to);
  t.is(logEndBefore(log, 'e/99'), log.length);
  t.is(logEndBefore(log.subarray(0, to), 'e/99'), from);
});

test('after a batch is cut off, LevelDB finds those before it and nothing of it', async (t) => {
  for (const number of [0, 3, 5, 12, 13]) {
    const directory = directoryFor(t);
    await written(directory);
    t.is(new RefusedTail(directory).cut(`e/${number}`), undefined);
    t.deepEqual((await keysIn(directory)).sort(), keysBefore(number));
  }
});

test('a batch that was cut short is removed whole, and one that is whole stays', async (t) => {
  const directory = directoryFor(t);
  const log = await written(directory);
  const size = readFileSync(log).length;
  t.is(new RefusedTail(directory).cut('e/99'), undefined);
  t.is(readFileSync(log).length, size);
  truncateSync(log, size - 20);
  t.is(new RefusedTail(directory).cut('e/99'), undefined);
  t.deepEqual((await keysIn(directory)).sort(), keysBefore(13));
});

test('of several logs only the newest is cut, by its number', async (t) => {
  const source = await written(directoryFor(t));
  const directory = directoryFor(t);
  const logs = ['000007.log', '999999.log', '1000000.log'].map((name) => join(directory, name));
  for (const log of logs) copyFileSync(source, log);
  const whole = readFileSync(source);
  t.is(new RefusedTail(directory).cut('e/3'), undefined);
  const sizes = logs.map((log) => readFileSync(log).length);
  t.deepEqual(sizes, [whole.length, whole.length, logEndBefore(whole, 'e/3')]);
});
