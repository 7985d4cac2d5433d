// What is served beside resources: health, metrics, discovery, version, OpenAPI. And what the metrics prove about watches.
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import type { HttpsClient } from '../server/https-client.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { sharedServer, startServer } from '../server/server-process.ts';
import { createConfigMap, eventually, freshNamespace } from './objects.ts';

const server = sharedServer(test, { args: ['--api-dialect', 'kubernetes'] });

async function metricsOf(client: HttpsClient): Promise<MetricsText> {
  return new MetricsText((await client.get('/metrics')).text);
}

for (const endpoint of ['healthz', 'livez', 'readyz']) {
  test(`/${endpoint} says ok, lists its checks, leaves out those excluded, and serves each alone`, async (t) => {
    const { client } = server();
    const plain = await client.get(`/${endpoint}`);
    t.deepEqual([plain.status, plain.text], [200, 'ok']);
    t.regex(plain.headers['content-type'] ?? '', /^text\/plain/);
    const { text } = await client.get(`/${endpoint}?verbose`);
    const lines = text.trimEnd().split('\n');
    t.is(lines.at(-1), 'healthz check passed');
    const names = lines.slice(0, -1).map((line) => /^\[\+\](\S+) ok$/.exec(line)?.[1] ?? `not a check: ${line}`);
    for (const name of ['ping', 'log', 'etcd', 'poststarthook/bootstrap-controller'])
      t.true(names.includes(name), name);
    t.is(names.includes('shutdown'), endpoint === 'readyz');
    for (const name of names) t.is((await client.get(`/${endpoint}/${name}`)).text, 'ok', name);
    t.is((await client.get(`/${endpoint}/nonsense`)).status, 404);
    const excluded = await client.get(`/${endpoint}?verbose&exclude=etcd&exclude=log`);
    t.regex(excluded.text, /^\[\+\]etcd excluded: ok$/m);
    t.regex(excluded.text, /^\[\+\]log excluded: ok$/m);
    t.is((await client.get(`/${endpoint}?exclude=etcd`)).text, 'ok');
  });
}

test('every path of the list is served, and every check is in the list', async (t) => {
  const { client } = server();
  const { paths } = (await client.get('/')).json as unknown as { paths: readonly string[] };
  t.deepEqual(paths, [...new Set(paths)].sort());
  for (const path of paths) t.is((await client.get(path)).status, 200, path);
  for (const endpoint of ['healthz', 'livez', 'readyz']) {
    const { text } = await client.get(`/${endpoint}?verbose`);
    const names = [...text.matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name]) => name);
    const listed = paths.filter((path) => path.startsWith(`/${endpoint}/`));
    t.deepEqual(listed, names.map((name) => `/${endpoint}/${name}`).sort());
  }
});

const DISABLED = [
  'scheduling.k8s.io/v1=false',
  'discovery.k8s.io/v1=false,discovery.k8s.io/v1beta1=false',
  'v1=false',
  'api/all=false,apps/v1=true',
];
for (const runtimeConfig of DISABLED) {
  test(`a server with ${runtimeConfig} becomes ready, without the checks of what is not served`, async (t) => {
    const own = await startServer(t, { args: ['--api-dialect', 'kubernetes', '--runtime-config', runtimeConfig] });
    const { status, text } = await own.client.get('/readyz?verbose');
    t.is(status, 200);
    t.is(
      text.includes('bootstrap-system-priority-classes'),
      runtimeConfig.startsWith('discovery') || runtimeConfig === 'v1=false',
    );
    t.is(
      text.includes('poststarthook/bootstrap-controller'),
      !runtimeConfig.startsWith('v1') && !runtimeConfig.startsWith('api'),
    );
  });
}

test('HEAD answers as GET does, without the body, on paths; on resources it is not served', async (t) => {
  const { client } = server();
  for (const path of ['/livez', '/version', '/api']) {
    const head = await client.request('HEAD', path);
    t.deepEqual([head.status, head.text], [200, ''], path);
  }
  const head = await client.request('HEAD', '/api/v1/namespaces/default');
  t.deepEqual([head.status, head.text], [405, '']);
});

test('what is no route of the API is served whatever the method, and an unknown path is unknown to all', async (t) => {
  const { client } = server();
  await eventually(
    async () => (await client.get('/healthz')).status,
    (status) => status === 200,
  );
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    for (const [path, code] of [
      ['/', 200],
      ['/healthz', 200],
      ['/livez/ping', 200],
      ['/metrics', 200],
      ['/apis', 200],
      ['/apis/apps', 200],
      ['/api', 405],
      ['/api/v1', 405],
      ['/apis/apps/v1', 405],
      ['/version', 405],
      ['/apis/nobody.io', 404],
      ['/apis/apps/v9', 404],
      ['/healthz/nonsense', 404],
      ['/healthz/', 404],
      ['/nonsense', 404],
    ] as const) {
      t.is((await client.request(method, path)).status, code, `${method} ${path}`);
    }
  }
});

