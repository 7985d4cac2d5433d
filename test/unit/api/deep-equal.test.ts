// Equality of JSON values.
import test from 'ava';
import { deepEqual } from '../../../api/json/deep-equal.ts';

test('values are equal whatever the order of their keys', (t) => {
  t.true(deepEqual({ a: 1, b: { c: [1, { d: null }] } }, { b: { c: [1, { d: null }] }, a: 1 }));
  t.true(deepEqual(Object.freeze({ a: Object.freeze([]) }), { a: [] }));
});

test('an undefined member counts as absent', (t) => {
  t.true(deepEqual({ a: 1, b: undefined }, { a: 1 }));
  t.true(deepEqual({ a: 1 }, { b: undefined, a: 1 }));
  t.false(deepEqual({ a: null }, {}));
});

const DIFFERENT: readonly (readonly [unknown, unknown])[] = [
  [1, 2],
  [1, '1'],
  [0, false],
  [null, undefined],
  [null, {}],
  [[], {}],
  [{}, []],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], [1, 2]],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: 1 }, { b: 1 }],
  [{ constructor: Object }, {}],
  [{ toString: 1 }, { a: 1 }],
  [{ a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }],
];

test('a long integer is the double that it becomes', (t) => {
  t.true(deepEqual({ a: 2n ** 60n }, { a: 2 ** 60 }));
  t.true(deepEqual({ a: 2 ** 60 }, { a: 1_152_921_504_606_847_000n }));
  t.false(deepEqual({ a: 2n ** 60n }, { a: 2n ** 60n + 1n }));
  t.false(deepEqual({ a: 2n ** 60n }, { a: 2 ** 61 }));
});

test('values of another type, length, key or content differ', (t) => {
  for (const [left, right] of DIFFERENT) {
    t.false(deepEqual(left, right));
    t.false(deepEqual(right, left));
  }
});

test('values nested beyond the limit are called different instead of overflowing the stack', (t) => {
  const nest = (levels: number) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = [value];
    return value;
  };
  t.true(deepEqual(nest(900), nest(900)));
  t.false(deepEqual(nest(100_000), nest(100_000)));
});
