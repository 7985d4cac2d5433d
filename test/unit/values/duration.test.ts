// Durations: read strictly, written canonically, in nanoseconds and in milliseconds.
import test from 'ava';
import fc from 'fast-check';
import {
  durationProblem,
  formatDuration,
  formatDurationMs,
  parseDuration,
  parseDurationMs,
} from '../../../values/duration.ts';

const durations: readonly (readonly [text: string, ms: number | undefined])[] = [
  ['0', 0],
  ['-0', 0],
  ['-0s', 0],
  ['0s', 0],
  ['1m30s', 90_000],
  ['1h0m0s', 3_600_000],
  ['250ms', 250],
  ['1.5s', 1500],
  ['.5s', 500],
  ['1.s', 1000],
  ['-1s', -1000],
  ['+1s', 1000],
  ['500us', 0.5],
  ['500µs', 0.5],
  ['1000000ns', 1],
  ['', undefined],
  ['5', undefined],
  ['s', undefined],
  ['.s', undefined],
  ['1d', undefined],
  ['1 s', undefined],
  ['1s ', undefined],
  ['1e3s', undefined],
  ['3000000h', undefined],
  [`${'1h'.repeat(1000)}`, undefined],
];

for (const [text, ms] of durations) {
  test(`the duration ${JSON.stringify(text.slice(0, 20))} is ${ms} ms`, (t) => t.is(parseDurationMs(text), ms));
}

test('a duration is written so that it reads back the same', (t) => {
  const texts = ['0s', '7ns', '1.5µs', '250ms', '1s', '1.5s', '1m0s', '1m30s', '1h0m0s', '25h1m0.5s', '-1m0s'];
  for (const text of texts) t.is(formatDurationMs(parseDurationMs(text)!), text);
});

test('a duration is written from hours to fractions of a second', (t) => {
  const cases = [
    ['0', '0s'],
    ['90s', '1m30s'],
    ['1h', '1h0m0s'],
    ['1.5h', '1h30m0s'],
    ['1h2m3.5s', '1h2m3.5s'],
    ['-1m', '-1m0s'],
    ['100ms', '100ms'],
    ['1500us', '1.5ms'],
    ['1500µs', '1.5ms'],
    ['7ns', '7ns'],
    ['1m.5s', '1m0.5s'],
  ] as const;
  for (const [text, canonical] of cases) t.is(formatDuration(parseDuration(text)!), canonical, text);
  for (const text of ['', '1', 's', '1 s', '1d', '9999999h', '1s-1s']) t.is(parseDuration(text), undefined, text);
});

test('every count of nanoseconds is read back from its text', (t) => {
  const nanos = fc.oneof(
    fc.bigInt({ min: -(10n ** 7n), max: 10n ** 7n }),
    fc.bigInt({ min: 1n - 2n ** 63n, max: 2n ** 63n - 1n }),
  );
  fc.assert(fc.property(nanos, (count) => t.is(parseDuration(formatDuration(count)), count)));
});

test('what is wrong with a text that is no duration is said in the words that clients know', (t) => {
  for (const [text, problem] of [
    ['', 'invalid duration ""'],
    ['-', 'invalid duration "-"'],
    ['abc', 'invalid duration "abc"'],
    ['.s', 'invalid duration ".s"'],
    ['10', 'missing unit in duration "10"'],
    ['1m30', 'missing unit in duration "1m30"'],
    ['1d', 'unknown unit "d" in duration "1d"'],
    ['1s1constructor', 'unknown unit "constructor" in duration "1s1constructor"'],
    ['3000000h', 'invalid duration "3000000h"'],
  ] as const) {
    t.is(durationProblem(text), problem);
  }
});
