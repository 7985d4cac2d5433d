// Rules of containers: ports, environment, mounts, probes, life cycle and security. What depends on other containers of
// the pod (init and ephemeral ones, host ports that others use) is in pod-spec.ts.

import { textProblems } from '../../metadata/formats.ts';
import { climbingPathProblems, relativePathProblems } from '../field-formats.ts';
import { distinct, found } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { Choice, Rule, RuleTable } from '../rule.ts';
import {
  checkFieldPath,
  checkResourceField,
  type ObjectFieldSelector,
  type ResourceFieldSelector,
} from './downward.ts';
import { windowsTypes } from './windows.ts';

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

/** What rules of containers read of a volume. */
interface Volume {
  readonly name?: string;
  readonly persistentVolumeClaim?: object;
  readonly ephemeral?: object;
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
  readonly resources?: { readonly limits?: object; readonly requests?: object };
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

const HANDLER: Choice = {
  choice: ['exec', 'httpGet', 'tcpSocket'],
  more: 'may not specify more than 1 handler type',
  none: 'must specify a handler type',
};

const ENV_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'] as const;

const NO_SOURCE = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';

const envVar: Rule<{ value?: string; valueFrom?: Readonly<Record<string, unknown>> }> = (variable, at) => {
  const { value, valueFrom } = variable;
  if (valueFrom === undefined || valueFrom === null) return;
  let found = 0;
  for (const source of ENV_SOURCES) if (valueFrom[source] !== undefined && valueFrom[source] !== null) found++;
  if (found === 0) at.invalid('valueFrom', '', NO_SOURCE);
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
  if (!configMapRef && !secretRef) at.invalid('', '', 'must specify one of: `configMapRef` or `secretRef`');
  if (configMapRef && secretRef) at.invalid('', '', 'may not have more than one field specified at a time');
};

const portNames = distinct<ContainerPort>(
  ({ name }) => name,
  (name, _port, at) => {
    if (textProblems('portName', String(name)).length === 0) at.duplicate('name', name);
  },
);

const hostPort: Rule<ContainerPort> = ({ hostPort: port = 0 }, at) => {
  if (port < 0 || port > 65_535) at.invalid('hostPort', port, 'must be between 1 and 65535, inclusive');
};

const mustBeUnique =
  (member: string) =>
  (value: string | number, _element: unknown, at: Report): void =>
    at.invalid(member, value, 'must be unique');

const nameOf = ({ name }: { readonly name?: string }): string | undefined => name;
const mountPathOf = ({ mountPath }: VolumeMount): string | undefined => mountPath;
const devicePathOf = ({ devicePath }: VolumeDevice): string | undefined => devicePath;

const NO_ELEMENTS: readonly never[] = [];

/** The volume of the pod that a container names. One that is not as it should be does not count. */
function volumeOf(name: string, at: Report): Volume | undefined {
  const { volumes = NO_ELEMENTS } = at.around.podSpec as { readonly volumes?: readonly Volume[] };
  return found(volumes, nameOf, name, at, true);
}

const mountedVolume: Rule<VolumeMount> = ({ name = '' }, at) => {
  if (at.around.podSpec !== undefined && volumeOf(name, at) === undefined) at.notFound('name', name);
};

const deviceVolume: Rule<VolumeDevice> = ({ name = '' }, at) => {
  if (at.around.podSpec === undefined) return;
  const volume = volumeOf(name, at);
  if (volume === undefined) at.notFound('name', name);
  else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
    at.invalid('name', name, 'can only use volume source type of PersistentVolumeClaim for block mode');
  }
};

const mountPaths = distinct(mountPathOf, mustBeUnique('mountPath'));
const deviceNames = distinct<VolumeDevice>(nameOf, mustBeUnique('name'));
const devicePaths = distinct(devicePathOf, mustBeUnique('devicePath'));

