// Where a pod does not comply with a policy, in the order in which its fields are looked at. Pure.
import { isJsonObject, type JsonObject } from '../../../../api/json/json-value.ts';
import {
  asObject,
  booleanAt,
  numberAt,
  partAt,
  partsAt,
  setNumberAt,
  textAt,
  textsAt,
} from '../../../../api/json/object-fields.ts';
import { quote } from '../../../../api/status/failures.ts';
import { type FieldError, forbidden, invalid } from '../../../../api/status/field-error.ts';
import { shownList } from '../../../../api/status/shown-value.ts';
import { containersOf, type PlacedContainer } from '../pod-containers.ts';
import { groupProblems, seLinuxProblems, userProblems } from './identities.ts';
import { isWithin, type Policy, type Range } from './policy.ts';
import { appArmorProblems, containerSeccompProblems, podSeccompProblems } from './profiles.ts';
import { type VolumeSettings, volumeProblems } from './volumes.ts';

const CONTEXT = 'spec.securityContext';
const SYSCTLS = 'pod.spec.securityContext.sysctls';
const ANY_CLASS = '*';
const ALL_CAPABILITIES = '*';

/** Those that change nothing for other pods. */
const SAFE_SYSCTLS: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
];

/** What is wrong with a pod; nothing where it complies. */
export function problemsOf(pod: JsonObject, policy: Policy, settings: VolumeSettings): readonly FieldError[] {
  const { dialect } = settings;
  const spec = partAt(pod, 'spec');
  const context = partAt(spec, 'securityContext');
  const fsGroup = setNumberAt(context, 'fsGroup');
  return [
    ...groupProblems(`${CONTEXT}.fsGroup`, policy.fsGroup, fsGroup === undefined ? [] : [fsGroup]),
    ...groupProblems(
      `${CONTEXT}.supplementalGroups`,
      policy.supplementalGroups,
      numbersAt(context, 'supplementalGroups'),
    ),
    ...podSeccompProblems(pod, policy.seccomp, dialect),
    ...seLinuxProblems(`${CONTEXT}.seLinuxOptions`, policy.seLinux, partOrNone(context.seLinuxOptions)),
    ...hostProblems(spec, policy),
    ...sysctlProblems(context, policy),
    ...volumeProblems(spec, policy, settings),
    ...runtimeClassProblems(spec, policy),
    ...containersOf(spec).flatMap((placed) => [
      ...identityProblems(placed, context, policy),
      ...appArmorProblems(pod, placed.container, policy.appArmor, dialect),
      ...containerSeccompProblems(pod, placed.container, policy.seccomp, dialect),
      ...privilegeProblems(placed, policy),
    ]),
  ];
}

function numbersAt(object: JsonObject, member: string): readonly number[] {
  const list = object[member];
  return Array.isArray(list) ? list.filter((one): one is number => typeof one === 'number') : [];
}

function partOrNone(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function hostProblems(spec: JsonObject, policy: Policy): readonly FieldError[] {
  const uses = [
    ['hostNetwork', 'Host network', policy.allowsHostNetwork],
    ['hostPID', 'Host PID', policy.allowsHostPid],
    ['hostIPC', 'Host IPC', policy.allowsHostIpc],
  ] as const;
  return uses
    .filter(([member, , isAllowed]) => !isAllowed && spec[member] === true)
    .map(([member, spoken]) => invalid(`${CONTEXT}.${member}`, true, `${spoken} is not allowed to be used`));
}

function sysctlProblems(context: JsonObject, { forbiddenSysctls, unsafeSysctls }: Policy): readonly FieldError[] {
  return partsAt(context, 'sysctls').flatMap((sysctl, index) => {
    const name = textAt(sysctl, 'name');
    if (isNamed(forbiddenSysctls, name))
      return [forbidden(`${SYSCTLS}[${index}]`, `sysctl ${quote(name)} is not allowed`)];
    if (SAFE_SYSCTLS.includes(name) || isNamed(unsafeSysctls, name)) return [];
    return [forbidden(`${SYSCTLS}[${index}]`, `unsafe sysctl ${quote(name)} is not allowed`)];
  });
}

/** Names may end with a star, for all that begin so. */
function isNamed(names: readonly string[], name: string): boolean {
  return names.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name));
}

