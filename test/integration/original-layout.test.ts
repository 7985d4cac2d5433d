// Servers with `--store-layout kubernetes` beside one that does to their etcd what a kube-apiserver does: what was there before them,
// what both write, what both give out, and what is left when either is gone.
import ava from 'ava';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import type { ApiObject, HttpsClient } from '../server/https-client.ts';
import { readWire } from '../server/kubernetes-messages.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type Json, OriginalServer } from '../server/original-server.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { configMap, createConfigMap, eventually, freshNamespace, namesOf, namespaceForPods } from './objects.ts';

// One after the other: they change what they share.
const hooks = testNeeding(ava, ['etcd']);
const test = hooks.serial;
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
const MERGE = { 'content-type': 'application/merge-patch+json' };
const SERVICES = '/api/v1/namespaces/default/services';
const CREATED = '2021-05-04T03:02:01Z';
let member: EtcdMember;
let etcd: EtcdClient;
let original: OriginalServer;
let one: ServerProcess;
let other: ServerProcess;

const metadataOf = (name: string, namespace?: string): Json => ({
  name,
  ...(namespace !== undefined && { namespace }),
  uid: `5b8e9d6c-7b9e-4f43-9d5c-${Buffer.from(name.padEnd(6).slice(0, 6)).toString('hex')}`,
  creationTimestamp: CREATED,
});

const DEFINITION = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  metadata: { ...metadataOf('tabs.example.com'), generation: 1 },
  spec: {
    group: 'example.com',
    version: 'v1',
    names: { plural: 'tabs', singular: 'tab', kind: 'Tab', listKind: 'TabList' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true }],
    validation: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { n: { type: 'integer', default: 5 } } } },
      },
    },
    preserveUnknownFields: false,
    conversion: { strategy: 'None' },
  },
  status: {
    conditions: [
      { type: 'NamesAccepted', status: 'True', lastTransitionTime: CREATED, reason: 'NoConflicts', message: '' },
      { type: 'Established', status: 'True', lastTransitionTime: CREATED, reason: 'InitialNamesAccepted', message: '' },
    ],
    acceptedNames: { plural: 'tabs', singular: 'tab', kind: 'Tab', listKind: 'TabList' },
    storedVersions: ['v1'],
  },
};

/** What a cluster of the original has before any of ours comes. */
async function settle(): Promise<void> {
  const range = { metadata: {}, range: '10.96.0.0/24', data: '' };
  await original.create('ranges/serviceips', 'v1', 'RangeAllocation', range);
  await original.create('ranges/servicenodeports', 'v1', 'RangeAllocation', {
    ...range,
    range: '30000-30063',
    data: '',
  });
  const spec = { type: 'ClusterIP', clusterIP: '10.96.0.7', selector: { a: 'b' }, ports: [{ port: 80 }] };
  await original.createService(
    'services/specs/default/older',
    spec,
    { address: 6 },
    { metadata: metadataOf('older', 'default') },
  );
  const itself = { type: 'ClusterIP', clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] };
  const metadata = metadataOf('kubernetes', 'default');
  await original.createService('services/specs/default/kubernetes', itself, { address: 0 }, { metadata });
  await original.create('configmaps/default/was', 'v1', 'ConfigMap', {
    metadata: metadataOf('was', 'default'),
    data: { k: 'v' },
  });
  await original.createJson('apiextensions.k8s.io/customresourcedefinitions/tabs.example.com', DEFINITION);
  const tab = { kind: 'Tab', apiVersion: 'example.com/v1', metadata: metadataOf('was', 'default'), spec: {} };
  await original.createJson('example.com/tabs/default/was', tab);
  await original.leave('widgets/default/of-nobody', Buffer.from('left alone'));
}

hooks.before(async () => {
  member = await EtcdMember.start();
  scope.teardown(() => member.dispose());
  etcd = new EtcdClient({ servers: [member.server] }, realEnvironment.timers);
  scope.teardown(() => etcd.close());
  original = new OriginalServer(etcd);
  await eventually(
    () => etcd.status().catch(() => undefined),
    (status) => status !== undefined,
  );
  await settle();
  const args = [
    ...['--api-dialect', 'kubernetes', '--store-servers', member.server, '--store-layout', 'kubernetes'],
    ...['--service-cluster-ip-range', '10.96.0.0/24', '--service-node-port-range', '30000-30063'],
  ];
  [one, other] = await Promise.all([
    startServer(scope, { args: [...args, '--event-ttl', '4s', '--advertise-address', '10.9.9.1'] }),
    startServer(scope, {
      args: [...args, '--storage-media-type', 'application/json', '--advertise-address', '10.9.9.2'],
    }),
  ]);
});

