// Rules of ingresses, ingress classes and network policies. The versions of ingresses differ in their backends.
import { firstAddress, parseIp, parseIpRange, rangeHolds } from '../../../values/ip.ts';
import { remembered } from '../../../values/remembered.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { isSet } from '../../json/object-fields.ts';
import { pathSegmentProblems, textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { shownList } from '../../status/shown-value.ts';
import { portNumberProblems } from '../field-formats.ts';
import type { Report } from '../report.ts';
import { type ChangeTable, CREATE_RULES, type Rule, type RuleTable } from '../rule.ts';

const NO_INGRESS_RULES = shownList('networking.IngressRule', []);

interface IngressSpec {
  readonly rules?: readonly object[];
  readonly tls?: readonly object[];
  readonly defaultBackend?: object;
  readonly backend?: object;
  readonly ingressClassName?: string | null;
}

const rulesOrBackend =
  (member: 'defaultBackend' | 'backend'): Rule<IngressSpec> =>
  (spec, at) => {
    if ((spec.rules?.length ?? 0) === 0 && !spec[member]) {
      at.invalid('', NO_INGRESS_RULES, `either \`${member}\` or \`rules\` must be specified`);
    }
  };

const oneClass: Rule<JsonObject> = (ingress, at) => {
  if (at.isUpdate) return;
  const { ingressClassName } = (ingress.spec ?? {}) as IngressSpec;
  const key = `${at.dialect.labelDomain}/ingress.class`;
  const text = metadataOf(ingress).annotations?.[key];
  if (text !== undefined && ingressClassName !== undefined && ingressClassName !== null) {
    at.invalid(`metadata.annotations[${key}]`, text, 'can not be set when the class field is also set');
  }
};

interface IngressRule {
  readonly host?: string;
  readonly http?: { readonly paths?: readonly object[] };
}

const host: Rule<IngressRule> = ({ host: name = '' }, at) => {
  if (name === '') return;
  if (parseIp(name) !== undefined) at.invalid('host', name, 'must be a DNS name, not an IP address');
  else at.problems('host', name, textProblems(name.includes('*') ? 'wildcardSubdomain' : 'dns1123Subdomain', name));
};

// v1beta1 looks neither at the paths below a host with a wildcard nor at the name of a secret: what it let in, v1 lets stay.

const hasNoWildcard = ({ host: name = '' }: IngressRule): boolean => !name.includes('*');

const isPlainOrNew = (rule: IngressRule, at: Report): boolean =>
  hasNoWildcard(rule) || !textsOf(storedSpec(at).rules ?? NO_RULES).has(JSON.stringify(rule));

const NO_RULES: readonly object[] = [];
/** Of rules in canonical form: what means the same reads the same. */
const textsOf = remembered((rules: readonly object[]) => new Set(rules.map((rule) => JSON.stringify(rule))));

interface IngressTls {
  readonly secretName?: string;
}

const secretName: Rule<string> = (name, at) => {
  const problems = nameProblems(name);
  if (problems.length === 0) return;
  if (!hasBadNames((storedSpec(at).tls ?? NO_TLS) as readonly IngressTls[])) at.problems('', name, problems);
};

const NO_TLS: readonly IngressTls[] = [];
const nameProblems = (name = ''): readonly string[] => (name === '' ? [] : textProblems('dns1123Subdomain', name));
const hasBadNames = remembered((tls: readonly IngressTls[]) =>
  tls.some(({ secretName }) => nameProblems(secretName).length > 0),
);

function storedSpec({ stored }: Report): IngressSpec {
  return (stored?.spec ?? {}) as IngressSpec;
}

interface IngressPath {
  readonly path?: string;
  readonly pathType?: string | null;
}

const FORBIDDEN_PARTS = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_ENDS = ['/..', '/.'];

const path: Rule<IngressPath> = ({ path: text = '', pathType }, at) => {
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!text.startsWith('/')) at.invalid('path', text, 'must be an absolute path');
    if (text === '') return;
    for (const part of FORBIDDEN_PARTS) {
      if (text.includes(part)) at.invalid('path', text, `must not contain '${part}'`);
    }
    for (const end of FORBIDDEN_ENDS) if (text.endsWith(end)) at.invalid('path', text, `cannot end with '${end}'`);
  } else if (pathType === 'ImplementationSpecific' && text !== '' && !text.startsWith('/')) {
    at.invalid('path', text, 'must be an absolute path');
  }
};

