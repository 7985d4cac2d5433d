import test from 'ava';
import { AmountSum, readAmounts, sameAmounts } from '../../../actors/scheduler/pods/resource-amounts.ts';

test('an amount with more digits than a double holds counts as the most there is, not as nothing', (t) => {
  const amounts = readAmounts({ cpu: '9'.repeat(70), memory: `${'9'.repeat(100)}Mi` });
  t.is(amounts.milliCpu, Number.MAX_SAFE_INTEGER);
  t.is(amounts.memoryBytes, Number.MAX_SAFE_INTEGER);
});

test('a resource list is read with cpu in thousandths and everything else in whole units', (t) => {
  const amounts = readAmounts({
    cpu: '250m',
    memory: '1Ki',
    'ephemeral-storage': '2',
    pods: '110',
    'example.com/gpu': '3',
  });
  t.is(amounts.milliCpu, 250);
  t.is(amounts.memoryBytes, 1024);
  t.is(amounts.ephemeralStorageBytes, 2);
  t.is(amounts.pods, 110);
  t.deepEqual([...amounts.scalars], [['example.com/gpu', 3]]);
});

test('a resource named as a member of every object is an ordinary extended resource', (t) => {
  const amounts = readAmounts(JSON.parse('{"__proto__": "2", "constructor": "3"}'));
  t.deepEqual(
    Object.fromEntries(amounts.scalars),
    Object.fromEntries([
      ['__proto__', 2],
      ['constructor', 3],
    ]),
  );
});

test('a sum adds, and raises only what is lower', (t) => {
  const sum = new AmountSum();
  sum.add({ cpu: '100m', 'example.com/gpu': '1' });
  sum.add({ cpu: '200m', memory: '10' });
  sum.raise({ cpu: '250m', memory: '50', 'example.com/gpu': '2' });
  const amounts = sum.amounts();
  t.is(amounts.milliCpu, 300);
  t.is(amounts.memoryBytes, 50);
  t.is(amounts.scalars.get('example.com/gpu'), 2);
});

test('what an init container asks nothing of is not asked for: a node that is short of it may take the pod', (t) => {
  const sum = new AmountSum();
  sum.add({ cpu: '1' });
  sum.raise({ 'example.com/gpu': '0' });
  t.is(sum.amounts().scalars.size, 0);
  sum.add({ 'example.com/gpu': '0' });
  t.deepEqual([...sum.amounts().scalars], [['example.com/gpu', 0]]);
});

test('amounts are the same only when every resource is', (t) => {
  const base = { cpu: '1', memory: '1', pods: '1', 'a/b': '1' };
  t.true(sameAmounts(readAmounts(base), readAmounts({ ...base, cpu: '1000m' })));
  for (const change of [
    { cpu: '2' },
    { memory: '2' },
    { pods: '2' },
    { 'ephemeral-storage': '1' },
    { 'a/b': '2' },
    { 'a/c': '1' },
  ]) {
    t.false(sameAmounts(readAmounts(base), readAmounts({ ...base, ...change })), JSON.stringify(change));
  }
});
