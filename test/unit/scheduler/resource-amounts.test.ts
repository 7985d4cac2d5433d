import test from 'ava';
import { AmountSum, parseAmount, readAmounts, sameAmounts } from '../../../actors/scheduler/resource-amounts.ts';

const MAX = Number.MAX_SAFE_INTEGER;

const CASES: readonly (readonly [quantity: unknown, whole: number | undefined, thousandths: number | undefined])[] = [
  ['0', 0, 0],
  ['1', 1, 1000],
  ['100m', 1, 100],
  ['1500m', 2, 1500],
  ['0.1', 1, 100],
  ['.5', 1, 500],
  ['5.', 5, 5000],
  ['+2', 2, 2000],
  ['-2', 0, 0],
  ['1u', 1, 1],
  ['1n', 1, 1],
  ['1500u', 1, 2],
  ['2k', 2000, 2_000_000],
  ['1Ki', 1024, 1_024_000],
  ['1.5Ki', 1536, 1_536_000],
  ['0.0001Ki', 1, 103],
  ['128Mi', 134_217_728, 134_217_728_000],
  ['64Gi', 68_719_476_736, 68_719_476_736_000],
  ['1e3', 1000, 1_000_000],
  ['1E3', 1000, 1_000_000],
  ['12e-1', 2, 1200],
  ['1E', MAX, MAX],
  ['8Ei', MAX, MAX],
  ['9007199254740991', MAX, MAX],
  ['9007199254740990', MAX - 1, MAX],
  ['9007199254740.991', 9_007_199_254_741, MAX],
  ['9007199254740.990', 9_007_199_254_741, MAX - 1],
  ['1e400', MAX, MAX],
  ['1e-400', 1, 1],
  ['0e400', 0, 0],
  [3, 3, 3000],
  [0.25, 1, 250],
  ['', undefined, undefined],
  ['.', undefined, undefined],
  ['m', undefined, undefined],
  ['1 Gi', undefined, undefined],
  ['1Mib', undefined, undefined],
  ['0x10', undefined, undefined],
  ['1e1000000', undefined, undefined],
  ['9'.repeat(100_000), undefined, undefined],
  [Number.NaN, undefined, undefined],
  [null, undefined, undefined],
  [{}, undefined, undefined],
];

for (const [quantity, whole, thousandths] of CASES) {
  const shown = String(JSON.stringify(quantity)).slice(0, 30);
  test(`the quantity ${shown} (${typeof quantity}) is ${whole} whole units and ${thousandths} thousandths`, (t) => {
    t.is(parseAmount(quantity, 1), whole);
    t.is(parseAmount(quantity, 1000), thousandths);
  });
}

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
