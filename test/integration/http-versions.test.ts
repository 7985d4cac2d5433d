// Every served version of a type over HTTP: written in one and read, listed, watched, patched and applied in another, and
// what a client is told of versions on their way out.
import test from 'ava';
import type { Answer, ApiObject, HttpsClient } from '../server/https-client.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';

const undo: (() => void | Promise<void>)[] = [];
let server: ServerProcess;
let client: HttpsClient;

test.before(async () => {
  server = await startServer(
    { teardown: (step) => undo.push(step) },
    { args: ['--api-dialect', 'kubernetes', '--runtime-config', 'api/alpha'] },
  );
  client = server.client;
});

test.after.always(async () => {
  for (const step of undo) await step();
});

const EXTENSIONS = '/apis/extensions/v1beta1/namespaces/default/ingresses';
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const OLDER_INGRESSES = '/apis/networking.k8s.io/v1beta1/namespaces/default/ingresses';
const CORE_EVENTS = '/api/v1/namespaces/default/events';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const autoscalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const budgets = (version: string) => `/apis/policy/${version}/namespaces/default/poddisruptionbudgets`;

async function create(path: string, body: object): Promise<ApiObject> {
  const answer = await client.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json;
}

async function read(path: string): Promise<ApiObject> {
  const answer = await client.get(path);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json;
}

function patch(path: string, body: object, type = 'application/merge-patch+json', query = ''): Promise<Answer> {
  return client.request('PATCH', `${path}${query}`, { body, headers: { 'content-type': type } });
}

function apply(path: string, body: object, manager = 'tester'): Promise<Answer> {
  return patch(path, body, 'application/apply-patch+yaml', `?fieldManager=${manager}`);
}

const olderIngress = (name: string, serviceName = 'web') => ({
  metadata: { name },
  spec: { rules: [{ host: 'a.example', http: { paths: [{ path: '/', backend: { serviceName, servicePort: 80 } }] } }] },
});

const serviceOf = ({ spec }: ApiObject): unknown =>
  (spec as { rules: { http: { paths: { backend: unknown }[] } }[] }).rules[0]!.http.paths[0]!.backend;

test('an ingress created in the extensions group is one of the networking group in each of its versions', async (t) => {
  const created = await create(EXTENSIONS, olderIngress('old'));
  t.is(created.apiVersion, 'extensions/v1beta1');
  t.deepEqual(serviceOf(created), { serviceName: 'web', servicePort: 80 });
  const inV1 = await read(`${INGRESSES}/old`);
  t.is(inV1.apiVersion, 'networking.k8s.io/v1');
  t.deepEqual(serviceOf(inV1), { service: { name: 'web', port: { number: 80 } } });
  t.like(inV1.spec, { rules: [{ http: { paths: [{ pathType: 'ImplementationSpecific' }] } }] });
  t.deepEqual(inV1.metadata, created.metadata);
  t.deepEqual(await read(`${EXTENSIONS}/old`), created);
  t.deepEqual(await read(`${OLDER_INGRESSES}/old`), { ...created, apiVersion: 'networking.k8s.io/v1beta1' });
});

test('a list is of the version asked for, whatever its items were written in', async (t) => {
  await create(INGRESSES, {
    metadata: { name: 'listed' },
    spec: { defaultBackend: { service: { name: 'web', port: { name: 'http' } } } },
  });
  const list = await read(`${OLDER_INGRESSES}?fieldSelector=metadata.name%3Dlisted`);
  t.is(list.kind, 'IngressList');
  t.is(list.apiVersion, 'networking.k8s.io/v1beta1');
  t.deepEqual(
    list.items!.map(({ spec }) => spec),
    [{ backend: { serviceName: 'web', servicePort: 'http' } }],
  );
  t.false('apiVersion' in list.items![0]!);
});

