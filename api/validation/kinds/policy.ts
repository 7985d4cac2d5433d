// Rules of disruption budgets and pod security policies.
import type { JsonObject } from '../../json/json-value.ts';
import { isSet } from '../../json/object-fields.ts';
import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { quote } from '../../status/failures.ts';
import { shownList } from '../../status/shown-value.ts';
import { CSI_DRIVER_LENGTH_MAX, csiDriverProblems, SYSCTL_LENGTH_MAX, sysctlProblems } from '../field-formats.ts';
import { distinct } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';
import { appArmorProblems, seccompProblems } from './profiles.ts';
import { atMostAll } from './update-strategies.ts';

interface BudgetSpec {
  readonly minAvailable?: number | string | null;
  readonly maxUnavailable?: number | string | null;
}

const oneBound: Rule<BudgetSpec> = ({ minAvailable, maxUnavailable }, at) => {
  if (isSet(minAvailable) && isSet(maxUnavailable)) {
    at.invalid('', { minAvailable, maxUnavailable }, 'minAvailable and maxUnavailable cannot be both set');
  }
};

const transition: Rule<{ readonly lastTransitionTime?: string | null }> = ({ lastTransitionTime }, at) => {
  if (!isSet(lastTransitionTime)) at.required('lastTransitionTime', 'must be set');
};

const conditionTypes = distinct<{ readonly type?: string }>(
  ({ type }) => type,
  (type, _condition, at) => at.duplicate('type', type),
);

const BOUND = { format: 'intOrPercent', rules: [atMostAll] } as const;
const COUNT = { min: 0 } as const;

interface IdStrategy {
  readonly rule?: string;
  readonly ranges?: readonly { readonly min?: number; readonly max?: number }[];
}

const idRanges: Rule<IdStrategy> = ({ ranges = [] }, at) => {
  for (const [index, { min = 0, max = 0 }] of ranges.entries()) {
    if (min < 0) at.invalid(`ranges[${index}].min`, min, 'min cannot be negative');
    if (max < 0) at.invalid(`ranges[${index}].max`, max, 'max cannot be negative');
    if (min > max) at.invalid(`ranges[${index}].min`, min, 'min cannot be greater than max');
  }
};

/** A strategy has one of these rules; one that has none is none of them. */
const oneOf =
  (...rules: readonly string[]): Rule<IdStrategy> =>
  ({ rule = '' }, at) => {
    if (!rules.includes(rule)) at.notSupported('rule', rule, rules);
  };

const NO_RANGES = shownList('policy.IDRange', []);

const groupRanges: Rule<IdStrategy> = ({ rule = '', ranges = [] }, at) => {
  if (rule === 'RunAsAny') {
    if (ranges.length > 0) at.invalid('ranges', ranges, 'Ranges must be empty');
  } else if ((rule === 'MustRunAs' || rule === 'MayRunAs') && ranges.length === 0) {
    at.invalid('ranges', NO_RANGES, 'must provide at least one range');
  }
};

interface SecurityPolicy {
  readonly defaultAddCapabilities?: readonly string[];
  readonly requiredDropCapabilities?: readonly string[];
  readonly allowedCapabilities?: readonly string[];
  readonly allowPrivilegeEscalation?: boolean | null;
  readonly defaultAllowPrivilegeEscalation?: boolean | null;
  readonly allowedUnsafeSysctls?: readonly string[];
  readonly forbiddenSysctls?: readonly string[];
  readonly runtimeClass?: {
    readonly allowedRuntimeClassNames?: readonly string[] | null;
    readonly defaultRuntimeClassName?: string | null;
  };
}

const ANY = '*';

const capabilities: Rule<SecurityPolicy> = (spec, at) => {
  const {
    defaultAddCapabilities: added = [],
    requiredDropCapabilities: dropped = [],
    allowedCapabilities: allowed = [],
  } = spec;
  if (allowed.includes(ANY) && dropped.length > 0) {
    at.invalid('requiredDropCapabilities', dropped, 'must be empty when all capabilities are allowed by a wildcard');
  }
  const drops = new Set(dropped);
  for (const [member, list] of [
    ['defaultAddCapabilities', added],
    ['allowedCapabilities', allowed],
  ] as const) {
    for (const capability of list) {
      if (capability === ANY || !drops.has(capability)) continue;
      at.invalid(member, capability, `capability is listed in ${member} and requiredDropCapabilities`);
    }
  }
};

