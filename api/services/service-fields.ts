// The fields of services that belong together: clusterIP and clusterIPs, families and policy, a type and what only it
// has. Completes what clients left out, and keeps what an update does not mention. Pure; which addresses are free is
// known elsewhere, and what is valid is for validation/kinds/service.ts.
import { parseIp } from '../../values/ip.ts';
import { deepEqual } from '../json/deep-equal.ts';
import type { JsonObject } from '../json/json-value.ts';
import { withoutMembers } from '../json/own-copy.ts';
import * as wrong from '../status/field-error.ts';
import { type FieldError, NO_FIELD_ERRORS } from '../status/field-error.ts';

export type IpFamily = 'IPv4' | 'IPv6';

export interface ServicePortFields {
  readonly name?: string;
  readonly protocol?: string;
  readonly port?: number;
  readonly nodePort?: number;
}

export interface ServiceFields extends JsonObject {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string | null;
  readonly selector?: Readonly<Record<string, string>>;
  readonly ports?: readonly ServicePortFields[];
  readonly externalTrafficPolicy?: string;
  readonly healthCheckNodePort?: number;
  readonly allocateLoadBalancerNodePorts?: boolean | null;
  readonly loadBalancerClass?: string | null;
}

const HEADLESS = 'None';

/** ClusterIP, NodePort and LoadBalancer services have addresses of their own. Those without any are headless. */
export function needsClusterIp({ type }: ServiceFields): boolean {
  return type !== 'ExternalName';
}

/** True where each port of the service is given a port on every node. */
export function needsNodePort({ type }: ServiceFields): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** True where load balancers ask each node whether it has pods of the service. */
export function needsHealthPort({ type, externalTrafficPolicy }: ServiceFields): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** True where the service asks for no address of its own. */
export function isHeadless({ clusterIPs, clusterIP }: ServiceFields): boolean {
  return (clusterIPs?.[0] ?? clusterIP) === HEADLESS;
}

/** The spec of a new service: one address in the older field means that one address. */
export function completedSpec(spec: ServiceFields): ServiceFields {
  const { clusterIP = '', clusterIPs = [] } = spec;
  return clusterIP !== '' && clusterIPs.length === 0 ? { ...spec, clusterIPs: [clusterIP] } : spec;
}

/** The spec of a service to replace a stored one: what was allocated is kept, what no longer belongs to the type goes. */
export function updatedSpec(spec: ServiceFields, before: ServiceFields): ServiceFields {
  return withoutSecondFamily(
    withoutForeignFields(withLinkedAddresses(withAllocated(spec, before), before), before),
    before,
  );
}

/** An update that leaves out what the server chose means to keep it. */
function withAllocated(spec: ServiceFields, before: ServiceFields): ServiceFields {
  let next = spec;
  if (needsClusterIp(spec) && needsClusterIp(before)) {
    if ((spec.clusterIP ?? '') === '' && (before.clusterIP ?? '') !== '')
      next = { ...next, clusterIP: before.clusterIP! };
    if ((spec.clusterIPs?.length ?? 0) === 0 && before.clusterIPs) {
      next = { ...next, clusterIPs: before.clusterIPs };
    }
  }
  if (needsNodePort(spec) && needsNodePort(before)) next = withNodePorts(next, before);
  if (needsHealthPort(spec) && needsHealthPort(before) && !spec.healthCheckNodePort && before.healthCheckNodePort) {
    next = { ...next, healthCheckNodePort: before.healthCheckNodePort };
  }
  return next;
}

/** A port is known by its name, whatever else of it has changed. */
function withNodePorts(spec: ServiceFields, before: ServiceFields): ServiceFields {
  const { ports = [] } = spec;
  if (ports.every(({ nodePort }) => nodePort)) return spec;
  const known = new Map((before.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
  const used = new Set(ports.map(({ nodePort }) => nodePort));
  return {
    ...spec,
    ports: ports.map((port) => {
      const nodePort = known.get(port.name ?? '');
      return port.nodePort || !nodePort || used.has(nodePort) ? port : { ...port, nodePort };
    }),
  };
}

/** A client that knows one of the two address fields only has changed the other one as well. */
function withLinkedAddresses(spec: ServiceFields, before: ServiceFields): ServiceFields {
  const { clusterIP = '', clusterIPs = [] } = spec;
  const { clusterIP: ipBefore = '', clusterIPs: ipsBefore = [] } = before;
  if (clusterIP === ipBefore) {
    return clusterIPs.length === 0 && ipsBefore.length > 0 ? { ...spec, clusterIPs: ipsBefore } : spec;
  }
  if (!deepEqual(clusterIPs, ipsBefore)) return spec;
  return clusterIP === '' ? withoutMembers(spec, ['clusterIPs']) : { ...spec, clusterIPs: [clusterIP] };
}

/** What the former type had and the new one cannot have goes, unless the client changed it. */
function withoutForeignFields(spec: ServiceFields, before: ServiceFields): ServiceFields {
  let next = spec;
  if (needsClusterIp(before) && !needsClusterIp(spec)) {
    if (deepEqual(spec.clusterIPs ?? [], before.clusterIPs ?? []))
      next = withoutMembers(next, ['clusterIP', 'clusterIPs']);
    if (deepEqual(spec.ipFamilies ?? [], before.ipFamilies ?? [])) next = withoutMembers(next, ['ipFamilies']);
    if (spec.ipFamilyPolicy === before.ipFamilyPolicy) next = withoutMembers(next, ['ipFamilyPolicy']);
  }
  if (next.ports && needsNodePort(before) && !needsNodePort(spec) && sameNodePorts(spec, before)) {
    next = { ...next, ports: next.ports.map(({ nodePort: _, ...port }) => port) };
  }
  if (needsNodePort(before) && !needsNodePort(spec)) next = withoutMembers(next, ['externalTrafficPolicy']);
  if (needsHealthPort(before) && !needsHealthPort(spec)) next = withoutMembers(next, ['healthCheckNodePort']);
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const) {
      if (spec[field] === before[field]) next = withoutMembers(next, [field]);
    }
  }
  return next;
}

