// Rules of services, on create and on update. Which addresses and ports are free is for the allocation to know, not
// for a rule.

import type { Dialect } from '../../../config/dialect.ts';
import { parseIp } from '../../../values/ip.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asObject, isSet } from '../../json/object-fields.ts';
import { qualifiedNameProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { dottedSubdomainProblems, ipProblems } from '../field-formats.ts';
import { distinct, eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import { type ChangeRule, type ChangeTable, CREATE_RULES, type Rule, type RuleTable, STOP } from '../rule.ts';
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

const exposedAgent = ({ nodeAgent }: Dialect): string =>
  `may not expose port ${NODE_AGENT_PORT} externally since it is used by ${nodeAgent}`;

const typeRules: Rule<ServiceSpec> = (spec, at) => {
  switch (spec.type) {
    case 'LoadBalancer':
      for (const [index, { port = 0 }] of (spec.ports ?? []).entries()) {
        if (port === NODE_AGENT_PORT) at.invalid(`ports[${index}]`, port, exposedAgent(at.dialect));
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
  const { externalName = '' } = spec;
  if (externalName === '') at.required('externalName');
  else at.problems('externalName', externalName, dottedSubdomainProblems(externalName));
}

const somePort: Rule<ServiceSpec> = (spec, at) => {
  if ((spec.ports?.length ?? 0) === 0 && !isHeadless(spec) && spec.type !== 'ExternalName') at.required('ports');
};

/** With more than one port each has a name. */
const portIsNamed: Rule<ServicePort> = ({ name = '' }, at) => {
  if (name === '' && at.list.length > 1) at.required('name');
};

const portNames = distinct<ServicePort>(
  ({ name }) => name,
  (name, _port, at) => at.duplicate('name', name),
);

/** How ports go with the type of the service, and with each other. */
const portRules: Rule<ServiceSpec> = (spec, at) => {
  const { type = '', ports = [] } = spec;
  if (type === 'ClusterIP') {
    for (const [index, { nodePort = 0 }] of ports.entries()) {
      if (nodePort !== 0) at.forbidden(`ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'");
    }
  }
  eachRepeated(
    ports,
    ({ protocol, nodePort }) => (nodePort ? `${protocol}/${nodePort}` : undefined),
    (_key, index, report) => report.duplicate(`ports[${index}].nodePort`, ports[index]!.nodePort),
    at,
  );
  eachRepeated(
    ports,
    ({ protocol, port }) => `${protocol}/${port}`,
    (_key, index, report) => report.duplicate(`ports[${index}]`, ports[index]),
    at,
  );
};

const hasSeveralProtocols = ({ ports = [] }: ServiceSpec): boolean =>
  new Set(ports.map(({ protocol = '' }) => protocol)).size > 1;

/** Unless the service has several already. */
const oneProtocol: Rule<ServiceSpec> = (spec, at) => {
  if (spec.type !== 'LoadBalancer' || at.settings.gate('MixedProtocolLBService') || !hasSeveralProtocols(spec)) return;
  if (hasSeveralProtocols((at.stored?.spec ?? {}) as ServiceSpec)) return;
  at.invalid('ports', spec.ports, "may not contain more than 1 protocol when type is 'LoadBalancer'");
};

const AFFINITY_SECONDS_MAX = 86_400;

const sessionAffinity: Rule<ServiceSpec> = ({ sessionAffinity: affinity, sessionAffinityConfig: config }, at) => {
  if (affinity === 'None' && config) {
    at.forbidden('sessionAffinityConfig', 'must not be set when session affinity is None');
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

const firstIp: Rule<ServiceSpec> = ({ type, clusterIP = '', clusterIPs = [] }, at) => {
  if (type === 'ExternalName') return;
  if (clusterIP === '') {
    if (clusterIPs.length > 0) at.invalid('clusterIPs', clusterIPs, 'must be empty when `clusterIP` is not specified');
  } else if (clusterIPs.length === 0) at.required('clusterIPs');
  else if (clusterIPs[0] !== clusterIP) at.invalid('clusterIPs', clusterIPs, 'first value must match `clusterIP`');
};

const clusterIps: Rule<ServiceSpec> = ({ type, clusterIPs: ips = [], ipFamilies = [] }, at) => {
  if (type === 'ExternalName') return;
  const { count } = at;
  const families = ips.slice(0, 3).map((ip) => parseIp(ip)?.family);
  for (const [index, ip] of ips.slice(0, 3).entries()) {
    if (index === 0 && ip === HEADLESS) {
      if (ips.length > 1) at.invalid('clusterIPs', ips, "'None' must be the first and only value");
    } else at.problems(`clusterIPs[${index}]`, ip, ipProblems(ip));
  }
  const isValid = at.count === count;
  if (ips.length > 2) at.invalid('clusterIPs', ips, 'may only hold up to 2 values');
  if (!isValid) return;
  if (ips.length > 1 && families[0] === families[1])
    at.invalid('clusterIPs', ips, 'may specify no more than one IP for each IP family');
  if (ips[0] === HEADLESS) return;
  for (const [index, declared] of ipFamilies.slice(0, ips.length).entries()) {
    const family = families[index];
    const isFamily = declared === 'IPv4' || declared === 'IPv6';
    if (family === undefined || !isFamily || declared === `IPv${family}`) continue;
    at.invalid(
      `clusterIPs[${index}]`,
      ips[index],
      `expected an ${declared} value as indicated by \`ipFamilies[${index}]\``,
    );
  }
};

/** How fields about traffic from outside go together. Looked at where nothing else is wrong. */
const traffic: Rule<Service> = ({ spec = {} }, at) => {
  const { type, externalTrafficPolicy = '', healthCheckNodePort = 0 } = spec;
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  if (externalTrafficPolicy !== '' && !isExternal) {
    const detail = 'ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service';
    at.invalid('spec.externalTrafficPolicy', externalTrafficPolicy, detail);
  }
  if (healthCheckNodePort !== 0 && !(type === 'LoadBalancer' && externalTrafficPolicy === 'Local')) {
    const detail = 'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local';
    at.invalid('spec.healthCheckNodePort', healthCheckNodePort, detail);
  }
};

/** The ranges of the field, or those of the annotation that was there before it. */
const sourceRanges: Rule<ServiceSpec> = ({ loadBalancerSourceRanges: ranges = [], type }, at) => {
  const onlyBalanced = "may only be used when `type` is 'LoadBalancer'";
  if (ranges.length > 0) {
    if (type !== 'LoadBalancer') at.forbidden('loadBalancerSourceRanges', onlyBalanced);
    checkRanges(ranges, 'loadBalancerSourceRanges', at);
    return;
  }
  const key = `service.beta.${at.dialect.labelDomain}/load-balancer-source-ranges`;
  const text = metadataOf(at.root).annotations?.[key];
  if (text === undefined) return;
  const path = `metadata.annotations[${key}]`;
  const spec = at.step();
  if (type !== 'LoadBalancer') at.forbidden(path, onlyBalanced);
  if (text.trim() !== '') checkRanges(text.split(','), path, at);
  at.enter(spec);
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
    at.invalid(path, ranges.join(','), 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ');
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
  if (keys.length > TOPOLOGY_KEYS_MAX) at.tooMany('topologyKeys', keys.length, TOPOLOGY_KEYS_MAX);
  const seen = new Set<string>();
  for (const [index, key] of keys.entries()) {
    const path = `topologyKeys[${index}]`;
    if (seen.has(key)) at.duplicate(path, key);
    seen.add(key);
    if (key !== ANY_TOPOLOGY) at.problems(path, key, qualifiedNameProblems(key));
    else if (index < keys.length - 1) at.invalid(path, key, '"*" must be the last value specified');
  }
};

const NOUNS = { clusterIPs: 'clusterIP', ipFamilies: 'ipFamily' } as const;

/** Addresses and families stay: the first ones for good, the second ones until the service wants one family only. */
const keepsAddresses =
  (field: keyof typeof NOUNS): ChangeRule<Service> =>
  ({ spec = {} }, { spec: before = {} }, at) => {
    if (spec.type === 'ExternalName' || before.type === 'ExternalName') return;
    if (isHeadless(spec) && isHeadless(before)) return;
    if (field === 'ipFamilies' && isHeadless(spec) !== isHeadless(before)) return;
    const now = spec[field] ?? [];
    const then = before[field] ?? [];
    if (then.length === 0) return;
    const path = `spec.${field}`;
    if (now.length === 0) at.invalid(`${path}[0]`, now, `primary ${NOUNS[field]} can not be unset`);
    else if (now[0] !== then[0]) at.invalid(`${path}[0]`, now, 'may not change once set');
    if (then.length === now.length && now.length > 1 && now[1] !== then[1]) {
      at.invalid(`${path}[1]`, now, 'may not change once set');
    }
    if (then.length > 1 && now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
      const detail = `must be set to 'SingleStack' when releasing the secondary ${NOUNS[field]}`;
      at.invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy ?? null, detail);
    }
  };

const HEALTH_PORT_FIXED =
  'cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update';

const healthPortChange: ChangeRule<Service> = (next, stored, at) => {
  const needs = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
    type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
  const spec = next.spec ?? {};
  const before = stored.spec ?? {};
  if (needs(spec) && needs(before) && spec.healthCheckNodePort !== before.healthCheckNodePort) {
    at.invalid('spec.healthCheckNodePort', spec.healthCheckNodePort ?? 0, HEALTH_PORT_FIXED);
  }
};

const ingressAddress: Rule<{ ip?: string; hostname?: string }> = ({ hostname = '' }, at) => {
  if (hostname !== '' && parseIp(hostname) !== undefined) {
    at.invalid('hostname', hostname, 'must be a DNS name, not an IP address');
  }
};

export const serviceTypes: RuleTable = {
  'core/v1.Service': { rules: ['spec', STOP, traffic] },
  'core/v1.ServiceSpec': {
    fields: {
      selector: { rules: [labels] },
      sessionAffinity: { required: true, enum: true },
      ipFamilies: { enum: true, unique: true },
      ipFamilyPolicy: { enum: true },
      externalIPs: { format: 'nonSpecialIp' },
      type: { required: true, enum: true },
      loadBalancerClass: { format: 'qualifiedName' },
      externalTrafficPolicy: {
        enum: true,
        reason: 'invalid',
        outside: 'ExternalTrafficPolicy must be empty, Cluster or Local',
      },
      healthCheckNodePort: { min: 0, outside: 'HealthCheckNodePort must be not less than 0' },
      internalTrafficPolicy: { enum: true },
    },
    rules: [
      somePort,
      typeRules,
      'ports',
      'selector',
      'sessionAffinity',
      sessionAffinity,
      firstIp,
      'ipFamilies',
      'ipFamilyPolicy',
      clusterIps,
      'externalIPs',
      'type',
      portRules,
      topologyKeys,
      sourceRanges,
      balancerFields,
      'loadBalancerClass',
      'externalTrafficPolicy',
      'healthCheckNodePort',
      'internalTrafficPolicy',
      oneProtocol,
    ],
  },
  'core/v1.ServicePort': {
    fields: {
      name: { format: 'dns1123Label' },
      port: { format: 'portNumber' },
      protocol: { required: true, enum: true },
      targetPort: { format: 'portNumberOrName' },
      appProtocol: { format: 'qualifiedName' },
    },
    rules: [portIsNamed, 'name', portNames, 'port', 'protocol', 'targetPort', 'appProtocol'],
  },
  'core/v1.LoadBalancerIngress': {
    fields: { ip: { format: 'ip' }, hostname: { format: 'dns1123Subdomain' } },
    rules: [ingressAddress],
  },
};

export const serviceUpdates: ChangeTable = {
  'core/v1.Service': {
    fields: { 'spec.loadBalancerClass': { rules: [classChange] } },
    rules: [
      keepsAddresses('clusterIPs'),
      keepsAddresses('ipFamilies'),
      'spec.loadBalancerClass',
      CREATE_RULES,
      healthPortChange,
    ],
  },
};

function classChange(next: unknown, stored: unknown, at: Report): void {
  const type = asObject(at.root.spec).type;
  if (type === 'LoadBalancer' && isSet(stored) && next !== stored) at.invalid('', next, 'may not change once set');
}