hooks.after.always(async () => {
  for (const step of undo) await step();
});

test('what the original had is served: its versions, its defaults, its definitions and what they make', async (t) => {
  const { revision } = (await original.get('configmaps/default/was'))!;
  for (const { client } of [one, other]) {
    const map = (await client.get('/api/v1/namespaces/default/configmaps/was')).json;
    t.like(map, { metadata: { ...metadataOf('was', 'default'), resourceVersion: String(revision) }, data: { k: 'v' } });
    t.like((await client.get(`${SERVICES}/older`)).json.spec as Json, {
      clusterIPs: ['10.96.0.7'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
    });
    const tab = await eventually(
      () => client.get('/apis/example.com/v1/namespaces/default/tabs/was'),
      ({ status }) => status === 200,
    );
    t.deepEqual(tab.json.spec, { n: 5 });
    t.deepEqual(namesOf((await client.get('/apis/example.com/v1/tabs')).json), ['was']);
  }
});

test('what either writes the other finds under its path, in its form and version', async (t) => {
  const namespace = await freshNamespace(one.client);
  const below = `configmaps/${namespace.name}/c`;
  const made = await createConfigMap(one.client, namespace, { name: 'c' }, { by: 'one' });
  const found = await original.get(below);
  t.like(found, { revision: Number(made.metadata.resourceVersion), apiVersion: 'v1', isProtobuf: true });
  t.like(found?.object, { metadata: { name: 'c', uid: made.metadata.uid }, data: { by: 'one' } });
  await original.update(below, 'ConfigMap', (object) => ({ ...object, data: { by: 'original' } }));
  for (const { client } of [one, other]) {
    t.deepEqual((await client.get(`${namespace.configMaps}/c`)).json.data, { by: 'original' });
  }
  const late = await one.client.request('PUT', `${namespace.configMaps}/c`, {
    body: { ...made, data: { by: 'late' } },
  });
  t.is(late.status, 409, late.text);
  const patch = { headers: MERGE, body: { data: { and: 'other' } } };
  t.is((await other.client.request('PATCH', `${namespace.configMaps}/c`, patch)).status, 200);
  const json = await original.get(below);
  t.like(json, { isProtobuf: false, object: { data: { by: 'original', and: 'other' } } });
  await original.delete(below);
  t.is((await one.client.get(`${namespace.configMaps}/c`)).status, 404);
});

test('a watch shows what each of three writes, in the order of their revisions, and goes on at another server', async (t) => {
  const namespace = await freshNamespace(one.client);
  const { json } = await one.client.get(namespace.configMaps);
  const path = (from: string | undefined) => `${namespace.configMaps}?watch=true&resourceVersion=${from}`;
  const watches = await Promise.all(
    [one, other].map(({ client }) => client.watch(path(json.metadata.resourceVersion))),
  );
  const versions: string[] = [];
  for (let round = 0; round < 9; round++) {
    const name = `w-${round}`;
    if (round % 3 === 0) {
      const object = { metadata: metadataOf(name, namespace.name), data: {} };
      versions.push(String(await original.create(`configmaps/${namespace.name}/${name}`, 'v1', 'ConfigMap', object)));
    } else {
      const { client } = round % 3 === 1 ? one : other;
      versions.push((await createConfigMap(client, namespace, { name })).metadata.resourceVersion!);
    }
  }
  for (const watch of watches) {
    const events = await watch.until(({ object }) => object.metadata.name === 'w-8');
    const ours = events.filter(({ object }) => object.metadata.name?.startsWith('w-'));
    t.deepEqual(
      ours.map(({ object }) => object.metadata.resourceVersion),
      versions,
    );
  }
  const resumed = await other.client.watch(path(versions[3]));
  const rest = await resumed.until(({ object }) => object.metadata.name === 'w-8');
  t.deepEqual(
    rest.map(({ object }) => object.metadata.resourceVersion),
    versions.slice(4),
  );
  const removed = await original.delete(`configmaps/${namespace.name}/w-8`);
  const [last] = (await resumed.until(({ type }) => type === 'DELETED')).slice(-1);
  t.like(last, { type: 'DELETED', object: { metadata: { name: 'w-8', resourceVersion: String(removed) } } });
  for (const watch of [...watches, resumed]) watch.close();
});

test('an object with finalizers goes when the last is taken away, and nothing of it is left', async (t) => {
  const namespace = await freshNamespace(one.client);
  const path = `${namespace.configMaps}/f`;
  const { json } = await other.client.get(namespace.configMaps);
  const watch = await other.client.watch(
    `${namespace.configMaps}?watch=true&resourceVersion=${json.metadata.resourceVersion}`,
  );
  const body = configMap({ name: 'f', finalizers: ['example.com/held'] });
  t.is((await one.client.request('POST', namespace.configMaps, { body })).status, 201);
  t.is((await one.client.request('DELETE', path)).status, 200);
  const held = (await other.client.get(path)).json;
  t.truthy(held.metadata.deletionTimestamp);
  const freed = await one.client.request('PUT', path, {
    body: { ...held, metadata: { ...held.metadata, finalizers: [] } },
  });
  t.is(freed.status, 200, freed.text);
  t.is(freed.json.metadata.finalizers, undefined);
  t.is((await other.client.get(path)).status, 404);
  t.is(await original.get(`configmaps/${namespace.name}/f`), undefined);
  const events = await watch.until(({ type }) => type === 'DELETED');
  t.deepEqual(
    events.filter(({ object }) => object.metadata.name === 'f').map(({ type }) => type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  );
  watch.close();
});

test('a long list goes on where it was, whoever writes meanwhile', async (t) => {
  const namespace = await freshNamespace(one.client);
  const names = Array.from({ length: 12 }, (_, index) => `l-${String(index).padStart(2, '0')}`);
  for (const name of names) await createConfigMap(one.client, namespace, { name });
  const first = (await one.client.get(`${namespace.configMaps}?limit=5`)).json;
  await original.delete(`configmaps/${namespace.name}/l-11`);
  await createConfigMap(other.client, namespace, { name: 'l-06a' });
  const seen = namesOf(first);
  for (let next = first; next.metadata.continue !== undefined; ) {
    next = (await one.client.get(`${namespace.configMaps}?limit=5&continue=${next.metadata.continue}`)).json;
    t.is(next.metadata.resourceVersion, first.metadata.resourceVersion);
    seen.push(...namesOf(next));
  }
  t.deepEqual(
    seen.filter((name) => name.startsWith('l-')),
    names,
  );
});

const service = (name: string, spec: Json): ApiObject =>
  ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } }) as ApiObject;

