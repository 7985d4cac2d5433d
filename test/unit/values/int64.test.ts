// Integers of 64 bits: which texts are some.
import test from 'ava';
import { parseInt64 } from '../../../values/int64.ts';

test('a decimal integer of 64 bits is read with its sign and its leading zeros, and nothing else is', (t) => {
  const cases = [
    ['0', 0n],
    ['-0', 0n],
    ['+7', 7n],
    ['-7', -7n],
    [`${'0'.repeat(30)}12`, 12n],
    [`-${'0'.repeat(30)}12`, -12n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', undefined],
    ['-9223372036854775808', -(2n ** 63n)],
    ['-9223372036854775809', undefined],
    ['9'.repeat(20), undefined],
    ['', undefined],
    ['+', undefined],
    ['--1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    [' 1', undefined],
    ['1\n', undefined],
    ['0x1', undefined],
  ] as const;
  for (const [text, number] of cases) t.is(parseInt64(text), number, text);
});
