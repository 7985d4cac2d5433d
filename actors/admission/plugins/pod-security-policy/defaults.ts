// What a policy makes of a pod that leaves things open. Nothing that a pod says is changed; whether it may say that is in
// rules.ts. Of seccomp it sets the annotation: a new pod gets the field with it (api/pods/seccomp.ts), and one that is there already
// stays as it is. Pure.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asObject, partAt, textAt, textsAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { podSeccompKey } from '../../../../api/pods/seccomp.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import { withContainers } from '../pod-containers.ts';
import { type IdentityRule, MUST_RUN_AS, NOT_ROOT, type Policy } from './policy.ts';
import { appArmorKey, podProfile } from './profiles.ts';

/** The pod with what it leaves open set as the policy has it; an equal one where it leaves nothing open. */
export function withDefaults(pod: JsonObject, policy: Policy, dialect: Dialect): JsonObject {
  const before = metadataOf(pod).annotations ?? {};
  const annotations: Record<string, string> = {};
  const spec = partAt(pod, 'spec');
  const seccomp = podProfile(pod, dialect) || policy.seccomp.standard;
  if (seccomp !== '') annotations[podSeccompKey(dialect)] = seccomp;
  const context = merged(asObject(spec.securityContext), podDefaults(asObject(spec.securityContext), policy));
  const next = withContainers(
    merged(spec, {
      ...(Object.keys(context).length === 0 ? undefined : { securityContext: context }),
      ...runtimeClass(spec, policy),
    }),
    (container) => {
      const key = appArmorKey(dialect, textAt(container, 'name'));
      if (policy.appArmor.standard !== '' && !before[key]) annotations[key] = policy.appArmor.standard;
      const own = asObject(container.securityContext);
      const added = containerDefaults(own, context, policy);
      return Object.keys(added).length === 0 ? container : { ...container, securityContext: { ...own, ...added } };
    },
  );
  if (Object.entries(annotations).every(([key, value]) => before[key] === value)) return { ...pod, spec: next };
  const metadata = { ...metadataOf(pod), annotations: { ...before, ...annotations } };
  return { ...pod, metadata, spec: next };
}

/** The pod with the empty list of supplemental groups that it was sent with: its creator leaves nothing open there. */
export function withNoGroups(pod: JsonObject): JsonObject {
  const spec = partAt(pod, 'spec');
  return { ...pod, spec: { ...spec, securityContext: { ...asObject(spec.securityContext), supplementalGroups: [] } } };
}

/** The pod as it is stored, where an empty list says nothing. */
export function withoutNoGroups(pod: JsonObject): JsonObject {
  const spec = partAt(pod, 'spec');
  const { supplementalGroups: _none, ...securityContext } = asObject(spec.securityContext);
  return { ...pod, spec: { ...spec, securityContext } };
}

function merged(object: JsonObject, added: JsonObject): JsonObject {
  return Object.keys(added).length === 0 ? object : { ...object, ...added };
}

function podDefaults(context: JsonObject, policy: Policy): JsonObject {
  const { fsGroup, supplementalGroups, seLinux } = policy;
  const group = firstOf(fsGroup);
  const supplemental = firstOf(supplementalGroups);
  return {
    ...(context.supplementalGroups === undefined && supplemental !== undefined
      ? { supplementalGroups: [supplemental] }
      : undefined),
    ...(context.fsGroup === undefined && group !== undefined ? { fsGroup: group } : undefined),
    ...(context.seLinuxOptions === undefined && seLinux !== undefined ? { seLinuxOptions: seLinux } : undefined),
  };
}

function runtimeClass(spec: JsonObject, { runtimeClasses }: Policy): JsonObject {
  const standard = runtimeClasses?.standard ?? '';
  return spec.runtimeClassName === undefined && standard !== '' ? { runtimeClassName: standard } : {};
}

/** What holds for the whole pod holds for its containers, and is not set again. */
function containerDefaults(own: JsonObject, context: JsonObject, policy: Policy): JsonObject {
  const user = own.runAsUser ?? context.runAsUser ?? firstOf(policy.user);
  const group = own.runAsGroup ?? context.runAsGroup ?? firstOf(policy.group);
  const needsNotRoot =
    policy.user.rule === NOT_ROOT && user === undefined && (own.runAsNonRoot ?? context.runAsNonRoot) === undefined;
  const capabilities = capabilitiesFor(own, policy);
  const escalation = policy.escalationStandard ?? (policy.allowsEscalation ? undefined : false);
  return {
    ...(user === (own.runAsUser ?? context.runAsUser) ? undefined : { runAsUser: user }),
    ...(group === (own.runAsGroup ?? context.runAsGroup) ? undefined : { runAsGroup: group }),
    ...(needsNotRoot ? { runAsNonRoot: true } : undefined),
    ...(capabilities && { capabilities }),
    ...(policy.isRootReadOnly && own.readOnlyRootFilesystem === undefined
      ? { readOnlyRootFilesystem: true }
      : undefined),
    ...(own.allowPrivilegeEscalation === undefined && escalation !== undefined
      ? { allowPrivilegeEscalation: escalation }
      : undefined),
  };
}

/** Undefined where the container has all of them. */
function capabilitiesFor(own: JsonObject, policy: Policy): JsonObject | undefined {
  const given = asObject(own.capabilities);
  const drop = new Set(textsAt(given, 'drop'));
  const add = new Set(textsAt(given, 'add'));
  const [givenDrops, givenAdds] = [drop.size, add.size];
  // What a container drops is not added to it.
  for (const one of policy.addedCapabilities) if (!drop.has(one)) add.add(one);
  for (const one of policy.droppedCapabilities) drop.add(one);
  if (drop.size === givenDrops && add.size === givenAdds) return undefined;
  return {
    ...(add.size === 0 ? undefined : { add: [...add].sort() }),
    ...(drop.size === 0 ? undefined : { drop: [...drop].sort() }),
  };
}

function firstOf({ rule, ranges }: IdentityRule): number | undefined {
  return rule === MUST_RUN_AS ? ranges[0]!.min : undefined;
}