test('a long list is converted in pieces, and a list of the same form is the stored bytes', async (t) => {
  await create('/api/v1/namespaces', { metadata: { name: 'long' } });
  const path = (group: string, version: string, plural: string) =>
    `/apis/${group}/${version}/namespaces/long/${plural}`;
  const names = Array.from({ length: 150 }, (_, index) => `i${String(index).padStart(3, '0')}`);
  const service = (name: string) => ({ service: { name, port: { number: 80 } } });
  await Promise.all(
    names.flatMap((name) => [
      create(path('networking.k8s.io', 'v1', 'ingresses'), {
        metadata: { name },
        spec: { defaultBackend: service(name) },
      }),
      create(path('coordination.k8s.io', 'v1', 'leases'), { metadata: { name }, spec: { holderIdentity: name } }),
    ]),
  );
  const older = await read(path('networking.k8s.io', 'v1beta1', 'ingresses'));
  t.deepEqual(
    older.items!.map(({ metadata, spec }) => [metadata.name, (spec!.backend as { serviceName: string }).serviceName]),
    names.map((name) => [name, name]),
  );
  const pretty = await read(`${path('networking.k8s.io', 'v1beta1', 'ingresses')}?pretty=true`);
  // Other writes may come between the two, which makes them lists of two versions.
  t.deepEqual(pretty.items, older.items);
  const leases = await read(path('coordination.k8s.io', 'v1beta1', 'leases'));
  t.is(leases.apiVersion, 'coordination.k8s.io/v1beta1');
  t.deepEqual(leases.items, (await read(path('coordination.k8s.io', 'v1', 'leases'))).items);
});

test('a watch in v1beta1 sees what is written in v1', async (t) => {
  const watch = await client.watch(`${OLDER_INGRESSES}?watch=1&fieldSelector=metadata.name%3Dwatched`);
  await create(INGRESSES, {
    metadata: { name: 'watched' },
    spec: { defaultBackend: { service: { name: 'a', port: { number: 1 } } } },
  });
  await patch(`${INGRESSES}/watched`, { spec: { defaultBackend: { service: { name: 'b' } } } });
  await client.request('DELETE', `${INGRESSES}/watched`);
  const events = await watch.until(({ type }) => type === 'DELETED');
  t.deepEqual(
    events.map(({ type, object }) => [type, object.apiVersion, object.spec]),
    [
      ['ADDED', 'networking.k8s.io/v1beta1', { backend: { serviceName: 'a', servicePort: 1 } }],
      ['MODIFIED', 'networking.k8s.io/v1beta1', { backend: { serviceName: 'b', servicePort: 1 } }],
      ['DELETED', 'networking.k8s.io/v1beta1', { backend: { serviceName: 'b', servicePort: 1 } }],
    ],
  );
  watch.close();
});

