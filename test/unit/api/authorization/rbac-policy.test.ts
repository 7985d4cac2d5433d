// Who may do what by roles and bindings: the cases that clients see, and generated policies against a reference that goes
// through everything for every question.
import test from 'ava';
import type { AccessAttributes } from '../../../../api/authorization/attributes.ts';
import { type PolicyRule, ruleAllows } from '../../../../api/authorization/policy-rule.ts';
import { RbacPolicy } from '../../../../api/authorization/rbac-policy.ts';
import { access, user } from './access.ts';
import { generatedPolicy, type ReferencePolicy, referenceDecides } from './rbac-reference.ts';

const GROUP = 'rbac.authorization.orch.io';

function policyOf({ roles, bindings }: ReferencePolicy): RbacPolicy {
  const policy = new RbacPolicy(GROUP);
  for (const { namespace, name, rules } of roles) policy.setRole(namespace, name, { rules });
  for (const { namespace, name, roleRef, subjects } of bindings) {
    policy.setBinding(namespace, name, { metadata: { name, namespace }, roleRef, subjects });
  }
  return policy;
}

const READER = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

interface Case {
  readonly title: string;
  readonly rule: PolicyRule;
  readonly allowed: readonly Partial<AccessAttributes>[];
  readonly refused: readonly Partial<AccessAttributes>[];
}

const CASES: readonly Case[] = [
  {
    title: 'verbs, group and resource must all be named',
    rule: READER,
    allowed: [{}, { verb: 'list', name: '' }],
    refused: [{ verb: 'delete' }, { group: 'apps' }, { resource: 'secrets' }, { verb: 'GET' }],
  },
  {
    title: 'a resource does not include its subresources',
    rule: READER,
    allowed: [],
    refused: [{ subresource: 'log' }],
  },
  {
    title: 'a subresource does not include its resource',
    rule: { ...READER, resources: ['pods/log'] },
    allowed: [{ subresource: 'log' }],
    refused: [{}, { subresource: 'exec' }],
  },
  {
    title: '*/scale is that subresource of everything',
    rule: { verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] },
    allowed: [{ group: 'apps', resource: 'deployments', subresource: 'scale' }],
    refused: [{}, { subresource: 'status' }],
  },
  {
    title: '* is every resource and subresource',
    rule: { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    allowed: [{}, { subresource: 'log' }, { verb: 'escalate', group: 'anything', resource: 'whatever' }],
    refused: [{ isResource: false, path: '/metrics' }],
  },
  {
    title: 'names narrow a rule, and leave out requests without one',
    rule: { ...READER, resourceNames: ['web'] },
    allowed: [{}],
    refused: [{ name: 'other' }, { verb: 'list', name: '' }],
  },
  {
    title: 'an empty list allows nothing',
    rule: { verbs: ['get'], apiGroups: [], resources: ['pods'] },
    allowed: [],
    refused: [{}],
  },
];

for (const { title, rule, allowed, refused } of CASES) {
  test(title, (t) => {
    const policy = policyOf({
      roles: [{ namespace: '', name: 'r', rules: [rule] }],
      bindings: [
        {
          namespace: '',
          name: 'b',
          roleRef: { kind: 'ClusterRole', name: 'r' },
          subjects: [{ kind: 'User', name: 'ann' }],
        },
      ],
    });
    for (const change of allowed) t.true(policy.decide(user('ann'), access(change)).allowed, JSON.stringify(change));
    for (const change of refused) t.false(policy.decide(user('ann'), access(change)).allowed, JSON.stringify(change));
    t.false(policy.decide(user('bob'), access({})).allowed);
  });
}

