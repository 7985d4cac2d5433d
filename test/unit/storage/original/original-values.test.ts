import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { writeExactIntegers } from '../../../../runtime/exact-integers.ts';
import { OriginalKeys } from '../../../../storage/etcd/original/original-keys.ts';
import { OriginalValues } from '../../../../storage/etcd/original/original-values.ts';
import { unpackAttributes } from '../../../../storage/forms/attributes.ts';
import { readStoredValue, type StorageMedia } from '../../../../storage/forms/stored-value.ts';
import { openWire, readWire, sealWire } from '../../../server/kubernetes-messages.ts';
import { documents } from '../../api/validation/objects.ts';
import { objectOf, REGISTRY, storedFormOf } from './original-rig.ts';

writeExactIntegers();

const KEYS = new OriginalKeys(REGISTRY, '/registry');
const valuesWith = (media: StorageMedia): OriginalValues =>
  new OriginalValues({ registry: REGISTRY, keys: KEYS, media, features: () => true, defaultFamily: 'IPv4' });
const PROTOBUF = valuesWith('protobuf');

const UID = '0b8e9d6c-7b9e-4f43-9d5c-1f5d5a1f7a11';
const META = { name: 'x', namespace: 'default', uid: UID, creationTimestamp: '2021-05-04T03:02:01Z' };

function written(values: OriginalValues, key: string, object: JsonObject): Buffer {
  return Buffer.from(values.write(key, readStoredValue(key, storedFormOf(key, object))!));
}

test('a config map is read as a kube-apiserver stores it, byte for byte', (t) => {
  // Its fields without a pointer are written even when they are empty, as are the texts behind the object.
  const text = (tag: string, value: string): string =>
    tag + Buffer.from([value.length]).toString('hex') + Buffer.from(value).toString('hex');
  const time = '420808a9f2c284061000';
  const metadata = `${text('0a', 'x')}1200${text('1a', 'default')}2200${text('2a', UID)}32003800${time}7a00`;
  const entry = `${text('0a', 'k')}${text('12', 'v')}`;
  const raw = `0a${length(metadata)}${metadata}12${length(entry)}${entry}`;
  const value = `6b3873000a0f0a02763112${text('', 'ConfigMap')}12${length(raw)}${raw}1a002200`;
  const key = 'core/configmaps/default/x';
  const read = PROTOBUF.read(key, Buffer.from(value, 'hex'), 7)!;
  t.deepEqual(objectOf(key, read), { kind: 'ConfigMap', apiVersion: 'v1', metadata: META, data: { k: 'v' } });
  t.is(readStoredValue(key, read)?.bornRevision, 7);
  t.deepEqual(readWire(PROTOBUF.write(key, readStoredValue(key, read)!)), {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: META,
    data: { k: 'v' },
  });
});

function length(hex: string): string {
  const bytes = hex.length / 2;
  return Buffer.from(bytes < 128 ? [bytes] : [(bytes & 0x7f) | 0x80, bytes >> 7]).toString('hex');
}

test('what is written says neither its version nor a link to itself, in either form', (t) => {
  const key = 'core/configmaps/default/x';
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { ...META, resourceVersion: '12', selfLink: '/x' } };
  for (const media of ['protobuf', 'json'] as const) {
    const bytes = written(valuesWith(media), key, { ...object, metadata: META });
    t.is(bytes[0], media === 'json' ? 0x7b : 0x6b);
    t.false(bytes.includes('resourceVersion'));
    t.deepEqual(objectOf(key, PROTOBUF.read(key, bytes, 1)!), { ...object, metadata: META });
  }
  const foreign = Buffer.from(JSON.stringify(object));
  t.deepEqual(objectOf(key, PROTOBUF.read(key, foreign, 1)!).metadata, META);
});

test('every kind comes back as it was stored, in both forms', (t) => {
  let count = 0;
  for (const file of readdirSync('test/fixtures/valid')) {
    for (const body of documents(readFileSync(`test/fixtures/valid/${file}`, 'utf8'), DIALECTS.kubernetes)) {
      const { apiVersion, kind } = body as { apiVersion: string; kind: string };
      const type = REGISTRY.known().find((one) => one.apiVersion === apiVersion && one.kind === kind && one.persisted);
      if (type === undefined || type.needsConversion) continue;
      const key = `${type.storageKey}/${type.namespaced ? 'default' : ''}/x`;
      const first = PROTOBUF.read(key, Buffer.from(JSON.stringify(body)), 3)!;
      for (const media of ['protobuf', 'json'] as const) {
        const value = valuesWith(media).write(key, readStoredValue(key, first)!);
        t.deepEqual(Buffer.from(PROTOBUF.read(key, value, 3)!), Buffer.from(first), `${apiVersion} ${kind} ${media}`);
      }
      count++;
    }
  }
  t.true(count > 30, `${count} kinds`);
});

