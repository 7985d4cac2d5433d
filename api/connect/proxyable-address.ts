// Which addresses the server connects to on a client's word: those of pods and services could otherwise be pointed at the
// server itself, or at what only its machine can reach. Pure: names are resolved by who connects.
import { type IpAddress, parseIp } from '../../values/ip.ts';

/** Loopback, link-local and interface-local ranges, as first bits and their number. */
const FORBIDDEN: readonly (readonly [text: string, prefixLength: number])[] = [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 24],
  ['0.0.0.0', 32],
  ['::1', 128],
  ['::', 128],
  ['fe80::', 10],
  ['ff01::', 16],
  ['ff02::', 16],
];
const BITS = { 4: 32, 6: 128 } as const;
const RANGES = FORBIDDEN.map(([text, prefixLength]) => ({ first: parseIp(text)!, prefixLength }));
/** An IPv4 address in IPv6 form. */
const MAPPED = 0xffffn;

/** Why an address is not connected to; undefined when it may be. */
export function addressProblem(text: string): string | undefined {
  const address = parseIp(text);
  if (address === undefined) return `${JSON.stringify(text)} is no IP address`;
  const plain: IpAddress =
    address.family === 6 && address.bits >> 32n === MAPPED ? { family: 4, bits: address.bits & 0xffffffffn } : address;
  const isForbidden = RANGES.some(({ first, prefixLength }) => {
    const rest = BigInt(BITS[first.family] - prefixLength);
    return first.family === plain.family && first.bits >> rest === plain.bits >> rest;
  });
  return isForbidden ? `the address ${text} is not one the server connects to` : undefined;
}
