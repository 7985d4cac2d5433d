// Metadata on create and update: what the server sets, keeps, compares and refuses.
import test from 'ava';
import type { JsonObject } from '../../../api/json/json-value.ts';
import {
  begun,
  distinctOwnerReferences,
  isUnchanged,
  nameSuffix,
  placedNew,
  prepareUpdate,
} from '../../../api/metadata/metadata.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import type { ResourceType } from '../../../api/resource-type.ts';
import { isStatusError, StatusError } from '../../../api/status/status.ts';
import { frozen, sampleType } from './sample-type.ts';

const deployment = sampleType();
const configMap = sampleType(
  { group: '', plural: 'configmaps', kind: 'ConfigMap' },
  { hasStatus: false, initialGeneration: 0, generationParts: [] },
);
const node = sampleType(
  { group: '', plural: 'nodes', kind: 'Node', namespaced: false },
  { initialGeneration: 0, generationParts: [] },
);

/** What becomes of an object's metadata and status when it is created. */
function prepareCreate(object: JsonObject, type: ResourceType, given: typeof creation): JsonObject {
  return begun(placedNew(object, type, given), type, given);
}

const creation = {
  namespace: 'default',
  name: '',
  nowIso: '2026-11-20T12:00:00Z',
  uid: 'u-1',
  randomSuffix: 'bcdfg',
};

test('a create names, places, dates and counts the object, and clears what clients may not set', (t) => {
  const body = frozen({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      labels: { a: 'b' },
      uid: 'mine',
      creationTimestamp: '1999-01-01T00:00:00Z',
      deletionTimestamp: '1999-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      selfLink: '/x',
      clusterName: 'c',
      generation: 9,
      resourceVersion: '0',
    },
    spec: { replicas: 1 },
    status: { replicas: 1 },
  });
  t.deepEqual(prepareCreate(body, deployment, creation), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'default',
      labels: { a: 'b' },
      uid: 'u-1',
      creationTimestamp: '2026-11-20T12:00:00Z',
      generation: 1,
    },
    spec: { replicas: 1 },
  });
});

test('a create sets the initial status of types that have one, and keeps what types without status carry', (t) => {
  const initialStatus = frozen({ phase: 'Pending' });
  const pod = sampleType({}, { initialStatus });
  t.deepEqual(prepareCreate({ metadata: { name: 'a' }, status: { phase: 'Running' } }, pod, creation).status, {
    phase: 'Pending',
  });
  const odd = prepareCreate({ metadata: { name: 'a' }, status: 'kept' }, configMap, creation);
  t.is(odd.status, 'kept');
  const bare = { metadata: { name: 'a' }, status: {} };
  t.deepEqual(placedNew(bare, deployment, creation).status, {});
  t.false('status' in placedNew(bare, { ...deployment, custom: {} }, creation), 'defaults of a status are for later');
  t.is(metadataOf(odd).generation, undefined);
});

test('a create leaves the generation that its client gives where the type counts none', (t) => {
  const made = prepareCreate({ metadata: { name: 'a', generation: 7 } }, configMap, creation);
  t.is(metadataOf(made).generation, 7);
});

test('a generated name is the beginning given, cut to 58 characters, and the random suffix', (t) => {
  const named = (metadata: JsonObject) => metadataOf(prepareCreate({ metadata }, deployment, creation)).name;
  t.is(named({ generateName: 'web-' }), 'web-bcdfg');
  t.is(named({ generateName: 'w'.repeat(80) }), `${'w'.repeat(58)}bcdfg`);
  t.is(named({ generateName: 'web-', name: 'fixed' }), 'fixed');
  t.is(named({}), undefined);
});

test('suffixes have five characters of an alphabet without vowels', (t) => {
  let turn = 0;
  const random = () => (turn++ % 1000) / 1000;
  for (let round = 0; round < 500; round++) t.regex(nameSuffix(random), /^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  t.is(
    nameSuffix(() => 0),
    'bbbbb',
  );
  t.is(
    nameSuffix(() => 0.9999999),
    '99999',
  );
});

test('timestamps are whole seconds in UTC, whatever the moment', (t) => {
  t.is(timestampOf(Date.UTC(2026, 10, 20, 1, 2, 3, 999)), '2026-11-20T01:02:03Z');
  t.is(timestampOf(1e300), '9999-12-31T23:59:59Z');
  t.is(timestampOf(-1), '1970-01-01T00:00:00Z');
});

interface Refusal {
  readonly does: string;
  readonly act: () => unknown;
  readonly code: number;
  readonly message?: string;
}

const stored = frozen({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'u-1',
    resourceVersion: '7',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { a: 'b' },
    annotations: { n: '1' },
  },
  spec: { replicas: 1, template: { x: 1 } },
  status: { replicas: 1 },
});

