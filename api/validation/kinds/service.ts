// Rules of services, on create and on update. Which addresses and ports are free is for the allocation to know, not
// for a rule.

import { parseIp } from '../../../values/ip.ts';
import type { JsonObject } from '../../json-value.ts';
import { asObject } from '../../object-fields.ts';
import { metadataOf } from '../../object-meta.ts';
import { qualifiedNameProblems } from '../formats.ts';
import { eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';
import { labels } from './labels.ts';

export interface ServicePort {
  readonly name?: string;
  readonly port?: number;
  readonly nodePort?: number;
  readonly protocol?: string;
}

export interface ServiceSpec {
  readonly type?: string;
  readonly ports?: readonly ServicePort[];
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string | null;
  readonly externalName?: string;
  readonly externalTrafficPolicy?: string;
  readonly healthCheckNodePort?: number;
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly loadBalancerClass?: string | null;
  readonly allocateLoadBalancerNodePorts?: boolean | null;
  readonly topologyKeys?: readonly string[];
}

interface Service extends JsonObject {
  readonly spec?: ServiceSpec;
}

const HEADLESS = 'None';

function isHeadless({ clusterIP, clusterIPs }: ServiceSpec): boolean {
  return (clusterIPs?.[0] ?? clusterIP) === HEADLESS;
}

/** The node agents' own port, which a load balancer would hide. */
const NODE_AGENT_PORT = 10_250;

const typeRules: Rule<ServiceSpec> = (spec, at) => {
  switch (spec.type) {
    case 'LoadBalancer':
      for (const [index, { port = 0 }] of (spec.ports ?? []).entries()) {
        if (port === NODE_AGENT_PORT)
          at.invalid(`ports[${index}]`, port, 'may not expose the port of the node agent externally');
      }
      if (isHeadless(spec)) at.invalid('clusterIPs[0]', HEADLESS, "may not be set to 'None' for LoadBalancer services");
      return;
    case 'NodePort':
      if (isHeadless(spec)) at.invalid('clusterIPs[0]', HEADLESS, "may not be set to 'None' for NodePort services");
      return;
    case 'ExternalName':
      checkExternalName(spec, at);
      return;
  }
};

function checkExternalName(spec: ServiceSpec, at: Report): void {
  const detail = 'may not be set for ExternalName services';
  if ((spec.clusterIPs?.length ?? 0) > 0) at.forbidden('clusterIPs', detail);
  else if ((spec.clusterIP ?? '') !== '') at.forbidden('clusterIP', detail);
  if ((spec.ipFamilies?.length ?? 0) > 0) at.forbidden('ipFamilies', detail);
  if ((spec.ipFamilyPolicy ?? '') !== '') at.forbidden('ipFamilyPolicy', detail);
  if ((spec.externalName ?? '') === '') at.required('externalName');
}

const PORTS_NEEDED: ReadonlySet<string> = new Set(['ClusterIP', 'NodePort', 'LoadBalancer']);

const portRules: Rule<ServiceSpec> = (spec, at) => {
  const ports = spec.ports ?? [];
  const { type = '' } = spec;
  if (ports.length === 0) {
    if (!isHeadless(spec) && PORTS_NEEDED.has(type)) at.required('ports');
    return;
  }
  if (ports.length > 1)
    for (const [index, { name = '' }] of ports.entries()) if (name === '') at.required(`ports[${index}].name`);
  if (type === 'ClusterIP' || type === 'ExternalName') {
    for (const [index, { nodePort = 0 }] of ports.entries()) {
      if (nodePort !== 0) at.forbidden(`ports[${index}].nodePort`, `may not be used when \`type\` is '${type}'`);
    }
  }
  if (type === 'LoadBalancer' && !at.settings.gate('MixedProtocolLBService')) checkOneProtocol(ports, at);
  eachRepeated(
    ports,
    ({ name }) => name,
    (name, index, report) => report.duplicate(`ports[${index}].name`, name),
    at,
  );
  eachRepeated(
    ports,
    ({ protocol, port }) => `${protocol}/${port}`,
    (_key, index, report) => report.duplicate(`ports[${index}]`, ports[index]),
    at,
  );
  eachRepeated(
    ports,
    ({ protocol, nodePort }) => (nodePort ? `${protocol}/${nodePort}` : undefined),
    (_key, index, report) => report.duplicate(`ports[${index}].nodePort`, ports[index]!.nodePort),
    at,
  );
};

function checkOneProtocol(ports: readonly ServicePort[], at: Report): void {
  const protocols = [...new Set(ports.map(({ protocol = '' }) => protocol))];
  if (protocols.length > 1) {
    at.invalid('ports', protocols, 'cannot create an external load balancer with mix protocols');
  }
}

const AFFINITY_SECONDS_MAX = 86_400;

const sessionAffinity: Rule<ServiceSpec> = ({ sessionAffinity: affinity, sessionAffinityConfig: config }, at) => {
  if (affinity === 'None' && config) {
    at.forbidden('sessionAffinityConfig', "must not be set when session affinity is 'None'");
  }
  if (affinity !== 'ClientIP') return;
  const seconds = config?.clientIP?.timeoutSeconds;
  if (!config) at.required('sessionAffinityConfig', 'when session affinity type is ClientIP');
  else if (seconds === undefined || seconds === null) {
    at.required('sessionAffinityConfig.clientIP.timeoutSeconds', 'when session affinity type is ClientIP');
  } else if (seconds < 1 || seconds > AFFINITY_SECONDS_MAX) {
    const detail = `must be greater than 0 and less than ${AFFINITY_SECONDS_MAX}`;
    at.invalid('sessionAffinityConfig.clientIP.timeoutSeconds', seconds, detail);
  }
};

const clusterIps: Rule<ServiceSpec> = (spec, at) => {
  if (spec.type === 'ExternalName') return;
  const { clusterIP = '', clusterIPs = [], ipFamilies = [] } = spec;
  if (clusterIPs.length === 0) {
    if (clusterIP !== '') at.required('clusterIPs', 'must be set when clusterIP is set');
    return;
  }
  if (clusterIPs[0] !== clusterIP) at.invalid('clusterIPs', clusterIPs, 'first value must match `clusterIP`');
  if (clusterIPs.length > 2) at.invalid('clusterIPs', clusterIPs, 'may only hold up to 2 values');
  if (clusterIPs[0] === HEADLESS) {
    if (clusterIPs.length > 1) at.invalid('clusterIPs', clusterIPs, "'None' must be the first and only value");
    return;
  }
  let families = '';
  for (const [index, ip] of clusterIPs.slice(0, 2).entries()) {
    if (ip === HEADLESS) {
      at.invalid(`clusterIPs[${index}]`, ip, "'None' must be the first and only value");
      continue;
    }
    const family = parseIp(ip)?.family;
    if (family === undefined) {
      at.invalid(`clusterIPs[${index}]`, ip, 'must be a valid IP address');
      continue;
    }
    if (families.includes(String(family)))
      at.invalid('clusterIPs', clusterIPs, 'may specify no more than one IP for each IP family');
    families += family;
    const declared = ipFamilies[index];
    if (declared !== undefined && declared !== `IPv${family}`) {
      at.invalid(`clusterIPs[${index}]`, ip, `expected an ${declared} value as indicated by \`ipFamilies[${index}]\``);
    }
  }
};

const traffic: Rule<ServiceSpec> = ({ type, externalTrafficPolicy = '', healthCheckNodePort = 0 }, at) => {
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  if (externalTrafficPolicy !== '' && !isExternal) {
    at.invalid(
      'externalTrafficPolicy',
      externalTrafficPolicy,
      'can only be set for NodePort and LoadBalancer services',
    );
  }
  if (healthCheckNodePort !== 0 && !(type === 'LoadBalancer' && externalTrafficPolicy === 'Local')) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    at.invalid('healthCheckNodePort', healthCheckNodePort, detail);
  }
};

