// The little arithmetic on IP addresses that bootstrapping needs. Pure.

/** True when the text is an IPv6 address (or CIDR), judged by its form. */
export function isIPv6(address: string): boolean {
  return address.includes(':');
}

/**
 * The first usable address of the first range in `--service-cluster-ip-range`: the one after the network's own. Throws
 * a RangeError when the text is not a CIDR.
 */
export function firstUsableAddress(ranges: string): string {
  const [cidr = ''] = ranges.split(',');
  const [address = '', prefix = ''] = cidr.trim().split('/');
  const width = isIPv6(address) ? 128 : 32;
  const prefixLength = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  const bits = width === 128 ? parseIPv6(address) : parseIPv4(address);
  if (bits === undefined || !(prefixLength < width)) throw new RangeError(`"${ranges}" is not a range of addresses`);
  const hostBits = BigInt(width - prefixLength);
  const first = ((bits >> hostBits) << hostBits) + 1n;
  return width === 128 ? formatIPv6(first) : formatIPv4(first);
}

/**
 * True when others can reach a server under this address, so that it may stand in Endpoints: an IP address that is
 * neither unspecified, nor loopback, nor link-local.
 */
export function isAdvertisable(address: string): boolean {
  const bits = isIPv6(address) ? parseIPv6(address) : parseIPv4(address);
  if (bits === undefined || bits === 0n) return false;
  if (!isIPv6(address)) return !isSpecialIPv4(bits);
  const isMapped = bits >> 32n === 0xffffn;
  if (isMapped) return !isSpecialIPv4(bits & 0xffffffffn);
  return bits !== 1n && bits >> 118n !== 0xfe80n >> 6n && bits >> 112n !== 0xff02n;
}

function isSpecialIPv4(bits: bigint): boolean {
  return bits === 0n || bits >> 24n === 127n || bits >> 16n === 0xa9fen || bits >> 8n === 0xe00000n;
}

function parseIPv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined;
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function parseIPv6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...new Array<string>(missing).fill('0'), ...tail];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function formatIPv4(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
}

/** The form of RFC 5952: lower case, no leading zeros, the longest run of zero groups (the first of equals) as `::`. */
function formatIPv6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  let best = { start: 0, length: 0 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (groups[start + length] === '0') length += 1;
    if (length > best.length) best = { start, length };
  }
  if (best.length < 2) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
}
