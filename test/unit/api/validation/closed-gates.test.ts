// What was made while a feature gate was open, looked at once it is closed: nobody can make such a thing then, and what
// there is can still be changed.
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { errorsOf } from './cases.ts';
import { complete, validationOf } from './objects.ts';

interface Made {
  readonly what: string;
  readonly gate: string;
  readonly object: JsonObject;
  /** What it is told where the gate is closed. */
  readonly refused: string;
}

const PAGES = { 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi' };
const metadata = { name: 'a', namespace: 'shop' };
const container = (more: object) => ({ containers: [{ name: 'c', image: 'i', ...more }] });
const pod = (spec: object): JsonObject => ({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
const quota = (scope: object): JsonObject => ({
  ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata },
  spec: { hard: { pods: '1' }, ...scope },
});

const shown = { env: [{ name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } }] };
const shownInVolume = {
  name: 'v',
  downwardAPI: { items: [{ path: 'p', resourceFieldRef: { containerName: 'c', resource: 'requests.hugepages-2Mi' } }] },
};
const labels = { app: 'a' };
const deployment: JsonObject = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: container({}) } },
};
const template = (deployment.spec as JsonObject).template as JsonObject;
const showing = { ...template, spec: { ...container({}), volumes: [shownInVolume] } };

const MADE: readonly Made[] = [
  {
    what: 'a pod with huge pages of several sizes',
    gate: 'HugePageStorageMediumSize',
    object: pod(container({ resources: { limits: { cpu: '1', ...PAGES }, requests: { cpu: '1', ...PAGES } } })),
    refused: 'spec',
  },
  {
    what: 'a pod whose environment shows huge pages',
    gate: 'DownwardAPIHugePages',
    object: pod(container(shown)),
    refused: 'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource',
  },
  {
    what: 'a deployment whose pods have huge pages shown in a volume',
    gate: 'DownwardAPIHugePages',
    object: { ...deployment, spec: { ...(deployment.spec as JsonObject), template: showing } },
    refused: 'spec.template.spec.volumes[0].downwardAPI.items[0].resourceFieldRef.resource',
  },
  {
    what: 'a quota of pods with affinity across namespaces',
    gate: 'PodAffinityNamespaceSelector',
    object: quota({ scopes: ['CrossNamespacePodAffinity'] }),
    refused: 'spec.scopes',
  },
  {
    what: 'a quota that selects this scope',
    gate: 'PodAffinityNamespaceSelector',
    object: quota({
      scopeSelector: { matchExpressions: [{ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }] },
    }),
    refused: 'spec.scopeSelector.matchExpressions[0].scopeName',
  },
];

for (const { what, gate, object, refused } of MADE) {
  test(`${what} cannot be made without the gate ${gate}, and one that was made with it can be changed`, (t) => {
    const { type, object: made } = complete(object, DIALECTS.kubernetes);
    t.deepEqual(validationOf('kubernetes', `${gate}=true`).create(made, type), []);
    const closed = validationOf('kubernetes', `${gate}=false`);
    t.deepEqual(
      closed.create(made, type).map(({ path }) => path),
      [refused],
    );
    const next = { ...made, metadata: { ...(made.metadata as JsonObject), labels } };
    t.deepEqual(closed.update(next, made, type, ''), []);
  });
}

test('a bound claim grows only with the gate that lets claims grow; without it, it can still be bound and labelled', (t) => {
  const claim = (spec: object, phase: string): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    status: { phase },
  });
  const of = (spec: object, phase = 'Bound') => complete(claim(spec, phase), DIALECTS.kubernetes);
  const { type, object: bound } = of({ volumeName: 'v' });
  const resized = (storage: string) => of({ volumeName: 'v', resources: { requests: { storage } } }).object;
  const open = validationOf('kubernetes', 'ExpandPersistentVolumes=true');
  t.deepEqual(open.update(resized('2Gi'), bound, type, ''), []);
  const closed = validationOf('kubernetes', 'ExpandPersistentVolumes=false');
  for (const storage of ['2Gi', '512Mi']) {
    const errors = closed.update(resized(storage), bound, type, '');
    t.deepEqual(
      errors.map(({ path, message }) => [path, message]),
      [['spec', 'Forbidden: field is immutable after creation']],
    );
  }
  t.deepEqual(closed.update(bound, of({}, 'Pending').object, type, ''), []);
  const labelled = { ...bound, metadata: { ...(bound.metadata as JsonObject), labels } };
  t.deepEqual(closed.update(labelled, bound, type, ''), []);
});

test('a CSIDriver needs no storageCapacity without the gate that lets it be given', (t) => {
  const driver = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'a' }, spec: {} };
  const { type, object } = complete(driver, DIALECTS.kubernetes);
  const { storageCapacity, ...spec } = object.spec as JsonObject;
  t.is(storageCapacity, false);
  const dropped = { ...object, spec };
  t.deepEqual(errorsOf(validationOf('kubernetes').create(dropped, type)), ['spec.storageCapacity: FieldValueRequired']);
  t.deepEqual(validationOf('kubernetes', 'CSIStorageCapacity=false').create(dropped, type), []);
});

test('an attachment of nothing is told what it may name, which is a volume alone without the gate CSIMigration', (t) => {
  const spec = { attacher: 'a.test', nodeName: 'n', source: {} };
  const attachment = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata: { name: 'a' }, spec };
  const { type, object } = complete(attachment, DIALECTS.kubernetes);
  const told = (gates: string) =>
    validationOf('kubernetes', gates)
      .create(object, type)
      .map(({ path, message }) => `${path}: ${message}`);
  t.deepEqual(told(''), [
    'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
  ]);
  t.deepEqual(told('CSIMigration=false'), [
    'spec.source: Required value: must specify persistentVolumeName when CSIMigration feature is disabled',
  ]);
});
