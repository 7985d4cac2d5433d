// The pool for long work: what it answers, how it holds back a job whose reader is slow, and what becomes of jobs that fail.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import {
  createJobPool,
  type JobPool,
  type PieceJob,
  type PoolJob,
  RUNS_MAX,
  STREAMS_MAX,
} from '../../../runtime/jobs/job-pool.ts';

const module = new URL('./job-samples.js', import.meta.url).href;
const DOUBLE: PoolJob<number, number> = { module, name: 'double' };
const FAIL: PoolJob<string, never> = { module, name: 'fail' };
const END_THREAD: PoolJob<null, never> = { module, name: 'endThread' };
const NEVER: PoolJob<null, void> = { module, name: 'never' };
const TEXT: PieceJob<string> = { module, name: 'text' };
const BREAK_OFF: PieceJob<null> = { module, name: 'breakOff' };

interface Pieces {
  readonly count: number;
  readonly bytes: number;
  readonly made: SharedArrayBuffer;
}

const PIECES: PieceJob<Pieces> = { module, name: 'pieces' };

function poolOf(t: ExecutionContext): JobPool {
  const pool = createJobPool();
  t.teardown(() => pool.close());
  return pool;
}

const counter = (): SharedArrayBuffer => new SharedArrayBuffer(4);
const countOf = (made: SharedArrayBuffer): number => Atomics.load(new Int32Array(made), 0);
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

test('a job answers, or rejects with what it threw, and the pool goes on', async (t) => {
  const pool = poolOf(t);
  t.is(await pool.run(DOUBLE, 21), 42);
  await t.throwsAsync(pool.run(FAIL, 'on purpose'), { name: 'RangeError', message: 'on purpose' });
  t.deepEqual(await Promise.all([1, 2, 3].map((number) => pool.run(DOUBLE, number))), [2, 4, 6]);
});

test('a job whose thread ends is rejected, and the next one has another thread', async (t) => {
  const pool = poolOf(t);
  await t.throwsAsync(pool.run(END_THREAD, null));
  t.is(await pool.run(DOUBLE, 4), 8);
});

test('jobs whose thread does not start are rejected, and the next ones try again', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'orch-jobs-')), 'thread.mjs');
  t.teardown(() => rmSync(dirname(file), { recursive: true, force: true }));
  const failures: unknown[] = [];
  const pool = createJobPool({ thread: pathToFileURL(file).href, onFailure: (error) => failures.push(error) });
  t.teardown(() => pool.close());
  const both = await Promise.allSettled([pool.run(DOUBLE, 1), pool.run(DOUBLE, 2)]);
  t.deepEqual(
    both.map((settled) => settled.status === 'rejected' && (settled.reason as { code?: string }).code),
    ['Overloaded', 'Overloaded'],
  );
  await t.throwsAsync(pool.run(DOUBLE, 3), { code: 'Overloaded' });
  t.is(failures.length, 1, 'why is told once');
  t.regex((failures[0] as Error).message, /Cannot find module/);
  writeFileSync(file, 'export default function nothing() {}');
  t.is(await pool.run(DOUBLE, 21), 42);
});