function runtimeClassProblems(spec: JsonObject, { runtimeClasses }: Policy): readonly FieldError[] {
  const { runtimeClassName: name } = spec;
  if (runtimeClasses === undefined || typeof name !== 'string') return [];
  const { allowed } = runtimeClasses;
  return allowed.includes(ANY_CLASS) || allowed.includes(name) ? [] : [invalid('spec.runtimeClassName', name)];
}

/** As whom a container runs: as it says, or else as its pod does. */
function identityProblems(
  { path, container }: PlacedContainer,
  context: JsonObject,
  policy: Policy,
): readonly FieldError[] {
  const at = `${path}.securityContext`;
  const effective = { ...context, ...asObject(container.securityContext) };
  const group = setNumberAt(effective, 'runAsGroup');
  const { runAsNonRoot } = effective as { runAsNonRoot?: boolean };
  return [
    ...userProblems(at, policy.user, setNumberAt(effective, 'runAsUser'), runAsNonRoot),
    ...groupProblems(at, policy.group, group === undefined ? [] : [group]),
    ...seLinuxProblems(`${at}.seLinuxOptions`, policy.seLinux, partOrNone(effective.seLinuxOptions)),
  ];
}

/** What a container may do beside what others may. */
function privilegeProblems({ path, container }: PlacedContainer, policy: Policy): readonly FieldError[] {
  const own = asObject(container.securityContext);
  const at = `${path}.securityContext`;
  const procMount = textAt(own, 'procMount', 'Default');
  const { allowPrivilegeEscalation: escalation } = own;
  return [
    ...(!policy.allowsPrivileged && booleanAt(own, 'privileged')
      ? [invalid(`${at}.privileged`, true, 'Privileged containers are not allowed')]
      : []),
    ...(policy.procMounts.includes(procMount)
      ? []
      : [invalid(`${at}.procMount`, procMount, 'ProcMountType is not allowed')]),
    ...capabilityProblems(`${at}.capabilities`, partOrNone(own.capabilities), policy),
    ...hostPortProblems(container, path, policy.hostPorts),
    ...readOnlyProblems(`${at}.readOnlyRootFilesystem`, own.readOnlyRootFilesystem, policy),
    ...(!policy.allowsEscalation && escalation !== false
      ? [
          invalid(
            `${at}.allowPrivilegeEscalation`,
            escalation,
            'Allowing privilege escalation for containers is not allowed',
          ),
        ]
      : []),
  ];
}

function capabilityProblems(path: string, own: JsonObject | undefined, policy: Policy): readonly FieldError[] {
  const { addedCapabilities: added, droppedCapabilities: dropped, allowedCapabilities: allowed } = policy;
  if (own === undefined) {
    if (added.length === 0 && dropped.length === 0) return [];
    return [invalid(path, undefined, 'required capabilities are not set on the securityContext')];
  }
  if (allowed.includes(ALL_CAPABILITIES)) return [];
  const drops = textsAt(own, 'drop');
  const shown = shownList('core.Capability', drops);
  return [
    ...textsAt(own, 'add')
      .filter((one) => !added.includes(one) && !allowed.includes(one))
      .map((one) => invalid(`${path}.add`, one, 'capability may not be added')),
    ...dropped
      .filter((one) => !drops.includes(one))
      .map((one) => invalid(`${path}.drop`, shown, `${one} is required to be dropped but was not found`)),
  ];
}

function hostPortProblems(container: JsonObject, path: string, allowed: readonly Range[]): readonly FieldError[] {
  return partsAt(container, 'ports')
    .map((port) => numberAt(port, 'hostPort'))
    .filter((port) => port > 0 && !isWithin(allowed, port))
    .map((port) => {
      const ports = allowed.map(({ min, max }) => (min === max ? `${min}` : `${min}-${max}`)).join(',');
      return invalid(
        `${path}.hostPort`,
        port,
        `Host port ${port} is not allowed to be used. Allowed ports: [${ports}]`,
      );
    });
}

function readOnlyProblems(path: string, isReadOnly: unknown, policy: Policy): readonly FieldError[] {
  if (!policy.isRootReadOnly || isReadOnly === true) return [];
  const detail = isReadOnly === false ? 'must be set to true' : 'may not be nil and must be set to true';
  return [invalid(path, isReadOnly, `ReadOnlyRootFilesystem ${detail}`)];
}
