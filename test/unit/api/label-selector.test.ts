// Label selectors: the grammar of the text form, LabelSelector objects, matching, the canonical text.
import test from 'ava';
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import {
  EVERYTHING,
  type LabelSelector,
  labelSelectorFromMap,
  labelSelectorFromObject,
  NOTHING,
  parseLabelSelector,
} from '../../../api/selectors/label-selector.ts';
import { isStatusError } from '../../../api/status/status.ts';

const CANONICAL: readonly (readonly [text: string, canonical: string])[] = [
  ['', ''],
  ['  \t', ''],
  ['a', 'a'],
  ['!a', '!a'],
  ['! a', '!a'],
  ['a=b', 'a=b'],
  ['a==b', 'a=b'],
  [' a = b , c ', 'a=b,c'],
  ['c,a=b', 'a=b,c'],
  ['a!=b', 'a!=b'],
  ['a=', 'a='],
  ['a=,b', 'a=,b'],
  ['a!=', 'a!='],
  ['a in (x)', 'a=x'],
  ['a in (y,x,y)', 'a in (x,y)'],
  ['a in(x , y)', 'a in (x,y)'],
  ['a in ()', 'a='],
  ['a in (,x)', 'a in (,x)'],
  ['a in (x,)', 'a in (,x)'],
  ['a in (x,,y)', 'a in (,x,y)'],
  ['a notin (x,y)', 'a notin (x,y)'],
  ['a notin (z)', 'a!=z'],
  ['in in (in,notin)', 'in in (in,notin)'],
  ['notin', 'notin'],
  ['a=in', 'a=in'],
  ['i>1, j < 2', 'i>1,j<2'],
  ['a=b,a=b', 'a=b'],
  ['a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1,j<2', 'a=b,c!=d,e in (x,y),f!=z,g,!h,i>1,j<2'],
  ['example.com/role=web', 'example.com/role=web'],
];

test('a selector reads as its canonical text, which reads as itself', (t) => {
  for (const [text, canonical] of CANONICAL) {
    t.is(parseLabelSelector(text).text, canonical, text);
    t.is(parseLabelSelector(canonical).text, canonical, canonical);
  }
});

const UNREADABLE: readonly string[] = [
  ',',
  'a,',
  ',a',
  'a,,b',
  'a b',
  'a=b c',
  'a=b=c',
  'a===b',
  'a=!b',
  'a in x',
  'a in',
  'a in (x',
  'a in x)',
  'a in (x y)',
  'a in ((x))',
  'a notin',
  '!',
  '!!a',
  '!a=b',
  '!a in (x)',
  '=b',
  '>1',
  'a>',
  'a>x',
  'a>1.5',
  'a>99999999999999999999',
  'a(b)',
  'a=(b)',
  '-a',
  'a/b/c',
  '/a',
  'A_b/c',
  `${'k'.repeat(64)}`,
  'a=-b',
  `a=${'v'.repeat(64)}`,
  'a=b/c',
  'a in (b,-c)',
  '__proto__=x',
  'a=\u00e9',
];

test('text that is no selector, or has a bad key or value, is a bad request', (t) => {
  for (const text of UNREADABLE) {
    const error = t.throws(() => parseLabelSelector(text), undefined, text);
    t.true(isStatusError(error, 'BadRequest'), text);
  }
});

test('what a selector lacks is told in the words of Kubernetes', (t) => {
  for (const [text, message] of [
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b,=c)', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['a in (b,,)', "unable to parse requirement: found ')', expected: ',', or identifier"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['!!a', "unable to parse requirement: found '!', expected: identifier"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: '=', '!=', '==', 'in', notin'"],
    ['a>x', "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer"],
    ['a=>1', "unable to parse requirement: found '>', expected: identifier"],
  ] as const) {
    t.is(t.throws(() => parseLabelSelector(text))?.message, message);
  }
});

test('an error message does not repeat a huge selector', (t) => {
  for (const text of ['a=b,'.repeat(100_000), `a ${'b'.repeat(100_000)}`]) {
    const error = t.throws(() => parseLabelSelector(text));
    t.true((error?.message.length ?? 0) < 1100);
  }
});

interface MatchCase {
  readonly selector: string;
  readonly yes: readonly Labels[];
  readonly no: readonly Labels[];
}

const MATCHES: readonly MatchCase[] = [
  { selector: '', yes: [{}, { a: 'b' }], no: [] },
  { selector: 'a', yes: [{ a: '' }, { a: 'b' }], no: [{}, { b: 'a' }] },
  { selector: '!a', yes: [{}, { b: 'a' }], no: [{ a: '' }] },
  { selector: 'a=b', yes: [{ a: 'b', c: 'd' }], no: [{}, { a: 'c' }, { a: '' }] },
  { selector: 'a=', yes: [{ a: '' }], no: [{}, { a: 'b' }] },
  { selector: 'a!=b', yes: [{}, { a: 'c' }], no: [{ a: 'b' }] },
  { selector: 'a in (x,y)', yes: [{ a: 'x' }, { a: 'y' }], no: [{}, { a: 'z' }] },
  { selector: 'a notin (x,y)', yes: [{}, { a: 'z' }], no: [{ a: 'x' }] },
  { selector: 'a>5', yes: [{ a: '6' }, { a: '+7' }], no: [{}, { a: '5' }, { a: 'x' }, { a: '' }, { a: '6.5' }] },
  { selector: 'a<5', yes: [{ a: '4' }, { a: '-9' }], no: [{}, { a: '5' }, { a: 'x' }] },
  { selector: 'a>9223372036854775806', yes: [{ a: '9223372036854775807' }], no: [{ a: '9223372036854775808' }] },
  { selector: 'a=b,c!=d', yes: [{ a: 'b' }, { a: 'b', c: 'e' }], no: [{ a: 'b', c: 'd' }, { c: 'e' }] },
  { selector: 'constructor', yes: [{ constructor: 'x' } as unknown as Labels], no: [{}] },
  { selector: '!toString', yes: [{}], no: [{ toString: 'x' } as unknown as Labels] },
];

