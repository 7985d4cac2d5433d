import test from 'ava';
import { Kept, keep } from '../../../values/kept.ts';

test('the oldest makes room for the newest', (t) => {
  const kept = new Kept<string, number>(2);
  kept.set('a', 1);
  kept.set('b', 2);
  kept.set('a', 3);
  kept.set('c', 4);
  t.deepEqual(
    ['a', 'b', 'c'].map((key) => kept.get(key)),
    [3, undefined, 4],
  );
  t.is(kept.size, 2);
});

test('a map that is full is emptied for the next entry', (t) => {
  const map = new Map<string, number>();
  keep(map, 2, 'a', 1);
  keep(map, 2, 'b', 2);
  t.deepEqual([...map.keys()], ['a', 'b']);
  keep(map, 2, 'c', 3);
  t.deepEqual([...map], [['c', 3]]);
});
