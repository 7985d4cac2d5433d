// The objects of a new cluster against their reference, and under their real names in the kubernetes dialect.
import test from 'ava';
import { desiredObjects } from '../../../actors/controllers/bootstrap/bootstrap-objects.ts';
import type { BootstrapObject } from '../../../api/bootstrap/bootstrap-object.ts';
import { flowControlObjects } from '../../../api/bootstrap/flow-control.ts';
import { API_GROUPS } from '../../../api/resources/api-groups.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { AdmissionWorld } from '../admission/admission-world.ts';
import { fixture } from '../api/resources/fixture.ts';
import { defaultOptions } from './fixture.ts';

type Fact = Readonly<Record<string, unknown>> & { readonly section: string; readonly name: string };

const FACTS = fixture<Fact>('bootstrap');

/** A type of releases after the reference's, off unless its version is switched on. */
const LATER = 'selfsubjectreviews';
const LATER_VERSION = 'v1alpha1.authentication.orch.io';

/** What the server makes at its start. */
function everything(dialect: Dialect): readonly BootstrapObject[] {
  return desiredObjects(dialect, { ...defaultOptions(), isServed: ({ resource }) => resource !== LATER }).map(
    ({ object }) => object as BootstrapObject,
  );
}

const ORCH = everything(DIALECTS.orch);
const KUBERNETES = everything(DIALECTS.kubernetes);

const keyOf = ({ metadata: { namespace = '', name } }: BootstrapObject) => `${namespace}/${name}`;
const keysOf = (objects: readonly BootstrapObject[], kind: string) =>
  objects.filter((object) => object.kind === kind).map(keyOf);
const find = (objects: readonly BootstrapObject[], kind: string, key: string) =>
  objects.find((object) => object.kind === kind && keyOf(object) === key);

const RBAC_LABELS = { 'orch.io/bootstrapping': 'rbac-defaults' };
const RBAC_ANNOTATIONS = { 'rbac.authorization.orch.io/autoupdate': 'true' };
const RBAC_GROUP = 'rbac.authorization.orch.io';

function rbacObject(kind: string, { name, namespace, extraLabels }: Fact): object {
  const labels = { ...RBAC_LABELS, ...(extraLabels as object | undefined) };
  const where = namespace === undefined ? {} : { namespace };
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind,
    metadata: { name, ...where, labels, annotations: RBAC_ANNOTATIONS },
  };
}

function roleFromFact(kind: string, fact: Fact): object {
  const sums = fact.aggregateBy as readonly object[] | undefined;
  const aggregationRule = sums && { clusterRoleSelectors: sums.map((matchLabels) => ({ matchLabels })) };
  return { ...rbacObject(kind, fact), ...(aggregationRule ? { aggregationRule } : {}), rules: fact.rules };
}

function bindingFromFact(kind: string, fact: Fact): object {
  const subjects = fact.subjects as readonly { kind: string }[];
  return {
    ...rbacObject(kind, fact),
    roleRef: { apiGroup: RBAC_GROUP, ...(fact.roleRef as object) },
    subjects: subjects.map((who) => (who.kind === 'ServiceAccount' ? who : { ...who, apiGroup: RBAC_GROUP })),
  };
}

function flowObject(kind: string, name: string, spec: unknown): object {
  return { apiVersion: 'flowcontrol.apiserver.orch.io/v1beta1', kind, metadata: { name }, spec };
}

function flowSchemaFromFact(fact: Fact): object {
  const { priorityLevel, matchingPrecedence, distinguisherMethod, rules } = fact;
  return flowObject('FlowSchema', fact.name, {
    priorityLevelConfiguration: { name: priorityLevel },
    matchingPrecedence,
    ...(distinguisherMethod === null ? {} : { distinguisherMethod: { type: distinguisherMethod } }),
    rules,
  });
}