test('what the release before has to read is written in the version that it knows', (t) => {
  for (const [key, kind, stored, there] of [
    ['batch/cronjobs/default/x', 'CronJob', 'batch/v1', 'batch/v1beta1'],
    ['policy/poddisruptionbudgets/default/x', 'PodDisruptionBudget', 'policy/v1', 'policy/v1beta1'],
    ['discovery.k8s.io/endpointslices/default/x', 'EndpointSlice', 'discovery.k8s.io/v1', 'discovery.k8s.io/v1beta1'],
    ['apps/deployments/default/x', 'Deployment', 'apps/v1', 'apps/v1'],
  ] as const) {
    const bytes = written(PROTOBUF, key, { kind, apiVersion: stored, metadata: META });
    t.is(openWire(bytes).apiVersion, there);
    t.is(objectOf(key, PROTOBUF.read(key, bytes, 1)!).apiVersion, stored);
  }
});

test('definitions and APIServices are JSON, whatever the media type; v1beta1 of both is read', (t) => {
  const definition = {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    metadata: { name: 'tabs.example.com', uid: UID, creationTimestamp: META.creationTimestamp },
    spec: {
      group: 'example.com',
      version: 'v1',
      names: { plural: 'tabs', singular: 'tab', kind: 'Tab', listKind: 'TabList' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true }],
      validation: { openAPIV3Schema: { type: 'object' } },
      preserveUnknownFields: false,
    },
  };
  const key = 'apiextensions.k8s.io/customresourcedefinitions//tabs.example.com';
  const read = PROTOBUF.read(key, Buffer.from(JSON.stringify(definition)), 1)!;
  const object = objectOf(key, read) as { apiVersion: string; spec: { versions: readonly JsonObject[] } };
  t.is(object.apiVersion, 'apiextensions.k8s.io/v1');
  t.deepEqual(object.spec.versions[0]?.schema, { openAPIV3Schema: { type: 'object' } });
  t.is(PROTOBUF.write(key, readStoredValue(key, read)!)[0], 0x7b);
});

