// What a pattern is taken to come to before it is compiled.
import test from 'ava';
import { patternSize } from '../../../../api/custom/checks/pattern-size.ts';

const SIZES: readonly (readonly [pattern: string, least: number, most: number])[] = [
  ['', 1, 1],
  ['abc', 3, 6],
  ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', 61, 400],
  ['((a{30}){30})', 900, 2000],
  ['(abc{10}){10}', 120, 400],
  ['a{0,1000}', 1000, 3000],
  ['a{5,}', 5, 20],
  ['a{,5}', 4, 10],
  ['\\{1000\\}', 4, 20],
  ['[{1000}]', 1, 10],
  ['[]{9}]{7}', 7, 30],
  ['\\p{Greek}{3}', 3, 20],
  ['\\x{10FFFF}{4}', 4, 20],
  ['(a{1000', 4, 20],
  ['a)))){1000}', 1000, 10_000],
  ['((((((((((', 1, 30],
  ['(x{1000}){1000}', 1_000_000, 3_000_000],
];

for (const [pattern, least, most] of SIZES) {
  test(`the size of the pattern ${JSON.stringify(pattern)} is about what it comes to`, (t) => {
    const size = patternSize(pattern);
    t.true(size >= least && size <= most, String(size));
  });
}

test('the size of a pattern has an end', (t) => {
  t.true(patternSize(`${'('.repeat(20)}a${'{999})'.repeat(20)}`) <= 1e9);
  t.true(Number.isFinite(patternSize('{9999}'.repeat(1000))));
});
