// What is shown of endpoints and endpoint slices: the first few addresses and ports, and how many more there are.

import { hostPort } from '../../values/host-text.ts';
import type { JsonObject } from '../json/json-value.ts';
import { numberAt, partsAt, setNumberAt, textAt, textsAt } from '../json/object-fields.ts';
import { firstFew } from './first-few.ts';

const SHOWN_MAX = 3;
const UNSET = '<unset>';

/** `10.0.0.1:80` for every ready address and port; the address alone where a subset has no ports. */
export function endpointsText(endpoints: JsonObject): string {
  const subsets = partsAt(endpoints, 'subsets');
  if (subsets.length === 0) return '<none>';
  const texts: string[] = [];
  let count = 0;
  for (const subset of subsets) {
    const addresses = partsAt(subset, 'addresses');
    const ports = partsAt(subset, 'ports');
    count += addresses.length * Math.max(1, ports.length);
    // Only what is shown is made: of thousands of addresses at thousands of ports there are millions.
    const ips = addresses.slice(0, SHOWN_MAX).map((address) => textAt(address, 'ip'));
    if (ports.length === 0) texts.push(...ips);
    for (const port of ports.slice(0, SHOWN_MAX))
      for (const ip of ips) texts.push(hostPort(ip, numberAt(port, 'port')));
  }
  return firstFew(texts, SHOWN_MAX, ',', count);
}

/** Port numbers of a slice; the name of one without a number, `*` for any port. One without either leaves nothing to show. */
export function slicePortsText(slice: JsonObject): string {
  const ports = partsAt(slice, 'ports');
  if (ports.length === 0) return UNSET;
  const texts = ports.map((port) => {
    const number = setNumberAt(port, 'port');
    if (number !== undefined) return String(number);
    return typeof port.name === 'string' ? port.name : '*';
  });
  return firstFew(texts, SHOWN_MAX) || UNSET;
}

/** The addresses of a slice, over all its endpoints. */
export function sliceAddressesText(slice: JsonObject): string {
  const endpoints = partsAt(slice, 'endpoints');
  if (endpoints.length === 0) return UNSET;
  return firstFew(
    endpoints.flatMap((endpoint) => textsAt(endpoint, 'addresses')),
    SHOWN_MAX,
  );
}
