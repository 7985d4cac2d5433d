// Rules of pod specs, in pods and in templates alike, beyond those of their parts.
import { parseIp } from '../../../values/ip.ts';
import { textProblems } from '../../metadata/formats.ts';
import { sysctlProblems } from '../field-formats.ts';
import { distinct } from '../repeats.ts';
import type { Report } from '../report.ts';
import { type Rule, type RuleTable, STOP } from '../rule.ts';
import type { Container, ContainerPort } from './container.ts';
import { labels } from './labels.ts';
import { containerAmounts } from './resource-amounts.ts';
import type { Volume } from './volumes.ts';

export interface PodSpec {
  /** Null when there are none: it is always written. */
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly shareProcessNamespace?: boolean | null;
  readonly dnsPolicy?: string;
  readonly dnsConfig?: DnsConfig;
  readonly serviceAccountName?: string;
  readonly nodeName?: string;
  readonly restartPolicy?: string;
  readonly activeDeadlineSeconds?: number | null;
  readonly securityContext?: { readonly [member: string]: unknown };
}

const SECONDS_MAX = 2_147_483_647;
const NO_CONTAINERS: readonly Container[] = [];

const nameOf = ({ name }: Container): string | undefined => name;

const portKey = ({ protocol, hostIP = '', hostPort = 0 }: ContainerPort): string => `${protocol}/${hostIP}/${hostPort}`;

/** A port of the node can be given to one container only. */
const hostPorts: Rule<PodSpec> = ({ containers }, at) => {
  let taken: Set<string> | undefined;
  for (let i = 0; i < (containers?.length ?? 0); i++)
    taken = takeHostPorts(containers![i]!, `containers[${i}]`, taken, at);
};

/** Init containers run by themselves. */
const initHostPorts: Rule<PodSpec> = ({ initContainers }, at) => {
  for (let i = 0; i < (initContainers?.length ?? 0); i++) {
    takeHostPorts(initContainers![i]!, `initContainers[${i}]`, undefined, at);
  }
};

function takeHostPorts(
  { ports }: Container,
  path: string,
  already: Set<string> | undefined,
  at: Report,
): Set<string> | undefined {
  let taken = already;
  for (let j = 0; j < (ports?.length ?? 0); j++) {
    const port = ports![j]!;
    if ((port.hostPort ?? 0) === 0) continue;
    const key = portKey(port);
    taken ??= new Set();
    if (taken.has(key)) at.duplicate(`${path}.ports[${j}].hostPort`, key);
    taken.add(key);
  }
  return taken;
}

/** On the node's own network a port is what it is there. */
const hostNetwork: Rule<PodSpec> = ({ hostNetwork: isOn, containers }, at) => {
  if (isOn !== true) return;
  for (const [index, { ports = [] }] of (containers ?? NO_CONTAINERS).entries()) {
    for (const [number, { hostPort = 0, containerPort = 0 }] of ports.entries()) {
      if (hostPort === containerPort) continue;
      const path = `containers[${index}].ports[${number}].containerPort`;
      at.invalid(path, containerPort, 'must match `hostPort` when `hostNetwork` is true');
    }
  }
};

const NOT_IN_INIT = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** Names that others have, and what only regular containers may have. */
const initContainers: Rule<PodSpec> = ({ containers, initContainers: list = NO_CONTAINERS }, at) => {
  if (list.length === 0) return;
  const taken = new Set((containers ?? NO_CONTAINERS).map(nameOf));
  for (let i = 0; i < list.length; i++) {
    const { name = '' } = list[i]!;
    if (name !== '' && taken.has(name)) at.duplicate(`initContainers[${i}].name`, name);
    taken.add(name);
    for (const member of NOT_IN_INIT) {
      const value = list[i]![member];
      if (value !== undefined && value !== null) {
        at.invalid(`initContainers[${i}].${member}`, value, 'must not be set for init containers');
      }
    }
  }
};

const sysctlNames = distinct<{ readonly name?: string }>(
  ({ name }) => name,
  (name, _sysctl, at) => {
    if (sysctlProblems(String(name)).length === 0) at.duplicate('name', name);
  },
);

interface DnsConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
}

const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 6;
const SEARCH_CHARACTERS_MAX = 256;

const NEEDS_CONFIG = 'must provide `dnsConfig` when `dnsPolicy` is None';
const NEEDS_SERVERS = 'must provide at least one DNS nameserver when `dnsPolicy` is None';

const dns: Rule<PodSpec> = ({ dnsPolicy, dnsConfig }, at) => {
  if (dnsPolicy === 'None' && !dnsConfig) at.required('dnsConfig', NEEDS_CONFIG);
};

const ownServers: Rule<DnsConfig> = ({ nameservers = [] }, at) => {
  const { dnsPolicy } = (at.around.podSpec ?? {}) as PodSpec;
  if (dnsPolicy === 'None' && nameservers.length === 0) at.required('nameservers', NEEDS_SERVERS);
};

