// The objects of a new cluster against their reference, and under their real names in the kubernetes dialect.
import test from 'ava';
import type { BootstrapObject } from '../../../../api/bootstrap/bootstrap-object.ts';
import type { BootstrapSettings } from '../../../../api/bootstrap/bootstrap-objects.ts';
import { bootstrapObjects } from '../../../../api/bootstrap/bootstrap-objects.ts';
import { API_GROUPS } from '../../../../api/resources/api-groups.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { fixture } from '../resources/fixture.ts';

type Fact = Readonly<Record<string, unknown>> & { readonly section: string; readonly name: string };

const FACTS = fixture<Fact>('bootstrap');
const NOW = '2026-11-20T00:00:00Z';

function settings(dialect: Dialect, runtimeConfig: readonly string[] = []): BootstrapSettings {
  return {
    registry: createRegistry(dialect, { runtimeConfig }),
    service: { advertiseAddress: '192.0.2.1', port: 6443, serviceIp: '10.96.0.1' },
    authentication: {},
    now: NOW,
  };
}

function everything(dialect: Dialect, changes: Partial<BootstrapSettings> = {}): readonly BootstrapObject[] {
  return bootstrapObjects(dialect, { ...settings(dialect), ...changes }).flatMap(({ objects }) => objects);
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
    ({ name, labels, finalizers, phase }) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
      spec: { finalizers },
      status: { phase },
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
    rows,
    facts.map(({ section: _section, servedByDefault: _served, ...fact }) => fact as (typeof rows)[number]),
  );
});

test('every served group version but its own group has an API service', (t) => {
  const { registry } = settings(DIALECTS.kubernetes);
  const served = registry
    .groups()
    .filter(({ name }) => name !== 'apiregistration.k8s.io')
    .flatMap(({ name, versions }) => versions.map((version) => `/${version}.${name}`));
  t.deepEqual(keysOf(KUBERNETES, 'APIService').sort(), served.sort());
  t.deepEqual(find(KUBERNETES, 'APIService', '/v1beta1.storage.k8s.io'), {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.storage.k8s.io', labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
    spec: { group: 'storage.k8s.io', version: 'v1beta1', groupPriorityMinimum: 16800, versionPriority: 9 },
    status: {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: NOW,
          reason: 'Local',
          message: 'storage.k8s.io/v1beta1 is served by this server itself',
        },
      ],
    },
  });
});

test('a version that is switched off has no API service', (t) => {
  const objects = everything(DIALECTS.orch, settings(DIALECTS.orch, ['batch/v1=false']));
  t.is(find(objects, 'APIService', '/v1.batch'), undefined);
  t.truthy(find(objects, 'APIService', '/v1.apps'));
});

test('the API server has a service, endpoints and a slice of its own', (t) => {
  const port = { name: 'https', port: 6443, protocol: 'TCP' };
  t.deepEqual(find(KUBERNETES, 'Service', 'default/kubernetes'), {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: 'default',
      name: 'kubernetes',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
      sessionAffinity: 'None',
    },
  });
  t.deepEqual(find(KUBERNETES, 'Endpoints', 'default/kubernetes'), {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      namespace: 'default',
      name: 'kubernetes',
      labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [port] }],
  });
  t.deepEqual(find(KUBERNETES, 'EndpointSlice', 'default/kubernetes'), {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'default',
      name: 'kubernetes',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    ports: [port],
  });
});

test('its service can be of type NodePort, and of family IPv6', (t) => {
  const service = { advertiseAddress: '2001:db8::1', port: 6443, serviceIp: 'fd00::1', serviceNodePort: 30443 };
  const objects = everything(DIALECTS.orch, { service });
  t.like(find(objects, 'Service', 'default/orch'), {
    spec: { type: 'NodePort', ipFamilies: ['IPv6'], ports: [{ port: 443, nodePort: 30443 }] },
  });
  t.like(find(objects, 'EndpointSlice', 'default/orch'), { addressType: 'IPv6' });
});

test('extension servers are told how requests are authenticated, as far as it is configured', (t) => {
  const data = (authentication: BootstrapSettings['authentication']) =>
    find(
      everything(DIALECTS.kubernetes, { authentication }),
      'ConfigMap',
      'kube-system/extension-apiserver-authentication',
    )!.data as object;
  t.deepEqual(data({}), {});
  t.deepEqual(data({ clientCaPem: 'CA' }), { 'client-ca-file': 'CA' });
  const requestHeader = {
    caPem: 'PROXY CA',
    allowedNames: [],
    usernameHeaders: ['X-Remote-User'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  };
  t.deepEqual(data({ clientCaPem: 'CA', requestHeader }), {
    'client-ca-file': 'CA',
    'requestheader-client-ca-file': 'PROXY CA',
    'requestheader-allowed-names': '[]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  });
});

const REAL_NAMES: readonly (readonly [kind: string, key: string])[] = [
  ['Namespace', '/kube-system'],
  ['Namespace', '/kube-public'],
  ['Namespace', '/kube-node-lease'],
  ['APIService', '/v1.'],
  ['APIService', '/v1.apps'],
  ['APIService', '/v1.rbac.authorization.k8s.io'],
  ['APIService', '/v1beta1.flowcontrol.apiserver.k8s.io'],
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

test('labels, finalizers, signers and subjects carry their real names in the kubernetes dialect', (t) => {
  t.like(find(KUBERNETES, 'Namespace', '/kube-system'), {
    metadata: { labels: { 'kubernetes.io/metadata.name': 'kube-system' } },
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

test('each group names the hook that makes it; suggested flow control is decided before the mandatory is made', (t) => {
  const groups = bootstrapObjects(DIALECTS.orch, settings(DIALECTS.orch)).map(
    ({ hook, upkeep }) => `${hook} ${upkeep}`,
  );
  t.deepEqual(groups, [
    'bootstrap-controller recreate',
    'bootstrap-controller restore',
    'scheduling/bootstrap-system-priority-classes create',
    'start-cluster-authentication-info-controller restore',
    'orch-apiserver-autoregistration restore',
    'rbac/bootstrap-roles extend',
    'priority-and-fairness-config-producer firstStart',
    'priority-and-fairness-config-producer restore',
  ]);
});

test('the mandatory flow control is exempt and catch-all, no more', (t) => {
  const restored = bootstrapObjects(DIALECTS.orch, settings(DIALECTS.orch)).at(-1)!;
  const mandatory = FACTS.filter((fact) => fact.mandatory === true).map(({ name }) => name);
  t.deepEqual(restored.objects.map(({ metadata }) => metadata.name).sort(), mandatory.sort());
});