test('paths outside the API are matched whole or by a prefix before *', (t) => {
  const policy = policyOf({
    roles: [{ namespace: '', name: 'r', rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/logs/*'] }] }],
    bindings: [
      {
        namespace: '',
        name: 'b',
        roleRef: { kind: 'ClusterRole', name: 'r' },
        subjects: [{ kind: 'Group', name: 'g' }],
      },
    ],
  });
  const may = (path: string): boolean => policy.decide(user('x', 'g'), access({ isResource: false, path })).allowed;
  t.true(may('/healthz'));
  t.true(may('/logs/a/b'));
  t.false(may('/healthz/ping'));
  t.false(may('/log'));
});

test('several stars at the end of a path are one, and however many there are takes time in proportion to them', (t) => {
  const rule = { verbs: ['get'], nonResourceURLs: ['/logs/**', `/${'*'.repeat(1_000_000)}x*`] };
  t.true(ruleAllows(rule, access({ isResource: false, path: '/logs/a' })));
  t.false(ruleAllows(rule, access({ isResource: false, path: '/metrics' })));
});

test('a role binding counts in its namespace alone, and not for the cluster', (t) => {
  const policy = policyOf({
    roles: [{ namespace: '', name: 'r', rules: [READER, { verbs: ['get'], nonResourceURLs: ['*'] }] }],
    bindings: [
      {
        namespace: 'shop',
        name: 'b',
        roleRef: { kind: 'ClusterRole', name: 'r' },
        subjects: [{ kind: 'User', name: 'ann' }],
      },
    ],
  });
  t.true(policy.decide(user('ann'), access({})).allowed);
  t.false(policy.decide(user('ann'), access({ namespace: 'other' })).allowed);
  t.false(policy.decide(user('ann'), access({ namespace: '' })).allowed);
  t.false(policy.decide(user('ann'), access({ isResource: false, path: '/x' })).allowed);
});

test('a service account of a binding is one of its namespace unless another is named', (t) => {
  const policy = policyOf({
    roles: [{ namespace: 'shop', name: 'r', rules: [READER] }],
    bindings: [
      {
        namespace: 'shop',
        name: 'b',
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'ServiceAccount', name: 'own' },
          { kind: 'ServiceAccount', name: 'guest', namespace: 'other' },
        ],
      },
    ],
  });
  t.is(
    policy.decide(user('system:serviceaccount:shop:own'), access({})).reason,
    'RBAC: allowed by RoleBinding "b/shop" of Role "r" to ServiceAccount "own/shop"',
  );
  t.is(
    policy.decide(user('system:serviceaccount:other:guest'), access({})).reason,
    'RBAC: allowed by RoleBinding "b/shop" of Role "r" to ServiceAccount "guest/other"',
  );
  t.false(policy.decide(user('system:serviceaccount:shop:guest'), access({})).allowed);
});

test('a role that is not there is named in the refusal, and counts from when it comes', (t) => {
  const policy = policyOf({
    roles: [],
    bindings: [
      {
        namespace: '',
        name: 'b',
        roleRef: { kind: 'ClusterRole', name: 'r' },
        subjects: [{ kind: 'User', name: 'ann' }],
      },
    ],
  });
  const ann = user('ann');
  t.deepEqual(policy.decide(ann, access({})), {
    allowed: false,
    reason: `RBAC: clusterrole.${GROUP} "r" not found`,
  });
  policy.setRole('', 'r', { rules: [READER] });
  t.deepEqual(policy.decide(ann, access({})), {
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ann"',
  });
  policy.deleteBinding('', 'b');
  t.deepEqual(policy.decide(ann, access({})), { allowed: false, reason: '' });
});

test('names that look like several words are nobody else', (t) => {
  const policy = policyOf({
    roles: [{ namespace: '', name: 'r', rules: [READER] }],
    bindings: [
      {
        namespace: '',
        name: 'b',
        roleRef: { kind: 'ClusterRole', name: 'r' },
        subjects: [{ kind: 'Group', name: 'ops' }],
      },
    ],
  });
  t.true(policy.decide(user('ann', 'ops'), access({})).allowed);
  for (const other of ['ann\nops', 'ann","ops', '["ann","ops"]'])
    t.false(policy.decide(user(other), access({})).allowed, other);
});

test('500 generated policies decide as the reference does, through changes too', (t) => {
  let allowed = 0;
  for (let seed = 1; seed <= 500; seed++) {
    const { policy: reference, questions } = generatedPolicy(seed);
    const policy = policyOf(reference);
    const check = (known: ReferencePolicy, when: string): void => {
      for (const { user, access } of questions) {
        const decision = policy.decide(user, access).allowed;
        if (decision) allowed++;
        if (decision !== referenceDecides(known, user, access))
          t.fail(`seed ${seed}, ${when}: ${JSON.stringify({ user, access, decision })}`);
      }
    };
    check(reference, 'at first');
    const [gone, ...bindings] = reference.bindings;
    if (gone !== undefined) policy.deleteBinding(gone.namespace, gone.name);
    const [role, ...roles] = reference.roles;
    if (role !== undefined) policy.deleteRole(role.namespace, role.name);
    check({ bindings, roles }, 'after a binding and a role have gone');
  }
  t.true(allowed > 1000, `${allowed} questions were allowed`);
});