/** In a process of its own: whether threads can be made is the process's. */
test('jobs that the system gives no thread for are not taken and forgotten, and the next ones have one again', async (t) => {
  const program = `
    import { createRequire } from 'node:module';
    const threads = createRequire(import.meta.url)('node:worker_threads');
    const { createJobPool } = await import(${JSON.stringify(new URL('../../../runtime/jobs/job-pool.js', import.meta.url).href)});
    const { Worker } = threads;
    const pool = createJobPool();
    const job = ${JSON.stringify(DOUBLE)};
    const unheard = [];
    process.on('unhandledRejection', (error) => unheard.push(error.message));
    threads.Worker = class { constructor() { throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' }); } };
    const refused = (await Promise.allSettled([1, 2, 3].map((n) => pool.run(job, n)))).map(({ reason }) => reason?.code);
    await pool.close();
    await new Promise((resolve) => setImmediate(resolve));
    threads.Worker = Worker;
    const answer = await pool.run(job, 21);
    await pool.close();
    console.log(JSON.stringify({ refused, answer, unheard }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  t.deepEqual(JSON.parse(stdout), { refused: ['Overloaded', 'Overloaded', 'Overloaded'], answer: 42, unheard: [] });
});

test('long work gives way to the other threads, and the more so where the process gives way to others', async (t) => {
  const program = `
    import { createJobPool } from '${new URL('../../../runtime/jobs/job-pool.js', import.meta.url).href}';
    const pool = createJobPool();
    console.log(await pool.run({ module: '${module}', name: 'niceness' }, null));
    await pool.close();`;
  const args = ['-n', '10', process.execPath, '--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)('nice', args);
  t.is(Number(stdout), Math.min(19, getPriority() + 13));
});

test('a pool whose library could not be loaded once is made with the next job, and can be closed before', async (t) => {
  let tries = 0;
  const load = () => (++tries === 1 ? Promise.reject(new Error('EMFILE')) : import('piscina'));
  const pool = createJobPool({ load });
  const both = await Promise.allSettled([pool.run(DOUBLE, 1), pool.run(DOUBLE, 2)]);
  t.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await pool.close();
  t.is(await pool.run(DOUBLE, 4), 8);
  t.is(tries, 2);
  await pool.close();
});

test('a stream is every byte of its job in order, however the pieces were cut', async (t) => {
  const pool = poolOf(t);
  const [count, bytes] = [40, 100_003];
  const taken: Buffer[] = [];
  await pool.stream(PIECES, { count, bytes, made: counter() }, (piece) => {
    taken.push(Buffer.from(piece));
    return Promise.resolve(true);
  });
  const expected = Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.alloc(bytes, i)));
  t.true(Buffer.concat(taken).equals(expected));
  t.true(taken.length > 10);
});

test('a piece that is cut ends before a line end, because listeners add a blank behind one', async (t) => {
  const pool = poolOf(t);
  const slot = 256 * 1024;
  const taken: string[] = [];
  await pool.stream(TEXT, `${'x'.repeat(slot - 1)}\ny`, (piece) => {
    taken.push(Buffer.from(piece).toString());
    return Promise.resolve(true);
  });
  t.deepEqual([taken[0]!.length, taken[1]], [slot - 1, '\ny']);
});

test('a job makes no more than its reader takes, and a little', async (t) => {
  const pool = poolOf(t);
  const made = counter();
  let release = (): void => {};
  let taken = 0;
  const streaming = pool.stream(PIECES, { count: 100, bytes: 256 * 1024, made }, async () => {
    taken++;
    if (taken <= 2) await new Promise<void>((resolve) => (release = resolve));
    return true;
  });
  while (taken < 1) await turn();
  for (let i = 0; i < 10; i++) await turn();
  t.true(countOf(made) <= 4);
  release();
  while (taken < 2) await turn();
  for (let i = 0; i < 10; i++) await turn();
  t.true(countOf(made) <= 5);
  release();
  await streaming;
  t.true(taken >= 100);
});

test('a reader that waits holds up neither the other streams nor the jobs', async (t) => {
  const pool = poolOf(t);
  let release = (): void => {};
  const slow = pool.stream(PIECES, { count: 10, bytes: 300_000, made: counter() }, async () => {
    await new Promise<void>((resolve) => (release = resolve));
    return false;
  });
  t.is(await pool.run(DOUBLE, 3), 6);
  let bytes = 0;
  await pool.stream(PIECES, { count: 10, bytes: 300_000, made: counter() }, (piece) => {
    bytes += piece.length;
    return Promise.resolve(true);
  });
  t.is(bytes, 3_000_000);
  release();
  await slow;
});

test('a reader that wants no more ends the job early', async (t) => {
  const pool = poolOf(t);
  const made = counter();
  await pool.stream(PIECES, { count: 100_000, bytes: 100_000, made }, () => Promise.resolve(false));
  const count = countOf(made);
  t.true(count < 100);
  t.is(await pool.run(DOUBLE, 3), 6);
  t.is(countOf(made), count);
});

test('what a reader throws, and what a job throws in the middle, is what the stream rejects with', async (t) => {
  const pool = poolOf(t);
  const reading = pool.stream(PIECES, { count: 10, bytes: 300_000, made: counter() }, () =>
    Promise.reject(new TypeError('not readable')),
  );
  await t.throwsAsync(reading, { instanceOf: TypeError, message: 'not readable' });
  await t.throwsAsync(
    pool.stream(BREAK_OFF, null, () => Promise.resolve(true)),
    { name: 'RangeError', message: 'broken off' },
  );
});

test('more streams and more jobs than the pool takes are refused at once', async (t) => {
  const pool = createJobPool();
  const streams: Promise<void>[] = [];
  for (let i = 0; i < STREAMS_MAX; i++) {
    t.true(pool.hasRoom);
    streams.push(pool.stream({ module, name: 'never' } as PieceJob<null>, null, () => Promise.resolve(true)));
  }
  t.false(pool.hasRoom);
  await t.throwsAsync(
    pool.stream(BREAK_OFF, null, () => Promise.resolve(true)),
    { code: 'Overloaded' },
  );
  t.is(await pool.run(DOUBLE, 1), 2);
  const runs = Array.from({ length: RUNS_MAX }, () => pool.run(NEVER, null));
  await t.throwsAsync(pool.run(DOUBLE, 1), { code: 'Overloaded' });
  const ended = Promise.allSettled([...streams, ...runs]);
  await pool.close();
  t.true((await ended).every(({ status }) => status === 'rejected'));
  t.true(pool.hasRoom);
  t.is(await pool.run(DOUBLE, 2), 4, 'there is room for as many again');
  await pool.close();
});
