// The processes a bench asks: an answer counts whatever else happens in the moment it is given.
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { Bench } from '../../../bench/bench.ts';
import { Children } from '../../../bench/children.ts';
import { codec } from '../../../bench/workloads/codec.ts';

const ONE_ANSWER = fileURLToPath(new URL('./one-answer.js', import.meta.url));
/** Longer than any machine takes: other tests hold this thread up for a minute where it is slow. */
const DEADLINE_MS = 3_600_000;

/** Holds this thread up until the process has ended. Whatever it did before is there, and nothing of it has been read. */
function blockUntilEnded({ pid }: ChildProcess): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const giveUpMs = performance.now() + DEADLINE_MS;
  while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) {
    if (performance.now() > giveUpMs) throw new Error('the process does not end');
    Atomics.wait(cell, 0, 0, 5);
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

test('an answer counts although the end of its process is seen before it', async (t) => {
  const children = new Children();
  t.teardown(() => children.stopAll());
  const [first, second] = [fork(ONE_ANSWER), fork(ONE_ANSWER)];
  const answer = children.ask(first, { job: 1 }, DEADLINE_MS).then(async (told) => {
    // The end of the first is about to be seen, and with it that of the second, whose answer is read only after.
    const next = children.ask(second, { job: 2 }, DEADLINE_MS);
    blockUntilEnded(second);
    return [told, await next];
  });
  blockUntilEnded(first);
  t.deepEqual(await answer, [{ job: 1 }, { job: 2 }]);
});

test('a process that ends without an answer is told of', async (t) => {
  const children = new Children();
  const child = fork(ONE_ANSWER);
  const asked = children.ask(child, { job: 1 }, DEADLINE_MS);
  child.kill('SIGKILL');
  await t.throwsAsync(asked, { message: 'a process of the bench ended without an answer' });
});

test('a server ends when the bench that started it is killed', async (t) => {
  const bench = fork(fileURLToPath(new URL('./killed-bench.js', import.meta.url)), {
    stdio: ['ignore', 'pipe', 2, 'ipc'],
  });
  t.teardown(() => bench.kill('SIGKILL'));
  const pid = Number(await new Promise<string>((resolve) => bench.stdout!.once('data', resolve)));
  t.teardown(() => isRunning(pid) && process.kill(pid, 'SIGKILL'));
  t.true(isRunning(pid));
  bench.kill('SIGKILL');
  const giveUpMs = performance.now() + DEADLINE_MS;
  while (isRunning(pid) && performance.now() < giveUpMs) await new Promise((resolve) => setTimeout(resolve, 20));
  t.false(isRunning(pid));
});

test('a workload in the process of the bench ends when the bench is interrupted', async (t) => {
  const bench = new Bench({ count: 10_000_000, floor: 'no' });
  t.teardown(() => bench.close());
  const running = codec.run(bench, () => t.fail());
  await new Promise((resolve) => setTimeout(resolve, 0));
  await bench.children.stopAll();
  await t.throwsAsync(running, { message: 'the bench is ending' });
});
