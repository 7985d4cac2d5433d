// Quantities: which texts are some, what they amount to, what they are written as; by hand, and against a reference that
// does it the long way with fractions of whole numbers.
import test from 'ava';
import fc from 'fast-check';
import {
  canonicalQuantity,
  compareQuantities,
  countOf,
  formatQuantity,
  nanoOf,
  parseQuantity,
  roundedToMilli,
} from '../../../values/quantity.ts';

const MAX = Number.MAX_SAFE_INTEGER;

const CANONICAL: readonly (readonly [text: string, canonical: string])[] = [
  ['0', '0'],
  ['0Ki', '0'],
  ['-0', '0'],
  ['0e400', '0'],
  ['0Ei', '0'],
  ['1', '1'],
  ['1000', '1k'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['0.5', '500m'],
  ['0.500', '500m'],
  ['.5', '500m'],
  ['1.5', '1500m'],
  ['100m', '100m'],
  ['1024', '1024'],
  ['1024Ki', '1Mi'],
  ['1024Mi', '1Gi'],
  ['1000Mi', '1000Mi'],
  ['1.5Gi', '1536Mi'],
  ['1.5Ki', '1536'],
  ['0.5Gi', '512Mi'],
  ['0.1Mi', '104857600m'],
  ['1Ki', '1Ki'],
  ['-2Gi', '-2Gi'],
  ['.001Ki', '1024m'],
  ['.000001Ki', '1024u'],
  ['.000000000001Ki', '2n'],
  ['0.0001n', '1n'],
  ['-0.0001n', '-1n'],
  ['1.0000000001', '1000000001n'],
  ['-1.5', '-1500m'],
  ['12e6', '12e6'],
  ['1e3', '1e3'],
  ['1e1', '10'],
  ['1000e3', '1e6'],
  ['1e-999999999', '1e-9'],
  ['1E', '1E'],
  ['1000E', '1e21'],
  ['8Ei', '9223372036854775807'],
  ['-8Ei', '-9223372036854775807'],
  ['12E-3', '12E-3'],
  ['100000000000000000000', '100E'],
  ['9'.repeat(70), '9'.repeat(70)],
];

test('a quantity is written in its canonical form, which is its own', (t) => {
  for (const [text, canonical] of CANONICAL) {
    t.is(canonicalQuantity(text), canonical, text);
    t.is(canonicalQuantity(canonical), canonical, canonical);
    t.is(nanoOf(canonical), nanoOf(text), text);
  }
});

test('a short text that needs no other suffix is kept as it was written', (t) => {
  for (const text of ['+5', '007', '1.', '1.500', '2.500m', '1E3', '1e+3', '5e0', '+1Ki', '05Gi']) {
    t.is(canonicalQuantity(text), text);
  }
});

test('a text without digits is zero where a short number could stand, and no quantity elsewhere', (t) => {
  for (const text of ['.', '+', '-', 'm', 'E', 'e3', 'Ki', '-.Ti']) t.is(canonicalQuantity(text), '0', text);
  for (const text of ['', 'Pi', 'Ei', 'e-10', '.e-10']) t.is(canonicalQuantity(text), undefined, text);
});

test('what is no quantity is refused, and is no amount', (t) => {
  const texts = [
    ' ',
    '1 ',
    ' 1',
    '1x',
    '1 Gi',
    '1.2.3',
    '1K',
    '1ki',
    '1mi',
    '1KI',
    '1KiB',
    '1e',
    '1e-',
    '1e1.5',
    '1e3Ki',
  ];
  const more = ['--1', '1,5', '0x10', '1m2', '1+3', '١', 'NaN', 'Infinity', '1\n', '1e301', '9'.repeat(200)];
  for (const text of [...texts, ...more, '1e99999999999', `1e-${'9'.repeat(20)}`]) {
    t.is(canonicalQuantity(text), undefined, text);
    t.is(parseQuantity(text), undefined, text);
    t.is(countOf(text, 1), undefined, text);
    t.throws(() => nanoOf(text), { instanceOf: TypeError }, text);
  }
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}, []])
    t.is(countOf(value, 1), undefined);
});

