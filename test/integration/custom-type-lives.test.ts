// Custom types among everything else on a real server: versions, namespaces, owners, quotas, older definitions, and
// threads that hear of a definition late.
import ava from 'ava';
import { MetricsText } from '../server/metrics-text.ts';
import { startServer } from '../server/server-process.ts';
import { conditionOf, DEFINITIONS, establish, GROUP, object, path, SCHEMA } from './custom-definitions.ts';
import { eventually, freshNamespace } from './objects.ts';

// One after the other: each keeps a server busy.
const test = ava.serial;

const OLDER = {
  name: 'v1alpha1',
  served: true,
  storage: false,
  deprecated: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { cron: { type: 'string' }, replicas: { type: 'integer', default: 5 } } },
      },
    },
  },
};

test('versions of a type show the same objects, each by its own schema, and deprecated ones say so', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client, { more: [OLDER] });
  await client.request('POST', path(), { body: object('a', { cron: '1', replicas: 2, port: 80 }) });
  const older = await client.get(`${path('crontabs', 'default', 'v1alpha1')}/a`);
  t.is(older.json.apiVersion, `${GROUP}/v1alpha1`);
  t.deepEqual(older.json.spec, { cron: '1', replicas: 2 });
  t.is(older.headers.warning, `299 - "${GROUP}/v1alpha1 CronTab is deprecated; use ${GROUP}/v1 CronTab"`);
  for (const below of ['status', 'scale', 'log']) {
    const missing = await client.get(`${path('crontabs', 'default', 'v1alpha1')}/a/${below}`);
    t.is(missing.json.message, `crontabs.${GROUP} "a" not found`, `what the version does not have: ${below}`);
    t.is(missing.headers.warning, older.headers.warning);
  }
  const body = { ...object('b', { cron: '2' }), apiVersion: `${GROUP}/v1alpha1` };
  const made = await client.request('POST', path('crontabs', 'default', 'v1alpha1'), { body });
  t.is(made.status, 201, made.text);
  const listed = (await client.get(path())).json.items ?? [];
  t.deepEqual(
    listed.map(({ spec }) => spec),
    [
      { cron: '1', replicas: 2, port: 80 },
      { cron: '2', replicas: 5 },
    ],
  );
  const both = (await client.get(path('crontabs', 'default', 'v1alpha1'))).json;
  t.is(both.apiVersion, `${GROUP}/v1alpha1`);
  t.deepEqual(
    both.items?.map(({ apiVersion }) => apiVersion),
    [`${GROUP}/v1alpha1`, `${GROUP}/v1alpha1`],
  );
});

test('what stands in a path that a deprecated version does not serve is told by no metric', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client, { more: [OLDER] });
  const older = path('crontabs', 'default', 'v1alpha1');
  await client.get(older);
  for (let i = 0; i < 20; i++) await client.get(`${older}/a/made-up-${i}`);
  const { text } = await client.get('/metrics');
  const told = new MetricsText(text).matching('apiserver_requested_deprecated_apis', { resource: 'crontabs' });
  t.deepEqual(
    told.map(({ labels }) => labels.subresource),
    [''],
  );
});

test('a schema that changes holds for what is read and written from then on', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client);
  await client.request('POST', path(), { body: object('a', { cron: '1', port: 80 }) });
  const name = `crontabs.${GROUP}`;
  const { json } = await client.get(`${DEFINITIONS}/${name}`);
  const spec = json.spec as { versions: { schema: { openAPIV3Schema: typeof SCHEMA } }[] };
  const { port: _, ...properties } = SCHEMA.properties.spec.properties;
  spec.versions[0]!.schema.openAPIV3Schema = {
    ...SCHEMA,
    properties: {
      ...SCHEMA.properties,
      spec: { ...SCHEMA.properties.spec, properties: { ...properties, zone: { type: 'string', default: 'x' } } },
    },
  } as never;
  const changed = await client.request('PUT', `${DEFINITIONS}/${name}`, { body: json });
  t.is(changed.status, 200, changed.text);
  const read = await eventually(
    () => client.get(`${path()}/a`),
    ({ json: { spec } }) => spec?.zone === 'x',
  );
  t.deepEqual(read.json.spec, { cron: '1', replicas: 1, zone: 'x' });
  const made = await client.request('POST', path(), { body: object('b', { cron: '1', port: 1 }) });
  t.deepEqual(made.json.spec, { cron: '1', replicas: 1, zone: 'x' });
});

