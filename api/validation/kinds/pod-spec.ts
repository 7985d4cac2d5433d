// Rules of pod specs, in pods and in templates alike, beyond those of their parts.
import { parseIp } from '../../../values/ip.ts';
import { textProblems } from '../formats.ts';
import { byName, eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';
import type { Container, ContainerPort } from './container.ts';
import { labels } from './labels.ts';
import { spreadList } from './placement.ts';
import { containerAmounts } from './resource-amounts.ts';
import { checkTokenProjections, type Volume, volumeList } from './volumes.ts';

export interface PodSpec {
  /** Null when there are none: it is always written. */
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly EphemeralContainer[];
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

interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
  readonly resources?: object;
}

const SECONDS_MAX = 2_147_483_647;
const NO_CONTAINERS: readonly Container[] = [];

const containerNames: Rule<PodSpec> = (spec, at) => {
  const containers = spec.containers ?? NO_CONTAINERS;
  const initContainers = spec.initContainers ?? NO_CONTAINERS;
  eachRepeated(containers, nameOf, duplicateContainer, at);
  if (initContainers.length === 0) return;
  const regular = byName(containers);
  const seen = new Set<string>();
  for (const [index, { name = '' }] of initContainers.entries()) {
    if (name !== '' && (regular(name) !== undefined || seen.has(name)))
      at.duplicate(`initContainers[${index}].name`, name);
    seen.add(name);
  }
};

const nameOf = ({ name }: Container): string | undefined => name;

const duplicateContainer = (name: string | number, index: number, at: Report): void =>
  at.duplicate(`containers[${index}].name`, name);

const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** Mounts and devices name volumes that the pod has. */
const volumesExist: Rule<PodSpec> = (spec, at) => {
  const volumes = spec.volumes ?? NO_VOLUMES;
  let volume: ((name: string) => Volume | undefined) | undefined;
  for (const list of CONTAINER_LISTS) {
    const containers: readonly Container[] = spec[list] ?? NO_CONTAINERS;
    for (let i = 0; i < containers.length; i++) {
      const { volumeMounts, volumeDevices } = containers[i]!;
      if (volumeMounts === undefined && volumeDevices === undefined) continue;
      volume ??= byName(volumes);
      for (let j = 0; j < (volumeMounts?.length ?? 0); j++) {
        const { name = '' } = volumeMounts![j]!;
        if (name !== '' && volume(name) === undefined) at.notFound(`${list}[${i}].volumeMounts[${j}].name`, name);
      }
      for (let j = 0; j < (volumeDevices?.length ?? 0); j++) {
        checkDevice(volumeDevices![j]!.name ?? '', volume, `${list}[${i}].volumeDevices[${j}].name`, at);
      }
    }
  }
};

const NO_VOLUMES: readonly Volume[] = [];

function checkDevice(name: string, find: (name: string) => Volume | undefined, path: string, at: Report): void {
  if (name === '') return;
  const volume = find(name);
  if (volume === undefined) at.notFound(path, name);
  else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
    at.invalid(path, name, 'can only use volume source type of PersistentVolumeClaim for block mode');
  }
}

const portKey = ({ protocol, hostIP = '', hostPort = 0 }: ContainerPort): string => `${protocol}/${hostIP}/${hostPort}`;

/** A port of the node can be given to one container only; init containers run by themselves. */
const hostPorts: Rule<PodSpec> = ({ containers, initContainers = NO_CONTAINERS, hostNetwork }, at) => {
  const regular = containers ?? NO_CONTAINERS;
  let taken: Set<string> | undefined;
  for (let i = 0; i < regular.length; i++) {
    taken = takeHostPorts(regular[i]!, 'containers', i, hostNetwork === true, taken, at);
  }
  for (let i = 0; i < initContainers.length; i++) {
    takeHostPorts(initContainers[i]!, 'initContainers', i, hostNetwork === true, undefined, at);
  }
};

function takeHostPorts(
  { ports }: Container,
  list: string,
  index: number,
  hostNetwork: boolean,
  already: Set<string> | undefined,
  at: Report,
): Set<string> | undefined {
  let taken = already;
  for (let j = 0; j < (ports?.length ?? 0); j++) {
    const port = ports![j]!;
    const { hostPort = 0, containerPort = 0 } = port;
    if (hostNetwork && hostPort !== containerPort) {
      at.invalid(
        `${list}[${index}].ports[${j}].containerPort`,
        containerPort,
        'must match `hostPort` when `hostNetwork` is true',
      );
    }
    if (hostPort === 0) continue;
    const key = portKey(port);
    taken ??= new Set();
    if (taken.has(key)) at.duplicate(`${list}[${index}].ports[${j}].hostPort`, key);
    taken.add(key);
  }
  return taken;
}

const NOT_IN_INIT = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