test('addresses and ports are given once, by whichever server', async (t) => {
  const taken = await one.client.request('POST', SERVICES, { body: service('taken', { clusterIP: '10.96.0.7' }) });
  t.is(taken.status, 422, taken.text);
  t.regex(taken.text, /already allocated/);
  const body = service('ours', { type: 'NodePort', clusterIP: '10.96.0.30', ports: [{ port: 80, nodePort: 30033 }] });
  const made = await other.client.request('POST', SERVICES, { body });
  t.is(made.status, 201, made.text);
  t.true((await original.given('addresses')).includes(29));
  t.true((await original.given('ports')).includes(33));
  await t.throwsAsync(original.allocate('addresses', 29), { message: /is given/ });
  await original.createService(
    'services/specs/default/theirs',
    { type: 'ClusterIP', clusterIP: '10.96.0.40', clusterIPs: ['10.96.0.40'], ports: [{ port: 80 }] },
    { address: 39 },
    { metadata: metadataOf('theirs', 'default') },
  );
  const late = await one.client.request('POST', SERVICES, { body: service('late', { clusterIP: '10.96.0.40' }) });
  t.is(late.status, 422, late.text);
  const many = await Promise.all(
    Array.from({ length: 40 }, (_, index) => {
      const { client } = index % 2 === 0 ? one : other;
      return client.request('POST', SERVICES, { body: service(`many-${index}`, { type: 'NodePort' }) });
    }),
  );
  t.deepEqual(
    many.filter(({ status }) => status !== 201).map(({ text }) => text),
    [],
  );
  const ports = many.map(({ json }) => (json.spec as { ports: { nodePort: number }[] }).ports[0]!.nodePort);
  t.is(new Set(ports).size, 40);
  t.is(new Set(many.map(({ json }) => (json.spec as Json).clusterIP)).size, 40);
  for (const index of many.keys()) await one.client.request('DELETE', `${SERVICES}/many-${index}`);
  t.is((await other.client.request('DELETE', `${SERVICES}/ours`)).status, 200);
  t.false((await original.given('addresses')).includes(29));
  t.deepEqual(await original.given('ports'), []);
});

