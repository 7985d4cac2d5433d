import { getHeapSpaceStatistics } from 'node:v8';
import test from 'ava';
import { collectHeap } from '../../../runtime/memory/heap-collection.ts';
import { IdleWatch } from '../../../runtime/memory/idle-collection.ts';

const PASSED_MS = 1000;
const IDLE = Array<number>(30).fill(5);

/** After which checks a collection is due, given how much of the time before each was work. */
function dueAfter(...activeMs: readonly number[]): readonly number[] {
  const watch = new IdleWatch();
  return activeMs.flatMap((active, index) => (watch.check(active, PASSED_MS) ? [index] : []));
}

test('what a start has left is collected soon, what later work leaves only after a while', (t) => {
  t.deepEqual(dueAfter(800, 300, 5, 5, 5, 5, 900, ...IDLE), [3, 16]);
});

test('a thread that goes on working is not collected, and one that works again begins to wait anew', (t) => {
  t.deepEqual(dueAfter(...Array<number>(50).fill(300)), []);
  t.deepEqual(dueAfter(800, 5, 5, 900, 5, 5, 5, 5, 900, ...IDLE), [2, 18]);
});

test('a thread that did next to nothing has nothing to collect, until that adds up', (t) => {
  t.deepEqual(dueAfter(...Array<number>(300).fill(1)), [49, 249]);
});

test('a collection gives back the room of young objects', async (t) => {
  const young = (): number =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.physical_space_size;
  const kept: object[] = [];
  for (let number = 0; number < 2_000_000; number++) {
    const object = { number };
    if (number % 10 === 0) kept.push(object);
  }
  const before = young();
  for (let times = 0; times < 20; times++) collectHeap();
  while (young() > before / 2) await new Promise((resolve) => setImmediate(resolve));
  t.is(kept.length, 200_000);
});
