// SecurityContextDeny: pods do not choose users, groups and SELinux labels.
import { isJsonObject } from '../../../../api/json/json-value.ts';
import { partAt } from '../../../../api/json/object-fields.ts';
import type { Attributes } from '../../attributes.ts';
import { forbidNamed } from '../forbid.ts';
import type { AdmissionPluginKind } from '../plugin.ts';
import { containersOf } from '../pod-containers.ts';

/** Members that are refused, as messages call them. */
const OF_PODS = [
  ['supplementalGroups', 'SupplementalGroups'],
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
  ['fsGroup', 'FSGroup'],
] as const;
const OF_CONTAINERS = [
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
] as const;

function refuse(attributes: Attributes): void {
  const spec = partAt(attributes.object, 'spec');
  const ofPod = partAt(spec, 'securityContext');
  for (const [member, spoken] of OF_PODS)
    if (isSet(ofPod[member])) throw forbidNamed(attributes, `pod.Spec.SecurityContext.${spoken} is forbidden`);
  for (const { container } of containersOf(spec)) {
    const own = partAt(container, 'securityContext');
    for (const [member, spoken] of OF_CONTAINERS)
      if (isSet(own[member])) throw forbidNamed(attributes, `SecurityContext.${spoken} is forbidden`);
  }
}

function isSet(value: unknown): boolean {
  return typeof value === 'number' || isJsonObject(value) || Array.isArray(value);
}

export const securityContextDeny: AdmissionPluginKind = {
  name: 'SecurityContextDeny',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods'] }],
  create: () => ({ validate: refuse }),
};