test('quotas hold for all servers together, one of them or two', async (t) => {
  for (const quotas of [['q1'], ['q1', 'q2']]) {
    const namespace = await freshNamespace(one.client);
    for (const name of quotas) {
      const body = { metadata: { name }, spec: { hard: { 'count/secrets': '12' } } };
      const path = `${namespace.core}/resourcequotas`;
      t.is((await one.client.request('POST', path, { body })).status, 201);
      await eventually(
        () => one.client.get(`${path}/${name}`),
        ({ json }) => (json.status as { used?: Json } | undefined)?.used?.['count/secrets'] !== undefined,
      );
    }
    const had = (await one.client.get(`${namespace.core}/secrets`)).json.items!.length;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const { client } = index % 2 === 0 ? one : other;
        return client.request('POST', `${namespace.core}/secrets`, {
          body: { metadata: { name: `s-${index}` } } as ApiObject,
        });
      }),
    );
    t.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [201, 403]);
    const now = (await other.client.get(`${namespace.core}/secrets`)).json.items!.length;
    t.is(now, had + answers.filter(({ status }) => status === 201).length);
    t.true(now <= 12, `${now} secrets`);
  }
});

test('a pod is created, bound and deleted by a server while the original changes its status', async (t) => {
  const namespace = await namespaceForPods(one.client);
  const pods = `${namespace.core}/pods`;
  const body = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } } as ApiObject;
  const made = await one.client.request('POST', pods, { body });
  t.is(made.status, 201, made.text);
  await original.update(`pods/${namespace.name}/p`, 'Pod', (pod) => ({ ...pod, status: { phase: 'Running' } }));
  t.like((await other.client.get(`${pods}/p`)).json.status as Json, { phase: 'Running' });
  const selected = (await other.client.get(`${pods}?fieldSelector=status.phase%3DRunning`)).json;
  t.deepEqual(namesOf(selected), ['p']);
  const gone = await other.client.request('DELETE', `${pods}/p`, { body: { gracePeriodSeconds: 0 } as never });
  t.is(gone.status, 200, gone.text);
  t.is(await original.get(`pods/${namespace.name}/p`), undefined);
});

