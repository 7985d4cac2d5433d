// A service as releases before 1.20 stored it says one address and no families. What it means is filled in as it is read, as the
// original does it; an update stores it then. Pure.
import { parseIp } from '../../values/ip.ts';
import type { JsonObject } from '../json/json-value.ts';
import { completedSpec, type IpFamily, isHeadless, needsClusterIp, type ServiceFields } from './service-fields.ts';

/**
 * The service, or a new one with what it left out. `defaultFamily`: of those that have no address; undefined where services say no
 * families.
 */
export function serviceAsRead(service: JsonObject, defaultFamily: IpFamily | undefined): JsonObject {
  const spec = service.spec as ServiceFields | undefined;
  if (spec === undefined || !needsClusterIp(spec)) return service;
  const named = completedSpec(spec);
  if (defaultFamily === undefined || (named.ipFamilies?.length ?? 0) > 0) {
    return named === spec ? service : { ...service, spec: named };
  }
  return { ...service, spec: { ...named, ...familiesOf(named, defaultFamily) } };
}

function familiesOf(
  spec: ServiceFields,
  defaultFamily: IpFamily,
): Pick<ServiceFields, 'ipFamilies' | 'ipFamilyPolicy'> {
  if (!isHeadless(spec)) {
    const ipFamilies = (spec.clusterIPs ?? []).map((ip) => `IPv${parseIp(ip)?.family ?? 4}`);
    return ipFamilies.length === 0 ? {} : { ipFamilies, ipFamilyPolicy: 'SingleStack' };
  }
  // Of endpoints that somebody else keeps nobody knows the families: such a service takes both.
  if (Object.keys(spec.selector ?? {}).length > 0)
    return { ipFamilies: [defaultFamily], ipFamilyPolicy: 'SingleStack' };
  const other = defaultFamily === 'IPv4' ? 'IPv6' : 'IPv4';
  return { ipFamilies: [defaultFamily, other], ipFamilyPolicy: 'PreferDualStack' };
}