/** The older form of loadBalancerSourceRanges. */
const sourceRanges: Rule<Service> = (service, at) => {
  const { spec = {} } = service;
  const { loadBalancerSourceRanges: ranges = [], type } = spec;
  const onlyBalanced = "may only be used when `type` is 'LoadBalancer'";
  if (ranges.length > 0) {
    if (type !== 'LoadBalancer') at.forbidden('spec.loadBalancerSourceRanges', onlyBalanced);
    checkRanges(ranges, 'spec.loadBalancerSourceRanges', at);
    return;
  }
  const key = `service.beta.${at.dialect.labelDomain}/load-balancer-source-ranges`;
  const text = metadataOf(service).annotations?.[key];
  if (text === undefined) return;
  const path = `metadata.annotations[${key}]`;
  if (type !== 'LoadBalancer') at.forbidden(path, onlyBalanced);
  if (text.trim() !== '') checkRanges(text.split(','), path, at);
};

function checkRanges(ranges: readonly string[], path: string, at: Report): void {
  const isRange = (text: string): boolean => {
    const [address = '', bits = '', more] = text.trim().split('/');
    const family = parseIp(address)?.family;
    return (
      family !== undefined && more === undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
    );
  };
  if (!ranges.every(isRange))
    at.invalid(path, ranges.join(','), 'must be a list of IP ranges, (e.g. 10.240.0.0/24,10.250.0.0/24)');
}

const balancerFields: Rule<ServiceSpec> = (spec, at) => {
  if (spec.type === 'LoadBalancer') return;
  const { allocateLoadBalancerNodePorts, loadBalancerClass } = spec;
  const detail = "may only be used when `type` is 'LoadBalancer'";
  if (isSet(allocateLoadBalancerNodePorts) && at.settings.gate('ServiceLBNodePortControl')) {
    at.forbidden('allocateLoadBalancerNodePorts', detail);
  }
  if (isSet(loadBalancerClass) && at.settings.gate('ServiceLoadBalancerClass'))
    at.forbidden('loadBalancerClass', detail);
};

