// The discovery documents, as clients of 1.21 expect them.
import test from 'ava';
import { type ApiResource, apiResources } from '../../../../api/discovery/api-resources.ts';
import type { DiscoverySettings } from '../../../../api/discovery/discovery.ts';
import { createDiscovery } from '../../../../api/discovery/discovery.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import type { DialectName } from '../../../../config/dialect.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const SETTINGS: DiscoverySettings = {
  serverAddress: '10.0.0.1:6443',
  extraPaths: ['/healthz', '/metrics', '/apis/'],
  tellsStorageVersions: true,
  build: {
    gitCommit: '0123456789abcdef0123456789abcdef01234567',
    gitTreeState: 'clean',
    buildDate: '2026-11-20T00:00:00Z',
    goVersion: 'node20.20.2',
    platform: 'linux/amd64',
  },
};

function discovery(name: DialectName, ...runtimeConfig: string[]) {
  return createDiscovery(createRegistry(DIALECTS[name], { runtimeConfig }), DIALECTS[name], SETTINGS);
}

test('without its gate no resource says a hash of the version that it is stored in', (t) => {
  const registry = createRegistry(DIALECTS.kubernetes, { runtimeConfig: [] });
  const silent = createDiscovery(registry, DIALECTS.kubernetes, { ...SETTINGS, tellsStorageVersions: false });
  const hashes = (of: typeof silent) =>
    (of.document('/api/v1') as { resources: readonly ApiResource[] }).resources.filter(
      ({ storageVersionHash }) => storageVersionHash !== undefined,
    ).length;
  t.is(hashes(silent), 0);
  t.true(hashes(KUBERNETES) > 10);
});

const KUBERNETES = discovery('kubernetes');

function resources(path: string): readonly ApiResource[] {
  return (KUBERNETES.document(path) as { resources: readonly ApiResource[] }).resources;
}

const resource = (path: string, name: string) => resources(path).find((entry) => entry.name === name);

test('/version names release 1.21 and the running program', (t) => {
  t.deepEqual(KUBERNETES.document('/version'), {
    major: '1',
    minor: '21',
    gitVersion: 'v1.21.0+orch',
    gitCommit: '0123456789abcdef0123456789abcdef01234567',
    gitTreeState: 'clean',
    buildDate: '2026-11-20T00:00:00Z',
    goVersion: 'node20.20.2',
    compiler: 'v8',
    platform: 'linux/amd64',
  });
});

test('/api lists the core group without an apiVersion', (t) => {
  t.deepEqual(KUBERNETES.document('/api'), {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
  });
});

test('/api lists no address when none is advertised', (t) => {
  const { serverAddress: _address, ...rest } = SETTINGS;
  const silent = createDiscovery(createRegistry(DIALECTS.orch), DIALECTS.orch, rest);
  t.deepEqual(silent.document('/api'), { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });
});

test('/apis lists the named groups by priority, the registration group first', (t) => {
  const list = KUBERNETES.document('/apis') as { groups: { name: string }[] };
  t.like(list, { kind: 'APIGroupList', apiVersion: 'v1' });
  t.deepEqual(
    list.groups.map(({ name }) => name),
    [
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'autoscaling',
      'batch',
      'certificates.k8s.io',
      'networking.k8s.io',
      'extensions',
      'policy',
      'rbac.authorization.k8s.io',
      'storage.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'scheduling.k8s.io',
      'coordination.k8s.io',
      'node.k8s.io',
      'discovery.k8s.io',
      'flowcontrol.apiserver.k8s.io',
    ],
  );
});

test('a group tells its versions and the one to prefer', (t) => {
  t.deepEqual(KUBERNETES.document('/apis/policy'), {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'policy',
    versions: [
      { groupVersion: 'policy/v1', version: 'v1' },
      { groupVersion: 'policy/v1beta1', version: 'v1beta1' },
    ],
    preferredVersion: { groupVersion: 'policy/v1', version: 'v1' },
  });
});

