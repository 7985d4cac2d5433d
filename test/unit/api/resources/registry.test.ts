// What is served, in which order, and how an operator changes it.
import test from 'ava';
import { deprecationWarning } from '../../../../api/resources/deprecation.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import { RuntimeConfigError } from '../../../../api/resources/runtime-config.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const REGISTRY = createRegistry(DIALECTS.kubernetes);

function servedWith(...runtimeConfig: string[]): readonly string[] {
  return createRegistry(DIALECTS.kubernetes, { runtimeConfig })
    .groups()
    .flatMap(({ name, versions }) => versions.map((version) => (name === '' ? version : `${name}/${version}`)));
}

/** Every version that there is, in discovery order. */
const KNOWN = [
  'apiregistration.k8s.io/v1',
  'apiregistration.k8s.io/v1beta1',
  'v1',
  'apps/v1',
  'events.k8s.io/v1',
  'events.k8s.io/v1beta1',
  'authentication.k8s.io/v1',
  'authentication.k8s.io/v1beta1',
  'authentication.k8s.io/v1alpha1',
  'authorization.k8s.io/v1',
  'authorization.k8s.io/v1beta1',
  'autoscaling/v1',
  'autoscaling/v2beta1',
  'autoscaling/v2beta2',
  'batch/v1',
  'batch/v1beta1',
  'certificates.k8s.io/v1',
  'certificates.k8s.io/v1beta1',
  'networking.k8s.io/v1',
  'networking.k8s.io/v1beta1',
  'extensions/v1beta1',
  'policy/v1',
  'policy/v1beta1',
  'rbac.authorization.k8s.io/v1',
  'rbac.authorization.k8s.io/v1beta1',
  'rbac.authorization.k8s.io/v1alpha1',
  'storage.k8s.io/v1',
  'storage.k8s.io/v1beta1',
  'storage.k8s.io/v1alpha1',
  'admissionregistration.k8s.io/v1',
  'admissionregistration.k8s.io/v1beta1',
  'apiextensions.k8s.io/v1',
  'apiextensions.k8s.io/v1beta1',
  'scheduling.k8s.io/v1',
  'scheduling.k8s.io/v1beta1',
  'scheduling.k8s.io/v1alpha1',
  'coordination.k8s.io/v1',
  'coordination.k8s.io/v1beta1',
  'node.k8s.io/v1',
  'node.k8s.io/v1beta1',
  'node.k8s.io/v1alpha1',
  'discovery.k8s.io/v1',
  'discovery.k8s.io/v1beta1',
  'flowcontrol.apiserver.k8s.io/v1beta1',
  'internal.apiserver.k8s.io/v1alpha1',
];
const BY_DEFAULT = KNOWN.filter((apiVersion) => !apiVersion.includes('alpha'));
const less = (...gone: string[]) => BY_DEFAULT.filter((apiVersion) => !gone.includes(apiVersion));
const beta = (apiVersion: string) => apiVersion.includes('beta');

test('every type is found by its path and by its kind', (t) => {
  for (const type of REGISTRY.all()) {
    t.is(REGISTRY.byPath(type.group, type.version, type.plural), type);
    t.is(REGISTRY.byKind(type.group, type.version, type.kind), type);
  }
  t.is(REGISTRY.byPath('', 'v1', 'pods')!.kind, 'Pod');
  t.is(REGISTRY.byKind('apps', 'v1', 'Deployment')!.plural, 'deployments');
});

test('what does not exist or is not served is not found', (t) => {
  t.is(REGISTRY.byPath('', 'v1', 'pod'), undefined);
  t.is(REGISTRY.byPath('', 'v2', 'pods'), undefined);
  t.is(REGISTRY.byPath('nothing', 'v1', 'pods'), undefined);
  t.is(REGISTRY.byPath('rbac.authorization.k8s.io', 'v1alpha1', 'roles'), undefined);
  t.is(REGISTRY.byPath('__proto__', 'constructor', 'toString'), undefined);
});