interface Backend {
  readonly service?: { readonly name?: string; readonly port?: { readonly name?: string; readonly number?: number } };
  readonly resource?: { readonly apiGroup?: string | null; readonly kind?: string; readonly name?: string };
  readonly serviceName?: string;
  readonly servicePort?: string | number;
}

const BOTH = 'cannot set both resource and service backends';
const NEITHER = 'resource or service backend is required';
const NO_PORT = 'port name or number is required';

const backend: Rule<Backend> = ({ service, resource }, at) => {
  if (service && resource) at.invalid('', '', BOTH);
  else if (resource) checkResource(resource, at);
  else if (!service) at.invalid('', '', NEITHER);
  else {
    const { name = '', port } = service;
    if (name === '') at.required('service.name');
    else at.problems('service.name', name, textProblems('dns1035Label', name));
    const { name: portName = '', number = 0 } = port ?? {};
    if (portName !== '' && number !== 0) at.invalid('', '', 'cannot set both port name & port number');
    else if (portName !== '') at.problems('service.port.name', portName, textProblems('portName', portName));
    else if (number !== 0) at.problems('service.port.number', number, portNumberProblems(number));
    else at.required('', NO_PORT);
  }
};

const olderBackend: Rule<Backend> = ({ serviceName = '', servicePort, resource }, at) => {
  // An empty text is a port, if a bad one.
  const isService = serviceName !== '' || (servicePort !== undefined && servicePort !== 0);
  if (isService && resource) at.invalid('', '', BOTH);
  else if (resource) checkResource(resource, at);
  else if (!isService) at.invalid('', '', NEITHER);
  else {
    if (serviceName === '') at.required('serviceName');
    else at.problems('serviceName', serviceName, textProblems('dns1035Label', serviceName));
    if (servicePort === undefined || servicePort === '' || servicePort === 0) {
      at.required('', NO_PORT);
    } else if (typeof servicePort === 'string')
      at.problems('servicePort', servicePort, textProblems('portName', servicePort));
    else at.problems('servicePort', servicePort, portNumberProblems(servicePort));
  }
};

function checkResource({ apiGroup, kind = '', name = '' }: NonNullable<Backend['resource']>, at: Report): void {
  if (isSet(apiGroup)) at.problems('resource.apiGroup', apiGroup, textProblems('dns1123Subdomain', apiGroup));
  for (const [member, text] of [
    ['kind', kind],
    ['name', name],
  ] as const) {
    if (text === '') at.required(`resource.${member}`, `${member} is required`);
    else at.problems(`resource.${member}`, text, pathSegmentProblems(text));
  }
}

interface ClassParameters {
  readonly scope?: string | null;
  readonly namespace?: string | null;
}

const parameterScope: Rule<ClassParameters> = ({ scope, namespace }, at) => {
  if (!at.settings.gate('IngressClassNamespacedParams')) return;
  const hasNamespace = namespace !== undefined && namespace !== null;
  if ((scope ?? '') === '') at.required('scope');
  else if (scope !== 'Cluster' && scope !== 'Namespace') at.notSupported('scope', scope, ['Cluster', 'Namespace']);
  if (scope === 'Namespace' && (namespace ?? '') === '')
    at.required('namespace', "`parameters.scope` is set to 'Namespace'");
  if (scope === 'Namespace' && hasNamespace)
    at.problems('namespace', namespace, textProblems('dns1123Label', namespace));
  if (scope === 'Cluster' && hasNamespace) at.forbidden('namespace', "`parameters.scope` is set to 'Cluster'");
};

interface PolicyPort {
  readonly port?: string | number | null;
  readonly endPort?: number | null;
}

const portRange: Rule<PolicyPort> = ({ port, endPort }, at) => {
  if (endPort === undefined || endPort === null || !at.settings.gate('NetworkPolicyEndPort')) return;
  if (typeof port === 'string') at.invalid('endPort', endPort, 'may not be specified when `port` is non-numeric');
  else if (port === undefined || port === null)
    at.invalid('endPort', endPort, 'may not be specified when `port` is not specified');
  else {
    if (endPort < port) at.invalid('endPort', endPort, 'must be greater than or equal to `port`');
    at.problems('endPort', endPort, portNumberProblems(endPort));
  }
};

interface Peer {
  readonly podSelector?: object;
  readonly namespaceSelector?: object;
  readonly ipBlock?: object;
}