function sameNodePorts(spec: ServiceFields, before: ServiceFields): boolean {
  const known = new Set((before.ports ?? []).map(({ nodePort }) => nodePort));
  return (spec.ports ?? []).every(({ nodePort }) => !nodePort || known.has(nodePort));
}

/** A service that goes back to one family gives up its second address. */
function withoutSecondFamily(spec: ServiceFields, before: ServiceFields): ServiceFields {
  if (spec.ipFamilyPolicy !== 'SingleStack' || before.ipFamilyPolicy === 'SingleStack') return spec;
  let next = spec;
  for (const field of ['clusterIPs', 'ipFamilies'] as const) {
    const values = spec[field] ?? [];
    if (values.length === 2 && deepEqual(values, before[field])) next = { ...next, [field]: values.slice(0, 1) };
  }
  return next;
}

/** A spec with its families, and what is wrong with those that were asked for. */
export interface Families {
  readonly spec: ServiceFields;
  readonly errors: readonly FieldError[];
}

const POLICY = 'spec.ipFamilyPolicy';

/**
 * Completes families and policy. `configured` are the families that services have addresses in, the default one first.
 */
export function withFamilies(spec: ServiceFields, configured: readonly IpFamily[]): Families {
  if (!needsClusterIp(spec)) return { spec, errors: NO_FIELD_ERRORS };
  const { clusterIPs = [] } = spec;
  let families = familiesOf(spec);
  let policy = spec.ipFamilyPolicy ?? undefined;
  const isBare = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  let errors = singleStackErrors(families, clusterIPs, policy, isBare);
  if (errors.length === 0) errors = addressErrors(spec, families, configured);
  if (isBare) policy ??= 'RequireDualStack';
  else if (errors.length === 0) errors = familyErrors(families, policy, configured);
  policy ??= 'SingleStack';
  if (families.length === 0) families = [configured[0]!];
  if (policy !== 'SingleStack' && families.length === 1) {
    const second: IpFamily = families[0] === 'IPv4' ? 'IPv6' : 'IPv4';
    if (isBare || configured.includes(second)) families = [...families, second];
  }
  return { spec: { ...spec, ipFamilies: families, ipFamilyPolicy: policy }, errors };
}

/** The families given, and those of the addresses that go beyond them. */
function familiesOf({ clusterIPs = [], ipFamilies = [] }: ServiceFields): readonly string[] {
  if (clusterIPs[0] === HEADLESS) return ipFamilies;
  const families = [...ipFamilies];
  for (const ip of clusterIPs.slice(families.length, 2)) {
    const family = parseIp(ip)?.family;
    if (family !== undefined) families.push(`IPv${family}`);
  }
  return families;
}

/** Two of a kind, and no policy that allows for it. */
function singleStackErrors(
  families: readonly string[],
  clusterIPs: readonly string[],
  policy: string | undefined,
  isBare: boolean,
): readonly FieldError[] {
  if (policy === undefined ? isBare : policy !== 'SingleStack') return NO_FIELD_ERRORS;
  const errors: FieldError[] = [];
  for (const [field, values] of [
    ['clusterIPs', clusterIPs],
    ['ipFamilies', families],
  ] as const) {
    if (values.length < 2) continue;
    const detail = `must be RequireDualStack or PreferDualStack when multiple '${field}' are specified`;
    errors.push(wrong.invalid(POLICY, policy ?? null, detail));
  }
  return errors;
}

/** The first address whose family only it says, and services have no addresses in. */
function addressErrors(
  { clusterIPs = [], ipFamilies = [] }: ServiceFields,
  families: readonly string[],
  configured: readonly IpFamily[],
): readonly FieldError[] {
  for (let index = ipFamilies.length; index < families.length; index++) {
    const family = families[index] as IpFamily;
    if (configured.includes(family)) continue;
    const detail = `may not use ${family} on a cluster which is not configured for it`;
    return [wrong.invalid(`spec.clusterIPs[${index}]`, clusterIPs, detail)];
  }
  return NO_FIELD_ERRORS;
}

function familyErrors(
  families: readonly string[],
  policy: string | undefined,
  configured: readonly IpFamily[],
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (policy === 'RequireDualStack' && configured.length < 2) {
    errors.push(wrong.invalid(POLICY, policy, 'Cluster is not configured for dual stack services'));
  }
  for (const [index, family] of families.entries()) {
    if ((family === 'IPv4' || family === 'IPv6') && !configured.includes(family)) {
      const detail = `ipfamily ${family} is not configured on cluster`;
      errors.push(wrong.invalid(`spec.ipFamilies[${index}]`, family, detail));
    }
  }
  return errors;
}