test('definitions and custom objects of a server are JSON where the original looks for them', async (t) => {
  const names = { plural: 'racks', singular: 'rack', kind: 'Rack', listKind: 'RackList' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const body = {
    metadata: { name: 'racks.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  } as unknown as ApiObject;
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  t.is((await one.client.request('POST', definitions, { body })).status, 201);
  const rack = {
    apiVersion: 'example.com/v1',
    kind: 'Rack',
    metadata: { name: 'r' },
    height: 42,
  } as unknown as ApiObject;
  const made = await eventually(
    () => other.client.request('POST', '/apis/example.com/v1/racks', { body: rack }),
    ({ status }) => status !== 404,
  );
  t.is(made.status, 201, made.text);
  t.like(await original.get('example.com/racks/r'), { isProtobuf: false, object: { kind: 'Rack', height: 42 } });
  t.like(await original.get('apiextensions.k8s.io/customresourcedefinitions/racks.example.com'), { isProtobuf: false });
  t.like(await original.get('apiregistration.k8s.io/apiservices/v1.apps'), { isProtobuf: false });
  await original.update('example.com/racks/r', 'Rack', (found) => ({ ...found, height: 43 }));
  t.is(((await one.client.get('/apis/example.com/v1/racks/r')).json as unknown as Json).height, 43);
});

test('events go with their leases, whoever wrote them', async (t) => {
  const namespace = await freshNamespace(one.client);
  const involvedObject = { kind: 'Pod', namespace: namespace.name, name: 'p' };
  const path = `${namespace.core}/events`;
  const body = { metadata: { name: 'ours' }, involvedObject, reason: 'Tested' } as unknown as ApiObject;
  t.is((await one.client.request('POST', path, { body })).status, 201);
  const theirs = { metadata: metadataOf('theirs', namespace.name), involvedObject };
  await original.createEvent(`events/${namespace.name}/theirs`, theirs, 3);
  t.deepEqual(namesOf((await other.client.get(path)).json).sort(), ['ours', 'theirs']);
  await eventually(
    () => other.client.get(path),
    ({ json }) => json.items!.length === 0,
  );
  t.is(await original.get(`events/${namespace.name}/ours`), undefined);
  // Its lease had the one object when the next event needed another.
  t.is((await one.client.request('POST', path, { body })).status, 201);
  t.regex((await one.client.get('/metrics')).text, /^etcd_lease_object_counts_bucket\{le="10"\} [1-9]/m);
});

test('the control plane is reached at every server that is there, until its lease ends', async (t) => {
  const addresses = async ({ client }: ServerProcess): Promise<readonly string[]> => {
    const { json } = await client.get('/api/v1/namespaces/default/endpoints/kubernetes');
    const subsets = (json as unknown as { subsets?: { addresses?: { ip: string }[] }[] }).subsets ?? [];
    return subsets.flatMap((subset) => subset.addresses ?? []).map(({ ip }) => ip);
  };
  await original.heartbeat('10.9.9.3');
  for (const server of [one, other]) {
    const all = await eventually(
      () => addresses(server),
      (ips) => ips.includes('10.9.9.3') && ips.length === 3,
    );
    t.deepEqual(all, ['10.9.9.1', '10.9.9.2', '10.9.9.3']);
  }
  t.like((await original.get('masterleases/10.9.9.1'))?.object, { subsets: [{ addresses: [{ ip: '10.9.9.1' }] }] });
  t.like((await original.get('services/endpoints/default/kubernetes'))?.object, { kind: 'Endpoints' });
  await eventually(
    () => addresses(one),
    (ips) => ips.length === 2,
  );
});

test('a server that is killed and started again has everything, under the same versions', async (t) => {
  const namespace = await freshNamespace(other.client);
  const made = await createConfigMap(one.client, namespace, { name: 'kept' });
  await one.kill9();
  const path = `configmaps/${namespace.name}/meanwhile`;
  const revision = await original.create(path, 'v1', 'ConfigMap', {
    metadata: metadataOf('meanwhile', namespace.name),
  });
  await one.restart();
  t.deepEqual((await one.client.get(`${namespace.configMaps}/kept`)).json, made);
  t.is((await one.client.get(`${namespace.configMaps}/meanwhile`)).json.metadata.resourceVersion, String(revision));
});

test('compaction is everybody’s, and costs nobody anything that is there', async (t) => {
  const namespace = await freshNamespace(one.client);
  const made = await createConfigMap(one.client, namespace, { name: 'c' });
  for (let round = 0; round < 3; round++) await original.compact();
  t.deepEqual((await other.client.get(`${namespace.configMaps}/c`)).json, made);
  const again = await createConfigMap(other.client, namespace, { name: 'd' });
  t.deepEqual((await one.client.get(`${namespace.configMaps}/d`)).json, again);
});

/** Every pair under the prefix but what is the servers' own. */
async function everything(): Promise<readonly (readonly [path: string, value: Buffer])[]> {
  const all: (readonly [string, Buffer])[] = [];
  for (let after = '/registry/', more = true; more; ) {
    const page = await etcd.range({ key: after, end: '/registry0', limit: 200 });
    all.push(...page.pairs.map(({ key, value }) => [key, Buffer.from(value)] as const));
    after = `${page.pairs.at(-1)?.key}\0`;
    ({ more } = page);
  }
  return all.filter(([path]) => !path.startsWith('/registry/orch/'));
}

test('when our servers are gone the original reads all that there is, and nobody touched what is nobody’s', async (t) => {
  await Promise.all([one, other].map((server) => server.stop()));
  const all = await everything();
  t.true(all.length > 100);
  for (const [path, value] of all) {
    if (path === '/registry/widgets/default/of-nobody') t.is(value.toString(), 'left alone');
    else if (value[0] === 0x7b) t.truthy((JSON.parse(value.toString()) as Json).kind, path);
    else {
      const [kind] =
        /^[A-Za-z]+$/.exec(value.subarray(8 + value[7]! + 2, 8 + value[7]! + 2 + value[9 + value[7]!]!).toString()) ??
        [];
      t.truthy(kind, path);
      t.is(value.subarray(0, 4).toString('latin1'), 'k8s\0', path);
      if (path.startsWith('/registry/configmaps/')) t.is(readWire(value).kind, 'ConfigMap');
    }
    // What an event is about has a version of its own.
    if (!path.startsWith('/registry/events/')) t.false(value.includes('"resourceVersion":"'), path);
  }
  const { pairs } = await etcd.range({ key: '/registry/orch/writers/', end: '/registry/orch/writers0' });
  // A server that was killed leaves its counters, and what lies beside those; one that was stopped leaves none.
  const processes = new Set(pairs.map(({ key }) => key.slice('/registry/orch/writers/'.length).split('.')[0]));
  t.true(processes.size <= 1, [...processes].join());
  t.deepEqual((await original.get('masterleases/10.9.9.2')) ?? null, null);
  const left = await original.create('configmaps/default/after', 'v1', 'ConfigMap', {
    metadata: metadataOf('after', 'default'),
  });
  t.true(left > 0);
  await one.restart();
  await t.notThrowsAsync(
    eventually(
      () => mapNamed(one.client, 'after'),
      (status) => status === 200,
    ),
  );
});

async function mapNamed(client: HttpsClient, name: string): Promise<number> {
  return (await client.get(`/api/v1/namespaces/default/configmaps/${name}`)).status;
}
