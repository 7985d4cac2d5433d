// What role-based access control means, said as slowly and plainly as can be, and policies generated from a seed.
import type { AccessAttributes, User } from '../../../../api/authorization/attributes.ts';
import type { PolicyRule } from '../../../../api/authorization/policy-rule.ts';
import { SeededRandom } from '../../../../runtime/simulation/seeded-random.ts';

export interface ReferenceRole {
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly PolicyRule[];
}

export interface ReferenceBinding {
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

export interface ReferencePolicy {
  readonly roles: readonly ReferenceRole[];
  readonly bindings: readonly ReferenceBinding[];
}

/** Goes through all bindings, their subjects and the rules of their roles. */
export function referenceDecides({ roles, bindings }: ReferencePolicy, user: User, access: AccessAttributes): boolean {
  return bindings.some((binding) => {
    const isForCluster = binding.namespace === '';
    if (!isForCluster && (!access.isResource || access.namespace !== binding.namespace)) return false;
    if (!binding.subjects.some((subject) => isSubject(subject, user, binding.namespace))) return false;
    const home = binding.roleRef.kind === 'ClusterRole' ? '' : binding.namespace;
    const role = roles.find(({ namespace, name }) => namespace === home && name === binding.roleRef.name);
    return role?.rules.some((rule) => allows(rule, access)) ?? false;
  });
}

function isSubject(subject: ReferenceBinding['subjects'][number], user: User, bindingNamespace: string): boolean {
  if (subject.kind === 'User') return subject.name === user.name;
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  const namespace = subject.namespace || bindingNamespace;
  return namespace !== '' && user.name === `system:serviceaccount:${namespace}:${subject.name}`;
}

function allows(rule: PolicyRule, access: AccessAttributes): boolean {
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    (list ?? []).includes('*') || (list ?? []).includes(value);
  if (!has(rule.verbs, access.verb)) return false;
  if (!access.isResource) {
    return (rule.nonResourceURLs ?? []).some((url) =>
      url.endsWith('*') ? access.path.startsWith(url.slice(0, -1)) : access.path === url,
    );
  }
  const whole = access.subresource === '' ? access.resource : `${access.resource}/${access.subresource}`;
  const ofAnything = access.subresource === '' ? whole : `*/${access.subresource}`;
  const names = rule.resourceNames ?? [];
  return (
    has(rule.apiGroups, access.group) &&
    (has(rule.resources, whole) || has(rule.resources, ofAnything)) &&
    (names.length === 0 || names.includes(access.name))
  );
}

const VERBS = ['get', 'list', 'create', 'delete', '*'];
const GROUPS = ['', 'apps', '*'];
const RESOURCES = ['pods', 'pods/log', 'secrets', 'deployments', 'deployments/scale', '*/scale', '*'];
const NAMES = ['a', 'b', 'c'];
const NAMESPACES = ['n1', 'n2'];
const URLS = ['/healthz', '/healthz/*', '/logs/*', '*', '/metrics'];
const USERS = ['u1', 'u2', 'system:serviceaccount:n1:a', 'system:serviceaccount:n2:b'];
const USER_GROUPS = ['g1', 'g2', 'g3'];

/** A small policy, and questions that have a fair chance of being allowed by it. */
export function generatedPolicy(seed: number): {
  readonly policy: ReferencePolicy;
  readonly questions: readonly { readonly user: User; readonly access: AccessAttributes }[];
} {
  const random = new SeededRandom(seed);
  const below = (count: number): number => Math.floor(random.next() * count);
  const one = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const some = <T>(list: readonly T[], most: number): T[] => [
    ...new Set(Array.from({ length: 1 + below(most) }, () => one(list))),
  ];
  const rule = (): PolicyRule =>
    below(4) === 0
      ? { verbs: some(VERBS, 2), nonResourceURLs: some(URLS, 2) }
      : {
          verbs: some(VERBS, 2),
          apiGroups: some(GROUPS, 2),
          resources: some(RESOURCES, 2),
          ...(below(3) === 0 ? { resourceNames: some(NAMES, 2) } : {}),
        };
  const rules = (): PolicyRule[] => Array.from({ length: 1 + below(3) }, rule);
  const homes = ['', '', ...NAMESPACES];
  const roles = unique(
    Array.from({ length: 1 + below(6) }, () => ({ namespace: one(homes), name: one(NAMES), rules: rules() })),
  );
  const subject = (): ReferenceBinding['subjects'][number] => {
    switch (below(3)) {
      case 0:
        return { kind: 'User', name: one(USERS) };
      case 1:
        return { kind: 'Group', name: one(USER_GROUPS) };
      default:
        return { kind: 'ServiceAccount', name: one(NAMES), ...(below(2) === 0 ? { namespace: one(NAMESPACES) } : {}) };
    }
  };
  const bindings = unique(
    Array.from({ length: 1 + below(8) }, (_, index) => {
      const namespace = one(homes);
      const kind = namespace === '' || below(2) === 0 ? 'ClusterRole' : 'Role';
      const subjects = Array.from({ length: 1 + below(3) }, subject);
      return { namespace, name: `b${index}`, roleRef: { kind, name: one(NAMES) }, subjects };
    }),
  );
  const question = (): { user: User; access: AccessAttributes } => {
    const [resource = '', subresource = ''] = one([
      'pods',
      'pods/log',
      'secrets',
      'deployments/scale',
      'deployments',
    ]).split('/');
    const isResource = below(4) > 0;
    return {
      user: { name: one(USERS), uid: '', groups: some(USER_GROUPS, 2), extra: {} },
      access: {
        verb: one(VERBS.slice(0, 4)),
        isResource,
        group: one(GROUPS.slice(0, 2)),
        version: 'v1',
        resource,
        subresource,
        namespace: one(['', ...NAMESPACES]),
        name: one(['', ...NAMES]),
        path: isResource ? '' : one(['/healthz', '/healthz/ping', '/logs/x', '/metrics', '/other']),
      },
    };
  };
  return { policy: { roles, bindings }, questions: Array.from({ length: 40 }, question) };
}

function unique<T extends { readonly namespace: string; readonly name: string }>(list: readonly T[]): T[] {
  return [...new Map(list.map((item) => [`${item.namespace}/${item.name}`, item])).values()];
}
