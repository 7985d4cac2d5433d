// Rules of roles and bindings. Whether a writer may grant what a role grants is for authorization.
import type { JsonObject } from '../../json/json-value.ts';
import { pathSegmentProblems, textProblems } from '../../metadata/formats.ts';
import type { Report } from '../report.ts';
import type { ChangeTable, Rule, RuleTable } from '../rule.ts';
import { isReadable, type LabelSelector } from './labels.ts';

interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const policyRule: Rule<PolicyRule> = (rule, at) => {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (nonResourceURLs.length > 0) {
    if (at.root.kind === 'Role')
      at.invalid('nonResourceURLs', nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs');
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs';
      at.invalid('nonResourceURLs', nonResourceURLs, detail);
    }
    return;
  }
  if (apiGroups.length === 0) at.required('apiGroups', 'resource rules must supply at least one api group');
  if (resources.length === 0) at.required('resources', 'resource rules must supply at least one resource');
};

interface ClusterRole {
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly object[] };
}

const clusterRole: Rule<ClusterRole> = ({ aggregationRule }, at) => {
  if (aggregationRule && (aggregationRule.clusterRoleSelectors?.length ?? 0) === 0) {
    at.required(
      'aggregationRule.clusterRoleSelectors',
      'at least one clusterRoleSelector required if aggregationRule is non-nil',
    );
  }
};

const readableSelectors: Rule<readonly LabelSelector[]> = (selectors, at) => {
  for (const [index, selector] of selectors.entries()) {
    if (!isReadable(selector)) at.invalid(`[${index}]`, null, 'invalid label selector.');
  }
};

interface Subject {
  readonly kind?: string;
  readonly apiGroup?: string;
  readonly name?: string;
  readonly namespace?: string;
}

interface Binding extends JsonObject {
  readonly roleRef?: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly Subject[];
}

/** The oldest version names a version of the group instead of the group. */
type GroupField = 'apiGroup' | 'apiVersion';

function binding(roleKinds: readonly string[], isNamespaced: boolean, groupField: GroupField): Rule<Binding> {
  return ({ roleRef, subjects }, at) => {
    const { apiGroup = '', kind = '', name = '' } = roleRef ?? {};
    const group = at.dialect.spell('rbac.authorization.@group');
    if (apiGroup !== group) at.notSupported('roleRef.apiGroup', apiGroup, [group]);
    if (!roleKinds.includes(kind)) at.notSupported('roleRef.kind', kind, roleKinds);
    if (name === '') at.required('roleRef.name');
    else at.problems('roleRef.name', name, pathSegmentProblems(name));
    for (const [index, subject] of (subjects ?? []).entries()) {
      checkSubject(subject, `subjects[${index}]`, group, isNamespaced, groupField, at);
    }
  };
}

function checkSubject(
  subject: Subject,
  path: string,
  group: string,
  isNamespaced: boolean,
  groupField: GroupField,
  at: Report,
): void {
  const { kind = '', apiGroup = '', name = '', namespace = '' } = subject;
  if (name === '') at.required(`${path}.name`);
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') at.problems(`${path}.name`, name, textProblems('dns1123Subdomain', name));
      if (apiGroup !== '' && groupField === 'apiGroup') at.notSupported(`${path}.apiGroup`, apiGroup, ['']);
      if (!isNamespaced && namespace === '') at.required(`${path}.namespace`);
      return;
    case 'User':
    case 'Group':
      if (groupField === 'apiGroup' && apiGroup !== group) at.notSupported(`${path}.apiGroup`, apiGroup, [group]);
      return;
    default:
      at.notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']);
  }
}

const ROLE_KINDS = ['Role', 'ClusterRole'];
const CLUSTER_ROLE_KINDS = ['ClusterRole'];

export const rbacTypes: RuleTable = {
  'rbac.ClusterRole': { rules: ['rules', clusterRole, 'aggregationRule'] },
  'rbac.AggregationRule': { fields: { clusterRoleSelectors: { rules: [readableSelectors] } } },
  'rbac.PolicyRule': {
    fields: { verbs: { required: 'verbs must contain at least one value' } },
    rules: ['verbs', policyRule],
  },
  'rbac.RoleBinding': { rules: [binding(ROLE_KINDS, true, 'apiGroup')] },
  'rbac.ClusterRoleBinding': { rules: [binding(CLUSTER_ROLE_KINDS, false, 'apiGroup')] },
  'rbac/v1alpha1.RoleBinding': { rules: [binding(ROLE_KINDS, true, 'apiVersion')] },
  'rbac/v1alpha1.ClusterRoleBinding': { rules: [binding(CLUSTER_ROLE_KINDS, false, 'apiVersion')] },
};

const FIXED_ROLE = { fields: { roleRef: { immutable: true, text: 'cannot change roleRef' } } } as const;

export const rbacUpdates: ChangeTable = { 'rbac.RoleBinding': FIXED_ROLE, 'rbac.ClusterRoleBinding': FIXED_ROLE };
