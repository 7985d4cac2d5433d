import test from 'ava';
import { isUnmodified } from '../../../transport/conditional-request.ts';

const NOW = { etag: '"ABC"', lastModifiedMs: Date.UTC(2021, 3, 8, 12, 0, 5, 700) };

const cases: readonly (readonly [headers: Readonly<Record<string, string>>, isUnmodified: boolean])[] = [
  [{}, false],
  [{ 'if-none-match': '"ABC"' }, true],
  [{ 'if-none-match': 'W/"ABC"' }, true],
  [{ 'if-none-match': ' "x" , "ABC"' }, true],
  [{ 'if-none-match': '"x","y, ABC"' }, false],
  [{ 'if-none-match': '*' }, true],
  [{ 'if-none-match': 'ABC' }, false],
  [{ 'if-none-match': '"abc"' }, false],
  [{ 'if-none-match': '"ABC' }, false],
  [{ 'if-modified-since': 'Thu, 08 Apr 2021 12:00:05 GMT' }, true],
  [{ 'if-modified-since': 'Thu, 08 Apr 2021 12:00:04 GMT' }, false],
  [{ 'if-modified-since': 'yesterday' }, false],
  [{ 'if-none-match': '"x"', 'if-modified-since': 'Thu, 08 Apr 2021 12:00:05 GMT' }, false],
];

for (const [headers, expected] of cases) {
  test(`a client that sends ${JSON.stringify(headers)} ${expected ? 'has' : 'does not have'} what it asks for`, (t) => {
    t.is(isUnmodified({ header: (name) => headers[name] ?? '' }, NOW), expected);
  });
}

test('many tags are looked at in no more than a moment', (t) => {
  const tags = `${'"x",'.repeat(100_000)}"ABC"`;
  t.false(isUnmodified({ header: (name) => (name === 'if-none-match' ? tags : '') }, NOW));
});