const escalation: Rule<SecurityPolicy> = (
  { defaultAllowPrivilegeEscalation: byDefault, allowPrivilegeEscalation: allowed },
  at,
) => {
  if (byDefault === true && allowed === false) {
    at.invalid(
      'defaultAllowPrivilegeEscalation',
      true,
      'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true',
    );
  }
};

function checkSysctls(names: readonly string[], member: string, at: Report): void {
  const hasAny = names.includes(ANY);
  for (const [index, name] of names.entries()) {
    if (name === '') at.invalid(`${member}[${index}]`, name, 'empty sysctl not allowed');
    else if (name !== ANY) {
      const stem = name.replace(/\.?\*$/, '');
      const problems = name.length > SYSCTL_LENGTH_MAX ? ['too long'] : sysctlProblems(stem);
      if (problems.length > 0) at.problems(`${member}[${index}]`, name, problems);
    }
  }
  if (hasAny && names.length > 1) {
    at.invalid(member, names, "if '*' is present, must not specify other sysctls");
  }
}

function covers(pattern: string, name: string): boolean {
  return pattern.endsWith(ANY) ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** Lists longer than this are not compared with each other. */
const SYSCTLS_COMPARED_MAX = 1000;

const sysctls: Rule<SecurityPolicy> = (
  { allowedUnsafeSysctls: allowed = [], forbiddenSysctls: forbidden = [] },
  at,
) => {
  checkSysctls(allowed, 'allowedUnsafeSysctls', at);
  checkSysctls(forbidden, 'forbiddenSysctls', at);
  if (allowed.length * forbidden.length > SYSCTLS_COMPARED_MAX ** 2) {
    at.tooMany('allowedUnsafeSysctls', allowed.length, SYSCTLS_COMPARED_MAX);
    return;
  }
  for (const [index, name] of allowed.entries()) {
    if (forbidden.some((pattern) => covers(pattern, name) || covers(name, pattern))) {
      at.invalid(`allowedUnsafeSysctls[${index}]`, name, 'sysctl overlaps with a forbidden one');
    }
  }
};

const runtimeClasses: Rule<SecurityPolicy> = ({ runtimeClass }, at) => {
  if (!runtimeClass) return;
  const names = runtimeClass.allowedRuntimeClassNames ?? [];
  const { defaultRuntimeClassName: byDefault } = runtimeClass;
  const path = 'runtimeClass.allowedRuntimeClassNames';
  const isAny = names.includes(ANY);
  const met = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (name !== ANY) at.problems(`${path}[${index}]`, name, textProblems('dns1123Subdomain', name));
    if (met.has(name)) at.duplicate(`${path}[${index}]`, name);
    met.add(name);
  }
  if (isSet(byDefault)) {
    at.problems('runtimeClass.defaultRuntimeClassName', byDefault, textProblems('dns1123Subdomain', byDefault));
    if (!isAny && !met.has(byDefault)) at.required(path, `default ${quote(byDefault)} must be allowed`);
  }
  if (isAny && names.length > 1)
    at.invalid(path, names, "if '*' is present, must not specify other RuntimeClass names");
};

/** The profiles that a policy gives pods, and those that it lets them have. */
const profiles: Rule<JsonObject> = (policy, at) => {
  const { annotations } = metadataOf(policy);
  if (annotations === undefined) return;
  const { labelDomain } = at.dialect;
  at.enter('metadata.annotations');
  checkProfiles(annotations, `apparmor.security.beta.${labelDomain}/`, appArmorProblems, at);
  checkProfiles(annotations, `seccomp.security.alpha.${labelDomain}/`, seccompProblems, at, ANY);
  at.leave();
};

