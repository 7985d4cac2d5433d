// What a write of a role or a binding grants to others (SPEC.md "Authorization" 4): nobody may grant more than they hold,
// unless they may escalate or bind. Judged by the auth actor.
import type { Grant } from '../../authorization/grant.ts';
import { rulesOf } from '../../authorization/policy-rule.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asList, asObject, asText } from '../../json/object-fields.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { Strategy } from '../strategy.ts';

/** What garbage collection and the server itself change: it grants nothing. */
function withoutUpkeep(object: JsonObject): JsonObject {
  const { ownerReferences, finalizers, managedFields, resourceVersion, generation, ...metadata } = metadataOf(
    object,
  ) as Readonly<Record<string, unknown>>;
  return { ...object, metadata };
}

function isUpkeep(object: JsonObject, old: JsonObject | undefined): boolean {
  return old !== undefined && deepEqual(withoutUpkeep(object), withoutUpkeep(old));
}

function isSum(role: JsonObject | undefined): boolean {
  return asList(asObject(role?.aggregationRule).clusterRoleSelectors).length > 0;
}

function roleGrant(resource: Grant['resource']): NonNullable<Strategy['grants']> {
  return (object, old) => {
    if (isUpkeep(object, old)) return undefined;
    const name = metadataOf(object).name ?? '';
    return { verb: 'escalate', resource, name, rules: rulesOf(object), isSum: isSum(object) || isSum(old) };
  };
}

function bindingGrant(object: JsonObject, old: JsonObject | undefined): Grant | undefined {
  if (isUpkeep(object, old)) return undefined;
  const { kind, name } = asObject(object.roleRef);
  const roleRef = { kind: asText(kind), name: asText(name) };
  const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  return { verb: 'bind', resource, name: roleRef.name, roleRef, rules: [], isSum: false };
}

export const role: Strategy = { grants: roleGrant('roles') };
export const clusterRole: Strategy = { grants: roleGrant('clusterroles') };
export const binding: Strategy = { grants: bindingGrant };
