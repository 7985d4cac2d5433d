// Members of groups, found by the group.
import test from 'ava';
import { GroupedSets } from '../../../values/grouped-sets.ts';

test('a group has its members once each, and is gone with the last of them', (t) => {
  const sets = new GroupedSets();
  for (const [group, member] of [
    ['a', '1'],
    ['a', '2'],
    ['a', '1'],
    ['b', '1'],
  ] as const)
    sets.add(group, member);
  t.deepEqual([...sets.of('a')], ['1', '2']);
  t.deepEqual([...sets.groups()], ['a', 'b']);
  t.false(sets.remove('a', '1'), 'another is left');
  t.false(sets.remove('a', '1'), 'it was no member');
  t.true(sets.remove('a', '2'));
  t.false(sets.remove('a', '2'), 'there is no such group');
  t.deepEqual([...sets.groups()], ['b']);
  t.is(sets.of('a').size, 0);
  sets.clear();
  t.deepEqual([...sets.groups()], []);
});
