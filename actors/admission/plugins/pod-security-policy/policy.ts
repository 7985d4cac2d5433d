// A pod security policy as it is kept: read once, whenever it changes. What it does to pods is in the files beside this one. Pure.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { booleanAt, numberAt, partAt, partsAt, textAt, textsAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../../config/dialect.ts';

/** Both ends belong to it. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** How a user or a group is chosen. */
export interface IdentityRule {
  readonly rule: string;
  readonly ranges: readonly Range[];
}

/** Profiles of seccomp or AppArmor, which policies name in annotations. */
export interface Profiles {
  /** Blank: none is set where a pod sets none. */
  readonly standard: string;
  /** Undefined: the policy does not say. */
  readonly allowed: readonly string[] | undefined;
  /** The same as its author wrote it. */
  readonly said: string;
}

export interface AllowedPath {
  readonly prefix: string;
  readonly isReadOnly: boolean;
}

export interface Policy {
  readonly name: string;
  readonly user: IdentityRule;
  readonly group: IdentityRule;
  readonly fsGroup: IdentityRule;
  readonly supplementalGroups: IdentityRule;
  /** Undefined: pods may choose. */
  readonly seLinux: JsonObject | undefined;
  readonly seccomp: Profiles;
  readonly appArmor: Profiles;
  readonly allowsPrivileged: boolean;
  readonly allowsHostNetwork: boolean;
  readonly allowsHostPid: boolean;
  readonly allowsHostIpc: boolean;
  readonly hostPorts: readonly Range[];
  readonly isRootReadOnly: boolean;
  readonly allowsEscalation: boolean;
  /** What pods get that do not say. */
  readonly escalationStandard: boolean | undefined;
  readonly addedCapabilities: readonly string[];
  readonly droppedCapabilities: readonly string[];
  readonly allowedCapabilities: readonly string[];
  readonly procMounts: readonly string[];
  readonly volumes: readonly string[];
  /** Of the following three lists an empty one allows all. */
  readonly hostPaths: readonly AllowedPath[];
  readonly flexDrivers: readonly string[];
  readonly csiDrivers: readonly string[];
  readonly forbiddenSysctls: readonly string[];
  readonly unsafeSysctls: readonly string[];
  /** Undefined: the policy does not say. */
  readonly runtimeClasses: { readonly allowed: readonly string[]; readonly standard: string } | undefined;
}

export const MUST_RUN_AS = 'MustRunAs';
export const MAY_RUN_AS = 'MayRunAs';
export const NOT_ROOT = 'MustRunAsNonRoot';
const ANY_RULE = 'RunAsAny';
const USUAL_PROC_MOUNTS = ['Default'];

/** Undefined for a policy that nothing can comply with, since a rule of it lacks what it is about: it counts for nobody. */
export function policyOf(object: JsonObject, { labelDomain }: Dialect): Policy | undefined {
  const spec = partAt(object, 'spec');
  const { annotations = {}, name = '' } = metadataOf(object);
  const identities = {
    user: identityOf(spec, 'runAsUser'),
    group: identityOf(spec, 'runAsGroup'),
    fsGroup: identityOf(spec, 'fsGroup'),
    supplementalGroups: identityOf(spec, 'supplementalGroups'),
  };
  const seLinux = partAt(spec, 'seLinux');
  const isSeLinuxSet = textAt(seLinux, 'rule') === MUST_RUN_AS;
  if (!Object.values(identities).every(isWhole) || (isSeLinuxSet && seLinux.seLinuxOptions === undefined))
    return undefined;
  return {
    name,
    ...identities,
    seLinux: isSeLinuxSet ? partAt(seLinux, 'seLinuxOptions') : undefined,
    seccomp: profilesOf(annotations, `seccomp.security.alpha.${labelDomain}/`),
    appArmor: profilesOf(annotations, `apparmor.security.beta.${labelDomain}/`),
    ...flagsOf(spec),
    ...listsOf(spec),
  };
}

function flagsOf(spec: JsonObject) {
  return {
    allowsPrivileged: booleanAt(spec, 'privileged'),
    allowsHostNetwork: booleanAt(spec, 'hostNetwork'),
    allowsHostPid: booleanAt(spec, 'hostPID'),
    allowsHostIpc: booleanAt(spec, 'hostIPC'),
    isRootReadOnly: booleanAt(spec, 'readOnlyRootFilesystem'),
    allowsEscalation: booleanAt(spec, 'allowPrivilegeEscalation', true),
    escalationStandard:
      typeof spec.defaultAllowPrivilegeEscalation === 'boolean' ? spec.defaultAllowPrivilegeEscalation : undefined,
  };
}

function listsOf(spec: JsonObject) {
  const procMounts = textsAt(spec, 'allowedProcMountTypes');
  const classes = spec.runtimeClass === undefined ? undefined : partAt(spec, 'runtimeClass');
  return {
    hostPorts: rangesAt(spec, 'hostPorts'),
    addedCapabilities: textsAt(spec, 'defaultAddCapabilities'),
    droppedCapabilities: textsAt(spec, 'requiredDropCapabilities'),
    allowedCapabilities: textsAt(spec, 'allowedCapabilities'),
    procMounts: procMounts.length === 0 ? USUAL_PROC_MOUNTS : procMounts,
    volumes: textsAt(spec, 'volumes'),
    hostPaths: partsAt(spec, 'allowedHostPaths').map((path) => ({
      prefix: textAt(path, 'pathPrefix'),
      isReadOnly: booleanAt(path, 'readOnly'),
    })),
    flexDrivers: partsAt(spec, 'allowedFlexVolumes').map((volume) => textAt(volume, 'driver')),
    csiDrivers: partsAt(spec, 'allowedCSIDrivers').map((driver) => textAt(driver, 'name')),
    forbiddenSysctls: textsAt(spec, 'forbiddenSysctls'),
    unsafeSysctls: textsAt(spec, 'allowedUnsafeSysctls'),
    runtimeClasses: classes && {
      allowed: textsAt(classes, 'allowedRuntimeClassNames'),
      standard: textAt(classes, 'defaultRuntimeClassName'),
    },
  };
}

function identityOf(spec: JsonObject, member: string): IdentityRule {
  const rule = partAt(spec, member);
  return { rule: textAt(rule, 'rule', ANY_RULE), ranges: rangesAt(rule, 'ranges') };
}

function isWhole({ rule, ranges }: IdentityRule): boolean {
  return ranges.length > 0 || (rule !== MUST_RUN_AS && rule !== MAY_RUN_AS);
}

function rangesAt(object: JsonObject, member: string): readonly Range[] {
  return partsAt(object, member).map((range) => ({ min: numberAt(range, 'min'), max: numberAt(range, 'max') }));
}

function profilesOf(annotations: Readonly<Record<string, string>>, prefix: string): Profiles {
  const said = annotations[`${prefix}allowedProfileNames`];
  return { standard: annotations[`${prefix}defaultProfileName`] ?? '', allowed: said?.split(','), said: said ?? '' };
}

export function isWithin(ranges: readonly Range[], id: number): boolean {
  return ranges.some(({ min, max }) => id >= min && id <= max);
}