test('what an older release left out is filled in as it is read', (t) => {
  const key = 'core/services/default/x';
  const spec = { ports: [{ port: 80 }], clusterIP: '10.96.0.7', type: 'ClusterIP', selector: { a: 'b' } };
  const old = sealWire('v1', 'Service', { metadata: META, spec });
  const read = objectOf(key, PROTOBUF.read(key, old, 1)!).spec;
  t.like(read, {
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    sessionAffinity: 'None',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
  });
  const headless = sealWire('v1', 'Service', { metadata: META, spec: { clusterIP: 'None', type: 'ClusterIP' } });
  t.like(objectOf(key, PROTOBUF.read(key, headless, 1)!).spec, {
    clusterIPs: ['None'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
  });
});

test('labels and selectable fields stand beside what was read', (t) => {
  const key = 'core/pods/default/x';
  const pod = {
    metadata: { ...META, labels: { app: 'web' } },
    spec: { nodeName: 'n1', containers: [] },
    status: { phase: 'Running' },
  };
  const { attributes } = readStoredValue(key, PROTOBUF.read(key, sealWire('v1', 'Pod', pod), 1)!)!;
  const { labels, fields } = unpackAttributes(attributes);
  t.deepEqual({ ...labels }, { app: 'web' });
  t.true(fields.includes('n1') && fields.includes('Running'));
});

test('a custom object is JSON as it is; what is no object is left alone', (t) => {
  const key = 'example.com/tabs/default/x';
  const object = { apiVersion: 'example.com/v1', kind: 'Tab', metadata: META, spec: { any: [1, { x: null }] } };
  const read = PROTOBUF.read(key, Buffer.from(`${JSON.stringify(object)}\n`), 4)!;
  t.deepEqual(objectOf(key, read), object);
  t.is(readStoredValue(key, read)?.schemaGeneration, 0);
  t.deepEqual(JSON.parse(Buffer.from(PROTOBUF.write(key, readStoredValue(key, read)!)).toString()), object);
  for (const value of ['k8s\0\x0a\x00', 'plain', '{}', '[]', '{"kind":"Tab","apiVersion":"v1"}']) {
    t.is(PROTOBUF.read(key, Buffer.from(value), 4), undefined, value);
  }
});

test('what is no metadata in a custom object is left out, and a null is nothing', (t) => {
  const key = 'example.com/tabs/default/x';
  const cases: readonly (readonly [JsonObject, JsonObject])[] = [
    [{ labels: null, annotations: null, ownerReferences: null, finalizers: null, managedFields: null }, {}],
    [
      { labels: { a: null }, finalizers: [null] },
      { labels: { a: '' }, finalizers: [''] },
    ],
    [{ labels: 'text', annotations: [1], ownerReferences: {}, finalizers: 'x', generation: 'x' }, {}],
    [
      { labels: { a: 5, b: 'c', d: {} }, annotations: { e: true, f: 'g' } },
      { labels: { b: 'c' }, annotations: { f: 'g' } },
    ],
    [{ ownerReferences: [5], managedFields: 'x', deletionTimestamp: 'x', unknown: 1 }, {}],
  ];
  for (const [odd, sound] of cases) {
    const object = { kind: 'Tab', apiVersion: 'example.com/v1', metadata: { ...META, ...odd }, spec: { n: null } };
    const read = PROTOBUF.read(key, Buffer.from(JSON.stringify(object)), 4)!;
    t.deepEqual(objectOf(key, read), { ...object, metadata: { ...META, ...sound } }, JSON.stringify(odd));
    const { labels } = unpackAttributes(readStoredValue(key, read)!.attributes);
    t.deepEqual({ ...labels }, (sound.labels ?? {}) as Record<string, string>);
  }
});

test('an integer that no double holds is read and written with every digit', (t) => {
  const [EXACT, LOWEST] = ['9007199254740993', '-9223372036854775808'];
  const schema = `{"type":"object","default":{"n":${EXACT}},"example":{"n":${LOWEST}}}`;
  const versions = `[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]`;
  const names = '{"plural":"tabs","kind":"Tab"}';
  for (const [key, kind, apiVersion, spec] of [
    ['example.com/tabs/default/x', 'Tab', 'example.com/v1', `{"n":[${EXACT},${LOWEST}]}`],
    [
      'apiextensions.k8s.io/customresourcedefinitions//tabs.example.com',
      'CustomResourceDefinition',
      'apiextensions.k8s.io/v1',
      `{"group":"example.com","names":${names},"scope":"Namespaced","versions":${versions}}`,
    ],
  ] as const) {
    const value = `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"x"},"spec":${spec}}`;
    const read = readStoredValue(key, PROTOBUF.read(key, Buffer.from(value), 4)!)!;
    for (const bytes of [read.json, Buffer.from(PROTOBUF.write(key, read))])
      for (const digits of [EXACT, LOWEST]) t.true(bytes.includes(digits), `${kind} ${digits}`);
  }
});

test('a value that a built-in type cannot have is said not to be readable', (t) => {
  const key = 'core/configmaps/default/x';
  for (const [value, what] of [
    [Buffer.from('???'), /neither Protobuf nor JSON/],
    [sealWire('v1', 'Event', { metadata: META }), /is a Event of v1/],
    [sealWire('v9', 'ConfigMap', { metadata: META }), /of v9, which is not known/],
    [Buffer.concat([sealWire('v1', 'ConfigMap', { metadata: META }).subarray(0, 40)]), /./],
  ] as const) {
    t.throws(() => PROTOBUF.read(key, value, 1), { message: what });
  }
});

test('a field that no type here knows is not read, and lost when the object is written', (t) => {
  const key = 'core/configmaps/default/x';
  const known = openWire(sealWire('v1', 'ConfigMap', { metadata: META, data: { k: 'v' } })).raw;
  const raw = Buffer.concat([known, Buffer.from('a20603616263', 'hex')]);
  const value = Buffer.concat([
    Buffer.from('6b3873000a0f0a0276311209436f6e6669674d617012', 'hex'),
    Buffer.from(length(raw.toString('hex')), 'hex'),
    raw,
  ]);
  const read = PROTOBUF.read(key, value, 1)!;
  t.deepEqual(objectOf(key, read).data, { k: 'v' });
  t.deepEqual(openWire(PROTOBUF.write(key, readStoredValue(key, read)!)).raw.indexOf('abc'), -1);
});

test("a server's lease is an Endpoints of its address there, and a Lease here", (t) => {
  const key = 'coordination.k8s.io/leases/kube-system/kube-apiserver-endpoint-10.0.0.1';
  const labels = { 'k8s.io/component': 'kube-apiserver-endpoint' };
  const metadata = { name: 'kube-apiserver-endpoint-10.0.0.1', namespace: 'kube-system', uid: UID, labels };
  const lease = {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata,
    spec: { holderIdentity: '10.0.0.1', leaseDurationSeconds: 15, renewTime: '2021-05-04T03:02:01.000000Z' },
  };
  const bytes = written(PROTOBUF, key, lease);
  t.like(readWire(bytes), { kind: 'Endpoints', subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] });
  t.like(objectOf(key, PROTOBUF.read(key, bytes, 1)!), {
    metadata: { name: metadata.name, uid: UID, labels },
    spec: { holderIdentity: '10.0.0.1' },
  });
  const foreign = sealWire('v1', 'Endpoints', {
    metadata: { generation: 4 },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }] }],
  });
  const read = objectOf(key, PROTOBUF.read(key, foreign, 1)!) as { metadata: JsonObject; spec: JsonObject };
  t.deepEqual(read.metadata.labels, labels);
  t.regex(String(read.metadata.uid), /^[0-9a-f-]{36}$/);
  t.is(read.spec.holderIdentity, '10.0.0.1');
  for (const damaged of [Buffer.from('zzz'), Buffer.alloc(0), sealWire('v1', 'ConfigMap', { metadata: {} })]) {
    t.is(PROTOBUF.read(key, damaged, 1), undefined);
  }
});
