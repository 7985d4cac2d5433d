// IP addresses and ranges: texts, bytes, containment, and addresses that are nobody's.
import { isIP } from 'node:net';
import test from 'ava';
import fc from 'fast-check';
import {
  firstUsableAddress,
  formatIp,
  formatIpRange,
  ipBytes,
  ipTextOfBytes,
  parseIp,
  parseIpRange,
  rangeHolds,
  rangesOverlap,
  specialUse,
  unmappedText,
} from '../../../values/ip.ts';

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

const FIRST: readonly (readonly [range: string, address: string])[] = [
  ['10.0.0.0/24', '10.0.0.1'],
  ['10.96.0.0/12', '10.96.0.1'],
  ['10.0.0.77/24', '10.0.0.1'],
  ['192.168.255.252/30', '192.168.255.253'],
  ['fd00:10:96::/112', 'fd00:10:96::1'],
  ['2001:db8:0:1:1:1:1:0/112', '2001:db8:0:1:1:1:1:1'],
  ['2001:db8:0:0:1:0:0:0/112', '2001:db8::1:0:0:1'],
  ['::/64', '::1'],
];

for (const [range, address] of FIRST)
  test(`the first usable address of ${range} is ${address}`, (t) =>
    t.is(firstUsableAddress(parseIpRange(range)!), address));

test('a range of one address has none to use', (t) => {
  t.throws(() => firstUsableAddress(parseIpRange('10.0.0.1/32')!), { instanceOf: RangeError });
});

test('the bytes of an address have one spelling', (t) => {
  const cases: readonly (readonly [text: string, canonical: string])[] = [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::fffe:10.0.0.1', '::fffe:a00:1'],
    ['1::ffff:10.0.0.1', '1::ffff:a00:1'],
    ['::1', '::1'],
    ['::', '::'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:0:2:0:0:0:3:0', '1:0:2::3:0'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:2:3:4:5:6::', '1:2:3:4:5:6::'],
  ];
  for (const [text, canonical] of cases) t.is(ipTextOfBytes(ipBytes(parseIp(text)!)), canonical);
  t.is(ipTextOfBytes(new Uint8Array(0)), '');
  t.is(unmappedText('::ffff:10.0.0.1'), '10.0.0.1');
  t.is(unmappedText('::ffff:1'), '::ffff:1');
  t.is(unmappedText(undefined), '');
});

test('what an address is reserved for is seen in IPv4 and in IPv6 form', (t) => {
  const cases = [
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['::ffff:0.0.0.0', 'unspecified'],
    ['127.8.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['169.254.1.1', 'linkLocal'],
    ['febf::1', 'linkLocal'],
    ['224.0.0.5', 'linkLocalMulticast'],
    ['ff02::1', 'linkLocalMulticast'],
    ['ff01::1', 'interfaceLocalMulticast'],
    ['10.0.0.1', undefined],
    ['fd00::1', undefined],
    ['::ffff:10.0.0.1', undefined],
    ['128.0.0.1', undefined],
  ] as const;
  for (const [text, use] of cases) t.is(specialUse(parseIp(text)!), use, text);
});

const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const groups = fc.array(group, { minLength: 8, maxLength: 8 });

test('every IPv6 address is written as the reader of URLs writes it, and read as it was', (t) => {
  fc.assert(
    fc.property(groups, (list) => {
      const bits = list.reduce((sum, one) => sum * 65_536n + BigInt(one), 0n);
      const text = formatIp({ family: 6, bits });
      t.is(`[${text}]`, new URL(`http://[${list.map((one) => one.toString(16)).join(':')}]/`).hostname);
      t.is(parseIp(text)?.bits, bits);
    }),
    { numRuns: 500 },
  );
});

test('a text is an address exactly where Node takes it for one', (t) => {
  const soup = fc
    .array(fc.constantFrom(...'0012579af:::...', '::', '255', '.0'), { maxLength: 12 })
    .map((list) => list.join(''));
  fc.assert(
    fc.property(soup, (text) => {
      t.is(parseIp(text) !== undefined, isIP(text) !== 0, text);
    }),
    { numRuns: 3000 },
  );
});

test('a range holds the addresses that begin with its bits', (t) => {
  fc.assert(
    fc.property(
      groups,
      fc.integer({ min: 0, max: 128 }),
      fc.integer({ min: 0, max: 127 }),
      (list, prefixLength, flipped) => {
        const bits = list.reduce((sum, one) => sum * 65_536n + BigInt(one), 0n);
        const range = parseIpRange(`${formatIp({ family: 6, bits })}/${prefixLength}`)!;
        t.true(rangeHolds(range, { family: 6, bits }));
        t.is(rangeHolds(range, { family: 6, bits: bits ^ (1n << BigInt(127 - flipped)) }), flipped >= prefixLength);
      },
    ),
    { numRuns: 300 },
  );
});
