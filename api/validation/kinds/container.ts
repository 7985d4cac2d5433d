// Rules of containers: ports, environment, mounts, probes, life cycle and security. What depends on the pod around a
// container (volumes that exist, names and host ports that others use) is in pod-spec.ts.
import { eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';
import {
  checkFieldPath,
  checkResourceField,
  type ObjectFieldSelector,
  type ResourceFieldSelector,
} from './downward.ts';

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly protocol?: string;
  readonly hostIP?: string;
}

export interface VolumeMount {
  readonly name?: string;
  readonly mountPath?: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly mountPropagation?: string;
}

interface VolumeDevice {
  readonly name?: string;
  readonly devicePath?: string;
}

export interface SecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[] };
}

export interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly ports?: readonly ContainerPort[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: object;
  readonly securityContext?: SecurityContext;
}

interface Probe {
  readonly successThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket'] as const;

/** Reports more than one member of a choice where it stands, and none as missing. */
function exactlyOne(
  value: Readonly<Record<string, unknown>>,
  members: readonly string[],
  detail: string,
  at: Report,
): void {
  let found = 0;
  for (const member of members) {
    const chosen = value[member];
    if (chosen === undefined || chosen === null) continue;
    if (found++ > 0) at.forbidden(member, 'may not specify more than one');
  }
  if (found === 0) at.required('', detail);
}

const oneHandler: Rule<Readonly<Record<string, unknown>>> = (handler, at) =>
  exactlyOne(handler, HANDLERS, 'must specify a handler: exec, httpGet or tcpSocket', at);

const ENV_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'] as const;

const envVar: Rule<{ value?: string; valueFrom?: Readonly<Record<string, unknown>> }> = (variable, at) => {
  const { value, valueFrom } = variable;
  if (valueFrom === undefined || valueFrom === null) return;
  let found = 0;
  for (const source of ENV_SOURCES) if (valueFrom[source] !== undefined && valueFrom[source] !== null) found++;
  if (found === 0) at.invalid('valueFrom', '', `must specify one of ${ENV_SOURCES.join(', ')}`);
  else if ((value ?? '') !== '') at.invalid('valueFrom', '', 'may not be specified when `value` is not empty');
  else if (found > 1) at.invalid('valueFrom', '', 'may not have more than one field specified at a time');
};

const ENV_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
];

const envSources: Rule<{ fieldRef?: ObjectFieldSelector; resourceFieldRef?: ResourceFieldSelector }> = (from, at) => {
  if (from.fieldRef !== undefined) checkFieldPath(from.fieldRef, ENV_FIELDS, at);
  if (from.resourceFieldRef !== undefined) checkResourceField(from.resourceFieldRef, false, at);
};

const envFrom: Rule<{ configMapRef?: object; secretRef?: object }> = ({ configMapRef, secretRef }, at) => {
  if (!configMapRef && !secretRef) at.invalid('', '', 'must specify one of configMapRef, secretRef');
  if (configMapRef && secretRef) at.invalid('', '', 'may not have more than one field specified at a time');
};

const ports: Rule<readonly ContainerPort[]> = (list, at) =>
  eachRepeated(list, portName, (name, index, report) => report.duplicate(`[${index}].name`, name), at);

const portName = ({ name }: ContainerPort): string | undefined => name;

const hostPort: Rule<ContainerPort> = ({ hostPort: port = 0 }, at) => {
  if (port < 0 || port > 65_535) at.invalid('hostPort', port, 'must be between 1 and 65535, inclusive');
};

const mounts: Rule<readonly VolumeMount[]> = (list, at) =>
  eachRepeated(
    list,
    ({ mountPath }) => mountPath,
    (path, index, report) => report.invalid(`[${index}].mountPath`, path, 'must be unique'),
    at,
  );

