// The numbers services draw from: the addresses of a range, and node ports. Says which belong to a range and picks one at
// random that is not taken; who has taken what is known elsewhere. Pure: randomness comes in.
import { firstAddress, formatIp, formatIpRange, hostBitCount, type IpRange, parseIp } from '../../values/ip.ts';

/** Addresses of one range that are used at most; larger ranges are cut. */
const IPV6_HOST_BITS_MAX = 16;

/** A range of addresses or ports, numbered from 0. */
export interface Pool {
  /** How many there are. */
  readonly size: number;
  /** Those before are given only to who asks for them. */
  readonly firstFree: number;
  /** The text of a number of the pool. */
  readonly text: (index: number) => string;
  /** The number of a text, -1 when it is not of the pool. */
  readonly index: (text: string) => number;
  /** As messages name it. */
  readonly shown: string;
}

/**
 * The addresses of a range that services may have: not the network's own, nor IPv4's broadcast. The first is for the
 * control plane's own service.
 */
export function addressPool(range: IpRange): Pool {
  const hostBits = Math.min(hostBitCount(range), range.family === 6 ? IPV6_HOST_BITS_MAX : 31);
  const base = firstAddress(range).bits + 1n;
  const size = Math.max(0, 2 ** hostBits - (range.family === 4 ? 2 : 1));
  return {
    size,
    firstFree: 1,
    text: (index) => formatIp({ family: range.family, bits: base + BigInt(index) }),
    index: (text) => {
      const ip = parseIp(text);
      if (ip === undefined || ip.family !== range.family) return -1;
      const index = ip.bits - base;
      return index >= 0n && index < BigInt(size) ? Number(index) : -1;
    },
    shown: formatIpRange(range),
  };
}

/** Ports that nodes open for services. */
export function portPool(first: number, last: number): Pool {
  return {
    size: last - first + 1,
    firstFree: 0,
    text: (index) => String(first + index),
    index: (text) => {
      const port = Number(text);
      return port >= first && port <= last ? port - first : -1;
    },
    shown: `${first}-${last}`,
  };
}

/**
 * A random one of those that are not taken; undefined when there is none. `random` answers numbers in [0, 1).
 * Looks at the whole pool only when luck fails.
 */
export function pickFree(pool: Pool, taken: ReadonlySet<string>, random: () => number): string | undefined {
  const { size, firstFree } = pool;
  const count = size - firstFree;
  if (count <= 0) return undefined;
  const start = Math.floor(random() * count);
  for (let i = 0; i < count; i++) {
    const text = pool.text(firstFree + ((start + i) % count));
    if (!taken.has(text)) return text;
  }
  return undefined;
}
