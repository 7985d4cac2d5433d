// Custom types on a real server: a definition comes into force on every thread, its objects are pruned, defaulted, validated
// and shown, and go before it does.
import ava from 'ava';
import { readEvents, readWire } from '../server/kubernetes-messages.ts';
import { startServer } from '../server/server-process.ts';
import { conditionOf, DEFINITIONS, definition, establish, GROUP, object, path, TABLE } from './custom-definitions.ts';
import { eventually } from './objects.ts';

// One after the other: each keeps a server busy.
const test = ava.serial;
const PROTOBUF = 'application/vnd.orch.protobuf';

test('a definition is established, and its objects are pruned, defaulted, validated and shown', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  t.is((await client.get(path())).status, 404);
  await establish(client);
  const { resources } = JSON.parse((await client.get(`/apis/${GROUP}/v1`)).text) as { resources: { name: string }[] };
  t.deepEqual(
    resources.map(({ name }) => name),
    ['crontabs', 'crontabs/status', 'crontabs/scale'],
  );
  const { groups } = JSON.parse((await client.get('/apis')).text) as { groups: { name: string }[] };
  t.true(groups.some(({ name }) => name === GROUP));

  const body = object('a', { cron: '1 2', unknown: 1, port: 80, free: { any: { thing: 1 } }, parts: [{ name: 'x' }] });
  const made = await client.request('POST', path(), { body });
  t.is(made.status, 201, made.text);
  t.deepEqual(made.json.spec, {
    cron: '1 2',
    port: 80,
    free: { any: { thing: 1 } },
    parts: [{ name: 'x', size: 'S' }],
    replicas: 1,
  });
  t.is(made.json.metadata.generation, 1);

  const bad = await client.request('POST', path(), {
    body: object('b', { cron: 'never', replicas: 11, parts: [{ size: 'M' }] }),
  });
  t.is(bad.status, 422);
  const causes = (bad.json.details as { causes: { field: string; message: string }[] }).causes;
  t.deepEqual(causes.map(({ field, message }) => `${field}: ${message}`).sort(), [
    'spec.cron: Invalid value: "never": spec.cron in body should match \'^\\d+( \\d+)*$\'',
    'spec.parts.name: Required value',
    'spec.parts.size: Unsupported value: "M": supported values: "S", "L"',
    'spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10',
  ]);

  const table = (await client.get(path(), { headers: { accept: TABLE } })).json as unknown as {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  };
  t.deepEqual(
    table.columnDefinitions.map(({ name }) => name),
    ['Name', 'Cron', 'Replicas'],
  );
  t.deepEqual(
    table.rows.map(({ cells }) => cells),
    [['a', '1 2', 1]],
  );
});

