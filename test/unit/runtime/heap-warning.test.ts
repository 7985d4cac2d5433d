// When the heap of a thread is said to be nearly full.
import test from 'ava';
import { warningOfFullHeap, YOUNG_HEAP_MAX_MIB } from '../../../runtime/memory/heap-warning.ts';

const MIB = 1024 * 1024;

/** After which checks it is told, given how many hundredths of the heap are used at each. */
function toldAfter(...used: readonly number[]): readonly number[] {
  const told: number[] = [];
  let at = 0;
  const check = warningOfFullHeap({ warn: () => void told.push(at) }, () => 0);
  for (; at < used.length; at++) check(used[at]! * MIB, (100 + YOUNG_HEAP_MAX_MIB) * MIB);
  return told;
}

test('a heap that stays nearly full is told once, and again only after there was room', (t) => {
  t.deepEqual(toldAfter(50, 86, 90, 95, 95, 95, 95, 80, 95, 95, 95, 95, 95, 95), [5]);
  t.deepEqual(toldAfter(95, 95, 95, 95, 95, 70, 95, 95, 95, 95, 95), [4, 10]);
});

test('what is collected between two checks is not told', (t) => {
  t.deepEqual(toldAfter(...Array.from({ length: 50 }, (_, i) => (i % 5 === 4 ? 60 : 95))), []);
});

test('the line says how much of how much is used, without what was made last', (t) => {
  const lines: object[] = [];
  let young = 20 * MIB;
  const check = warningOfFullHeap({ warn: (fields: object) => void lines.push(fields) }, () => young);
  const limit = (100 + YOUNG_HEAP_MAX_MIB) * MIB;
  for (let i = 0; i < 10; i++) check(100 * MIB, limit);
  t.deepEqual(lines, []);
  young = 10 * MIB;
  for (let i = 0; i < 10; i++) check(100 * MIB, limit);
  t.deepEqual(lines, [{ heapBytes: 90 * MIB, limitBytes: 100 * MIB }]);
});