test('tables and partial metadata are made of the version asked for', async (t) => {
  await create(INGRESSES, {
    metadata: { name: 'shaped' },
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  });
  const as = (kind: string) => ({ headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` } });
  const path = `${EXTENSIONS}/shaped`;
  const table = (await client.get(`${path}?includeObject=Object`, as('Table'))).json as unknown as {
    rows: { cells: unknown[]; object: ApiObject }[];
  };
  t.is(table.rows[0]!.cells[0], 'shaped');
  t.is(table.rows[0]!.object.apiVersion, 'extensions/v1beta1');
  t.deepEqual(table.rows[0]!.object.spec, { backend: { serviceName: 'web', servicePort: 80 } });
  t.is((await client.get(path, as('PartialObjectMetadata'))).json.metadata.name, 'shaped');
});

test('a patch is of the object in the version of its path, and keeps what that version does not show', async (t) => {
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  ];
  const behavior = {
    scaleDown: { stabilizationWindowSeconds: 7, policies: [{ type: 'Pods', value: 1, periodSeconds: 9 }] },
  };
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const made = await create(autoscalers('v2beta2'), {
    metadata: { name: 'patched' },
    spec: { scaleTargetRef, maxReplicas: 3, metrics, behavior },
  });
  const inV1 = await read(`${autoscalers('v1')}/patched`);
  t.is(inV1.spec?.targetCPUUtilizationPercentage, 50);
  t.deepEqual(JSON.parse(inV1.metadata.annotations!['autoscaling.alpha.kubernetes.io/metrics']!), [
    { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } },
  ]);
  t.is((await patch(`${autoscalers('v1')}/patched`, { spec: { maxReplicas: 5 } })).status, 200);
  const after = await read(`${autoscalers('v2beta2')}/patched`);
  t.deepEqual(after.spec, { ...made.spec, maxReplicas: 5 });
  t.is(after.metadata.annotations, undefined);
  const inBetween = await read(`${autoscalers('v2beta1')}/patched`);
  t.like(inBetween.spec, { metrics: [{ resource: { name: 'cpu', targetAverageUtilization: 50 } }] });
});

test('a write that changes nothing makes no new version, in whatever version it comes', async (t) => {
  const { metadata } = await create(autoscalers('v1'), {
    metadata: { name: 'same' },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
  });
  for (const version of ['v1', 'v2beta1', 'v2beta2']) {
    const path = `${autoscalers(version)}/same`;
    t.is((await patch(path, {})).json.metadata.resourceVersion, metadata.resourceVersion, version);
    const put = await client.request('PUT', path, { body: await read(path) });
    t.is(put.json.metadata.resourceVersion, metadata.resourceVersion, version);
  }
});

test('an empty selector of a disruption budget means what it means in the version it was written in', async (t) => {
  const mark = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
  const spec = { minAvailable: 1, selector: {} };
  await create(budgets('v1beta1'), { metadata: { name: 'none' }, spec });
  t.deepEqual((await read(`${budgets('v1beta1')}/none`)).spec, spec);
  t.deepEqual((await read(`${budgets('v1')}/none`)).spec, {
    minAvailable: 1,
    selector: { matchExpressions: [{ key: mark, operator: 'Exists' }] },
  });
  await create(budgets('v1'), { metadata: { name: 'all' }, spec });
  t.deepEqual((await read(`${budgets('v1')}/all`)).spec, spec);
  t.deepEqual((await read(`${budgets('v1beta1')}/all`)).spec, {
    minAvailable: 1,
    selector: { matchExpressions: [{ key: mark, operator: 'DoesNotExist' }] },
  });
});

test('events of either group are the same objects, selected by the names of each', async (t) => {
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
  await create(CORE_EVENTS, {
    metadata: { name: 'told' },
    involvedObject,
    reason: 'Tested',
    message: 'hello',
    type: 'Normal',
    count: 2,
    source: { component: 'tester' },
  });
  t.like(await read(`${EVENTS}/told`), {
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject,
    note: 'hello',
    deprecatedCount: 2,
    deprecatedSource: { component: 'tester' },
  });
  for (const [path, selector, count] of [
    [EVENTS, 'regarding.name=p', 1],
    [EVENTS, 'regarding.name=q', 0],
    [CORE_EVENTS, 'involvedObject.name=p', 1],
  ] as const) {
    const list = await read(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
    t.is(list.items!.length, count, selector);
  }
  t.is((await client.get(`${EVENTS}?fieldSelector=involvedObject.name%3Dp`)).status, 400);
});

test('what a version has renamed is refused under its old name in new events', async (t) => {
  const event = {
    metadata: { name: 'new' },
    regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
    deprecatedCount: 1,
    note: 'x',
    type: 'Normal',
  };
  const refusedFields = async (body: object): Promise<readonly (string | undefined)[]> => {
    const { status, json } = await client.request('POST', EVENTS, { body });
    t.is(status, 422);
    return json.details?.causes?.map(({ field }) => field) ?? [];
  };
  t.deepEqual(await refusedFields(event), ['eventTime', 'deprecatedCount']);
  const eventTime = '2021-04-08T00:00:00.000000Z';
  // Missing, and no qualified name for two reasons.
  const controller = Array.from({ length: 3 }, () => 'reportingController');
  const named = [...controller, 'reportingInstance', 'action', 'reason'];
  t.deepEqual(await refusedFields({ ...event, eventTime }), [...named, 'deprecatedCount']);
});

test('an apply in v1beta1 and then in v1 is one applier, who owns and gives up what it says in either', async (t) => {
  const older = { apiVersion: 'networking.k8s.io/v1beta1', kind: 'Ingress', ...olderIngress('applied') };
  const first = await apply(`${OLDER_INGRESSES}/applied`, {
    ...older,
    metadata: { name: 'applied', labels: { a: '1' } },
  });
  t.is(first.status, 201, first.text);
  const second = await apply(`${INGRESSES}/applied`, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'applied', labels: { b: '2' } },
    spec: { defaultBackend: { service: { name: 'other', port: { number: 8080 } } } },
  });
  t.is(second.status, 200, second.text);
  t.deepEqual(second.json.metadata.labels, { b: '2' });
  t.deepEqual(second.json.spec, { defaultBackend: { service: { name: 'other', port: { number: 8080 } } } });
  const entries = (second.json.metadata as { managedFields?: { manager: string; apiVersion: string }[] }).managedFields;
  t.deepEqual(
    entries?.map(({ manager, apiVersion }) => [manager, apiVersion]),
    [['tester', 'networking.k8s.io/v1']],
  );
});

test('appliers of different versions conflict over what is one field, under whatever name each knows it', async (t) => {
  const path = `${OLDER_INGRESSES}/shared`;
  const older = (serviceName: string) => ({
    apiVersion: 'networking.k8s.io/v1beta1',
    kind: 'Ingress',
    metadata: { name: 'shared' },
    spec: { backend: { serviceName, servicePort: 80 } },
  });
  const newer = (name: string) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'shared' },
    spec: { defaultBackend: { service: { name, port: { number: 80 } } } },
  });
  t.is((await apply(path, older('web'), 'one')).status, 201);
  t.is((await apply(`${INGRESSES}/shared`, newer('web'), 'two')).status, 200);
  const refused = await apply(`${INGRESSES}/shared`, newer('other'), 'two');
  t.is(refused.status, 409);
  t.regex(refused.json.message ?? '', /conflict with "one"/);
  // A manager that gives a field up leaves it to the one who knows it by its other name.
  const given = await apply(path, { ...older('web'), spec: {} }, 'one');
  t.is(given.status, 200, given.text);
  t.deepEqual(given.json.spec, { backend: { serviceName: 'web', servicePort: 80 } });
});

test('a deprecated version answers with a warning, on reads, writes and watches, and others do not', async (t) => {
  const text =
    '299 - "networking.k8s.io/v1beta1 Ingress is deprecated in v1.19+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress"';
  await create(INGRESSES, {
    metadata: { name: 'warned' },
    spec: { defaultBackend: { service: { name: 'a', port: { number: 1 } } } },
  });
  for (const path of ['', '/warned', '/absent', '/warned/status'])
    t.is((await client.get(OLDER_INGRESSES + path)).headers.warning, text, path);
  t.is((await patch(`${OLDER_INGRESSES}/warned`, {})).headers.warning, text);
  t.is((await client.request('POST', OLDER_INGRESSES, { body: {} })).headers.warning, text);
  const watch = await client.watch(`${OLDER_INGRESSES}?watch=1`);
  t.is(watch.headers.warning, text);
  watch.close();
  t.is((await client.get(INGRESSES)).headers.warning, undefined);
  t.is((await client.get('/apis/networking.k8s.io/v1beta1')).headers.warning, undefined);
});

test('what was asked for in a deprecated version is counted once in the metrics', async (t) => {
  await client.get('/apis/extensions/v1beta1/ingresses');
  await client.get('/apis/extensions/v1beta1/ingresses');
  const { text } = await client.get('/metrics');
  const labels = { group: 'extensions', version: 'v1beta1', resource: 'ingresses', subresource: '' };
  t.deepEqual(new MetricsText(text).matching('apiserver_requested_deprecated_apis', labels), [
    { name: 'apiserver_requested_deprecated_apis', labels: { ...labels, removed_release: '1.22' }, value: 1 },
  ]);
});

test('objects that differ in nothing but their version are read in every version', async (t) => {
  const versions = ['v1', 'v1beta1', 'v1alpha1'];
  const lists = await Promise.all(
    versions.map((version) => read(`/apis/scheduling.k8s.io/${version}/priorityclasses`)),
  );
  t.true(lists[0]!.items!.length > 0);
  for (const [index, list] of lists.entries()) {
    t.is(list.apiVersion, `scheduling.k8s.io/${versions[index]}`);
    t.deepEqual(list.items, lists[0]!.items);
  }
});

test('every served resource can be listed in every version, and as a table', async (t) => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
  const { groups } = (await read('/apis')) as unknown as { groups: { versions: { groupVersion: string }[] }[] };
  const paths = [
    '/api/v1',
    ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`)),
  ];
  let lists = 0;
  for (const path of paths) {
    const { resources } = (await read(path)) as unknown as {
      resources: { name: string; verbs: string[]; kind: string }[];
    };
    for (const { name, verbs, kind } of resources.filter((resource) => resource.verbs.includes('list'))) {
      const list = await client.get(`${path}/${name}`);
      if (list.status !== 200 || list.json.kind !== `${kind}List`) t.fail(`${path}/${name}: ${list.text}`);
      t.is((await client.get(`${path}/${name}`, { headers: { accept } })).status, 200, name);
      t.true(verbs.includes('list'));
      lists++;
    }
  }
  t.true(lists > 70, `${lists} lists`);
});