test('amounts finer than a thousandth are rounded away from zero', (t) => {
  const cases = [
    ['1n', '1m'],
    ['-1n', '-1m'],
    ['1500u', '2m'],
    ['2m', '2m'],
    ['1Gi', '1Gi'],
    ['1E3', '1E3'],
    ['0', '0'],
  ] as const;
  for (const [text, rounded] of cases) t.is(roundedToMilli(text), rounded);
});

const COUNTS: readonly (readonly [text: string | number, whole: number, milli: number])[] = [
  ['100m', 1, 100],
  ['1', 1, 1000],
  [2, 2, 2000],
  [0.25, 1, 250],
  ['1.5', 2, 1500],
  ['1n', 1, 1],
  ['1001u', 1, 2],
  ['0', 0, 0],
  ['-1500m', 0, 0],
  ['1Ki', 1024, 1_024_000],
  ['3Gi', 3 * 1024 ** 3, 3 * 1024 ** 3 * 1000],
  ['2M', 2_000_000, 2_000_000_000],
  ['1Ti', 1024 ** 4, 1024 ** 4 * 1000],
  ['1e3', 1000, 1_000_000],
  ['1E', MAX, MAX],
  ['8Ei', MAX, MAX],
  ['9007199254740991', MAX, MAX],
  ['9007199254740990', MAX - 1, MAX],
  ['9007199254740.991', 9_007_199_254_741, MAX],
  ['9007199254740.990', 9_007_199_254_741, MAX - 1],
  ['9'.repeat(70), MAX, MAX],
  [`${'1'.repeat(70)}m`, MAX, MAX],
  [`0.${'0'.repeat(80)}1`, 1, 1],
  ['1e300', MAX, MAX],
];

test('amounts are counted in whole units and thousandths, rounded up, with bounds', (t) => {
  for (const [text, whole, milli] of COUNTS) {
    t.is(countOf(text, 1), whole, String(text));
    t.is(countOf(text, 1000), milli, String(text));
  }
});

test('amounts are compared, however they are written', (t) => {
  for (const [left, right] of [
    ['1', '1000m'],
    ['1Ki', '1024'],
    ['1e3', '1k'],
    ['0.1', '100m'],
    ['1E3', '1k'],
  ] as const) {
    t.is(compareQuantities(left, right), 0);
  }
  t.true(compareQuantities('999m', '1') < 0);
  t.true(compareQuantities('1Gi', '1G') > 0);
  t.true(compareQuantities('-1', '0') < 0);
  t.true(compareQuantities('9'.repeat(70), '1Ei') > 0);
});

// The reference: a value is a fraction of whole numbers; a text is made by trying every suffix, the largest first.

interface Written {
  readonly text: string;
  readonly nano: bigint;
  readonly canonical: string;
  /** Written without what canonical texts never have: such a text is kept only where it is canonical. */
  readonly isTidy: boolean;
}

const NANO = 10n ** 9n;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

function reference(sign: string, whole: string, fraction: string | undefined, suffix: string): Written {
  const digits = BigInt(whole + (fraction ?? ''));
  const exponent = /^[eE]([+-]?[0-9]+)$/.exec(suffix)?.[1];
  const isBinary = BINARY.includes(suffix);
  const ten = exponent !== undefined ? Number(exponent) : isBinary ? 0 : DECIMAL.indexOf(suffix) * 3 - 9;
  const up =
    digits * NANO * 10n ** BigInt(Math.max(ten, 0)) * (isBinary ? 1024n ** BigInt(BINARY.indexOf(suffix) + 1) : 1n);
  const down = 10n ** BigInt((fraction ?? '').length + Math.max(-ten, 0));
  const rounded = up / down + (up % down === 0n ? 0n : 1n);
  const most = (2n ** 63n - 1n) * NANO;
  const size = isBinary && rounded > most ? most : rounded;
  const nano = sign === '-' ? -size : size;
  const text = `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`;
  const family = exponent !== undefined ? 'exponent' : isBinary ? 'binary' : 'decimal';
  return {
    text,
    nano,
    canonical: written(nano, family),
    isTidy: /^-?[1-9][0-9]*(?:e-?[1-9][0-9]*|[A-Za-z]*)$/.test(text),
  };
}