/** How a row of each section looks as an object. */
const SECTIONS: Readonly<Record<string, readonly [kind: string, build: (fact: Fact) => object]>> = {
  namespaces: [
    'Namespace',
    ({ name, finalizers }) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      // Their labels are defaults: below.
      metadata: { name },
      spec: { finalizers },
    }),
  ],
  clusterRoles: ['ClusterRole', (fact) => roleFromFact('ClusterRole', fact)],
  clusterRoleBindings: ['ClusterRoleBinding', (fact) => bindingFromFact('ClusterRoleBinding', fact)],
  roles: ['Role', (fact) => roleFromFact('Role', fact)],
  roleBindings: ['RoleBinding', (fact) => bindingFromFact('RoleBinding', fact)],
  flowSchemas: ['FlowSchema', flowSchemaFromFact],
  priorityLevelConfigurations: [
    'PriorityLevelConfiguration',
    ({ name, spec }) => flowObject('PriorityLevelConfiguration', name, spec),
  ],
};

for (const [section, [kind, build]] of Object.entries(SECTIONS)) {
  test(`the ${section} of a new cluster are those of the reference`, (t) => {
    const facts = FACTS.filter((fact) => fact.section === section);
    t.true(facts.length > 0);
    const expected = facts.map((fact) => build(fact) as BootstrapObject);
    t.deepEqual(keysOf(ORCH, kind).sort(), expected.map(keyOf).sort());
    for (const object of expected) t.deepEqual(find(ORCH, kind, keyOf(object)), object);
  });
}

test('the priority classes of a new cluster are those of the reference', (t) => {
  const facts = FACTS.filter(({ section }) => section === 'priorityClasses');
  t.is(keysOf(ORCH, 'PriorityClass').length, facts.length);
  for (const { section: _section, name, ...fact } of facts) {
    t.like(find(ORCH, 'PriorityClass', `/${name}`), { apiVersion: 'scheduling.orch.io/v1', ...fact });
  }
});

test('groups and versions have the priorities of the reference', (t) => {
  const rows = API_GROUPS.filter(({ priorityMinimum }) => priorityMinimum !== null).flatMap(
    ({ name, priorityMinimum, versions }) =>
      Object.entries(versions).map(([version, versionPriority]) => {
        const group = DIALECTS.orch.spell(name);
        return { name: `${version}.${group}`, group, version, groupPriorityMinimum: priorityMinimum, versionPriority };
      }),
  );
  const facts = FACTS.filter(({ section }) => section === 'apiServices');
  t.deepEqual(
    rows.filter(({ name }) => name !== LATER_VERSION),
    facts.map(({ section: _section, servedByDefault: _served, ...fact }) => fact as (typeof rows)[number]),
  );
});

const REAL_NAMES: readonly (readonly [kind: string, key: string])[] = [
  ['Namespace', '/kube-system'],
  ['Namespace', '/kube-public'],
  ['Namespace', '/kube-node-lease'],
  ['ClusterRole', '/system:kube-scheduler'],
  ['ClusterRole', '/system:kube-controller-manager'],
  ['ClusterRole', '/system:kube-dns'],
  ['ClusterRole', '/system:kube-aggregator'],
  ['ClusterRole', '/system:kubelet-api-admin'],
  ['ClusterRole', '/system:node-proxier'],
  ['ClusterRole', '/system:controller:generic-garbage-collector'],
  ['ClusterRole', '/system:certificates.k8s.io:certificatesigningrequests:selfnodeclient'],
  ['ClusterRole', '/system:certificates.k8s.io:kube-apiserver-client-kubelet-approver'],
  ['ClusterRole', '/system:certificates.k8s.io:kubelet-serving-approver'],
  ['ClusterRoleBinding', '/system:kube-scheduler'],
  ['Role', 'kube-system/system::leader-locking-kube-scheduler'],
  ['Role', 'kube-public/system:controller:bootstrap-signer'],
  ['RoleBinding', 'kube-system/system::extension-apiserver-authentication-reader'],
  ['FlowSchema', '/kube-system-service-accounts'],
  ['FlowSchema', '/kube-controller-manager'],
];

