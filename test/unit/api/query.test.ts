// Query parameters: decoding, repetition, bounds.
import test from 'ava';
import { isTrueParameter, parseQuery, QUERY_PARAMETERS_MAX } from '../../../api/requests/query.ts';

const CASES: readonly (readonly [query: string, name: string, values: readonly string[]])[] = [
  ['a=1', 'a', ['1']],
  ['a=1&a=2&b=3', 'a', ['1', '2']],
  ['a', 'a', ['']],
  ['a=', 'a', ['']],
  ['=x', '', ['x']],
  ['a==b', 'a', ['=b']],
  ['&&a=1&', 'a', ['1']],
  ['a=x+y', 'a', ['x y']],
  ['a=x%2By', 'a', ['x+y']],
  ['a=x%26b=2', 'a', ['x&b=2']],
  ['a%3D=1', 'a=', ['1']],
  ['a=%E2%82%AC', 'a', ['€']],
  ['b=1', 'a', []],
  ['', 'a', []],
  ['__proto__=1', '__proto__', ['1']],
];

for (const [query, name, values] of CASES) {
  test(`?${query} gives ${JSON.stringify(name)} the values ${JSON.stringify(values)}`, (t) => {
    const parsed = parseQuery(query);
    t.deepEqual(parsed.all(name), values);
    t.is(parsed.get(name), values[0]);
    t.is(parsed.badRequest, '');
  });
}

test('a name that objects inherit is not a parameter', (t) => {
  t.is(parseQuery('a=1').get('toString'), undefined);
});

for (const query of ['a=%', 'a=%zz&b=1', '%=1', 'b=1&a=%FF']) {
  test(`?${query} is a bad request, and shows no parameter`, (t) => {
    const parsed = parseQuery(query);
    t.not(parsed.badRequest, '');
    t.is(parsed.get('b'), undefined);
  });
}

test('a command of a thousand words is read whole', (t) => {
  t.is(parseQuery('command=word&'.repeat(1000)).all('command').length, 1000);
});

test('as many parameters as allowed are read, one more is refused', (t) => {
  const most = 'a&'.repeat(QUERY_PARAMETERS_MAX);
  t.is(parseQuery(most).all('a').length, QUERY_PARAMETERS_MAX);
  t.not(parseQuery(`${most}a`).badRequest, '');
  t.deepEqual(parseQuery(`${most}a`).all('a'), []);
});

test('only absence, false and 0 are false', (t) => {
  for (const value of [undefined, 'false', 'False', '0']) t.false(isTrueParameter(value));
  for (const value of ['', '1', 'true', 't', 'no', '00']) t.true(isTrueParameter(value));
});
