// The addresses and ports that services draw from, and the choice among them.
import test from 'ava';
import { addressPool, type Pool, pickFree, portPool } from '../../../../api/services/address-pool.ts';
import { parseIpRange } from '../../../../values/ip.ts';

const pool = (text: string): Pool => addressPool(parseIpRange(text)!);

const POOLS: readonly (readonly [range: string, size: number, first: string, last: string])[] = [
  ['10.0.0.0/24', 254, '10.0.0.1', '10.0.0.254'],
  ['10.0.0.0/12', 1_048_574, '10.0.0.1', '10.15.255.254'],
  ['10.0.0.8/30', 2, '10.0.0.9', '10.0.0.10'],
  ['fd00::/112', 65_535, 'fd00::1', 'fd00::ffff'],
  ['fd00::/64', 65_535, 'fd00::1', 'fd00::ffff'],
  ['fd00::/126', 3, 'fd00::1', 'fd00::3'],
];

for (const [range, size, first, last] of POOLS) {
  test(`the addresses of ${range} are ${size}, from ${first} to ${last}`, (t) => {
    const addresses = pool(range);
    t.is(addresses.size, size);
    t.is(addresses.text(0), first);
    t.is(addresses.text(size - 1), last);
    t.is(addresses.index(first), 0);
    t.is(addresses.index(last), size - 1);
    t.is(addresses.index(addresses.text(size)), -1);
  });
}

test('an address has one number however it is written, and none outside of its range and family', (t) => {
  const addresses = pool('fd00::/112');
  t.is(addresses.index('fd00:0:0:0:0:0:0:00ff'), 254);
  for (const text of ['fd00::1:1', 'fd01::1', '10.0.0.1', 'None', '', 'fd00::']) t.is(addresses.index(text), -1);
});

test('ranges without usable addresses give none', (t) => {
  for (const range of ['10.0.0.0/32', '10.0.0.0/31', 'fd00::/128']) {
    t.is(
      pickFree(pool(range), new Set(), () => 0),
      undefined,
    );
  }
});

test('the first address is given to nobody who does not ask for it', (t) => {
  const addresses = pool('10.0.0.0/29');
  const given = new Set<string>();
  for (;;) {
    const address = pickFree(addresses, given, () => 0.99);
    if (address === undefined) break;
    t.false(given.has(address));
    given.add(address);
  }
  t.deepEqual([...given].sort(), ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
});

test('every port of a range can be given, both ends included', (t) => {
  const ports = portPool(30_000, 30_003);
  t.deepEqual(
    [0, 0.25, 0.5, 0.75].map((luck) => pickFree(ports, new Set(), () => luck)),
    ['30000', '30001', '30002', '30003'],
  );
  t.is(ports.index('29999'), -1);
  t.is(ports.index('30004'), -1);
});