test('versions that are not there are told by a Status, as resources are', async (t) => {
  const { client } = server();
  for (const path of ['/api/v2', '/api/v2/pods', '/apis/apps/v9', '/apis/apps//v1', '/apis/apps/v9/deployments']) {
    const { json } = await client.get(path);
    t.like(json, { kind: 'Status', reason: 'NotFound', code: 404, details: {} }, path);
  }
});

test('what nobody serves a group of is told by a text, by which clients name it themselves', async (t) => {
  const { client } = server();
  for (const path of ['/apis/nobody.io', '/apis/nobody.io/v1', '/apis/nobody.io/v1/namespaces/a/things/b']) {
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const { status, text, headers } = await client.request(method, path);
      t.deepEqual([status, text], [404, '404 page not found\n'], `${method} ${path}`);
      t.is(headers['content-type'], 'text/plain; charset=utf-8');
    }
  }
});

test('who reads an empty namespace reads all of them', async (t) => {
  const { client } = server();
  const metadata = { name: 'everywhere', labels: { read: 'everywhere' } };
  await client.request('POST', '/api/v1/namespaces/default/configmaps', { body: { metadata } });
  const { json } = await client.get('/api/v1/namespaces//configmaps?labelSelector=read%3Deverywhere');
  t.deepEqual(
    json.items?.map((item) => item.metadata.name),
    ['everywhere'],
  );
  t.is((await client.request('DELETE', '/api/v1/namespaces//configmaps')).status, 405);
});

test('what no message stands for is JSON, whatever the client would rather have', async (t) => {
  const { client } = server();
  for (const accept of ['application/vnd.kubernetes.protobuf', 'image/png']) {
    for (const [path, code] of [
      ['/version', 200],
      ['/', 200],
      ['/nonsense', 404],
    ] as const) {
      const answer = await client.get(path, { headers: { accept } });
      t.deepEqual([answer.status, answer.headers['content-type']], [code, 'application/json'], `${path} as ${accept}`);
      t.notThrows(() => answer.json);
    }
  }
});