const subPaths: Rule<VolumeMount> = ({ subPath, subPathExpr }, at) => {
  if ((subPath ?? '') !== '' && (subPathExpr ?? '') !== '') {
    at.invalid('subPathExpr', subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  }
};

const devices: Rule<readonly VolumeDevice[]> = (list, at) => {
  eachRepeated(
    list,
    ({ devicePath }) => devicePath,
    (path, index, report) => report.invalid(`[${index}].devicePath`, path, 'must be unique'),
    at,
  );
  eachRepeated(
    list,
    ({ name }) => name,
    (name, index, report) => report.invalid(`[${index}].name`, name, 'must be unique'),
    at,
  );
};

/** What a container mounts it cannot have as a device, neither by volume nor by path. */
const devicesBesideMounts: Rule<Container> = ({ volumeDevices, volumeMounts }, at) => {
  if (volumeDevices === undefined || volumeMounts === undefined) return;
  const names = new Set(volumeMounts.map(({ name }) => name));
  const paths = new Set(volumeMounts.map(({ mountPath }) => mountPath));
  for (const [index, { name, devicePath }] of volumeDevices.entries()) {
    const detail = 'must not already exist in volumeMounts';
    if (paths.has(devicePath)) at.invalid(`volumeDevices[${index}].devicePath`, devicePath, detail);
    if (names.has(name)) at.invalid(`volumeDevices[${index}].name`, name, detail);
  }
};

const mountPropagation: Rule<Container> = ({ volumeMounts, securityContext }, at) => {
  if (volumeMounts === undefined) return;
  for (let i = 0; i < volumeMounts.length; i++) {
    if (volumeMounts[i]!.mountPropagation !== 'Bidirectional' || securityContext?.privileged === true) continue;
    at.forbidden(`volumeMounts[${i}].mountPropagation`, 'Bidirectional is available only to privileged containers');
  }
};

const probes: Rule<Container> = ({ livenessProbe, readinessProbe, startupProbe }, at) => {
  if (livenessProbe && (livenessProbe.successThreshold ?? 0) !== 1) {
    at.invalid('livenessProbe.successThreshold', livenessProbe.successThreshold ?? 0, 'must be 1');
  }
  if (startupProbe && (startupProbe.successThreshold ?? 0) !== 1) {
    at.invalid('startupProbe.successThreshold', startupProbe.successThreshold ?? 0, 'must be 1');
  }
  const grace = readinessProbe?.terminationGracePeriodSeconds;
  if (grace !== undefined && grace !== null) {
    at.invalid('readinessProbe.terminationGracePeriodSeconds', grace, 'must not be set for readiness probes');
  }
};

const privileges: Rule<SecurityContext> = ({ privileged, allowPrivilegeEscalation, capabilities }, at) => {
  if (privileged === true && !at.settings.allowPrivileged) at.forbidden('privileged', 'disallowed by cluster policy');
  if (allowPrivilegeEscalation !== false) return;
  if (privileged === true) {
    at.invalid('', { privileged, allowPrivilegeEscalation }, 'cannot be false for a privileged container');
  }
  if (capabilities?.add?.includes('CAP_SYS_ADMIN')) {
    at.invalid('', { allowPrivilegeEscalation }, 'cannot be false where CAP_SYS_ADMIN is added');
  }
};

interface SeccompProfile {
  readonly type?: string;
  readonly localhostProfile?: string | null;
}

const seccomp: Rule<SeccompProfile> = ({ type, localhostProfile }, at) => {
  const hasPath = (localhostProfile ?? '') !== '';
  if (type === 'Localhost' && !hasPath) at.required('localhostProfile', 'must be set when seccomp type is Localhost');
  if (type !== 'Localhost' && hasPath) {
    at.invalid('localhostProfile', localhostProfile, 'can only be set when seccomp type is Localhost');
  }
};

const WINDOWS_USER_BYTES_MAX = 1024;
const CREDENTIAL_SPEC_BYTES_MAX = 64 * 1024;

const windowsUser: Rule<string> = (user, at) => {
  if (/\p{Cc}/u.test(user)) at.invalid('', user, 'must not contain control characters');
  const [domain, name] = user.includes('\\') ? user.split('\\', 2) : ['', user];
  if (user.split('\\').length > 2) at.invalid('', user, 'must have at most one backslash');
  if ((name ?? '') === '') at.invalid('', user, 'must name a user');
  if (domain!.length > 255 || (name ?? '').length > 104) at.invalid('', user, 'domain or user name is too long');
};

const container: Rule<Container>[] = [mountPropagation, devicesBesideMounts, probes];

/** What containers and ephemeral containers share. */
const CONTAINER_FIELDS = {
  name: { required: true, format: 'dns1123Label' },
  image: { required: true },
  imagePullPolicy: { required: true, enum: true },
  terminationMessagePolicy: { required: true, enum: 'listed', reason: 'invalid' },
  ports: { rules: [ports] },
  volumeMounts: { rules: [mounts] },
  volumeDevices: { rules: [devices] },
} as const;

const KEY_SELECTOR_FIELDS = {
  name: { required: true, reason: 'invalid', format: 'dns1123Subdomain' },
  key: { required: true, format: 'configMapKey' },
} as const;

export const containerTypes: RuleTable = {
  'core/v1.Container': { fields: CONTAINER_FIELDS, rules: container },
  'core/v1.EphemeralContainer': {
    fields: { ...CONTAINER_FIELDS, imagePullPolicy: { enum: true } },
    rules: container,
  },
  'core/v1.ContainerPort': {
    fields: {
      containerPort: { required: true, format: 'portNumber' },
      protocol: { required: true, enum: true },
      name: { format: 'portName' },
      hostIP: { format: 'ip' },
    },
    rules: [hostPort],
  },
  'core/v1.EnvVar': { fields: { name: { required: true, format: 'envVarName' } }, rules: [envVar] },
  'core/v1.EnvVarSource': { rules: [envSources] },
  'core/v1.ConfigMapKeySelector': { fields: KEY_SELECTOR_FIELDS },
  'core/v1.SecretKeySelector': { fields: KEY_SELECTOR_FIELDS },
  'core/v1.EnvFromSource': { fields: { prefix: { format: 'envVarName' } }, rules: [envFrom] },
  'core/v1.ConfigMapEnvSource': { fields: { name: { required: true, format: 'dns1123Subdomain' } } },
  'core/v1.SecretEnvSource': { fields: { name: { required: true, format: 'dns1123Subdomain' } } },
  'core/v1.VolumeMount': {
    fields: {
      name: { required: true },
      mountPath: { required: true },
      subPath: { format: 'relativePath' },
      subPathExpr: { format: 'relativePath' },
      mountPropagation: { enum: true },
    },
    rules: [subPaths],
  },
  'core/v1.VolumeDevice': {
    fields: { name: { required: true }, devicePath: { required: true, format: 'noClimbing' } },
  },
  'core/v1.Probe': {
    fields: {
      initialDelaySeconds: { min: 0 },
      timeoutSeconds: { min: 0 },
      periodSeconds: { min: 0 },
      successThreshold: { min: 0 },
      failureThreshold: { min: 0 },
      terminationGracePeriodSeconds: { min: 1 },
    },
    rules: [oneHandler],
  },
  'core/v1.Handler': { rules: [oneHandler] },
  'core/v1.ExecAction': { fields: { command: { required: true } } },
  'core/v1.HTTPGetAction': {
    fields: {
      path: { required: true },
      port: { format: 'portNumberOrName' },
      scheme: { required: true, enum: true },
    },
  },
  'core/v1.HTTPHeader': { fields: { name: { required: true, format: 'httpHeaderName' } } },
  'core/v1.TCPSocketAction': { fields: { port: { format: 'portNumberOrName' } } },
  'core/v1.SecurityContext': {
    fields: { runAsUser: { format: 'id' }, runAsGroup: { format: 'id' }, procMount: { enum: true } },
    rules: [privileges],
  },
  'core/v1.SeccompProfile': {
    fields: { type: { required: true, enum: true }, localhostProfile: { format: 'relativePath' } },
    rules: [seccomp],
  },
  'core/v1.WindowsSecurityContextOptions': {
    fields: {
      gmsaCredentialSpecName: { format: 'dns1123Subdomain' },
      gmsaCredentialSpec: { bytesMax: CREDENTIAL_SPEC_BYTES_MAX, reason: 'invalid' },
      runAsUserName: { bytesMax: WINDOWS_USER_BYTES_MAX, reason: 'invalid', rules: [windowsUser] },
    },
  },
};