const initContainers: Rule<readonly Container[]> = (list, at) => {
  for (let i = 0; i < list.length; i++) {
    for (const member of NOT_IN_INIT) {
      const value = list[i]![member];
      if (value !== undefined && value !== null) {
        at.invalid(`[${i}].${member}`, value, 'must not be set for init containers');
      }
    }
  }
};

const NOT_IN_EPHEMERAL = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'volumeDevices',
  'securityContext',
] as const;

const ephemeralContainers: Rule<PodSpec> = (spec, at) => {
  const { ephemeralContainers: list } = spec;
  if (list === undefined) return;
  const names = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name));
  for (const [index, one] of list.entries()) {
    const path = `ephemeralContainers[${index}]`;
    const { name = '', targetContainerName = '' } = one;
    if (targetContainerName !== '' && !names.has(targetContainerName)) {
      at.notFound(`${path}.targetContainerName`, targetContainerName);
    }
    if (name !== '' && names.has(name)) at.duplicate(`${path}.name`, name);
    for (const member of NOT_IN_EPHEMERAL) {
      const value = one[member];
      if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
      at.forbidden(`${path}.${member}`, 'cannot be set for an ephemeral container');
    }
    if (Object.keys(one.resources ?? {}).length > 0) {
      at.forbidden(`${path}.resources`, 'cannot be set for an ephemeral container');
    }
  }
  eachRepeated(list, nameOf, (name, index, report) => report.duplicate(`ephemeralContainers[${index}].name`, name), at);
};

interface DnsConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
}

const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 6;
const SEARCH_CHARACTERS_MAX = 256;

const dns: Rule<PodSpec> = ({ dnsPolicy, dnsConfig }, at) => {
  const { nameservers = [], searches = [] } = dnsConfig ?? {};
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    at.required(
      dnsConfig ? 'dnsConfig.nameservers' : 'dnsConfig',
      'must provide at least one DNS nameserver when `dnsPolicy` is None',
    );
  }
  if (!dnsConfig) return;
  if (nameservers.length > NAMESERVERS_MAX) {
    at.invalid('dnsConfig.nameservers', nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`);
  }
  if (searches.length > SEARCHES_MAX) {
    at.invalid('dnsConfig.searches', searches, `must not have more than ${SEARCHES_MAX} search paths`);
  }
  if (searches.join(' ').length > SEARCH_CHARACTERS_MAX) {
    at.invalid('dnsConfig.searches', searches, `must not have more than ${SEARCH_CHARACTERS_MAX} characters in all`);
  }
};

const hostAlias: Rule<{ ip?: string; hostnames?: readonly string[] }> = ({ ip = '', hostnames = [] }, at) => {
  if (parseIp(ip) === undefined) at.invalid('ip', ip, 'must be valid IP address');
  for (const [index, name] of hostnames.entries()) {
    at.problems(`hostnames[${index}]`, name, textProblems('dns1123Subdomain', name));
  }
};

const processNamespace: Rule<PodSpec> = ({ hostPID, shareProcessNamespace }, at) => {
  if (hostPID === true && shareProcessNamespace === true) {
    at.invalid(
      'securityContext.shareProcessNamespace',
      true,
      'ShareProcessNamespace and HostPID cannot both be enabled',
    );
  }
};

const tokens: Rule<PodSpec> = ({ volumes, serviceAccountName }, at) => {
  if (volumes !== undefined) checkTokenProjections(volumes, serviceAccountName ?? '', at);
};

export const podSpecTypes: RuleTable = {
  'core/v1.PodSpec': {
    fields: {
      containers: { required: true },
      initContainers: { rules: [initContainers] },
      volumes: volumeList,
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
      preemptionPolicy: { enum: true },
      overhead: { rules: [containerAmounts] },
      topologySpreadConstraints: spreadList,
    },
    rules: [containerNames, volumesExist, hostPorts, ephemeralContainers, dns, processNamespace, tokens],
  },
  'core/v1.PodDNSConfig': {
    fields: { nameservers: { format: 'ip' }, searches: { format: 'dottedSubdomain' } },
  },
  'core/v1.PodDNSConfigOption': { fields: { name: { required: 'must not be empty', reportedAt: '' } } },
  'core/v1.HostAlias': { rules: [hostAlias] },
  'core/v1.PodReadinessGate': { fields: { conditionType: { format: 'qualifiedName' } } },
  'core/v1.PodSecurityContext': {
    fields: {
      runAsUser: { format: 'id' },
      runAsGroup: { format: 'id' },
      fsGroup: { format: 'id' },
      supplementalGroups: { format: 'id' },
      sysctls: { unique: 'name' },
      fsGroupChangePolicy: { enum: true },
    },
  },
  'core/v1.Sysctl': { fields: { name: { required: true, format: 'sysctlName' } } },
};
