// Durations as text: every step of the scale, on both sides of each border.
import test from 'ava';
import { ageText, durationText, spanText } from '../../../../api/table/age.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const DURATIONS: readonly (readonly [ms: number, text: string])[] = [
  [-2 * SECOND, '<invalid>'],
  [-DAY, '<invalid>'],
  [-1999, '0s'],
  [-1, '0s'],
  [0, '0s'],
  [999, '0s'],
  [1999, '1s'],
  [119 * SECOND + 999, '119s'],
  [120 * SECOND, '2m'],
  [125 * SECOND, '2m5s'],
  [10 * MINUTE - 1, '9m59s'],
  [10 * MINUTE, '10m'],
  [10 * MINUTE + 59 * SECOND, '10m'],
  [180 * MINUTE - 1, '179m'],
  [3 * HOUR, '3h'],
  [3 * HOUR + 59 * SECOND, '3h'],
  [3 * HOUR + MINUTE, '3h1m'],
  [8 * HOUR - 1, '7h59m'],
  [8 * HOUR, '8h'],
  [48 * HOUR - 1, '47h'],
  [48 * HOUR, '2d'],
  [50 * HOUR, '2d2h'],
  [192 * HOUR - 1, '7d23h'],
  [192 * HOUR, '8d'],
  [2 * YEAR - 1, '729d'],
  [2 * YEAR, '2y'],
  [2 * YEAR + 17 * DAY, '2y17d'],
  [8 * YEAR - 1, '7y364d'],
  [8 * YEAR, '8y'],
  [30 * YEAR + 200 * DAY, '30y'],
];

for (const [ms, text] of DURATIONS) {
  test(`${ms} ms read ${text}`, (t) => {
    t.is(durationText(ms), text);
  });
}

test('an age is counted from the timestamp, fractions of a second included', (t) => {
  const nowMs = Date.parse('2021-06-01T12:00:00Z');
  t.is(ageText('2021-06-01T11:59:30Z', nowMs), '30s');
  t.is(ageText('2021-06-01T11:59:30.000001Z', nowMs), '30s');
  t.is(ageText('2021-06-01T13:59:30+02:00', nowMs), '30s');
  t.is(ageText('2021-06-01T12:00:05Z', nowMs), '<invalid>');
});

for (const timestamp of [undefined, null, '', 'yesterday', 17, {}]) {
  test(`the age of ${JSON.stringify(timestamp)} is unknown`, (t) => {
    t.is(ageText(timestamp, 0), '<unknown>');
  });
}

test('a span needs both its ends', (t) => {
  t.is(spanText('2021-06-01T12:00:00Z', '2021-06-01T12:01:00Z'), '60s');
  t.is(spanText('2021-06-01T12:00:00Z', undefined), '');
  t.is(spanText(null, '2021-06-01T12:01:00Z'), '');
});