test('groups and versions come in discovery order', (t) => {
  t.deepEqual(servedWith(), BY_DEFAULT);
  t.deepEqual(REGISTRY.servedVersions('policy'), ['v1', 'v1beta1']);
  t.is(REGISTRY.preferredVersion('policy'), 'v1');
  t.deepEqual(REGISTRY.servedVersions('autoscaling'), ['v1', 'v2beta1', 'v2beta2']);
  t.deepEqual(REGISTRY.servedVersions('internal.apiserver.k8s.io'), []);
  t.is(REGISTRY.preferredVersion('internal.apiserver.k8s.io'), undefined);
});

test('all versions of a type are stored as one, with the same fields beside', (t) => {
  for (const type of REGISTRY.known().filter(({ persisted }) => persisted)) {
    const stored = REGISTRY.storageType(type.storageKey)!;
    t.is(type.storageApiVersion, stored.apiVersion);
    t.is(type.storedFields, stored.storedFields);
    t.is(type.needsConversion, type !== stored);
    t.true(type.selectableFields.every((field) => type.storedFields.includes(type.storedFieldNames[field] ?? field)));
  }
});

const STORED: readonly (readonly [storageVersions: readonly string[], storageKey: string, stored: string])[] = [
  [[], 'batch/cronjobs', 'batch/v1'],
  [['batch/v1beta1'], 'batch/cronjobs', 'batch/v1beta1'],
  // A type that does not have the version stays with its preferred one.
  [['batch/v1beta1'], 'batch/jobs', 'batch/v1'],
  [['autoscaling/v2beta2', 'autoscaling/v1'], 'autoscaling/horizontalpodautoscalers', 'autoscaling/v2beta2'],
  [['autoscaling/v1', 'autoscaling/v2beta2'], 'autoscaling/horizontalpodautoscalers', 'autoscaling/v1'],
  [['networking.k8s.io/v1beta1'], 'networking.k8s.io/ingresses', 'networking.k8s.io/v1beta1'],
];

for (const [storageVersions, storageKey, stored] of STORED) {
  test(`with storage versions ${JSON.stringify(storageVersions)}, ${storageKey} are stored as ${stored}`, (t) => {
    const registry = createRegistry(DIALECTS.kubernetes, { storageVersions });
    t.is(registry.storageType(storageKey)!.apiVersion, stored);
    for (const type of registry.known()) if (type.storageKey === storageKey) t.is(type.storageApiVersion, stored);
  });
}

for (const apiVersion of [
  'batch/v2',
  'nothing',
  'authentication.k8s.io/v1',
  'events.k8s.io/v1',
  'extensions/v1beta1',
]) {
  test(`nothing can be stored in ${apiVersion}`, (t) => {
    t.throws(() => createRegistry(DIALECTS.kubernetes, { storageVersions: [apiVersion] }), {
      instanceOf: RuntimeConfigError,
      message: `storage-versions: nothing can be stored in ${apiVersion}`,
    });
  });
}

