// Quantities: reading, comparing, rounding, and the canonical text.
import test from 'ava';
import {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  QuantityError,
  toMilli,
  toWhole,
} from '../../../values/quantity.ts';

interface Case {
  readonly text: string | number;
  readonly nano: bigint;
  readonly canonical: string;
}

const G = 1_000_000_000n;

const CASES: readonly Case[] = [
  { text: '0', nano: 0n, canonical: '0' },
  { text: '0Ki', nano: 0n, canonical: '0' },
  { text: '-0', nano: 0n, canonical: '0' },
  { text: '1', nano: G, canonical: '1' },
  { text: 1, nano: G, canonical: '1' },
  { text: 0.5, nano: G / 2n, canonical: '500m' },
  { text: '+1', nano: G, canonical: '1' },
  { text: '-1', nano: -G, canonical: '-1' },
  { text: '100m', nano: G / 10n, canonical: '100m' },
  { text: '1000m', nano: G, canonical: '1' },
  { text: '1500m', nano: (G * 3n) / 2n, canonical: '1500m' },
  { text: '1.5', nano: (G * 3n) / 2n, canonical: '1500m' },
  { text: '.5', nano: G / 2n, canonical: '500m' },
  { text: '5.', nano: 5n * G, canonical: '5' },
  { text: '001', nano: G, canonical: '1' },
  { text: '1500n', nano: 1500n, canonical: '1500n' },
  { text: '2u', nano: 2000n, canonical: '2u' },
  { text: '1k', nano: 1000n * G, canonical: '1k' },
  { text: '1000k', nano: 1_000_000n * G, canonical: '1M' },
  { text: '1E', nano: 10n ** 18n * G, canonical: '1E' },
  { text: '1e3', nano: 1000n * G, canonical: '1e3' },
  { text: '1E3', nano: 1000n * G, canonical: '1e3' },
  { text: '1e1', nano: 10n * G, canonical: '10' },
  { text: '100e3', nano: 100_000n * G, canonical: '100e3' },
  { text: '1e-3', nano: G / 1000n, canonical: '1e-3' },
  { text: '2.5e+2', nano: 250n * G, canonical: '250' },
  { text: '1Ki', nano: 1024n * G, canonical: '1Ki' },
  { text: '1024Ki', nano: 1024n ** 2n * G, canonical: '1Mi' },
  { text: '0.5Gi', nano: 512n * 1024n ** 2n * G, canonical: '512Mi' },
  { text: '1.5Ki', nano: 1536n * G, canonical: '1536' },
  { text: '0.5Ki', nano: 512n * G, canonical: '512' },
  { text: '0.1Mi', nano: (1024n ** 2n * G) / 10n, canonical: '104857600m' },
  { text: '-2Gi', nano: -2n * 1024n ** 3n * G, canonical: '-2Gi' },
  { text: '0.1n', nano: 1n, canonical: '1n' },
  { text: '1.0000000001', nano: G + 1n, canonical: '1000000001n' },
  { text: '-0.1n', nano: -1n, canonical: '-1n' },
  { text: '1e-999999999', nano: 1n, canonical: '1e-9' },
  { text: '1e999999999', nano: (2n ** 63n - 1n) * G, canonical: '9223372036854775807' },
  { text: '16Ei', nano: (2n ** 63n - 1n) * G, canonical: '9223372036854775807' },
];

test('a quantity is read exactly and written canonically', (t) => {
  for (const { text, nano, canonical } of CASES) {
    t.is(parseQuantity(text).nano, nano, String(text));
    t.is(canonicalQuantity(text), canonical, String(text));
  }
});

test('the canonical text of a quantity stands for the same amount, and is its own canonical text', (t) => {
  for (const { text } of CASES) {
    const quantity = parseQuantity(text);
    const again = parseQuantity(formatQuantity(quantity));
    t.is(again.nano, quantity.nano, String(text));
    t.is(formatQuantity(again), formatQuantity(quantity), String(text));
  }
});

test('what is no quantity is refused', (t) => {
  const texts = ['', ' ', '.', '-', 'm', 'Ki', '1 ', ' 1', '1K', '1ki', '1mi', '1KiB', '1e', '1e1.5', '1e3Ki', '--1'];
  for (const text of [...texts, '1,5', '0x10', '1m2', '١', 'NaN', '1\n', `${'1'.repeat(200)}`]) {
    t.throws(() => parseQuantity(text), { instanceOf: QuantityError }, JSON.stringify(text));
    t.false(isQuantity(text));
  }
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}, []]) t.false(isQuantity(value));
  t.true(isQuantity('1Gi'));
});

test('amounts are compared, however they are written', (t) => {
  const same: readonly (readonly [string, string])[] = [
    ['1', '1000m'],
    ['1Ki', '1024'],
    ['1e3', '1k'],
    ['0.1', '100m'],
  ];
  for (const [left, right] of same) t.is(compareQuantities(parseQuantity(left), parseQuantity(right)), 0);
  t.true(compareQuantities(parseQuantity('999m'), parseQuantity('1')) < 0);
  t.true(compareQuantities(parseQuantity('1Gi'), parseQuantity('1G')) > 0);
  t.true(compareQuantities(parseQuantity('-1'), parseQuantity('0')) < 0);
});

test('thousandths and whole units are rounded up', (t) => {
  const cases: readonly (readonly [text: string | number, milli: number, whole: number])[] = [
    ['100m', 100, 1],
    ['1', 1000, 1],
    [2, 2000, 2],
    [0.25, 250, 1],
    ['1.5', 1500, 2],
    ['1n', 1, 1],
    ['1001u', 2, 1],
    ['0', 0, 0],
    ['-1500m', -1500, -1],
    ['-1n', 0, 0],
    ['1Ki', 1_024_000, 1024],
    ['3Gi', 3 * 1024 ** 3 * 1000, 3 * 1024 ** 3],
    ['2M', 2_000_000_000, 2_000_000],
    ['7k', 7_000_000, 7000],
    ['1Ti', 1024 ** 4 * 1000, 1024 ** 4],
    ['1e3', 1_000_000, 1000],
  ];
  for (const [text, milli, whole] of cases) {
    t.is(toMilli(text), milli, String(text));
    t.is(toWhole(text), whole, String(text));
  }
  t.throws(() => toMilli('x'), { instanceOf: QuantityError });
  t.throws(() => toWhole(''), { instanceOf: QuantityError });
});

test('the shortcut for plain texts reads as the exact way does', (t) => {
  let state = 5;
  const pick = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const suffixes = ['', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi'];
  for (let round = 0; round < 2000; round++) {
    const text = `${pick(1_000_000)}${suffixes[pick(suffixes.length)]}`;
    const { nano } = parseQuantity(text);
    t.is(toWhole(text), Number((nano + G - 1n) / G), text);
    t.is(toMilli(text), Number(nano / 1_000_000n), text);
  }
});