function checkProfiles(
  annotations: Readonly<Record<string, string>>,
  prefix: string,
  problemsOf: (profile: string) => readonly string[],
  at: Report,
  any?: string,
): void {
  const standard = `${prefix}defaultProfileName`;
  const allowed = `${prefix}allowedProfileNames`;
  const { [standard]: given = '', [allowed]: list = '' } = annotations;
  if (given !== '') at.problems(`[${standard}]`, given, problemsOf(given));
  if (list === '') return;
  for (const profile of list.split(',')) {
    if (profile !== any) at.problems(`[${allowed}]`, profile, problemsOf(profile));
  }
}

/** In sorted order, as clients are told of them. */
const GROUPS = { rules: [oneOf('MayRunAs', 'MustRunAs', 'RunAsAny'), idRanges] } as const;

/** The members of these lists are told of by paths of their own. */
const flexDrivers: Rule<readonly { readonly driver?: string }[]> = (drivers, at) => {
  for (const [index, { driver = '' }] of drivers.entries()) {
    if (driver === '') at.required(`allowedFlexVolumes[${index}].driver`, 'must specify a driver');
  }
};

const csiDrivers: Rule<readonly { readonly name?: string }[]> = (drivers, at) => {
  for (const [index, { name = '' }] of drivers.entries()) {
    const path = `allowedCSIDriver[${index}].name`;
    if (name === '') at.required(path);
    if (name.length > CSI_DRIVER_LENGTH_MAX) at.tooLong(path, CSI_DRIVER_LENGTH_MAX);
    at.problems(path, name, csiDriverProblems(name));
  }
};

export const policyTypes: RuleTable = {
  'policy.PodDisruptionBudgetSpec': {
    fields: { minAvailable: BOUND, maxUnavailable: BOUND },
    rules: [oneBound, 'minAvailable', 'maxUnavailable', 'selector'],
  },
  'policy/v1.PodDisruptionBudgetStatus': {
    fields: {
      disruptionsAllowed: COUNT,
      currentHealthy: COUNT,
      desiredHealthy: COUNT,
      expectedPods: COUNT,
    },
    rules: ['conditions', 'disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
  },
  'meta/v1.Condition': {
    fields: {
      type: { required: true, format: 'qualifiedName' },
      status: { required: true, enum: true },
      observedGeneration: COUNT,
      reason: { required: true, format: 'conditionReason' },
      message: { bytesMax: 32_768 },
    },
    rules: [conditionTypes, 'type', 'status', 'observedGeneration', transition, 'reason', 'message'],
  },
  'policy/v1beta1.PodSecurityPolicy': { rules: [profiles, 'spec'] },
  'policy/v1beta1.PodSecurityPolicySpec': {
    fields: {
      volumes: { enum: true, reportedAtList: true },
      allowedProcMountTypes: { enum: true },
      allowedFlexVolumes: { rules: [flexDrivers] },
      allowedCSIDrivers: { rules: [csiDrivers] },
    },
    rules: [
      'runAsUser',
      'runAsGroup',
      'seLinux',
      'supplementalGroups',
      'fsGroup',
      'volumes',
      capabilities,
      escalation,
      'allowedProcMountTypes',
      'allowedHostPaths',
      'allowedFlexVolumes',
      'allowedCSIDrivers',
      sysctls,
      runtimeClasses,
    ],
  },
  'policy/v1beta1.RunAsUserStrategyOptions': {
    rules: [oneOf('MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'), idRanges],
  },
  'policy/v1beta1.RunAsGroupStrategyOptions': {
    rules: [oneOf('MustRunAs', 'RunAsAny', 'MayRunAs'), groupRanges, idRanges],
  },
  'policy/v1beta1.SELinuxStrategyOptions': { rules: [oneOf('MustRunAs', 'RunAsAny')] },
  'policy/v1beta1.SupplementalGroupsStrategyOptions': GROUPS,
  'policy/v1beta1.FSGroupStrategyOptions': GROUPS,
  'policy/v1beta1.AllowedHostPath': {
    fields: { pathPrefix: { required: 'is required', format: 'noClimbing', reportedAt: '' } },
  },
};
