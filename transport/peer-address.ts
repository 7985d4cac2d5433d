// IP addresses as text and as bytes, the same from every listener: IPv4 dotted, also where a dual-stack socket maps it
// into IPv6, and IPv6 in its canonical form (RFC 5952).

const MAPPED_PREFIX = '::ffff:';

/** The text of a binary address of 4 or 16 bytes; empty for anything else. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  if (bytes.length !== 16) return '';
  const isMapped = bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((byte) => byte === 0);
  if (isMapped) return addressText(bytes.subarray(12));
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  const zeros = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (zeros.length < 2) return hex.join(':');
  return `${hex.slice(0, zeros.start).join(':')}::${hex.slice(zeros.start + zeros.length).join(':')}`;
}

/** Node's text of an address, without the mapping of IPv4 into IPv6. */
export function unmappedAddress(text: string | undefined): string {
  if (text === undefined) return '';
  return text.startsWith(MAPPED_PREFIX) && text.includes('.') ? text.slice(MAPPED_PREFIX.length) : text;
}

/** The 4 or 16 bytes of a textual address that `isIP` of node:net has accepted. */
export function addressBytes(text: string): Uint8Array {
  if (!text.includes(':')) return Uint8Array.from(text.split('.').map(Number));
  const [address = ''] = text.split('%');
  const [head = '', tail] = address.split('::');
  const front = groupBytes(head);
  const back = tail === undefined ? [] : groupBytes(tail);
  return Uint8Array.from([...front, ...Array<number>(16 - front.length - back.length).fill(0), ...back]);
}

function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, i) => {
    if (group !== 0) start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  });
  return best;
}
