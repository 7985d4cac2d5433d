import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { allowCollection, IdleWatch } from '../../../runtime/idle-collection.ts';

const PASSED_MS = 2000;

/** What is due after each check, given how much of the time before it was work. */
function dueAfter(...activeMs: readonly number[]): readonly string[] {
  const watch = new IdleWatch();
  return activeMs.map((active) => watch.check(active, PASSED_MS));
}

test('a thread that has worked and then has nothing to do is collected, the young objects first', (t) => {
  t.deepEqual(dueAfter(1500, 10, 10, 10, 10, 10, 10, 10), [
    'nothing',
    'nothing',
    'young',
    'nothing',
    'nothing',
    'all',
    'nothing',
    'nothing',
  ]);
});

test('a thread that goes on working is not collected, and one that works again begins to wait anew', (t) => {
  t.true(dueAfter(...Array<number>(50).fill(300)).every((due) => due === 'nothing'));
  t.deepEqual(dueAfter(1500, 10, 10, 900, 10, 10, 10, 10, 10).slice(3), [
    'nothing',
    'nothing',
    'young',
    'nothing',
    'nothing',
    'all',
  ]);
});

test('a thread that did next to nothing has nothing to collect, until that adds up', (t) => {
  const due = dueAfter(...Array<number>(300).fill(1));
  t.true(due.slice(0, 199).every((what) => what === 'nothing'));
  t.is(due.filter((what) => what === 'all').length, 1);
});

test('a thread that is made once collection is allowed can be collected', async (t) => {
  allowCollection();
  const worker = new Worker("require('node:worker_threads').parentPort.postMessage(typeof gc)", { eval: true });
  t.deepEqual(await once(worker, 'message'), ['function']);
  await worker.terminate();
});