const nameserverIps: Rule<readonly string[]> = (servers, at) => {
  for (const [index, ip] of servers.entries()) {
    if (parseIp(ip) === undefined) at.invalid(`[${index}]`, ip, 'must be valid IP address');
  }
};

const fewServers: Rule<DnsConfig> = ({ nameservers = [] }, at) => {
  if (nameservers.length <= NAMESERVERS_MAX) return;
  at.invalid('nameservers', nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`);
};

const fewSearches: Rule<DnsConfig> = ({ searches = [] }, at) => {
  if (searches.length > SEARCHES_MAX) {
    at.invalid('searches', searches, `must not have more than ${SEARCHES_MAX} search paths`);
  }
  if (searches.join(' ').length > SEARCH_CHARACTERS_MAX) {
    const detail = `must not have more than ${SEARCH_CHARACTERS_MAX} characters (including spaces) in the search list`;
    at.invalid('searches', searches, detail);
  }
};

const hostAlias: Rule<{ ip?: string; hostnames?: readonly string[] }> = ({ ip = '', hostnames = [] }, at) => {
  if (parseIp(ip) === undefined) at.invalid('ip', ip, 'must be valid IP address');
  for (const [index, name] of hostnames.entries()) {
    at.problems(`hostnames[${index}]`, name, textProblems('dns1123Subdomain', name));
  }
};

const processNamespace: Rule<object> = (_context, at) => {
  const { hostPID, shareProcessNamespace } = (at.around.podSpec ?? {}) as PodSpec;
  if (hostPID === true && shareProcessNamespace === true) {
    at.invalid('shareProcessNamespace', true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
};

/** What is said of a pod's security whether or not it says anything of it itself. */
const withoutContext: Rule<PodSpec> = (spec, at) => {
  if (spec.securityContext) return;
  at.enter('securityContext');
  processNamespace(spec, at);
  at.leave();
};

export const podSpecTypes: RuleTable = {
  'core/v1.PodSpec': {
    around: 'podSpec',
    fields: {
      containers: { required: true },
      restartPolicy: { required: true, enum: 'listed' },
      dnsPolicy: { required: true, enum: 'listed' },
      nodeSelector: { rules: [labels] },
      serviceAccountName: { format: 'dns1123Subdomain' },
      nodeName: { format: 'dns1123Subdomain' },
      priorityClassName: { format: 'dns1123Subdomain' },
      runtimeClassName: { format: 'dns1123Subdomain' },
      activeDeadlineSeconds: { min: 1, max: SECONDS_MAX },
      hostname: { format: 'dns1123Label' },
      subdomain: { format: 'dns1123Label' },
      preemptionPolicy: { enum: 'listed' },
      overhead: { rules: [containerAmounts] },
    },
    rules: [
      'volumes',
      'containers',
      hostPorts,
      'initContainers',
      initHostPorts,
      initContainers,
      'ephemeralContainers',
      'restartPolicy',
      'dnsPolicy',
      'nodeSelector',
      hostNetwork,
      'securityContext',
      withoutContext,
      'affinity',
      dns,
      'dnsConfig',
      'readinessGates',
      'topologySpreadConstraints',
      'serviceAccountName',
      'nodeName',
      'activeDeadlineSeconds',
      'hostname',
      'subdomain',
      'tolerations',
      'hostAliases',
      'priorityClassName',
      'runtimeClassName',
      'preemptionPolicy',
      'overhead',
    ],
  },
  'core/v1.PodDNSConfig': {
    fields: { nameservers: { rules: [nameserverIps] }, searches: { format: 'dottedSubdomain' } },
    rules: [ownServers, STOP, fewServers, 'nameservers', fewSearches, 'searches', 'options'],
  },
  'core/v1.PodDNSConfigOption': { fields: { name: { required: 'must not be empty', reportedAt: '' } } },
  'core/v1.HostAlias': { rules: [hostAlias] },
  'core/v1.PodReadinessGate': {
    fields: { conditionType: { format: 'qualifiedName', emptyToo: true } },
  },
  'core/v1.PodSecurityContext': {
    fields: {
      fsGroup: { format: 'id' },
      runAsUser: { format: 'id' },
      runAsGroup: { format: 'id' },
      supplementalGroups: { format: 'id' },
      fsGroupChangePolicy: { enum: true },
    },
    rules: [
      'fsGroup',
      'runAsUser',
      'runAsGroup',
      'supplementalGroups',
      processNamespace,
      'sysctls',
      'fsGroupChangePolicy',
      'seccompProfile',
      'windowsOptions',
    ],
  },
  'core/v1.Sysctl': { fields: { name: { required: true, format: 'sysctlName' } }, rules: ['name', sysctlNames] },
};
