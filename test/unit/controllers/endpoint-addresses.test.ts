// Which addresses the control plane's own endpoints hold.
import test from 'ava';
import { addressesWith, addressesWithout, isAdvertisable } from '../../../actors/controllers/endpoint-addresses.ts';

const ADVERTISABLE: readonly [address: string, expected: boolean][] = [
  ['192.0.2.7', true],
  ['10.1.2.3', true],
  ['2001:db8::7', true],
  ['fd00::1', true],
  ['', false],
  ['localhost', false],
  ['0.0.0.0', false],
  ['127.0.0.1', false],
  ['127.255.0.1', false],
  ['169.254.1.1', false],
  ['224.0.0.5', false],
  ['::', false],
  ['::1', false],
  ['fe80::1', false],
  ['febf::1', false],
  ['ff02::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:10.1.2.3', true],
];

for (const [address, expected] of ADVERTISABLE)
  test(`"${address}" ${expected ? 'can' : 'cannot'} be advertised`, (t) => t.is(isAdvertisable(address), expected));

const OWN = 'b';

const WITH: readonly [type: 'lease' | 'master-count', present: string[], max: number, expected: string[]][] = [
  ['lease', [], 1, ['b']],
  ['lease', ['a', 'b', 'c'], 3, ['b']],
  ['master-count', [], 1, ['b']],
  ['master-count', ['a'], 1, ['b']],
  ['master-count', ['a'], 2, ['a', 'b']],
  ['master-count', ['c', 'a', 'b'], 3, ['a', 'b', 'c']],
  ['master-count', ['a', 'b', 'c'], 2, ['a', 'b']],
  ['master-count', ['a', 'c', 'd'], 2, ['a', 'b']],
  ['master-count', ['a', 'a', 'b'], 0, ['b']],
];

for (const [type, present, max, expected] of WITH)
  test(`${type} of at most ${max} makes ${expected.join()} of ${present.join() || 'nothing'}`, (t) =>
    t.deepEqual(addressesWith(type, present, OWN, max), expected));

test('only the own address leaves', (t) => {
  t.deepEqual(addressesWithout(['a', 'b', 'c'], OWN), ['a', 'c']);
  t.deepEqual(addressesWithout(['b'], OWN), []);
});