test('discovery lists groups, versions and resources', async (t) => {
  const { client } = server();
  const json = async <T>(path: string): Promise<T> => (await client.get(path)).json as T;
  t.like(await json('/api'), { kind: 'APIVersions', versions: ['v1'] });
  interface Group {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
    readonly preferredVersion: { readonly groupVersion: string };
  }
  const { groups } = await json<{ groups: readonly Group[] }>('/apis');
  t.true(groups.some(({ name }) => name === 'rbac.authorization.k8s.io'));
  for (const { name, versions, preferredVersion } of groups) {
    t.is((await json<Group>(`/apis/${name}`)).preferredVersion.groupVersion, preferredVersion.groupVersion);
    for (const { groupVersion } of versions) {
      const list = await json<{ kind: string; groupVersion: string; resources: readonly unknown[] }>(
        `/apis/${groupVersion}`,
      );
      t.like(list, { kind: 'APIResourceList', groupVersion });
      t.true(list.resources.length > 0, groupVersion);
    }
  }
  const core = await json<{ resources: readonly { name: string; verbs: readonly string[] }[] }>('/api/v1');
  const verbsOf = (name: string) => core.resources.find((resource) => resource.name === name)?.verbs;
  t.deepEqual(verbsOf('pods'), ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']);
  t.deepEqual(verbsOf('pods/binding'), ['create']);
  t.like(await json('/version'), { major: '1', minor: '21', gitVersion: 'v1.21.0+orch' });
  const { paths } = await json<{ paths: readonly string[] }>('/');
  for (const path of ['/api', '/apis', '/apis/apps/v1', '/healthz', '/metrics', '/openapi/v2', '/version']) {
    t.true(paths.includes(path), path);
    t.is((await client.get(path)).status, 200, path);
  }
  t.is((await client.get('/nonsense')).status, 404);
});

test('the OpenAPI document describes what is served, and is not sent twice to who has it', async (t) => {
  const { client } = server();
  const first = await client.get('/openapi/v2');
  t.is(first.status, 200);
  const { swagger, definitions } = first.json as unknown as { swagger: string; definitions: object };
  t.is(swagger, '2.0');
  t.true('io.k8s.api.core.v1.Pod' in definitions);
  const etag = first.headers.etag ?? '';
  t.not(etag, '');
  const modified = first.headers['last-modified'] ?? '';
  t.true(Date.parse(modified) <= Date.now());
  const known: readonly (readonly [header: string, value: string, status: number])[] = [
    ['if-none-match', etag, 304],
    ['if-none-match', `"other", W/${etag}`, 304],
    ['if-none-match', '"other"', 200],
    ['if-modified-since', modified, 304],
    ['if-modified-since', new Date(Date.parse(modified) - 1000).toUTCString(), 200],
  ];
  for (const [header, value, status] of known) {
    const again = await client.get('/openapi/v2', { headers: { [header]: value } });
    t.deepEqual([again.status, again.text === ''], [status, status === 304], `${header}: ${value}`);
    t.is(again.headers.etag, etag);
  }
});

test('OpenAPI documents are compressed for who takes gzip', async (t) => {
  const { client } = server();
  const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  for (const [path, accept] of [
    ['/openapi/v2', 'application/json'],
    ['/openapi/v2', protobuf],
    ['/openapi/v3', 'application/json'],
    ['/openapi/v3/apis/apps/v1', 'application/json'],
  ] as const) {
    const plain = await client.get(path, { headers: { accept } });
    t.is(plain.headers['content-encoding'], undefined);
    t.is(plain.headers.vary, 'Accept, Accept-Encoding');
    t.is(plain.headers['cache-control'], 'no-cache, private');
    const packed = await client.get(path, { headers: { accept, 'accept-encoding': 'gzip' } });
    t.is(packed.headers['content-encoding'], 'gzip');
    t.is(packed.headers.etag, plain.headers.etag);
    t.true(packed.bytes.length < plain.bytes.length);
    t.true(gunzipSync(packed.bytes).equals(plain.bytes), `${path} ${accept}`);
  }
});

test('the OpenAPI document is told in Protobuf under both of its names, with an ETag of its own', async (t) => {
  const { client } = server();
  const inJson = await client.get('/openapi/v2');
  for (const accept of [
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf, application/json;q=0.5',
  ]) {
    const found = await client.get('/openapi/v2', { headers: { accept } });
    t.is(found.status, 200, accept);
    t.is(found.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    // The first field of the message is the version of the form: tag 1, three bytes.
    t.is(found.bytes.subarray(0, 5).toString('latin1'), '\n\x032.0');
    t.true(found.bytes.includes('io.k8s.api.core.v1.Pod'));
    const etag = found.headers.etag ?? '';
    t.not(etag, inJson.headers.etag);
    const again = await client.get('/openapi/v2', { headers: { accept, 'if-none-match': etag } });
    t.deepEqual([again.status, again.bytes.length], [304, 0]);
  }
  t.is((await client.get('/openapi/v2', { headers: { accept: 'image/png' } })).status, 406);
});

test('each group and version has an OpenAPI 3 document, found from the root by its hash', async (t) => {
  const { client } = server();
  const root = (await client.get('/openapi/v3')).json as unknown as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  for (const path of ['api', 'api/v1', 'apis', 'apis/apps', 'apis/apps/v1', 'version'])
    t.true(path in root.paths, path);
  const { serverRelativeURL } = root.paths['apis/apps/v1']!;
  const found = await client.get(serverRelativeURL);
  t.is(found.status, 200);
  t.regex(found.headers['cache-control'] ?? '', /immutable/);
  const { openapi, components } = found.json as unknown as { openapi: string; components: { schemas: object } };
  t.is(openapi, '3.0.0');
  t.true('io.k8s.api.apps.v1.Deployment' in components.schemas);
  t.true('io.k8s.api.core.v1.PodSpec' in components.schemas, 'what a kind refers to is in its document');
  t.false('io.k8s.api.core.v1.Node' in components.schemas, 'what it does not refer to is not');
  const again = await client.get('/openapi/v3/apis/apps/v1', {
    headers: { 'if-none-match': found.headers.etag ?? '' },
  });
  t.deepEqual([again.status, again.text], [304, '']);
  const outdated = await client.get('/openapi/v3/apis/apps/v1?hash=ABC');
  t.deepEqual([outdated.status, outdated.headers.location], [301, serverRelativeURL]);
  t.is((await client.get('/openapi/v3/apis/none/v1')).status, 404);
  t.is((await client.get('/openapi/v3', { headers: { accept: 'image/png' } })).status, 406);
});

test('/metrics is Prometheus text with requests, mailboxes, commits and watchers', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'one' });
  const watch = await client.watch(`${namespace.configMaps}?watch=1`);
  await watch.next();
  const answer = await client.get('/metrics');
  t.regex(answer.headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  const metrics = new MetricsText(answer.text);
  const configMaps = { resource: 'configmaps', group: '', version: 'v1', subresource: '', component: 'apiserver' };
  const created = { ...configMaps, verb: 'POST', scope: 'resource', code: '201', dry_run: '' };
  t.deepEqual(
    metrics.matching('apiserver_request_total', created).map(({ labels }) => Object.keys(labels).sort()),
    [Object.keys(created).sort()],
  );
  t.true(metrics.sum('apiserver_request_total', created) >= 1);
  t.is(metrics.kinds.get('apiserver_request_duration_seconds'), 'histogram');
  for (const actor of ['ingress', 'hub', 'store', 'admission', 'auth', 'scheduler', 'controllers']) {
    t.is(metrics.matching('actor_mailbox_depth', { actor }).length, 1, actor);
  }
  t.true(metrics.sum('orch_store_batch_transactions_count') >= 1);
  t.true(metrics.sum('orch_store_batch_transactions_bucket', { le: '+Inf' }) >= 1);
  t.true(metrics.sum('orch_hub_watchers') >= 1);
  const revision = metrics.sum('orch_store_revision');
  t.true(revision > 0);
  t.is(metrics.kinds.get('orch_hub_framings_total'), 'counter');
  watch.close();
});

