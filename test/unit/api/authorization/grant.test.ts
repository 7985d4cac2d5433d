// What is said against a grant of what its author does not hold, in the words that clients know.
import test from 'ava';
import { type Grant, grantProblem } from '../../../../api/authorization/grant.ts';
import type { PolicyRule } from '../../../../api/authorization/policy-rule.ts';
import { clusterRole } from '../../../../api/strategy/rbac/grants.ts';

const USER = { name: 'ann', uid: '', groups: ['devs'], extra: {} };
const GRANT: Grant = { verb: 'escalate', resource: 'roles', name: 'r', rules: [], isSum: false };
const told = (granted: readonly PolicyRule[], errors: readonly string[] = []): readonly string[] =>
  grantProblem(USER, GRANT, { rules: [], errors }, granted).split('\n').slice(1);

test('what is not held is told by resource with all of its verbs, and by path with each verb apart', (t) => {
  const granted = [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get', 'put'], nonResourceURLs: ['/metrics'] },
  ];
  t.deepEqual(told(granted), [
    '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    '{NonResourceURLs:["/metrics"], Verbs:["put"]}',
  ]);
});

test('what is said twice of a path is told once', (t) => {
  const metrics = { verbs: ['get'], nonResourceURLs: ['/metrics'] };
  t.deepEqual(told([metrics, metrics]), ['{NonResourceURLs:["/metrics"], Verbs:["get"]}']);
});

test('roles that a binding of the author names and that are not there are told as well', (t) => {
  const granted = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
  t.deepEqual(told(granted, ['role.rbac.example.net "x" not found']), [
    '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}; resolution errors: [roles.rbac.example.net "x" not found]',
  ]);
});

const READ: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];
const roleOf = (clusterRoleSelectors?: readonly object[]): object => ({
  metadata: { name: 'sum' },
  rules: [READ],
  ...(clusterRoleSelectors && { aggregationRule: { clusterRoleSelectors } }),
});

/** What is said to who holds these rules and writes a role that was another one before. */
function saidOfRole(held: readonly PolicyRule[], role: object, old?: object): string | undefined {
  const grant = clusterRole.grants!(role as never, old as never);
  return grant && grantProblem(USER, grant, { rules: held, errors: [] }, grant.rules);
}

test('a role that sums up others is made, changed and made a plain one by those alone who hold everything', (t) => {
  const [sum, plain] = [roleOf([{ matchLabels: { a: 'b' } }]), roleOf()];
  const refused = 'must have cluster-admin privileges to use the aggregationRule';
  for (const [role, old] of [
    [sum, undefined],
    [sum, plain],
    [plain, sum],
  ] as const) {
    t.is(saidOfRole([READ], role, old), refused);
    t.is(saidOfRole(EVERYTHING.slice(0, 1), role, old), refused, 'all resources are not all paths');
    t.is(saidOfRole(EVERYTHING, role, old), '');
  }
  t.is(saidOfRole([READ], plain), '');
  t.is(saidOfRole([READ], roleOf([])), '', 'it sums up nothing');
  t.is(saidOfRole([], sum, sum), undefined, 'nothing is changed');
});

test('what is too much to be compared is not granted', (t) => {
  const many = (count: number, name: string): readonly string[] =>
    Array.from({ length: count }, (_, i) => `${name}${i}`);
  const granted = [{ verbs: many(300, 'v'), apiGroups: [''], resources: many(300, 'r') }];
  t.is(
    grantProblem(USER, GRANT, { rules: [READ], errors: [] }, granted),
    'the rules are too many to be compared with what user "ann" holds',
  );
});