const update = { namespace: 'default', name: 'web', subresource: '' };

function withMetadata(changes: JsonObject, more: JsonObject = {}): JsonObject {
  return frozen({ ...stored, ...more, metadata: { ...stored.metadata, ...changes } });
}

const strict = sampleType({}, { putWithoutResourceVersion: false });

const REFUSALS: readonly Refusal[] = [
  {
    does: 'a create with a resourceVersion',
    act: () => prepareCreate({ metadata: { name: 'a', resourceVersion: '1' } }, deployment, creation),
    code: 400,
  },
  {
    does: 'a create in another namespace than the path says',
    act: () => prepareCreate({ metadata: { name: 'a', namespace: 'other' } }, deployment, creation),
    code: 400,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    does: 'a create under another name than the path says',
    act: () => prepareCreate({ metadata: { name: 'a' } }, deployment, { ...creation, name: 'b' }),
    code: 400,
  },
  {
    does: 'an update in another namespace than the path says',
    act: () => prepareUpdate(withMetadata({ namespace: 'other' }), stored, deployment, update),
    code: 400,
    message: 'the namespace of the object (other) does not match the namespace on the request (default)',
  },
  {
    does: 'an update under another name',
    act: () => prepareUpdate(withMetadata({ name: 'other' }), stored, deployment, update),
    code: 400,
  },
  {
    does: 'an update with a stale resourceVersion',
    act: () => prepareUpdate(withMetadata({ resourceVersion: '6' }), stored, deployment, update),
    code: 409,
  },
  {
    does: 'an update of an object that has been created anew',
    act: () => prepareUpdate(withMetadata({ uid: 'u-0' }), stored, deployment, update),
    code: 409,
  },
  {
    does: 'an update without resourceVersion where the type insists on one',
    act: () => prepareUpdate(withMetadata({ resourceVersion: '' }), stored, strict, update),
    code: 422,
  },
];

for (const { does, act, code, message } of REFUSALS) {
  test(`${does} is refused with ${code}`, (t) => {
    const error = t.throws(act, { instanceOf: StatusError });
    t.is(error?.status.code, code);
    t.true(isStatusError(error));
    if (message !== undefined) t.is(error?.message, message);
  });
}

test('a cluster-scoped object loses its namespace', (t) => {
  const made = prepareCreate({ metadata: { name: 'n1', namespace: 'x' } }, node, { ...creation, namespace: '' });
  t.false('namespace' in metadataOf(made));
});

test('an update keeps what the server owns, whatever the body says', (t) => {
  const next = withMetadata(
    {
      uid: '',
      resourceVersion: '',
      generation: 99,
      creationTimestamp: null,
      selfLink: '/x',
      clusterName: 'c',
      labels: { a: 'c' },
    },
    { status: { replicas: 50 } },
  );
  t.deepEqual(prepareUpdate(next, stored, deployment, update), {
    ...stored,
    metadata: { ...stored.metadata, labels: { a: 'c' } },
  });
});

test('an update of an object being deleted cannot take that back', (t) => {
  const dying = withMetadata({ deletionTimestamp: '2026-11-20T00:00:00Z', deletionGracePeriodSeconds: 0 });
  const next = withMetadata({ deletionTimestamp: undefined, deletionGracePeriodSeconds: undefined });
  const result = metadataOf(prepareUpdate(next, dying, deployment, update));
  t.is(result.deletionTimestamp, '2026-11-20T00:00:00Z');
  t.is(result.deletionGracePeriodSeconds, 0);
});

test('the generation grows when a part that counts changes, and only then', (t) => {
  const generationAfter = (next: JsonObject, type = deployment) =>
    metadataOf(prepareUpdate(next, stored, type, update)).generation;
  t.is(generationAfter(withMetadata({})), 3);
  t.is(generationAfter(withMetadata({ labels: { z: 'z' } })), 3);
  t.is(generationAfter(withMetadata({}, { spec: { template: { x: 1 }, replicas: 1 } })), 3);
  t.is(generationAfter(withMetadata({}, { spec: { replicas: 2 } })), 4);
  t.is(generationAfter(withMetadata({ annotations: { n: '2' } })), 4);
  const specOnly = sampleType({}, { generationParts: ['spec'] });
  t.is(generationAfter(withMetadata({ annotations: { n: '2' } }), specOnly), 3);
  const hooks = sampleType({}, { generationParts: ['webhooks'], hasStatus: false });
  t.is(generationAfter(withMetadata({}, { webhooks: [1] }), hooks), 4);
  t.is(generationAfter(withMetadata({}, { spec: {} }), configMap), 3);
});