/** What a container mounts it cannot have as a device, neither by volume nor by path. */
const notDevice: Rule<VolumeMount> = ({ name = '', mountPath = '' }, at) => {
  const { volumeDevices: devices = NO_ELEMENTS } = (at.around.container ?? {}) as Container;
  if (devices.length === 0) return;
  if (found(devices, nameOf, name, at)) at.invalid('name', name, 'must not already exist in volumeDevices');
  if (found(devices, devicePathOf, mountPath, at))
    at.invalid('mountPath', mountPath, 'must not already exist as a path in volumeDevices');
};

const notMounted: Rule<VolumeDevice> = ({ name = '', devicePath = '' }, at) => {
  const { volumeMounts: mounts = NO_ELEMENTS } = (at.around.container ?? {}) as Container;
  if (mounts.length === 0) return;
  if (found(mounts, nameOf, name, at)) at.invalid('name', name, 'must not already exist in volumeMounts');
  if (found(mounts, mountPathOf, devicePath, at))
    at.invalid('devicePath', devicePath, 'must not already exist as a path in volumeMounts');
};

const noBacksteps: Rule<string> = (path, at) => {
  if (climbingPathProblems(path).length > 0) at.invalid('', path, "can not contain backsteps ('..')");
};

const subPaths: Rule<VolumeMount> = ({ subPath, subPathExpr }, at) => {
  if ((subPath ?? '') !== '' && (subPathExpr ?? '') !== '') {
    at.invalid('subPathExpr', subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  }
};

const propagation: Rule<VolumeMount> = ({ mountPropagation }, at) => {
  if (mountPropagation !== 'Bidirectional') return;
  const { securityContext } = (at.around.container ?? {}) as Container;
  if (securityContext?.privileged === true) return;
  at.forbidden('mountPropagation', 'Bidirectional mount propagation is available only to privileged containers');
};

const succeedsOnce =
  (member: 'livenessProbe' | 'startupProbe'): Rule<Container> =>
  (container, at) => {
    const probe = container[member];
    if (!probe) return;
    const { successThreshold = 0 } = probe;
    if (successThreshold !== 1) at.invalid(`${member}.successThreshold`, successThreshold, 'must be 1');
  };

const noGrace: Rule<Container> = ({ readinessProbe }, at) => {
  const grace = readinessProbe?.terminationGracePeriodSeconds;
  if (grace === undefined || grace === null) return;
  at.invalid('readinessProbe.terminationGracePeriodSeconds', grace, 'must not be set for readinessProbes');
};

const privileged: Rule<SecurityContext> = (context, at) => {
  if (context.privileged === true && !at.settings.allowPrivileged)
    at.forbidden('privileged', 'disallowed by cluster policy');
};

const escalation: Rule<SecurityContext> = (context, at) => {
  if (context.allowPrivilegeEscalation !== false) return;
  if (context.privileged === true) {
    at.invalid('', context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
  }
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
    at.invalid('', context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
  }
};

/** Reported at the list. */
const headerNames: Rule<readonly { readonly name?: string }[]> = (headers, at) => {
  for (const { name = '' } of headers) at.problems('', name, textProblems('httpHeaderName', name));
};

const PORT = { format: 'portNumberOrName', emptyToo: true } as const;

interface SeccompProfile {
  readonly type?: string;
  readonly localhostProfile?: string | null;
}

const seccomp: Rule<SeccompProfile> = ({ type, localhostProfile: path = null }, at) => {
  if (type === 'Localhost') {
    if (path === null) at.required('localhostProfile', 'must be set when seccomp type is Localhost');
    else at.problems('localhostProfile', path, relativePathProblems(path));
  } else if (path !== null) at.invalid('localhostProfile', path, 'can only be set when seccomp type is Localhost');
};

/** Only pods themselves are held to this: templates may leave the image to others. */
export const trimmedImage: Rule<Container> = ({ image = '' }, at) => {
  if (image !== image.trim()) at.invalid('image', image, 'must not have leading or trailing whitespace');
};

/** What containers and ephemeral containers share. */
export const CONTAINER_FIELDS = {
  name: { required: true, format: 'dns1123Label' },
  image: { required: true },
  imagePullPolicy: { required: true, enum: true },
  terminationMessagePolicy: {
    required: true,
    enum: 'listed',
    reason: 'invalid',
    outside: "must be 'File' or 'FallbackToLogsOnError'",
  },
} as const;

/** What is looked at after a container's name. */
export const AFTER_NAME = [
  'image',
  'lifecycle',
  'livenessProbe',
  succeedsOnce('livenessProbe'),
  'startupProbe',
  succeedsOnce('startupProbe'),
  'terminationMessagePolicy',
  'readinessProbe',
  noGrace,
  'ports',
  'env',
  'envFrom',
  'volumeMounts',
  'volumeDevices',
  'imagePullPolicy',
  'resources',
  'securityContext',
] as const;

const KEY_SELECTOR_FIELDS = {
  name: { required: true, reason: 'invalid', format: 'dns1123Subdomain' },
  key: { required: true, format: 'configMapKey' },
} as const;

export const containerTypes: RuleTable = {
  'core/v1.Container': {
    around: 'container',
    fields: CONTAINER_FIELDS,
    rules: ['name', distinct<Container>(nameOf, (name, _one, at) => at.duplicate('name', name)), ...AFTER_NAME],
  },
  'core/v1.ContainerPort': {
    fields: {
      containerPort: { required: true, format: 'portNumber' },
      protocol: { required: true, enum: true },
      name: { format: 'portName' },
    },
    rules: ['name', portNames, 'containerPort', hostPort, 'protocol'],
  },
  'core/v1.EnvVar': {
    fields: { name: { required: true, format: 'envVarName' } },
    rules: ['name', 'valueFrom', envVar],
  },
  'core/v1.EnvVarSource': { rules: [envSources, 'configMapKeyRef', 'secretKeyRef'] },
  'core/v1.ConfigMapKeySelector': { fields: KEY_SELECTOR_FIELDS },
  'core/v1.SecretKeySelector': { fields: KEY_SELECTOR_FIELDS },
  'core/v1.EnvFromSource': {
    fields: { prefix: { format: 'envVarName' } },
    rules: ['prefix', 'configMapRef', 'secretRef', envFrom],
  },
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
    rules: [
      'name',
      mountedVolume,
      'mountPath',
      mountPaths,
      notDevice,
      'subPath',
      subPaths,
      'subPathExpr',
      'mountPropagation',
      propagation,
    ],
  },
  'core/v1.VolumeDevice': {
    fields: { name: { required: true }, devicePath: { required: true, rules: [noBacksteps] } },
    rules: ['name', deviceNames, deviceVolume, devicePaths, 'devicePath', notMounted],
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
    rules: [
      HANDLER,
      'initialDelaySeconds',
      'timeoutSeconds',
      'periodSeconds',
      'successThreshold',
      'failureThreshold',
      'terminationGracePeriodSeconds',
    ],
  },
  'core/v1.Handler': { rules: [HANDLER] },
  'core/v1.Lifecycle': { rules: ['postStart', 'preStop'] },
  'core/v1.ExecAction': { fields: { command: { required: true } } },
  'core/v1.HTTPGetAction': {
    fields: {
      path: { required: true },
      port: PORT,
      httpHeaders: { opaque: true, rules: [headerNames] },
      scheme: { required: true, enum: true },
    },
  },
  'core/v1.TCPSocketAction': { fields: { port: PORT } },
  'core/v1.SecurityContext': {
    fields: { runAsUser: { format: 'id' }, runAsGroup: { format: 'id' }, procMount: { enum: true } },
    rules: [privileged, 'runAsUser', 'runAsGroup', 'procMount', 'seccompProfile', escalation, 'windowsOptions'],
  },
  'core/v1.SeccompProfile': {
    fields: { type: { required: 'type is required when seccompProfile is set', enum: true } },
    rules: [seccomp],
  },
  ...windowsTypes,
};
