// Which address of its machine a server names to members of the cluster that are to reach it there, where no option says.
import type { NetworkInterfaceInfo } from 'node:os';
import { isEveryAddress } from '../../values/host-text.ts';
import { parseIp } from '../../values/ip.ts';

/**
 * The address that is listened on. Of a server that is bound to every one the first that others can reach: of IPv4, and where the machine
 * has none, of IPv6, unless only IPv4 is listened on.
 */
export function advertisedAddress(
  bindAddress: string,
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string {
  if (!isEveryAddress(bindAddress)) return bindAddress;
  const own = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter((one) => !one.internal && !isOfOneLink(one));
  const families = parseIp(bindAddress)?.family === 4 ? ['IPv4'] : ['IPv4', 'IPv6'];
  for (const family of families) {
    const found = own.find((one) => one.family === family);
    if (found !== undefined) return found.address;
  }
  return '127.0.0.1';
}

/** It means nothing to whoever is not on the link. */
function isOfOneLink(one: NetworkInterfaceInfo): boolean {
  return one.family === 'IPv6' && one.scopeid !== 0;
}