function written(nano: bigint, family: 'binary' | 'decimal' | 'exponent'): string {
  if (nano === 0n) return '0';
  const isLargeInteger = nano % NANO === 0n && (nano >= 1024n * NANO || nano <= -1024n * NANO);
  if (family === 'binary' && isLargeInteger) {
    for (let power = 6; power > 0; power--) {
      const unit = 1024n ** BigInt(power) * NANO;
      if (nano % unit === 0n) return `${nano / unit}${BINARY[power - 1]}`;
    }
    return String(nano / NANO);
  }
  for (let exponent = 150; ; exponent -= 3) {
    const unit = 10n ** BigInt(exponent + 9);
    if (nano % unit !== 0n) continue;
    const suffix = family === 'exponent' ? undefined : DECIMAL[exponent / 3 + 3];
    return `${nano / unit}${exponent === 0 ? '' : (suffix ?? `e${exponent}`)}`;
  }
}

const digits = (least: number, most: number) =>
  fc.array(fc.constantFrom(...'0012345678900'), { minLength: least, maxLength: most }).map((list) => list.join(''));
const exponentText = fc.tuple(
  fc.constantFrom('e', 'E'),
  fc.constantFrom('', '+', '-'),
  fc.integer({ min: 0, max: 40 }),
);
const quantities = fc
  .tuple(
    fc.constantFrom('', '', '-', '+'),
    fc.oneof(digits(1, 4), digits(1, 25), digits(1, 70)),
    fc.option(fc.oneof(digits(0, 4), digits(0, 30)), { nil: undefined }),
    fc.oneof(
      fc.constantFrom(...DECIMAL, ...BINARY),
      exponentText.map((parts) => parts.join('')),
    ),
  )
  .map((parts) => reference(...parts));

test('every quantity is read, written, counted and compared as the reference does it', (t) => {
  fc.assert(
    fc.property(quantities, quantities, (one, other) => {
      t.is(parseQuantity(one.text)?.nano, one.nano, one.text);
      t.is(formatQuantity(parseQuantity(one.text)!), one.canonical, one.text);
      const canonical = canonicalQuantity(one.text)!;
      if (one.isTidy || canonical !== one.text) t.is(canonical, one.canonical, one.text);
      t.is(canonicalQuantity(canonical), canonical, one.text);
      t.is(
        Math.sign(compareQuantities(one.text, other.text)),
        one.nano < other.nano ? -1 : one.nano > other.nano ? 1 : 0,
      );
      for (const [scale, unit] of [
        [1, NANO],
        [1000, NANO / 1000n],
      ] as const) {
        const count = one.nano <= 0n ? 0n : one.nano / unit + (one.nano % unit === 0n ? 0n : 1n);
        t.is(countOf(one.text, scale), count > BigInt(MAX) ? MAX : Number(count), one.text);
      }
    }),
    { numRuns: 1000 },
  );
});

test('a text of the same characters in any order is a quantity only where the grammar says so', (t) => {
  const grammar = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$/;
  const soup = fc
    .array(fc.constantFrom(...'0159.+-eEKiMm n'), { minLength: 1, maxLength: 8 })
    .map((list) => list.join(''));
  fc.assert(
    fc.property(soup, (text) => {
      if (!/[0-9]/.test(text) || /[eE][+-]?[0-9]{3}/.test(text)) return;
      const isOne = grammar.test(text) || /^[+-]?\.?[eE][+-]?[0-9]+$/.test(text);
      if (grammar.test(text)) t.not(parseQuantity(text), undefined, text);
      if (!isOne) t.is(parseQuantity(text), undefined, text);
    }),
    { numRuns: 2000 },
  );
});