const TOPOLOGY_KEYS_MAX = 16;
const ANY_TOPOLOGY = '*';

/** Where the endpoints of a service are looked for, one label of nodes after the other. */
const topologyKeys: Rule<ServiceSpec> = ({ topologyKeys: keys = [], externalTrafficPolicy }, at) => {
  if (keys.length === 0 || !at.settings.gate('ServiceTopology')) return;
  if (externalTrafficPolicy === 'Local') {
    at.forbidden('topologyKeys', 'may not be specified when `externalTrafficPolicy=Local`');
  }
  if (keys.length > TOPOLOGY_KEYS_MAX) {
    at.tooMany('topologyKeys', keys.length, TOPOLOGY_KEYS_MAX);
    return;
  }
  eachRepeated(
    keys,
    (key) => key,
    (key, index, report) => report.duplicate(`topologyKeys[${index}]`, key),
    at,
  );
  for (const [index, key] of keys.entries()) {
    if (key !== ANY_TOPOLOGY) at.problems(`topologyKeys[${index}]`, key, qualifiedNameProblems(key));
    else if (index < keys.length - 1) at.invalid(`topologyKeys[${index}]`, key, '"*" must be the last value specified');
  }
};

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Addresses and families stay: the first ones for good, the second ones until the service wants one family only. */
const clusterIpChange: ChangeRule<Service> = (next, stored, at) => {
  const spec = next.spec ?? {};
  const before = stored.spec ?? {};
  const becomesNamed = spec.type === 'ExternalName' || before.type === 'ExternalName';
  for (const field of ['clusterIPs', 'ipFamilies'] as const) {
    const now = spec[field] ?? [];
    const then = before[field] ?? [];
    if (becomesNamed || then.length === 0) continue;
    if (now[0] !== then[0]) {
      const detail = now.length === 0 ? 'primary value can not be unset' : 'may not change once set';
      at.invalid(`spec.${field}[0]`, now[0] ?? '', detail);
    }
    if (then.length < 2) continue;
    if (now.length < 2) {
      if (spec.ipFamilyPolicy !== 'SingleStack') {
        at.invalid(`spec.${field}`, now, 'a second value can only be released with `ipFamilyPolicy` SingleStack');
      }
    } else if (now[1] !== then[1]) at.invalid(`spec.${field}[1]`, now[1], 'may not change once set');
  }
};

const healthPortChange: ChangeRule<Service> = (next, stored, at) => {
  const needs = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
    type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
  const spec = next.spec ?? {};
  const before = stored.spec ?? {};
  if (needs(spec) && needs(before) && spec.healthCheckNodePort !== before.healthCheckNodePort) {
    at.invalid('spec.healthCheckNodePort', spec.healthCheckNodePort ?? 0, 'field is immutable');
  }
};

const ingressAddress: Rule<{ ip?: string; hostname?: string }> = ({ hostname = '' }, at) => {
  if (hostname !== '' && parseIp(hostname) !== undefined) {
    at.invalid('hostname', hostname, 'must be a DNS name, not an IP address');
  }
};

export const serviceTypes: RuleTable = {
  'core/v1.Service': { rules: [sourceRanges] },
  'core/v1.ServiceSpec': {
    fields: {
      type: { required: true, enum: true },
      selector: { rules: [labels] },
      sessionAffinity: { required: true, enum: true },
      externalIPs: { format: 'nonSpecialIp' },
      externalName: { format: 'dottedSubdomain' },
      externalTrafficPolicy: { enum: true, reason: 'invalid' },
      healthCheckNodePort: { min: 0 },
      ipFamilies: { enum: true, unique: true },
      ipFamilyPolicy: { enum: true },
      loadBalancerClass: { format: 'qualifiedName' },
      internalTrafficPolicy: { enum: true },
    },
    rules: [typeRules, portRules, sessionAffinity, clusterIps, traffic, balancerFields, topologyKeys],
  },
  'core/v1.ServicePort': {
    fields: {
      name: { format: 'dns1123Label' },
      port: { format: 'portNumber' },
      protocol: { required: true, enum: true },
      targetPort: { format: 'portNumberOrName' },
      appProtocol: { format: 'qualifiedName' },
    },
  },
  'core/v1.LoadBalancerIngress': {
    fields: { ip: { format: 'ip' }, hostname: { format: 'dns1123Subdomain' } },
    rules: [ingressAddress],
  },
};

export const serviceUpdates: ChangeTable = {
  'core/v1.Service': {
    fields: { 'spec.loadBalancerClass': { rules: [classChange] } },
    rules: [clusterIpChange, healthPortChange],
  },
};

function classChange(next: unknown, stored: unknown, at: Report): void {
  const type = asObject(at.root.spec).type;
  if (type === 'LoadBalancer' && isSet(stored) && next !== stored) at.invalid('', next, 'may not change once set');
}