test('requests are told apart as Kubernetes does: by method, dry run and scope', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const one = `${namespace.configMaps}/one`;
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
  const applied = { body, headers: { 'content-type': 'application/apply-patch+yaml' } };
  const before = await metricsOf(client);
  t.is((await client.request('POST', `${namespace.configMaps}?dryRun=All`, { body })).status, 201);
  t.is((await client.request('POST', `${namespace.configMaps}?dryRun=Some`, { body })).status, 422);
  t.is((await client.request('PATCH', `${one}?fieldManager=me`, applied)).status, 201);
  t.is((await client.get(`${namespace.configMaps}?fieldSelector=metadata.name%3Done`)).status, 200);
  t.is((await client.request('DELETE', namespace.configMaps)).status, 200);
  t.is((await client.request('PROPFIND', namespace.configMaps)).status, 405);
  await client.get('/livez/ping');
  await client.get(`/livez/${'x'.repeat(9)}`);
  const after = await metricsOf(client);
  const cases = [
    { verb: 'POST', resource: 'configmaps', scope: 'resource', dry_run: 'All', code: '201' },
    { verb: 'POST', resource: 'configmaps', scope: 'resource', dry_run: 'invalid', code: '422' },
    { verb: 'APPLY', resource: 'configmaps', scope: 'resource', dry_run: '', code: '201' },
    { verb: 'LIST', resource: 'configmaps', scope: 'namespace', dry_run: '', code: '200' },
    { verb: 'DELETE', resource: 'configmaps', scope: 'namespace', dry_run: '', code: '200' },
    { verb: 'other', code: '405' },
    { verb: 'GET', resource: '', subresource: '/livez', code: '200' },
    { verb: 'GET', resource: '', subresource: '/livez', code: '404' },
  ];
  const grown = (labels: Record<string, string>) =>
    after.sum('apiserver_request_total', labels) - before.sum('apiserver_request_total', labels);
  for (const labels of cases) t.true(grown({ ...labels, component: 'apiserver' }) >= 1, JSON.stringify(labels));
});