for (const [kind, key] of REAL_NAMES) {
  test(`the kubernetes dialect has ${kind} ${key}`, (t) => {
    t.true(keysOf(KUBERNETES, kind).includes(key));
  });
}

const LABEL_GATE = 'NamespaceDefaultLabelName';

for (const isLabelled of [true, false]) {
  const [labels, gate] = isLabelled ? ['the labels of the reference', 'on'] : ['no labels', 'off'];
  test(`the namespaces of a new cluster have ${labels} when the gate ${LABEL_GATE} is ${gate}`, async (t) => {
    const world = await AdmissionWorld.start({ featureGates: `${LABEL_GATE}=${isLabelled}`, namespaces: [] });
    for (const fact of FACTS.filter(({ section }) => section === 'namespaces')) {
      const { metadata } = await world.created('/api/v1/namespaces', find(ORCH, 'Namespace', `/${fact.name}`)!);
      t.deepEqual(metadata.labels, isLabelled ? (fact.labels as Record<string, string>) : undefined);
    }
    await world.stop();
  });
}

test('labels, finalizers, signers and subjects carry their real names in the kubernetes dialect', (t) => {
  t.like(find(KUBERNETES, 'Namespace', '/kube-system'), {
    spec: { finalizers: ['kubernetes'] },
  });
  t.like(find(KUBERNETES, 'ClusterRole', '/edit'), {
    metadata: {
      labels: {
        'kubernetes.io/bootstrapping': 'rbac-defaults',
        'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
      },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } }],
    },
  });
  const approver = find(
    KUBERNETES,
    'ClusterRole',
    '/system:certificates.k8s.io:kube-apiserver-client-kubelet-approver',
  );
  t.like(approver, { rules: [{ resourceNames: ['kubernetes.io/kube-apiserver-client-kubelet'] }] });
  t.like(find(KUBERNETES, 'ClusterRoleBinding', '/system:node-proxier'), {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-proxier' },
    subjects: [{ kind: 'User', name: 'system:kube-proxy' }],
  });
  t.like(find(KUBERNETES, 'ClusterRoleBinding', '/system:kube-dns'), {
    subjects: [{ kind: 'ServiceAccount', name: 'kube-dns', namespace: 'kube-system' }],
  });
});

test('no dialect shows a marker or the other brand', (t) => {
  const text = JSON.stringify({ ORCH, KUBERNETES: [] });
  t.notRegex(text, /@(group|label|brand|short|agent)/);
  t.notRegex(text, /k8s|kube/);
  t.notRegex(JSON.stringify(KUBERNETES), /@(group|label|brand|short|agent)|orch/);
});

test('objects come after the namespaces they lie in and the roles they bind', (t) => {
  const seen = new Set<string>();
  for (const object of KUBERNETES) {
    const { namespace } = object.metadata;
    if (namespace !== undefined) t.true(seen.has(`Namespace /${namespace}`), keyOf(object));
    const roleRef = object.roleRef as { kind: string; name: string } | undefined;
    if (roleRef !== undefined) {
      const roleNamespace = roleRef.kind === 'Role' ? namespace : '';
      t.true(seen.has(`${roleRef.kind} ${roleNamespace}/${roleRef.name}`), keyOf(object));
    }
    seen.add(`${object.kind} ${keyOf(object)}`);
  }
});

test('the mandatory flow control is exempt and catch-all, no more', (t) => {
  const mandatory = FACTS.filter((fact) => fact.mandatory === true).map(({ name }) => name);
  const names = flowControlObjects(DIALECTS.orch, 'mandatory').map(({ metadata }) => metadata.name);
  t.deepEqual([...names].sort(), mandatory.sort());
});

test('everybody may ask who they are where the server tells', (t) => {
  const all = desiredObjects(DIALECTS.orch, defaultOptions()).map(({ object }) => object as BootstrapObject);
  const role = find(all, 'ClusterRole', '/system:basic-user') as unknown as { rules: { resources: string[] }[] };
  t.deepEqual(
    role.rules.map(({ resources }) => resources),
    [['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], [LATER]],
  );
});
