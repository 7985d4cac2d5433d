// Where a load balancer can be reached, for services and ingresses.
import type { JsonObject } from '../json/json-value.ts';
import { partAt, partsAt, textAt } from '../json/object-fields.ts';

/** The addresses in `status.loadBalancer`, host names where there is no IP; unique and sorted. */
export function loadBalancerAddresses(object: JsonObject): string[] {
  const points = partsAt(partAt(partAt(object, 'status'), 'loadBalancer'), 'ingress');
  const addresses = new Set<string>();
  for (const point of points) {
    const address = textAt(point, 'ip') || textAt(point, 'hostname');
    if (address !== '') addresses.add(address);
  }
  return [...addresses].sort();
}