test('a status update changes status and metadata, and keeps the rest', (t) => {
  const next = withMetadata({ annotations: { n: '2' } }, { spec: { replicas: 9 }, status: { replicas: 9 } });
  const type = sampleType({ plural: 'replicasets' });
  t.deepEqual(prepareUpdate(next, stored, type, { ...update, subresource: 'status' }), {
    ...stored,
    metadata: { ...stored.metadata, annotations: { n: '2' } },
    status: { replicas: 9 },
  });
});

test('a status update keeps the metadata that its type says', (t) => {
  const next = withMetadata(
    {
      labels: { a: 'z' },
      annotations: { n: 'z' },
      ownerReferences: [{ uid: 'o' }],
      finalizers: ['x.io/f'],
      deletionTimestamp: 'now',
    },
    { status: {} },
  );
  const scope = { ...update, subresource: 'status' };
  const after = (type = deployment) => metadataOf(prepareUpdate(next, stored, type, scope));
  t.like(after(), { labels: { a: 'b' }, annotations: { n: 'z' } });
  const pod = after(sampleType({ group: '', plural: 'pods' }));
  t.is(pod.ownerReferences, undefined);
  t.is(pod.deletionTimestamp, undefined);
  t.deepEqual(pod.labels, { a: 'z' });
  t.deepEqual(after(sampleType({ group: 'flowcontrol.example', plural: 'flowschemas' })), stored.metadata);
  for (const [group, plural] of [
    ['storage.example', 'volumeattachments'],
    ['internal.apiserver.example', 'storageversions'],
  ] as const) {
    const { labels, annotations, ownerReferences, finalizers } = after(sampleType({ group, plural }));
    t.deepEqual(
      [labels, annotations, ownerReferences, finalizers],
      [stored.metadata.labels, stored.metadata.annotations, undefined, undefined],
      plural,
    );
  }
  t.deepEqual(
    after(sampleType({ group: 'example.com', plural: 'things' }, { statusKeepsMetadata: true })),
    stored.metadata,
  );
});

test('a status that is taken away is taken away', (t) => {
  const { status: _, ...bare } = stored;
  const result = prepareUpdate(bare, stored, sampleType({ plural: 'x' }), { ...update, subresource: 'status' });
  t.false('status' in result);
});

test('an update that changes nothing is recognised, whatever the order of keys and the version', (t) => {
  const { spec, ...rest } = stored;
  const reordered = { spec: { template: { x: 1 }, replicas: 1 }, ...rest };
  t.true(isUnchanged(stored, stored));
  t.true(isUnchanged(reordered, stored));
  t.true(isUnchanged(withMetadata({ resourceVersion: '8' }), stored));
  t.false(isUnchanged(withMetadata({ labels: {} }), stored));
  t.false(isUnchanged(withMetadata({}, { spec: { replicas: 2 } }), stored));
  t.false(isUnchanged(withMetadata({}, { extra: 1 }), stored));
  const owned = (time: string, manager = 'm') => withMetadata({ managedFields: [{ manager, time, fieldsV1: {} }] });
  t.true(isUnchanged(owned('t1'), owned('t2')));
  t.false(isUnchanged(owned('t1', 'm'), owned('t1', 'n')));
  t.false(isUnchanged(owned('t1'), stored));
});

test('repeated owner references are left out once, and told by uid', (t) => {
  const a = { uid: 'a', name: 'x' };
  const other = { uid: 'a', name: 'y' };
  const b = { uid: 'b' };
  t.deepEqual(distinctOwnerReferences([a, b, { ...a }, other]), { references: [a, b, other], repeatedUids: ['a'] });
  const references = [a, b];
  t.is(distinctOwnerReferences(references).references, references);
});

test('as many references to one owner as a body holds are told apart in time in proportion to their number', (t) => {
  const references = Array.from({ length: 20_000 }, (_, index) => ({ uid: 'a', name: `x${index}`, controller: false }));
  t.is(distinctOwnerReferences(references).references, references);
  const twice = distinctOwnerReferences([...references, { uid: 'a', controller: false, name: 'x0' }]);
  t.deepEqual(twice.repeatedUids, ['a']);
  t.is(twice.references.length, references.length);
});