test("only named groups' resource lists carry an apiVersion", (t) => {
  const { resources: _core, ...core } = KUBERNETES.document('/api/v1') as { resources: unknown };
  const { resources: _apps, ...apps } = KUBERNETES.document('/apis/apps/v1') as { resources: unknown };
  t.deepEqual(core as object, { kind: 'APIResourceList', groupVersion: 'v1' });
  t.deepEqual(apps as object, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' });
});

test('a stored type is listed with its names, sorted verbs and the hash of its stored version', (t) => {
  t.deepEqual(resource('/api/v1', 'pods'), {
    name: 'pods',
    singularName: '',
    namespaced: true,
    kind: 'Pod',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['po'],
    categories: ['all'],
    // The value any 1.21 server gives.
    storageVersionHash: 'xPOwRZ+Yhw8=',
  });
});

test('the verbs of a custom type are in the order in which a 1.21 server lists them', (t) => {
  const [type] = createRegistry(DIALECTS.kubernetes).known();
  const verbsWhile = (isTerminating: boolean) =>
    apiResources([{ ...type!, custom: { definition: { isTerminating } } }], false)[0]?.verbs;
  t.deepEqual(verbsWhile(false), ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']);
  t.deepEqual(
    verbsWhile(true),
    ['delete', 'deletecollection', 'get', 'list', 'watch'],
    'its definition is being deleted',
  );
});

test('the subresources of a custom type follow it, the status before the scale, as in a 1.21 server', (t) => {
  const deployments = createRegistry(DIALECTS.kubernetes)
    .known()
    .find(({ plural, version }) => plural === 'deployments' && version === 'v1')!;
  const { status, scale } = Object.fromEntries(deployments.subresources);
  const custom = { definition: { isTerminating: false } };
  const subresources = new Map([
    ['status', status!],
    ['scale', scale!],
  ]);
  const type = { ...deployments, subresources, custom };
  const named = apiResources(
    [
      { ...type, plural: 'foos-more', subresources: new Map() },
      { ...type, plural: 'foos' },
    ],
    false,
  );
  t.deepEqual(
    named.map(({ name }) => name),
    ['foos', 'foos/status', 'foos/scale', 'foos-more'],
  );
});

test('hashes of named groups are those of a 1.21 server too', (t) => {
  t.is(resource('/apis/apps/v1', 'deployments')!.storageVersionHash, '8aSe+NMegvE=');
  t.is(resource('/api/v1', 'configmaps')!.storageVersionHash, 'qFsyl6wFWjQ=');
});

test('a virtual type is listed without a hash', (t) => {
  t.deepEqual(resource('/apis/authorization.k8s.io/v1', 'selfsubjectaccessreviews'), {
    name: 'selfsubjectaccessreviews',
    singularName: '',
    namespaced: false,
    kind: 'SelfSubjectAccessReview',
    verbs: ['create'],
  });
});

const SUBRESOURCES: readonly (readonly [path: string, name: string, expected: Partial<ApiResource>])[] = [
  ['/api/v1', 'pods/eviction', { group: 'policy', version: 'v1beta1', kind: 'Eviction', verbs: ['create'] }],
  [
    '/api/v1',
    'serviceaccounts/token',
    { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
  ],
  [
    '/apis/apps/v1',
    'deployments/scale',
    { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
  ],
  ['/api/v1', 'pods/status', { kind: 'Pod', verbs: ['get', 'patch', 'update'] }],
  ['/api/v1', 'pods/log', { kind: 'Pod', verbs: ['get'] }],
];

for (const [path, name, expected] of SUBRESOURCES) {
  test(`${name} tells its kind, and the kind's group only where it differs`, (t) => {
    t.deepEqual(resource(path, name), { name, singularName: '', namespaced: true, ...expected } as ApiResource);
  });
}

test('entries are sorted by name, subresources after their type', (t) => {
  const names = resources('/api/v1').map(({ name }) => name);
  t.deepEqual(names, [...names].sort());
  t.deepEqual(
    names.filter((name) => name.startsWith('pods')),
    [
      'pods',
      'pods/attach',
      'pods/binding',
      'pods/eviction',
      'pods/exec',
      'pods/log',
      'pods/portforward',
      'pods/proxy',
      'pods/status',
    ],
  );
});

test('a version lists only the types served in it', (t) => {
  t.deepEqual(
    resources('/apis/policy/v1beta1').map(({ name }) => name),
    ['poddisruptionbudgets', 'poddisruptionbudgets/status', 'podsecuritypolicies'],
  );
  t.deepEqual(
    resources('/apis/batch/v1beta1').map(({ name }) => name),
    ['cronjobs', 'cronjobs/status'],
  );
  t.deepEqual(
    resources('/apis/extensions/v1beta1').map(({ name }) => name),
    ['ingresses', 'ingresses/status'],
  );
  t.is(KUBERNETES.document('/apis/batch/v2alpha1'), undefined);
  t.is(KUBERNETES.document('/apis/internal.apiserver.k8s.io'), undefined);
});

test('every version of a type has the same hash of its storage version', (t) => {
  for (const versions of [
    ['/apis/networking.k8s.io/v1', '/apis/networking.k8s.io/v1beta1', '/apis/extensions/v1beta1'],
  ]) {
    const hashes = versions.map((path) => resources(path).find(({ name }) => name === 'ingresses')!.storageVersionHash);
    t.is(new Set(hashes).size, 1);
    t.is(hashes[0], '39NQlfNR+bo=');
  }
});

test('what is switched off is in no document', (t) => {
  const without = discovery('orch', 'batch/v1=false', 'batch/v1beta1=false');
  t.is(without.document('/apis/batch'), undefined);
  t.is(without.document('/apis/batch/v1'), undefined);
  t.false(JSON.stringify(without.document('/apis')).includes('batch'));
  t.false(JSON.stringify(without.document('/')).includes('batch'));
});

test('/ lists every path, sorted, once', (t) => {
  const { paths } = KUBERNETES.document('/') as { paths: string[] };
  t.deepEqual(paths, [...new Set(paths)].sort());
  t.deepEqual(paths.slice(0, 4), ['/api', '/api/v1', '/apis', '/apis/']);
  t.true(['/apis/apps', '/apis/apps/v1', '/healthz', '/metrics', '/version'].every((path) => paths.includes(path)));
});

test('a trailing slash does not matter, and the document is the same object each time', (t) => {
  for (const path of KUBERNETES.paths.filter((known) => known !== '/')) {
    t.is(KUBERNETES.document(`${path}/`), KUBERNETES.document(path));
    t.truthy(KUBERNETES.document(path));
  }
});

for (const path of ['', '//', '/api/v2', '/apis/nothing', '/apis/apps/v9', '/healthz', '/__proto__']) {
  test(`there is no document at ${JSON.stringify(path)}`, (t) => {
    t.is(KUBERNETES.document(path), undefined);
  });
}

test('the orch dialect lists its own groups', (t) => {
  const text = JSON.stringify(discovery('orch').document('/apis'));
  t.true(text.includes('"rbac.authorization.orch.io/v1"'));
  t.false(text.includes('k8s.io'));
});
