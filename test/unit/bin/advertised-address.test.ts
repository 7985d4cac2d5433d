// Which of a machine's addresses a server names as its own.
import type { NetworkInterfaceInfo } from 'node:os';
import test from 'ava';
import { advertisedAddress } from '../../../bin/server/advertised-address.ts';

const rest = { netmask: '', mac: '', cidr: null };
const v4 = (address: string, internal = false): NetworkInterfaceInfo => ({
  ...rest,
  address,
  internal,
  family: 'IPv4',
});
const v6 = (address: string, scopeid = 0, internal = false): NetworkInterfaceInfo => {
  return { ...rest, address, scopeid, internal, family: 'IPv6' };
};
const lo = [v4('127.0.0.1', true), v6('::1', 0, true)];

for (const [title, bindAddress, eth0, wanted] of [
  ['is bound to one address', '10.0.0.7', [v4('192.0.2.1')], '10.0.0.7'],
  ['has addresses of both families', '::', [v6('2001:db8::1'), v4('192.0.2.1')], '192.0.2.1'],
  ['has no address of IPv4', '::', [v6('fe80::1', 2), v6('2001:db8::1')], '2001:db8::1'],
  ['has no address of IPv4, and is bound to a blank', '', [v6('fd00::1')], 'fd00::1'],
  ['has no address of IPv4, the only family that it listens on', '0.0.0.0', [v6('2001:db8::1')], '127.0.0.1'],
  ['has none that others can reach', '::', [v6('fe80::1', 2)], '127.0.0.1'],
] as const) {
  test(`a server that ${title} advertises ${wanted}`, (t) => {
    t.is(advertisedAddress(bindAddress, { lo, eth0 }), wanted);
  });
}
