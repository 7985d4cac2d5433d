// The roles and bindings that every cluster has (SPEC.md "Authorization"), and how each is set right at a start: rules and
// subjects that are missing are added, what an operator added stays, except that a role is made a sum of others, and an annotation keeps
// an object as it is. Pure.
import { uncovered } from '../../../api/authorization/escalation.ts';
import { rulesOf } from '../../../api/authorization/policy-rule.ts';
import type { BootstrapObject } from '../../../api/bootstrap/bootstrap-object.ts';
import { rbacObjects } from '../../../api/bootstrap/rbac.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import { asList, asObject, asText, isSet } from '../../../api/json/object-fields.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ApiObject } from '../controller.ts';
import { HOOK_BOOTSTRAP_ROLES } from '../hooks.ts';
import type { Correction, Desired } from './desired.ts';

const PLURALS: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
};

/**
 * Bindings that were part of others in earlier releases, by their names: where the other is there, they begin with its subjects, so that
 * who has taken rights away there has taken them away here.
 */
const SPLIT_FROM: Readonly<Record<string, string>> = { 'system:public-info-viewer': 'system:discovery' };

/** The roles and bindings to make, a role before what binds to it. `tellsWho`: as rbacObjects. */
export function desiredRbac(dialect: Dialect, tellsWho: boolean): Desired[] {
  const group = dialect.spell('rbac.authorization.@group');
  const autoupdate = dialect.spell('rbac.authorization.@label/autoupdate');
  return rbacObjects(dialect, tellsWho).map((object) => {
    const resource = PLURALS[object.kind]!;
    const { name, namespace = '' } = object.metadata;
    const storageKey = `${group}/${resource}`;
    const isBinding = object.kind.endsWith('Binding');
    const isKept = (stored: ApiObject): boolean => asObject(metadataOf(stored).annotations)[autoupdate] === 'false';
    const source = isBinding ? SPLIT_FROM[name] : undefined;
    return {
      storageKey,
      target: { group, version: 'v1', resource, subresource: '', namespace, name },
      object,
      hook: HOOK_BOOTSTRAP_ROLES,
      review: 'never',
      correct: (stored, isStart) => {
        if (!isStart || isKept(stored)) return undefined;
        return isBinding ? correctedBinding(stored, object) : correctedRole(stored, object);
      },
      ...(source !== undefined && {
        splitFrom: { key: `${storageKey}//${source}`, body: (other: ApiObject) => splitFrom(other, object, isKept) },
      }),
    };
  });
}

function correctedRole(stored: ApiObject, wanted: BootstrapObject): Correction {
  const missing = uncovered(rulesOf(stored), rulesOf(wanted));
  const metadata = correctedMetadata(stored, wanted);
  const aggregation = asObject(stored.aggregationRule);
  const selectors = asList(aggregation.clusterRoleSelectors);
  const missingSelectors = asList(asObject(wanted.aggregationRule).clusterRoleSelectors).filter(
    (selector) => !selectors.some((one) => deepEqual(one, selector)),
  );
  // What sums up others would lose its rules again.
  const isSumByMistake = isSet(stored.aggregationRule) && !isSet(wanted.aggregationRule);
  if (missing.length === 0 && missingSelectors.length === 0 && metadata === undefined && !isSumByMistake)
    return undefined;
  const { aggregationRule: _sum, ...plain } = stored;
  return {
    ...(isSumByMistake ? plain : stored),
    metadata: metadata ?? stored.metadata,
    ...(missing.length === 0 ? {} : { rules: [...asList(stored.rules), ...missing] }),
    ...(missingSelectors.length === 0
      ? {}
      : { aggregationRule: { ...aggregation, clusterRoleSelectors: [...selectors, ...missingSelectors] } }),
  };
}

/** What a binding points at never changes: one that points elsewhere is made anew. */
function correctedBinding(stored: ApiObject, wanted: BootstrapObject): Correction {
  if (!deepEqual(stored.roleRef, wanted.roleRef)) return 'replace';
  const subjects = asList(stored.subjects);
  const missing = asList(wanted.subjects).filter((subject) => !subjects.some((one) => isSame(one, subject)));
  const metadata = correctedMetadata(stored, wanted);
  if (missing.length === 0 && metadata === undefined) return undefined;
  return { ...stored, metadata: metadata ?? stored.metadata, subjects: [...subjects, ...missing] };
}

/** A binding that begins as another one is, and is set right at once unless that is kept as it is. */
function splitFrom(source: ApiObject, wanted: BootstrapObject, isKept: (binding: ApiObject) => boolean): ApiObject {
  const { labels, annotations } = metadataOf(source);
  const split = { ...wanted, metadata: { name: wanted.metadata.name, labels, annotations }, subjects: source.subjects };
  const corrected = isKept(source) ? undefined : correctedBinding(split, wanted);
  return corrected === undefined || corrected === 'replace' ? split : corrected;
}

function isSame(left: unknown, right: unknown): boolean {
  const [one, other] = [asObject(left), asObject(right)];
  return ['kind', 'name', 'namespace'].every((field) => asText(one[field]) === asText(other[field]));
}

/** With the labels and annotations that are missing; undefined where none is. What is there stays as it is. */
function correctedMetadata(stored: ApiObject, wanted: BootstrapObject): ApiObject | undefined {
  const metadata = metadataOf(stored);
  const labels = { ...wanted.metadata.labels, ...asObject(metadata.labels) };
  const annotations = { ...wanted.metadata.annotations, ...asObject(metadata.annotations) };
  if (deepEqual(labels, asObject(metadata.labels)) && deepEqual(annotations, asObject(metadata.annotations)))
    return undefined;
  return { ...metadata, labels, annotations };
}