test('a selector matches exactly the labels that meet all its requirements', (t) => {
  for (const { selector, yes, no } of MATCHES) {
    const { matches } = parseLabelSelector(selector);
    for (const labels of yes) t.true(matches(labels), `${selector} on ${JSON.stringify(labels)}`);
    for (const labels of no) t.false(matches(labels), `${selector} on ${JSON.stringify(labels)}`);
  }
});

test('absent labels are matched as empty ones', (t) => {
  t.true(parseLabelSelector('!a').matches(undefined));
  t.false(parseLabelSelector('a').matches(undefined));
});

test('what a selector fixes to one value is told by key', (t) => {
  const selector = parseLabelSelector('a=b,c in (d),e in (f,g),h!=i,j,k=');
  t.deepEqual(
    [...selector.equality],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['k', ''],
    ],
  );
});

test('a LabelSelector object means its labels and its expressions together', (t) => {
  const selector = labelSelectorFromObject({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'env', operator: 'NotIn', values: ['test'] },
      { key: 'old', operator: 'DoesNotExist' },
      { key: 'new', operator: 'Exists', values: [] },
    ],
  });
  t.is(selector.text, 'app=web,env!=test,new,!old,tier in (a,b)');
  t.true(selector.matches({ app: 'web', tier: 'b', new: '' }));
  t.false(selector.matches({ app: 'web', tier: 'b', new: '', old: '' }));
});

test('a missing LabelSelector object selects nothing, an empty one everything', (t) => {
  t.is(labelSelectorFromObject(undefined), NOTHING);
  t.is(labelSelectorFromObject(null), NOTHING);
  t.is(labelSelectorFromObject({}), EVERYTHING);
  t.is(labelSelectorFromObject({ matchLabels: {}, matchExpressions: [] }), EVERYTHING);
  t.false(NOTHING.matches({}));
});

test('a malformed LabelSelector object is refused', (t) => {
  const bad: readonly unknown[] = [
    'a=b',
    [],
    { matchLabels: [] },
    { matchLabels: { a: 1 } },
    { matchLabels: { '-': 'x' } },
    { matchExpressions: {} },
    { matchExpressions: [null] },
    { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
    { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] },
    { matchExpressions: [{ key: 'a', operator: 'In' }] },
    { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
    { matchExpressions: [{ key: 'a', operator: 'In', values: 'x' }] },
    { matchExpressions: [{ operator: 'Exists' }] },
  ];
  for (const selector of bad) {
    t.true(
      isStatusError(
        t.throws(() => labelSelectorFromObject(selector)),
        'BadRequest',
      ),
      JSON.stringify(selector),
    );
  }
});

test('a map selects by all its keys', (t) => {
  t.is(labelSelectorFromMap({ b: '2', a: '1' }).text, 'a=1,b=2');
  t.is(labelSelectorFromMap({}), EVERYTHING);
});

test('random selectors match as a plain reading of their parts does', (t) => {
  let state = 3;
  const pick = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const keys = ['a', 'b', 'c'];
  const values = Array.from({ length: 20 }, (_, index) => `v${index}`);
  const parts = Array.from({ length: 400 }, (): readonly [text: string, holds: (labels: Labels) => boolean] => {
    const key = keys[pick(3)]!;
    const some = values.slice(pick(10), 10 + pick(10));
    const has = (labels: Labels) => labels[key] !== undefined;
    const among = (labels: Labels) => has(labels) && some.includes(labels[key]!);
    const forms: readonly (readonly [string, (labels: Labels) => boolean])[] = [
      [key, has],
      [`!${key}`, (labels) => !has(labels)],
      [`${key}=${some[0]}`, (labels) => labels[key] === some[0]],
      [`${key}!=${some[0]}`, (labels) => labels[key] !== some[0]],
      [`${key} in (${some.join(',')})`, among],
      [`${key} notin (${some.join(', ')})`, (labels) => !among(labels)],
    ];
    return forms[pick(forms.length)]!;
  });
  for (let round = 0; round < 200; round++) {
    const [first, second] = [parts[pick(400)]!, parts[pick(400)]!];
    const selector: LabelSelector = parseLabelSelector(`${first[0]},${second[0]}`);
    const again = parseLabelSelector(selector.text);
    for (let trial = 0; trial < 30; trial++) {
      const labels: Labels = Object.fromEntries(keys.filter(() => pick(3) > 0).map((key) => [key, values[pick(20)]!]));
      const expected = first[1](labels) && second[1](labels);
      t.is(selector.matches(labels), expected, `${selector.text} on ${JSON.stringify(labels)}`);
      t.is(again.matches(labels), expected);
    }
  }
});
