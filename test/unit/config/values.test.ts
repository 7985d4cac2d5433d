// Goal: durations and addresses are read strictly and written canonically. Method: tables of texts.
import test from 'ava';
import { nearestName } from '../../../config/suggestion.ts';
import { formatDuration, parseDurationMs } from '../../../values/duration.ts';

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
  const texts = ['0s', '250ms', '1s', '1.5s', '1m0s', '1m30s', '1h0m0s', '25h1m0.5s', '-1m0s'];
  for (const text of texts) t.is(formatDuration(parseDurationMs(text)!), text);
});

test('a mistyped name suggests the nearest one, and a name like nothing suggests none', (t) => {
  const names = ['secure-port', 'bind-address', 'v'];
  t.is(nearestName('secureport', names), 'secure-port');
  t.is(nearestName('bind-adress', names), 'bind-address');
  t.is(nearestName('x', names), undefined);
  t.is(nearestName('something-else', names), undefined);
  t.is(nearestName('secure-port'.repeat(100), names), undefined);
});