test('the metadata of objects is shown in Protobuf, which has nothing else of them', async (t) => {
  const { client } = await startServer(t);
  await establish(client);
  const made = await client.request('POST', path(), { body: object('a', { cron: '1' }) });
  const as = (kind: string) => ({ headers: { accept: `${PROTOBUF};as=${kind};v=v1;g=meta.orch.io` } });
  const seen = { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1' };
  const one = readWire((await client.get(`${path()}/a`, as('PartialObjectMetadata'))).bytes);
  t.like(one, { ...seen, metadata: { name: 'a', uid: made.json.metadata.uid } });
  t.is(one.spec, undefined);
  const list = readWire((await client.get(path(), as('PartialObjectMetadataList'))).bytes);
  t.like(list.items, [{ metadata: { name: 'a' } }]);
  const watch = await client.stream(`${path()}?watch=1`, as('PartialObjectMetadata'));
  const { events } = readEvents(await watch.until((bytes) => readEvents(bytes).events.length === 1));
  t.like(events[0], { type: 'ADDED', object: { ...seen, metadata: { name: 'a' } } });
  watch.close();
  t.is((await client.get(`${path()}/a`, { headers: { accept: PROTOBUF } })).status, 406);
});

test('an object that says no replicas has no scale to read, and may be given one', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  const spec = { type: 'object', properties: { replicas: { type: 'integer' } } };
  await establish(client, { schema: { type: 'object', properties: { spec } } as never });
  t.is((await client.request('POST', path(), { body: object('a', {}) })).status, 201);
  const scale = `${path()}/a/scale`;
  const patch = (replicas: number, at: string) =>
    client.request('PATCH', at, {
      body: { spec: { replicas } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  const refused = await client.get(scale);
  t.is(refused.status, 500);
  t.is(refused.json.message, 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist');
  const silent = await client.request('PATCH', scale, {
    body: { metadata: { labels: { a: 'b' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.deepEqual([silent.status, silent.json.message], [
    400,
    'the spec replicas field ".spec.replicas" cannot be empty',
  ] as never);
  t.is((await patch(4, scale)).status, 200);
  t.deepEqual((await client.get(scale)).json.spec, { replicas: 4 } as never);
  const negative = await patch(-1, scale);
  const told = '.spec.replicas: Invalid value: -1: should be a non-negative integer';
  t.is(negative.json.message, `CronTab.stable.example.com "a" is invalid: ${told}`);
});

test('objects are patched, updated, scaled, given a status and applied', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client);
  await client.request('POST', path(), { body: object('a', { cron: '1' }) });
  const patch = (type: string, body: object, sub = '') =>
    client.request('PATCH', `${path()}/a${sub}`, { body, headers: { 'content-type': `application/${type}` } });
  const merged = await patch('merge-patch+json', { spec: { replicas: 3, unknown: true } });
  t.is(merged.status, 200, merged.text);
  t.deepEqual(merged.json.spec, { cron: '1', replicas: 3 });
  t.is(merged.json.metadata.generation, 2);
  t.is((await patch('strategic-merge-patch+json', { spec: { replicas: 4 } })).status, 415);
  const json = await patch('json-patch+json', [{ op: 'replace', path: '/spec/cron', value: '5' }]);
  t.is((json.json.spec as { cron: string }).cron, '5');
  t.is((await patch('merge-patch+json', { spec: { replicas: 0 } })).status, 422);

  const status = await patch(
    'merge-patch+json',
    { metadata: { labels: { no: 'no' } }, spec: { replicas: 9 }, status: { replicas: 2 } },
    '/status',
  );
  t.deepEqual([status.json.spec, status.json.status], [{ cron: '5', replicas: 3 }, { replicas: 2 }] as never);
  t.is(status.json.metadata.labels, undefined);
  t.is(status.json.metadata.generation, 3);
  t.is((await client.get(`${path()}/a/status`, { headers: { accept: TABLE } })).json.kind, 'Table');

  const scale = await client.get(`${path()}/a/scale`);
  t.deepEqual([scale.json.spec, scale.json.status], [{ replicas: 3 }, { replicas: 2 }] as never);
  const scaled = await patch('merge-patch+json', { spec: { replicas: 7 } }, '/scale');
  t.is(scaled.status, 200, scaled.text);
  t.is((await patch('strategic-merge-patch+json', { spec: { replicas: 8 } }, '/scale')).status, 415);
  t.is(((await client.get(`${path()}/a`)).json.spec as { replicas: number }).replicas, 7);

  const config = { ...object('b', { cron: '1', parts: [{ name: 'x', size: 'L' }] }) };
  const apply = (manager: string, body: object) =>
    client.request('PATCH', `${path()}/b?fieldManager=${manager}`, {
      body,
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  t.is((await apply('one', config)).status, 201);
  const both = await apply('two', object('b', { parts: [{ name: 'y' }] }));
  t.is(both.status, 200, both.text);
  t.deepEqual((both.json.spec as { parts: object[] }).parts, [
    { name: 'x', size: 'L' },
    { name: 'y', size: 'S' },
  ]);
  t.is((await apply('two', object('b', { cron: '2' }))).status, 409);

  // A null where there can be none: given its default, and otherwise refused; who creates or patches has left it out.
  const given = await apply('three', object('b', { replicas: null, image: null }));
  t.like(given.json.spec, { replicas: 1, image: null });
  const refused = await apply('three', object('b', { port: null }));
  t.is(refused.status, 422, refused.text);
  const told = 'spec.port: Invalid value: "null": spec.port in body must be of type integer,string: "null"';
  t.is(refused.json.message, `CronTab.stable.example.com "b" is invalid: ${told}`);
  t.is((await patch('json-patch+json', [{ op: 'add', path: '/spec/port', value: null }])).status, 200);
  t.is((await client.request('POST', path(), { body: object('c', { cron: '1', port: null }) })).status, 201);
});

test('deleting a definition deletes its objects first, and one made anew has none of them', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client);
  const held = { ...object('held', { cron: '1' }), metadata: { name: 'held', finalizers: ['example.com/hold'] } };
  for (const body of [object('a', { cron: '1' }), held])
    t.is((await client.request('POST', path(), { body })).status, 201);
  const name = `crontabs.${GROUP}`;
  const deleted = await client.request('DELETE', `${DEFINITIONS}/${name}`);
  t.is(deleted.status, 200);
  await eventually(
    () => client.get(path()),
    ({ json }) => json.items?.length === 1,
  );
  t.is((await conditionOf(client, name, 'Terminating'))?.status, 'True');
  const { resources } = (await client.get(`/apis/${GROUP}/v1`)).json as unknown as {
    readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
  };
  const { verbs } = resources.find((one) => one.name === 'crontabs')!;
  t.deepEqual(verbs, ['delete', 'deletecollection', 'get', 'list', 'watch']);
  const late = await client.request('POST', path(), { body: object('late', { cron: '1' }) });
  t.is(late.status, 405);
  t.is(late.json.message, 'create not allowed while custom resource definition is terminating');
  await client.request('PATCH', `${path()}/held`, {
    body: { metadata: { finalizers: null } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await eventually(
    () => client.get(`${DEFINITIONS}/${name}`),
    ({ status }) => status === 404,
  );
  t.is((await client.get(path())).status, 404);
  await establish(client);
  t.deepEqual((await client.get(path())).json.items, []);
});

test('names that are taken are refused, and given when they become free', async (t) => {
  const { client } = await startServer(t);
  await establish(client);
  const other = definition({ plural: 'others', kind: 'CronTab' });
  t.is((await client.request('POST', DEFINITIONS, { body: other })).status, 201);
  const accepted = await eventually(
    () => conditionOf(client, other.metadata.name, 'NamesAccepted'),
    (condition) => condition !== undefined,
  );
  t.like(accepted, { status: 'False', reason: 'ListKindConflict' });
  t.is((await client.get(path('others'))).status, 404);
  await client.request('DELETE', `${DEFINITIONS}/crontabs.${GROUP}`);
  await eventually(
    () => conditionOf(client, other.metadata.name, 'Established'),
    (condition) => condition?.status === 'True',
  );
  t.is((await client.get(path('others'))).status, 200);
});

test('a definition called like a built-in type is established, and as it goes the objects of that type stay', async (t) => {
  const { client } = await startServer(t);
  const group = 'networking.orch.io';
  const policies = `/apis/${group}/v1/namespaces/default/networkpolicies`;
  const kept = {
    apiVersion: `${group}/v1`,
    kind: 'NetworkPolicy',
    metadata: { name: 'kept' },
    spec: { podSelector: {} },
  };
  t.is((await client.request('POST', policies, { body: kept })).status, 201);
  const name = `networkpolicies.${group}`;
  const schema = {
    openAPIV3Schema: { type: 'object', required: ['extra'], properties: { extra: { type: 'string' } } },
  };
  const named = {
    plural: 'networkpolicies',
    singular: 'networkpolicy',
    kind: 'NetworkPolicy',
    listKind: 'NetworkPolicyList',
  };
  const body = {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, annotations: { 'api-approved.orch.io': 'unapproved, a test' } },
    spec: { group, scope: 'Namespaced', names: named, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
  const made = await client.request('POST', DEFINITIONS, { body });
  t.is(made.status, 201, made.text);
  await eventually(
    () => conditionOf(client, name, 'Established'),
    (condition) => condition?.status === 'True',
  );
  t.like(await conditionOf(client, name, 'NamesAccepted'), { status: 'True', reason: 'NoConflicts' });
  const another = { ...kept, metadata: { name: 'another' } };
  t.is((await client.request('POST', policies, { body: another })).status, 201);
  const watched = (await client.get(policies)).json.metadata.resourceVersion;
  t.is((await client.request('DELETE', `${DEFINITIONS}/${name}`)).status, 200);
  await eventually(
    () => client.get(`${DEFINITIONS}/${name}`),
    ({ status }) => status === 404,
  );
  const left = (await client.get(policies)).json.items as unknown as { metadata: { name: string } }[];
  t.deepEqual(
    left.map(({ metadata }) => metadata.name),
    ['another', 'kept'],
  );
  // Its history is not that of the definition either.
  t.is((await client.get(`${policies}?resourceVersion=${watched}&resourceVersionMatch=Exact`)).status, 200);
});

test('a name that a definition has already is no short name that it may be given', async (t) => {
  const { client } = await startServer(t);
  await establish(client);
  const name = `crontabs.${GROUP}`;
  const named = (shortNames: readonly string[]) =>
    client.request('PATCH', `${DEFINITIONS}/${name}`, {
      body: { spec: { names: { shortNames } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  t.is((await named(['crontabs', 'ct'])).status, 200);
  const refused = await eventually(
    () => conditionOf(client, name, 'NamesAccepted'),
    (condition) => condition?.status === 'False',
  );
  t.like(refused, { reason: 'ShortNamesConflict', message: '"crontabs" is already in use' });
  t.is((await named(['ct'])).status, 200);
  await eventually(
    () => conditionOf(client, name, 'NamesAccepted'),
    (condition) => condition?.status === 'True',
  );
});

test('a definition whose names were never accepted says so as it goes', async (t) => {
  const { client } = await startServer(t);
  await establish(client);
  const other = definition({ plural: 'others', kind: 'CronTab' });
  const { name } = other.metadata;
  const body = { ...other, metadata: { name, finalizers: ['example.com/wait'] } };
  t.is((await client.request('POST', DEFINITIONS, { body })).status, 201);
  await eventually(
    () => conditionOf(client, name, 'NamesAccepted'),
    (condition) => condition !== undefined,
  );
  await client.request('DELETE', `${DEFINITIONS}/${name}`);
  const terminating = await eventually(
    () => conditionOf(client, name, 'Terminating'),
    (condition) => condition?.status === 'False',
  );
  t.like(terminating, { reason: 'NeverEstablished', message: 'resource was never established' });
});

test('objects and types are there after a restart', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'default'] });
  await establish(server.client);
  await server.client.request('POST', path(), { body: object('a', { cron: '1' }) });
  await server.kill9();
  await server.restart();
  t.is((await server.client.get(`${path()}/a`)).status, 200);
  t.is((await server.client.request('POST', path(), { body: object('b', { cron: '1' }) })).status, 201);
});

test('HEAD of custom objects answers as GET does, without the body, and what they do not serve is told by its verb', async (t) => {
  const { client } = await startServer(t);
  await establish(client);
  t.is((await client.request('POST', path(), { body: object('a', { cron: '1' }) })).status, 201);
  for (const asked of [path(), `${path()}/a`, `${path()}/a/status`, `${path()}?watch=1&timeoutSeconds=1`]) {
    const [head, { headers }] = [await client.request('HEAD', asked), await client.get(asked)];
    t.deepEqual([head.status, head.text], [200, ''], asked);
    t.is(head.headers['content-type'], headers['content-type'], asked);
  }
  t.is((await client.request('HEAD', `${path()}/none`)).status, 404);
  for (const [method, asked, said] of [
    ['OPTIONS', path(), ''],
    ['DELETE', `${path()}/a/status`, 'delete'],
    ['POST', `${path()}/a/status`, 'create'],
  ] as const) {
    const { status, json } = await client.request(method, asked, method === 'POST' ? { body: object('a', {}) } : {});
    t.is(status, 405, asked);
    t.is(json.message, `${said} is not supported on resources of kind "crontabs.${GROUP}"`);
    t.deepEqual(json.details, { group: GROUP, kind: 'crontabs' });
  }
});
