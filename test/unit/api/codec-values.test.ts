import test from 'ava';
import { canonicalMicroTime, canonicalTime, parseInstant } from '../../../api/codec/timestamp.ts';

test('a time is written in UTC to the second', (t) => {
  const cases = [
    ['2021-04-08T12:30:15Z', '2021-04-08T12:30:15Z'],
    ['2021-04-08T12:30:15.999Z', '2021-04-08T12:30:15Z'],
    ['2021-04-08T12:30:15+02:00', '2021-04-08T10:30:15Z'],
    ['2021-01-01T00:30:00-01:30', '2021-01-01T02:00:00Z'],
    ['2020-02-29T00:00:00Z', '2020-02-29T00:00:00Z'],
    ['1969-12-31T23:59:59Z', '1969-12-31T23:59:59Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0050-03-01T00:00:00Z', '0050-03-01T00:00:00Z'],
    ['2021-02-29T00:00:00Z', undefined],
    ['2021-13-01T00:00:00Z', undefined],
    ['2021-04-08T24:00:00Z', undefined],
    ['2021-04-08T12:60:00Z', undefined],
    ['2021-04-08', undefined],
    ['2021-04-08 12:30:15Z', undefined],
    ['2021-04-08T12:30:15', undefined],
    ['2021-04-08T12:30:15+25:00', undefined],
    ['0001-01-01T00:00:00+01:00', undefined],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
    ['9999-12-31T23:59:59-01:00', undefined],
    ['', undefined],
  ] as const;
  for (const [text, canonical] of cases) t.is(canonicalTime(text), canonical, text);
});

test('a micro time has six fraction digits', (t) => {
  t.is(canonicalMicroTime('2021-04-08T12:30:15.123456Z'), '2021-04-08T12:30:15.123456Z');
  t.is(canonicalMicroTime('2021-04-08T14:30:15.000001+02:00'), '2021-04-08T12:30:15.000001Z');
  t.is(canonicalMicroTime('0001-01-01T00:00:00.000000Z'), null);
  t.is(canonicalMicroTime('2021-04-08T12:30:15Z'), undefined);
  t.is(canonicalMicroTime('2021-04-08T12:30:15.123Z'), undefined);
  t.is(canonicalMicroTime('2021-02-31T12:30:15.123456Z'), undefined);
});

test('the days that a year has are times, and no others', (t) => {
  for (const year of [2023, 2024]) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}T23:59:59`;
        const at = new Date(Date.UTC(year, month - 1, day));
        const exists = at.getUTCFullYear() === year && at.getUTCMonth() === month - 1 && at.getUTCDate() === day;
        t.is(canonicalTime(`${text}Z`), exists ? `${text}Z` : undefined, text);
        t.is(canonicalMicroTime(`${text}.000001Z`), exists ? `${text}.000001Z` : undefined, text);
      }
    }
  }
});

test('an instant has its seconds and nanoseconds', (t) => {
  t.deepEqual(parseInstant('1970-01-01T00:00:01.5Z'), { seconds: 1, nanos: 500_000_000 });
  t.deepEqual(parseInstant('1969-12-31T23:59:59.25Z'), { seconds: -1, nanos: 250_000_000 });
});
