// Goal: durations and addresses are read strictly and written canonically. Method: tables of texts.
import test from 'ava';
import { nearestName } from '../../../config/suggestion.ts';
import { formatDuration, parseDurationMs } from '../../../values/duration.ts';
import { formatIp, formatIpRange, parseIp, parseIpRange, rangesOverlap } from '../../../values/ip.ts';

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

const addresses: readonly (readonly [text: string, canonical: string | undefined])[] = [
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['::', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['10:0:0:0:0:0:0:100', '10::100'],
  ['::ffff:10.0.0.1', '::ffff:a00:1'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ['', undefined],
  ['1.2.3', undefined],
  ['1.2.3.256', undefined],
  ['01.2.3.4', undefined],
  ['1.2.3.4.5', undefined],
  ['1:2:3:4:5:6:7', undefined],
  ['1:2:3:4:5:6:7:8:9', undefined],
  ['1:2:3:4:5:6:7::8', undefined],
  ['1::2::3', undefined],
  [':::', undefined],
  [':1', undefined],
  ['12345::', undefined],
  ['1.2.3.4::', undefined],
  ['fe80::1%eth0', undefined],
  ['1'.repeat(100), undefined],
];

for (const [text, canonical] of addresses) {
  test(`the address ${JSON.stringify(text.slice(0, 30))} is ${canonical ?? 'refused'}`, (t) => {
    const address = parseIp(text);
    t.is(address && formatIp(address), canonical);
  });
}

const ranges: readonly (readonly [text: string, canonical: string | undefined])[] = [
  ['10.0.0.0/24', '10.0.0.0/24'],
  ['10.0.0.77/24', '10.0.0.0/24'],
  ['1.2.3.4/32', '1.2.3.4/32'],
  ['1.2.3.4/0', '0.0.0.0/0'],
  ['fd00::1/64', 'fd00::/64'],
  ['10.0.0.0', undefined],
  ['10.0.0.0/', undefined],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/024', undefined],
  ['10.0.0.0/24/1', undefined],
  ['fd00::/129', undefined],
];

for (const [text, canonical] of ranges) {
  test(`the range ${text} is ${canonical ?? 'refused'}`, (t) => {
    const range = parseIpRange(text);
    t.is(range && formatIpRange(range), canonical);
  });
}

const pairs: readonly (readonly [a: string, b: string, overlap: boolean])[] = [
  ['10.0.0.0/16', '10.0.9.0/24', true],
  ['10.0.0.0/24', '10.0.1.0/24', false],
  ['0.0.0.0/0', '1.2.3.4/32', true],
  ['::/0', '1.2.3.4/32', false],
  ['fd00::/64', 'fd00::1:0/112', true],
];

for (const [a, b, overlap] of pairs) {
  test(`${a} and ${b} ${overlap ? 'share' : 'do not share'} an address, asked either way`, (t) => {
    t.is(rangesOverlap(parseIpRange(a)!, parseIpRange(b)!), overlap);
    t.is(rangesOverlap(parseIpRange(b)!, parseIpRange(a)!), overlap);
  });
}

test('a mistyped name suggests the nearest one, and a name like nothing suggests none', (t) => {
  const names = ['secure-port', 'bind-address', 'v'];
  t.is(nearestName('secureport', names), 'secure-port');
  t.is(nearestName('bind-adress', names), 'bind-address');
  t.is(nearestName('x', names), undefined);
  t.is(nearestName('something-else', names), undefined);
  t.is(nearestName('secure-port'.repeat(100), names), undefined);
});