test('open watches are counted in and out', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const labels = { verb: 'WATCH', resource: 'leases', group: 'coordination.k8s.io', version: 'v1', scope: 'namespace' };
  const open = async () => (await metricsOf(client)).sum('apiserver_longrunning_gauge', labels);
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace.name}/leases?watch=1`;
  const before = await open();
  const watches = await Promise.all([client.watch(path), client.watch(path)]);
  await eventually(open, (now) => now === before + 2);
  for (const watch of watches) watch.close();
  await eventually(open, (now) => now === before);
  // Refused ones too.
  t.is((await client.get(`${path}&resourceVersion=abc`)).status, 400);
  t.is(await open(), before);
});

test('the process is measured once, however many threads it has', async (t) => {
  const metrics = await metricsOf(server().client);
  const names = [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_virtual_memory_bytes',
    'process_virtual_memory_max_bytes',
    'process_open_fds',
    'process_max_fds',
    'process_start_time_seconds',
  ];
  for (const name of names) {
    t.is(metrics.matching(name).length, 1, name);
    t.true(metrics.sum(name) > 0, name);
  }
  t.is(metrics.kinds.get('process_cpu_seconds_total'), 'counter');
  const startedAgoSeconds = Date.now() / 1000 - metrics.sum('process_start_time_seconds');
  t.true(startedAgoSeconds > 0 && startedAgoSeconds < 3600);
  t.true(metrics.sum('process_resident_memory_bytes') < metrics.sum('process_virtual_memory_bytes'));
});

test('the build is a metric with what /version says', async (t) => {
  const { client } = server();
  const version = (await client.get('/version')).json as unknown as Readonly<Record<string, string>>;
  const [build, ...others] = (await metricsOf(client)).matching('kubernetes_build_info');
  t.is(others.length, 0);
  t.is(build?.value, 1);
  const { major, minor, gitVersion, goVersion, platform } = version;
  t.like(build?.labels, { major, minor, git_version: gitVersion, go_version: goVersion, platform });
});

test('made-up paths make no series', async (t) => {
  const { client } = server();
  for (const path of ['/api/v1/made-up-plural', '/made-up-path', '/apis/made-up.io/v1/things']) await client.get(path);
  t.notRegex((await client.get('/metrics')).text, /made-up/);
});

test('requests under way are counted', async (t) => {
  const { client } = server();
  t.true((await metricsOf(client)).sum('apiserver_current_inflight_requests') >= 1);
});

test('an event is framed once for all who watch the same, and nothing is decoded for it', async (t) => {
  const own = await startServer(t, { args: ['--api-dialect', 'kubernetes', '--placement', 'default'] });
  const { client } = own;
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'start' });
  const base = `${namespace.configMaps}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const open = (query: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => client.watch(`${base}${query}`)));
  const sync = '&labelSelector=round';
  const same = await open(sync, 50);
  const metrics = () => metricsOf(client);
  await eventually(metrics, (now) => now.sum('orch_hub_watchers') === 50);
  // Every watch has caught up once it has shown this one; from then on all move together.
  await createConfigMap(client, namespace, { name: 'sync', labels: { round: '0' } });
  for (const watch of same) t.is((await watch.next())?.object.metadata.name, 'sync');
  await eventually(metrics, (now) => now.sum('orch_hub_live_watchers') === 50);

  const before = await metrics();
  await createConfigMap(client, namespace, { name: 'first', labels: { round: '1' } });
  for (const watch of same) t.is((await watch.next())?.object.metadata.name, 'first');
  const after = await metrics();
  const grown = (name: string) => after.sum(name) - before.sum(name);
  t.is(grown('orch_hub_framings_total'), 1);
  t.is(grown('orch_hub_event_deliveries_total'), 50);
  t.is(grown('orch_decoded_objects_total'), 0);

  const others = await Promise.all([
    client.watch(`${base}&labelSelector=round%3D2`),
    client.watch(`${base}&labelSelector=round%2Cround!%3D9`),
  ]);
  await others[1]?.take(2);
  await eventually(metrics, (now) => now.sum('orch_hub_live_watchers') === 52);
  const three = await metrics();
  await createConfigMap(client, namespace, { name: 'second', labels: { round: '2' } });
  for (const watch of [...same, ...others]) t.is((await watch.next())?.object.metadata.name, 'second');
  const end = await metrics();
  // Three selections, and all see the same.
  t.is(end.sum('orch_hub_framings_total') - three.sum('orch_hub_framings_total'), 1);
  t.is(end.sum('orch_hub_event_deliveries_total') - three.sum('orch_hub_event_deliveries_total'), 52);
  t.is(end.sum('orch_decoded_objects_total') - three.sum('orch_decoded_objects_total'), 0);

  // The counter counts: an answer in YAML needs the object.
  await client.get(`${namespace.configMaps}/first`, { headers: { accept: 'application/yaml' } });
  t.is((await metrics()).sum('orch_decoded_objects_total') - end.sum('orch_decoded_objects_total'), 1);
});

test('lists and gets send stored bytes: nothing is decoded for them', async (t) => {
  const own = await startServer(t, { args: ['--api-dialect', 'kubernetes', '--placement', 'default'] });
  const { client } = own;
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'one' });
  await eventually(
    () => client.get(`${namespace.configMaps}/kube-root-ca.crt`),
    ({ status }) => status === 200,
  );
  const decodedByReads = async () => {
    const before = await metricsOf(client);
    for (let i = 0; i < 5; i++) {
      await client.get(`${namespace.configMaps}/one`);
      await client.get('/api/v1/configmaps');
    }
    return (await metricsOf(client)).sum('orch_decoded_objects_total') - before.sum('orch_decoded_objects_total');
  };
  // What controllers still write after the start is decoded meanwhile; reads that decode would never come to none.
  t.is(await eventually(decodedByReads, (decoded) => decoded === 0), 0);
});
