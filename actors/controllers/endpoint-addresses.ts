// Which addresses the control plane's own Endpoints hold, by reconciler type (`--endpoint-reconciler-type`). Pure.

import { asList, asObject, asText } from '../../api/json/object-fields.ts';
import { parseIp, specialUse } from '../../values/ip.ts';
import type { ApiObject } from './controller.ts';
import type { EndpointReconcilerType } from './options.ts';

/** True when others can reach a server under this address, so that it may stand in Endpoints. */
export function isAdvertisable(address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && specialUse(ip) === undefined;
}

/** The addresses in an Endpoints object, in order. */
export function addressesOf(endpoints: ApiObject): readonly string[] {
  return asList(endpoints.subsets).flatMap((subset) =>
    asList(asObject(subset).addresses).map((address) => asText(asObject(address).ip)),
  );
}

/**
 * The addresses as they should be with this server running. `lease`: those of the live servers. `master-count`: those there already and our own,
 * of which at most `countMax` stay, among them our own; a server that died stays until it is pushed out.
 */
export function addressesWith(
  type: EndpointReconcilerType,
  present: readonly string[],
  own: string,
  countMax: number,
  live: readonly string[] = [own],
): readonly string[] {
  if (type === 'lease') return live;
  const all = [...new Set([...present, own])].sort();
  const excess = all.length - Math.max(1, countMax);
  if (excess <= 0) return all;
  // Those that follow our own, in a ring: each server then pushes out others, and they agree in the end.
  const start = all.indexOf(own);
  const pushedOut = new Set(Array.from({ length: excess }, (_, index) => all[(start + 1 + index) % all.length]));
  return all.filter((address) => !pushedOut.has(address));
}

/** The addresses that stay when this server stops. */
export function addressesWithout(present: readonly string[], own: string): readonly string[] {
  return present.filter((address) => address !== own);
}