const peer: Rule<Peer> = ({ podSelector, namespaceSelector, ipBlock }, at) => {
  const selected = Boolean(podSelector ?? namespaceSelector);
  if (!selected && !ipBlock) at.required('', 'must specify a peer');
  if (selected && ipBlock) at.forbidden('', 'may not specify both ipBlock and another peer');
};

interface IpBlock {
  readonly cidr?: string;
  readonly except?: readonly string[];
}

const ipBlock: Rule<IpBlock> = ({ cidr = '', except = [] }, at) => {
  if (cidr === '') {
    at.required('cidr');
    return;
  }
  const range = parseIpRange(cidr);
  if (range === undefined) {
    at.invalid('cidr', cidr, 'not a valid CIDR');
    return;
  }
  for (const [index, text] of except.entries()) {
    const hole = parseIpRange(text);
    if (hole === undefined) {
      at.invalid(`except[${index}]`, text, 'not a valid CIDR');
      continue;
    }
    const isInside = hole.prefixLength > range.prefixLength && rangeHolds(range, firstAddress(hole));
    if (!isInside) at.invalid(`except[${index}]`, text, 'must be a strict subset of `cidr`');
  }
};

const INGRESS_FIELDS = { ingressClassName: { format: 'dns1123Subdomain' } } as const;
const PATHS = { fields: { paths: { required: true } } } as const;
/** What has no type is not looked into. */
const TYPED = { when: ({ pathType }: IngressPath) => isSet(pathType) } as const;
const PATH = {
  fields: { pathType: { required: 'pathType must be specified', enum: true }, backend: TYPED },
  rules: ['pathType', path, 'backend'],
} as const;
const HOSTS = { hosts: { format: 'hostPattern' } } as const;
const segment = (member: string) => ({ required: `${member} is required`, format: 'pathSegment' }) as const;

/** The ingresses of the first version, in either group. */
function olderIngress(version: string): RuleTable {
  return {
    [`${version}.Ingress`]: { rules: ['spec', oneClass] },
    [`${version}.IngressSpec`]: {
      fields: INGRESS_FIELDS,
      rules: [rulesOrBackend('backend'), 'backend', 'rules', 'tls', 'ingressClassName'],
    },
    [`${version}.IngressRule`]: { fields: { http: { when: hasNoWildcard } }, rules: [host, 'http'] },
    [`${version}.HTTPIngressRuleValue`]: PATHS,
    [`${version}.HTTPIngressPath`]: PATH,
    [`${version}.IngressBackend`]: { rules: [olderBackend] },
    [`${version}.IngressTLS`]: { fields: HOSTS },
  };
}

export const networkingTypes: RuleTable = {
  ...olderIngress('networking/v1beta1'),
  ...olderIngress('extensions/v1beta1'),
  'networking/v1.Ingress': { rules: ['spec', oneClass] },
  'networking/v1.IngressSpec': {
    fields: INGRESS_FIELDS,
    rules: [rulesOrBackend('defaultBackend'), 'defaultBackend', 'rules', 'tls', 'ingressClassName'],
  },
  'networking/v1.IngressRule': { fields: { http: { when: isPlainOrNew } }, rules: [host, 'http'] },
  'networking/v1.HTTPIngressRuleValue': PATHS,
  'networking/v1.HTTPIngressPath': PATH,
  'networking/v1.IngressBackend': { rules: [backend] },
  'networking/v1.IngressTLS': { fields: { ...HOSTS, secretName: { rules: [secretName] } } },
  'networking.IngressClassSpec': {
    fields: { controller: { required: true, bytesMax: 250, format: 'domainPrefixedPath' } },
  },
  'networking.IngressClassParametersReference': {
    fields: { apiGroup: { format: 'dns1123Subdomain' }, kind: segment('kind'), name: segment('name') },
    rules: [parameterScope],
  },
  'networking/v1.NetworkPolicySpec': {
    fields: { policyTypes: { enum: 'listed', itemsMax: 2 } },
    rules: ['podSelector', 'ingress', 'egress', 'policyTypes'],
  },
  'networking/v1.NetworkPolicyPort': {
    fields: { protocol: { enum: ['TCP', 'UDP', 'SCTP'] }, port: { format: 'portNumberOrName' } },
    rules: [portRange],
  },
  'networking/v1.NetworkPolicyPeer': { rules: [peer] },
  'networking/v1.IPBlock': { rules: [ipBlock] },
};

export const networkingUpdates: ChangeTable = {
  'networking.IngressClass': {
    fields: { 'spec.controller': { immutable: true } },
    rules: ['spec.controller', CREATE_RULES],
  },
};
