// IP addresses and CIDR ranges: the one reader of their texts, strict, and the one writer, canonical; their bytes, which
// range holds what, and which addresses are nobody's. Nothing here resolves a name or looks at an interface.

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
  let bits = 0;
  for (const octet of octets) {
    // A leading zero means octal to some readers and decimal to others, so it is no address to us.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255) return undefined;
    bits = bits * 256 + Number(octet);
  }
  return BigInt(bits);
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
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn));
  const zeros = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (zeros.length < 2) return hex.join(':');
  return `${hex.slice(0, zeros.start).join(':')}::${hex.slice(zeros.start + zeros.length).join(':')}`;
}

/** The first of the longest runs of zero groups. */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, index) => {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  });
  return best;
}

/** The upper bits of an IPv4 address in IPv6 form. */
const MAPPED = 0xffffn;

/** An IPv4 address that was written in IPv6 form (`::ffff:10.0.0.1`) as itself; any other as it is. */
function unmapped(ip: IpAddress): IpAddress {
  return ip.family === 6 && ip.bits >> 32n === MAPPED ? { family: 4, bits: ip.bits & 0xffff_ffffn } : ip;
}

/** The canonical text of an address, IPv4 in IPv6 form as IPv4; undefined where the text is none. */
export function canonicalIp(text: string): string | undefined {
  const ip = parseIp(text);
  return ip && formatIp(unmapped(ip));
}

/** The 4 or 16 bytes of an address. */
export function ipBytes({ family, bits }: IpAddress): Uint8Array {
  const width = FAMILY_BITS[family] / 8;
  return Uint8Array.from({ length: width }, (_, index) => Number((bits >> BigInt(8 * (width - 1 - index))) & 0xffn));
}

/** The canonical text of the 4 or 16 bytes of an address, IPv4 in IPv6 form as IPv4; empty for anything else. */
export function ipTextOfBytes(bytes: Uint8Array): string {
  if (bytes.length === 4) return ipv4Text(bytes, 0);
  if (bytes.length !== 16) return '';
  // What a socket of both families says of most clients: sixteen steps over big integers cost as much as the rest of a short request.
  if (isMapped(bytes)) return ipv4Text(bytes, 12);
  const halves = new DataView(bytes.buffer, bytes.byteOffset, 16);
  return formatIp({ family: 6, bits: (halves.getBigUint64(0) << 64n) | halves.getBigUint64(8) });
}

function ipv4Text(bytes: Uint8Array, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

/** IPv4 in IPv6 form: ten bytes of 0, then two of 255. */
function isMapped(bytes: Uint8Array): boolean {
  for (let at = 0; at < 10; at++) if (bytes[at] !== 0) return false;
  return bytes[10] === 255 && bytes[11] === 255;
}

const MAPPED_PREFIX = '::ffff:';

/** The text of a peer as Node gives it, without the mapping of IPv4 into IPv6. */
export function unmappedText(text: string | undefined): string {
  if (text === undefined) return '';
  return text.startsWith(MAPPED_PREFIX) && text.includes('.') ? text.slice(MAPPED_PREFIX.length) : text;
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

/** The first address of a range, which is the network's own. */
export function firstAddress(range: IpRange): IpAddress {
  return parseIp(range.address)!;
}

/** The address after the network's own. @throws {RangeError} the range holds but one. */
export function firstUsableAddress(range: IpRange): string {
  if (hostBitCount(range) === 0) throw new RangeError(`${formatIpRange(range)} holds no usable address`);
  return formatIp({ family: range.family, bits: firstAddress(range).bits + 1n });
}

/** What the addresses of a range, and no others, have in common. */
interface RangeBits {
  readonly family: 4 | 6;
  readonly hostBits: bigint;
  /** Of each of its addresses, without the bits of the host. */
  readonly networkBits: bigint;
}

function bitsOf(range: IpRange): RangeBits {
  const hostBits = BigInt(hostBitCount(range));
  return { family: range.family, hostBits, networkBits: firstAddress(range).bits >> hostBits };
}

function holds({ family, hostBits, networkBits }: RangeBits, ip: IpAddress): boolean {
  return family === ip.family && ip.bits >> hostBits === networkBits;
}

/** True when the address lies in the range. An IPv4 address lies in no IPv6 range, nor the other way round. */
export function rangeHolds(range: IpRange, ip: IpAddress): boolean {
  return range.family === ip.family && holds(bitsOf(range), ip);
}

/** True when some address lies in both ranges. */
export function rangesOverlap(a: IpRange, b: IpRange): boolean {
  return a.prefixLength < b.prefixLength ? rangeHolds(a, firstAddress(b)) : rangeHolds(b, firstAddress(a));
}

/** What an address means that is not one machine's on a network. */
export type SpecialUse = 'unspecified' | 'loopback' | 'linkLocal' | 'linkLocalMulticast' | 'interfaceLocalMulticast';

const SPECIAL_RANGES = (
  [
    ['0.0.0.0/32', 'unspecified'],
    ['::/128', 'unspecified'],
    ['127.0.0.0/8', 'loopback'],
    ['::1/128', 'loopback'],
    ['169.254.0.0/16', 'linkLocal'],
    ['fe80::/10', 'linkLocal'],
    ['224.0.0.0/24', 'linkLocalMulticast'],
    ['ff02::/16', 'linkLocalMulticast'],
    ['ff01::/16', 'interfaceLocalMulticast'],
  ] as const satisfies readonly (readonly [range: string, use: SpecialUse])[]
).map(([text, use]) => ({ bits: bitsOf(parseIpRange(text)!), use }));

/** What an address is reserved for, in IPv4 or IPv6 form; undefined for one that others can be reached at. */
export function specialUse(ip: IpAddress): SpecialUse | undefined {
  const plain = unmapped(ip);
  return SPECIAL_RANGES.find(({ bits }) => holds(bits, plain))?.use;
}