function removedBy(minorRelease: number): readonly string[] {
  const registry = createRegistry(DIALECTS.kubernetes, { minorRelease });
  const served = new Set(registry.all().map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  return REGISTRY.all()
    .map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
    .filter((name) => !served.has(name));
}

test('a release serves what no release up to it has removed', (t) => {
  t.deepEqual(removedBy(16), []);
  t.deepEqual(removedBy(21), []);
  const gone = removedBy(22);
  for (const name of [
    'admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration',
    'apiextensions.k8s.io/v1beta1 CustomResourceDefinition',
    'apiregistration.k8s.io/v1beta1 APIService',
    'authentication.k8s.io/v1beta1 TokenReview',
    'authorization.k8s.io/v1beta1 SubjectAccessReview',
    'certificates.k8s.io/v1beta1 CertificateSigningRequest',
    'extensions/v1beta1 Ingress',
    'networking.k8s.io/v1beta1 IngressClass',
  ]) {
    t.true(gone.includes(name), name);
  }
  const goneIn25 = ['batch/v1beta1 CronJob', 'discovery.k8s.io/v1beta1 EndpointSlice', 'events.k8s.io/v1beta1 Event'];
  for (const name of [...goneIn25, 'policy/v1beta1 PodSecurityPolicy', 'node.k8s.io/v1beta1 RuntimeClass']) {
    t.false(gone.includes(name), name);
    t.true(removedBy(25).includes(name), name);
  }
});

test('what a release has removed cannot be switched on', (t) => {
  t.throws(() => createRegistry(DIALECTS.orch, { runtimeConfig: ['extensions/v1beta1'], minorRelease: 22 }), {
    instanceOf: RuntimeConfigError,
    message: /extensions\/v1beta1 cannot be served: release 1\.22 has removed it/,
  });
  t.notThrows(() => createRegistry(DIALECTS.orch, { runtimeConfig: ['extensions/v1beta1'], minorRelease: 21 }));
});

test('types within a version are sorted by plural', (t) => {
  const apps = REGISTRY.all().filter(({ group }) => group === 'apps');
  t.deepEqual(
    apps.map(({ plural }) => plural),
    ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  );
});

test('a store key leads to the type its objects are stored as, even one that is switched off', (t) => {
  const registry = createRegistry(DIALECTS.orch, { runtimeConfig: ['apps/v1=false'] });
  t.is(registry.storageType('core/events')!.apiVersion, 'v1');
  t.is(registry.storageType('networking.orch.io/ingresses')!.apiVersion, 'networking.orch.io/v1');
  t.is(registry.storageType('apps/deployments')!.kind, 'Deployment');
  t.is(registry.byPath('apps', 'v1', 'deployments'), undefined);
  t.is(registry.storageType('core/tokenreviews'), undefined);
});

test('a subresource of an alpha feature is there only when its gate is on', (t) => {
  const subresources = (featureGates: Record<string, boolean>) =>
    createRegistry(DIALECTS.orch, { featureGates }).byPath('', 'v1', 'pods')!.subresources;
  t.false(subresources({}).has('ephemeralcontainers'));
  t.false(subresources({ EphemeralContainers: false }).has('ephemeralcontainers'));
  t.true(subresources({ EphemeralContainers: true }).has('ephemeralcontainers'));
  t.true(subresources({}).has('status'));
});

test('a type of a beta feature is served unless its gate is off, and what is stored of it can still be read', (t) => {
  const runtimeConfig = ['api/all'];
  for (const [featureGates, isServed] of [
    [{}, true],
    [{ CSIStorageCapacity: true }, true],
    [{ CSIStorageCapacity: false }, false],
  ] as const) {
    const registry = createRegistry(DIALECTS.orch, { featureGates, runtimeConfig });
    for (const version of ['v1beta1', 'v1alpha1'])
      t.is(registry.byPath('storage.orch.io', version, 'csistoragecapacities') !== undefined, isServed);
    t.not(registry.byPath('storage.orch.io', 'v1', 'storageclasses'), undefined);
    t.not(registry.storageType('storage.orch.io/csistoragecapacities'), undefined);
  }
});

test('what a namespace holds is every stored namespaced type, once', (t) => {
  const plurals = REGISTRY.resourcesByPreferredVersion().map(({ plural }) => plural);
  t.is(new Set(plurals).size, plurals.length);
  t.true(
    ['configmaps', 'events', 'pods', 'deployments', 'csistoragecapacities', 'leases'].every((p) => plurals.includes(p)),
  );
  t.false(['nodes', 'bindings', 'localsubjectaccessreviews', 'namespaces'].some((p) => plurals.includes(p)));
});

const SWITCHED: readonly (readonly [title: string, pairs: readonly string[], served: readonly string[]])[] = [
  ['one version off', ['batch/v1=false'], less('batch/v1')],
  ['beta off', ['api/beta=false'], BY_DEFAULT.filter((v) => !beta(v))],
  [
    'a version on by name though its class is off',
    ['policy/v1beta1', 'api/beta=false'],
    BY_DEFAULT.filter((v) => !beta(v) || v === 'policy/v1beta1'),
  ],
  ['all off but the core group', ['api/all=false', 'v1=true'], ['v1']],
  ['all off but GA, whatever the order', ['api/ga=true', 'api/all=false'], BY_DEFAULT.filter((v) => !beta(v))],
  ['a missing value means true', ['api/all=false', 'apps/v1'], ['apps/v1']],
  ['the last of a repeated key counts', ['batch/v1=false', 'batch/v1=true'], BY_DEFAULT],
  ['the core group by its old name', ['api/legacy=false'], less('v1')],
  ['the core group by its path', ['api/v1=false'], less('v1')],
  ['alpha on', ['api/alpha=true'], KNOWN],
  [
    'an alpha version by name',
    ['internal.apiserver.k8s.io/v1alpha1=true'],
    [...BY_DEFAULT, 'internal.apiserver.k8s.io/v1alpha1'],
  ],
  [
    'an alpha version beside others of its types',
    ['storage.k8s.io/v1alpha1'],
    KNOWN.filter((v) => !v.includes('alpha') || v === 'storage.k8s.io/v1alpha1'),
  ],
  ['a version that shares the objects of another, off', ['extensions/v1beta1=false'], less('extensions/v1beta1')],
];

for (const [title, pairs, served] of SWITCHED) {
  test(`runtime-config switches versions: ${title}`, (t) => {
    t.deepEqual(servedWith(...pairs), served);
  });
}

const REFUSED: readonly (readonly [pairs: readonly string[], message: RegExp])[] = [
  [['nothing/v1=true'], /no API "nothing\/v1"/],
  [['batch/v3'], /no batch\/v3; the group has batch\/v1, batch\/v1beta1/],
  [['apps/v1/deployments=false'], /single resource/],
  [['api/some=true'], /no API "api\/some"/],
  [[''], /no API ""/],
  [['batch/v1=maybe'], /neither true nor false/],
  [['api/all=false'], /nothing to serve/],
  [['__proto__=true'], /no API "__proto__"/],
];

for (const [pairs, message] of REFUSED) {
  test(`runtime-config ${JSON.stringify(pairs)} is refused with the reason`, (t) => {
    t.throws(() => servedWith(...pairs), { instanceOf: RuntimeConfigError, message });
  });
}

const WARNINGS: readonly (readonly [apiVersion: string, kind: string, warning: string | undefined])[] = [
  ['v1', 'ComponentStatus', 'v1 ComponentStatus is deprecated in v1.19+'],
  [
    'policy/v1beta1',
    'PodSecurityPolicy',
    'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+',
  ],
  [
    'extensions/v1beta1',
    'Ingress',
    'extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress',
  ],
  [
    'batch/v1beta1',
    'CronJob',
    'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob',
  ],
  [
    'networking.k8s.io/v1beta1',
    'IngressClass',
    'networking.k8s.io/v1beta1 IngressClass is deprecated in v1.19+, unavailable in v1.22+; use networking.k8s.io/v1 IngressClassList',
  ],
  ['flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema', undefined],
  ['v1', 'Pod', undefined],
];

for (const [apiVersion, kind, warning] of WARNINGS) {
  test(`${apiVersion} ${kind} ${warning === undefined ? 'is not deprecated' : 'is deprecated, and says so'}`, (t) => {
    const type = REGISTRY.known().find((known) => known.apiVersion === apiVersion && known.kind === kind)!;
    t.is(deprecationWarning(type), warning);
  });
}
