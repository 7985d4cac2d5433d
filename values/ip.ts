// IP addresses and CIDR ranges: reading them strictly, writing them in one canonical form, and asking whether two
// ranges share an address. Nothing here resolves a name or looks at an interface.

/** An address as a number of its family's width. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** A CIDR range: `address` is its first address in canonical form. Plain data, so that it can cross a thread. */
export interface IpRange {
  readonly family: 4 | 6;
  readonly address: string;
  readonly prefixLength: number;
}

const FAMILY_BITS = { 4: 32, 6: 128 } as const;
const IP_LENGTH_MAX = 45;

function parseIpv4Bits(text: string): bigint | undefined {
  const octets = text.split('.');
  if (octets.length !== 4) return undefined;
  let bits = 0n;
  for (const octet of octets) {
    // A leading zero means octal to some readers and decimal to others, so it is no address to us.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255) return undefined;
    bits = (bits << 8n) | BigInt(octet);
  }
  return bits;
}

/** The 16-bit groups of one side of a `::`; a dotted quad may stand for the last two. */
function parseIpv6Groups(text: string): bigint[] | undefined {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (part.includes('.') && index === parts.length - 1) {
      const quad = parseIpv4Bits(part);
      if (quad === undefined) return undefined;
      groups.push(quad >> 16n, quad & 0xffffn);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(BigInt(`0x${part}`));
    } else {
      return undefined;
    }
  }
  return groups;
}

function parseIpv6Bits(text: string): bigint | undefined {
  const sides = text.split('::');
  if (sides.length > 2) return undefined;
  const head = parseIpv6Groups(sides[0]!);
  const tail = sides.length === 2 ? parseIpv6Groups(sides[1]!) : [];
  if (head === undefined || tail === undefined) return undefined;
  if (sides.length === 2 && sides[0]!.includes('.')) return undefined;
  const missing = 8 - head.length - tail.length;
  if (sides.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<bigint>(missing).fill(0n), ...tail];
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** An IPv4 or IPv6 address without zone, or undefined when the text is none. */
export function parseIp(text: string): IpAddress | undefined {
  if (text.length > IP_LENGTH_MAX) return undefined;
  const family = text.includes(':') ? 6 : 4;
  const bits = family === 6 ? parseIpv6Bits(text) : parseIpv4Bits(text);
  return bits === undefined ? undefined : { family, bits };
}

/** The canonical text of an address: dotted quad, or RFC 5952 for IPv6. */
export function formatIp({ family, bits }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const zeroRuns = [...groups.join(':').matchAll(/(?<![0-9a-f])0(?::0(?![0-9a-f]))+/g)];
  const longest = zeroRuns.reduce((best, [run]) => (run.length > best.length ? run : best), '');
  if (longest === '') return groups.join(':');
  const start = zeroRuns.find(([run]) => run === longest)!.index;
  const text = groups.join(':');
  return `${text.slice(0, start).replace(/:$/, '')}::${text.slice(start + longest.length).replace(/^:/, '')}`;
}

/** `10.0.0.0/24` as a range whose address is the network's first, or undefined when the text is no range. */
export function parseIpRange(text: string): IpRange | undefined {
  const [addressText, prefixText, ...rest] = text.split('/');
  const address = parseIp(addressText!);
  if (address === undefined || rest.length > 0 || !/^(?:0|[1-9]\d{0,2})$/.test(prefixText ?? '')) return undefined;
  const prefixLength = Number(prefixText);
  const width = FAMILY_BITS[address.family];
  if (prefixLength > width) return undefined;
  const hostBits = BigInt(width - prefixLength);
  const bits = (address.bits >> hostBits) << hostBits;
  return { family: address.family, address: formatIp({ family: address.family, bits }), prefixLength };
}

/** `10.0.0.0/24`. */
export function formatIpRange(range: IpRange): string {
  return `${range.address}/${range.prefixLength}`;
}

/** The number of host bits: a range holds 2 to this power addresses. */
export function hostBitCount(range: IpRange): number {
  return FAMILY_BITS[range.family] - range.prefixLength;
}

/** True when some address lies in both ranges. */
export function rangesOverlap(a: IpRange, b: IpRange): boolean {
  if (a.family !== b.family) return false;
  const sharedHostBits = BigInt(Math.max(hostBitCount(a), hostBitCount(b)));
  return parseIp(a.address)!.bits >> sharedHostBits === parseIp(b.address)!.bits >> sharedHostBits;
}