test('a type is served by every thread as soon as one has said that it is established', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'wide'] });
  for (let round = 0; round < 5; round++) {
    const plural = `kind${round}s`;
    await establish(client, { plural, kind: `Kind${round}` });
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        client.request('POST', path(plural), { body: object(`o${i}`, { cron: '1' }, `Kind${round}`) }),
      ),
    );
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    const lists = await Promise.all(Array.from({ length: 16 }, () => client.get(path(plural))));
    t.deepEqual([...new Set(lists.map(({ json }) => json.items?.length))], [16]);
  }
});

test('a definition goes with its objects, whether the version that they are stored in is served, and whether a webhook converts them', async (t) => {
  const { client } = await startServer(t);
  const clientConfig = { url: 'https://127.0.0.1:1/nobody' };
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
  const newer = { ...OLDER, name: 'v2', deprecated: false };
  await establish(client, { plural: 'converted', kind: 'Converted', more: [newer], spec: { conversion } });
  await establish(client, { plural: 'hidden', kind: 'Hidden' });
  const at = (plural: string): string => `${DEFINITIONS}/${plural}.${GROUP}`;
  for (const [plural, kind] of [
    ['converted', 'Converted'],
    ['hidden', 'Hidden'],
  ] as const) {
    t.is((await client.request('POST', path(plural), { body: object('a', { cron: '1' }, kind) })).status, 201);
  }
  const hide = { headers: { 'content-type': 'application/json-patch+json' } };
  const body = [{ op: 'replace', path: '/spec/versions/0/served', value: false }];
  t.is((await client.request('PATCH', at('hidden'), { ...hide, body })).status, 200);
  for (const plural of ['converted', 'hidden']) {
    t.is((await client.request('DELETE', at(plural))).status, 200);
    await eventually(
      () => client.get(at(plural)),
      ({ status }) => status === 404,
    );
  }
  await establish(client, { plural: 'hidden', kind: 'Hidden' });
  t.is((await client.get(`${path('hidden')}/a`)).status, 404);
});

test('custom objects go with their namespace and their owners, and count against quotas', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client);
  const { core, name } = await freshNamespace(client);
  const quota = { metadata: { name: 'q' }, spec: { hard: { [`count/crontabs.${GROUP}`]: '2' } } };
  t.is((await client.request('POST', `${core}/resourcequotas`, { body: quota })).status, 201);
  await eventually(
    () => client.get(`${core}/resourcequotas/q`),
    ({ json }) => (json.status as { used?: object } | undefined)?.used !== undefined,
  );
  const here = path('crontabs', name);
  const owner = await client.request('POST', here, { body: object('owner', { cron: '1' }) });
  t.is(owner.status, 201, owner.text);
  const reference = { apiVersion: `${GROUP}/v1`, kind: 'CronTab', name: 'owner', uid: owner.json.metadata.uid };
  const owned = { ...object('owned', { cron: '1' }), metadata: { name: 'owned', ownerReferences: [reference] } };
  t.is((await client.request('POST', here, { body: owned })).status, 201);
  t.is((await client.request('POST', here, { body: object('third', { cron: '1' }) })).status, 403);
  t.is((await client.request('DELETE', `${here}/owner`)).status, 200);
  await eventually(
    () => client.get(`${here}/owned`),
    ({ status }) => status === 404,
  );
  await eventually(
    () => client.request('POST', here, { body: object('last', { cron: '1' }) }),
    ({ status }) => status === 201,
  );
  t.is((await client.request('DELETE', `/api/v1/namespaces/${name}`)).status, 200);
  await eventually(
    () => client.get(`/api/v1/namespaces/${name}`),
    ({ status }) => status === 404,
  );
});

test('a definition of the older version keeps fields that nobody has named', async (t) => {
  const { client } = await startServer(t);
  const group = 'old.example.com';
  const body = {
    apiVersion: 'apiextensions.orch.io/v1beta1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: { group, version: 'v1', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' } },
  };
  const made = await client.request('POST', '/apis/apiextensions.orch.io/v1beta1/customresourcedefinitions', { body });
  t.is(made.status, 201, made.text);
  await eventually(
    () => conditionOf(client, `things.${group}`, 'Established'),
    (condition) => condition?.status === 'True',
  );
  const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, free: { x: [1] } };
  const stored = await client.request('POST', `/apis/${group}/v1/things`, { body: thing });
  t.is(stored.status, 201, stored.text);
  t.like(stored.json, { free: { x: [1] } });
});
