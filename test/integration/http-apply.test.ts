// Server-side apply and strategic merge patch over HTTP: which requests are taken, what is refused and how, and what
// happens when many come at once.
import test from 'ava';
import type { Answer, ApiObject, Body, HttpsClient } from '../server/https-client.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';

const undo: (() => void | Promise<void>)[] = [];
let server: ServerProcess;
let client: HttpsClient;

test.before(async () => {
  server = await startServer({ teardown: (step) => undo.push(step) }, { args: ['--api-dialect', 'kubernetes'] });
  client = server.client;
});

test.after.always(async () => {
  for (const step of undo) await step();
});

const APPLY = 'application/apply-patch+yaml';
const STRATEGIC = 'application/strategic-merge-patch+json';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

const configMap = (name: string, data: object, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
  ...more,
});

function apply(path: string, body: Body, query = 'fieldManager=tester'): Promise<Answer> {
  return client.request('PATCH', `${path}?${query}`, { body, headers: { 'content-type': APPLY } });
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly fieldsV1: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function entriesOf({ metadata }: ApiObject): readonly Entry[] {
  return (metadata as { managedFields?: readonly Entry[] }).managedFields ?? [];
}

test('an apply creates with 201, changes with 200, and repeats without a new version', async (t) => {
  const path = `${CONFIG_MAPS}/codes`;
  const first = await apply(path, configMap('codes', { a: '1' }));
  t.is(first.status, 201);
  const second = await apply(path, configMap('codes', { a: '2' }));
  t.is(second.status, 200);
  const third = await apply(path, configMap('codes', { a: '2' }));
  t.is(third.status, 200);
  t.deepEqual(third.json, second.json);
  t.not(second.json.metadata.resourceVersion, first.json.metadata.resourceVersion);
});

test('an applied body may be YAML', async (t) => {
  const yaml =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1" # a comment\n  b: |\n    two\n';
  const answer = await apply(`${CONFIG_MAPS}/yaml`, yaml);
  t.is(answer.status, 201);
  t.deepEqual(answer.json.data, { a: '1', b: 'two\n' });
});

interface Refused {
  readonly of: string;
  readonly path?: string;
  readonly body: Body;
  readonly query?: string;
  readonly type?: string;
  readonly status: number;
  readonly message: RegExp;
}

const REFUSED: readonly Refused[] = [
  { of: 'no field manager', body: configMap('x', {}), query: '', status: 422, message: /fieldManager: Required value/ },
  {
    of: 'a field manager that is too long',
    body: configMap('x', {}),
    query: `fieldManager=${'x'.repeat(129)}`,
    status: 422,
    message: /fieldManager: Too long/,
  },
  {
    of: 'force with another kind of patch',
    body: { data: {} },
    query: 'force=true',
    type: 'application/merge-patch+json',
    status: 422,
    message: /force: Forbidden/,
  },
  { of: 'a body that is no YAML', body: 'a: b: c', status: 400, message: /YAML/ },
  { of: 'a list', body: '[]', status: 400, message: /must be an object/ },
  { of: 'an empty body', body: '', status: 400, message: /must be an object/ },
  {
    of: 'no apiVersion',
    body: { kind: 'ConfigMap' },
    status: 400,
    message: /^Incorrect version specified in apply patch\. Specified patch version: , expected: v1$/,
  },
  { of: 'no kind', body: { apiVersion: 'v1' }, status: 400, message: /kind/ },
  { of: 'another version', body: configMap('x', {}, { apiVersion: 'v2' }), status: 400, message: /version/ },
  { of: 'another kind', body: configMap('x', {}, { kind: 'Secret' }), status: 400, message: /kind/ },
  { of: 'another name', body: configMap('y', {}), status: 400, message: /name/ },
  {
    of: 'a new object without a name',
    body: configMap('x', {}, { metadata: {} }),
    status: 400,
    message: /name must be provided/,
  },
  {
    of: 'a uid that nothing has',
    body: configMap('x', {}, { metadata: { name: 'x', uid: 'gone' } }),
    status: 409,
    message: /uid mismatch: the provided object specified uid gone, and no existing object was found/,
  },
  {
    of: 'managedFields',
    body: configMap('x', {}, { metadata: { name: 'x', managedFields: [{ manager: 'm' }] } }),
    status: 400,
    message: /managedFields/,
  },
  { of: 'a field that the type does not have', body: configMap('x', {}, { dada: {} }), status: 400, message: /\.dada/ },
  { of: 'a value of the wrong type', body: configMap('x', { a: 1 }), status: 400, message: /data/ },
  { of: 'an invalid object', body: configMap('x', { 'not/valid': '' }), status: 422, message: /not\/valid/ },
  {
    of: 'a scale of nothing',
    path: `${DEPLOYMENTS}/x/scale`,
    body: { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 1 } },
    status: 404,
    message: /not found/,
  },
  {
    of: 'the status of what is not there',
    path: `${DEPLOYMENTS}/nobody/status`,
    body: { apiVersion: 'apps/v1', kind: 'Deployment', status: { replicas: 1 } },
    status: 404,
    message: /not found/,
  },
  {
    of: 'a namespace that is not there',
    path: '/api/v1/namespaces/nowhere/configmaps/x',
    body: configMap('x', {}),
    status: 404,
    message: /"nowhere" not found/,
  },
];

for (const {
  of,
  path = `${CONFIG_MAPS}/x`,
  body,
  query = 'fieldManager=tester',
  type = APPLY,
  status,
  message,
} of REFUSED) {
  test(`a patch is refused: ${of}`, async (t) => {
    const answer = await client.request('PATCH', `${path}?${query}`, { body, headers: { 'content-type': type } });
    t.is(answer.status, status, answer.text);
    t.is(answer.json.kind, 'Status');
    t.regex(answer.json.message ?? '', message);
    t.is((await client.get(`${CONFIG_MAPS}/x`)).status, 404);
  });
}

test('a conflict names the managers and the fields, and force goes over it', async (t) => {
  const path = `${CONFIG_MAPS}/contested`;
  await apply(path, configMap('contested', { a: '1', b: '1' }), 'fieldManager=one');
  const refused = await apply(path, configMap('contested', { a: '2', b: '2' }), 'fieldManager=two');
  t.is(refused.status, 409);
  t.like(refused.json, { reason: 'Conflict', code: 409 });
  t.deepEqual(
    refused.json.details?.causes?.map(({ reason, field }) => `${reason} ${field}`),
    ['FieldManagerConflict .data.a', 'FieldManagerConflict .data.b'],
  );
  const forced = await apply(path, configMap('contested', { a: '2' }), 'fieldManager=two&force=true');
  t.is(forced.status, 200);
  t.deepEqual(forced.json.data, { a: '2', b: '1' });
  t.deepEqual(
    entriesOf(forced.json).map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1['f:data']!)]),
    [
      ['one', ['f:b']],
      ['two', ['f:a']],
    ],
  );
});

test('writes that are no applies are tracked under the field manager, or the client that sent them', async (t) => {
  const headers = { 'user-agent': 'my-agent/1.0 (test)' };
  const created = await client.request('POST', CONFIG_MAPS, { body: configMap('tracked', { a: '1' }), headers });
  t.deepEqual(
    entriesOf(created.json).map(({ manager, operation }) => `${manager}/${operation}`),
    ['my-agent/Update'],
  );
  const path = `${CONFIG_MAPS}/tracked`;
  const put = await client.request('PUT', `${path}?fieldManager=putter`, {
    body: configMap('tracked', { a: '1', b: '2' }),
  });
  t.deepEqual(entriesOf(put.json).find(({ manager }) => manager === 'putter')?.fieldsV1, { 'f:data': { 'f:b': {} } });
  const patched = await client.request('PATCH', `${path}?fieldManager=patcher`, {
    body: { data: { a: '9' } },
    headers: { 'content-type': STRATEGIC },
  });
  t.deepEqual(entriesOf(patched.json).find(({ manager }) => manager === 'patcher')?.fieldsV1, {
    'f:data': { 'f:a': {} },
  });
});

test('the scale of a deployment is owned by who set it', async (t) => {
  const body = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'scaled' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  t.is((await apply(`${DEPLOYMENTS}/scaled`, body)).status, 201);
  const scale = await client.request('PATCH', `${DEPLOYMENTS}/scaled/scale?fieldManager=scaler`, {
    body: { spec: { replicas: 3 } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.is(scale.status, 200);
  t.is((await apply(`${DEPLOYMENTS}/scaled`, body)).status, 409);
});

test('appliers of different fields at the same time all have their way', async (t) => {
  const count = 24;
  const path = `${CONFIG_MAPS}/crowded`;
  const answers = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      apply(path, configMap('crowded', { [`k${n}`]: String(n) }), `fieldManager=m${n}`),
    ),
  );
  t.deepEqual(answers.filter(({ status }) => status === 201).length, 1);
  t.true(answers.every(({ status }) => status === 200 || status === 201));
  const { json } = await client.get(path);
  t.is(Object.keys(json.data ?? {}).length, count);
  t.is(entriesOf(json).length, count);
});

test('a patch that names a version applies to no other', async (t) => {
  const path = `${CONFIG_MAPS}/versioned`;
  const { json } = await apply(path, configMap('versioned', { a: '1' }));
  const metadata = { name: 'versioned', resourceVersion: json.metadata.resourceVersion };
  t.is((await apply(path, configMap('versioned', { a: '2' }, { metadata }))).status, 200);
  t.is((await apply(path, configMap('versioned', { a: '3' }, { metadata }))).status, 409);
  await client.request('DELETE', path);
  t.is(
    (await apply(path, configMap('versioned', { a: '4' }, { metadata }))).status,
    201,
    'the version of what is gone',
  );
});

test('an operator can switch ownership off', async (t) => {
  const plain = await startServer(t, { args: ['--feature-gates', 'ServerSideApply=false'] });
  const created = await plain.client.request('POST', CONFIG_MAPS, { body: configMap('plain', { a: '1' }) });
  t.is(created.status, 201);
  t.deepEqual(entriesOf(created.json), []);
  const refused = await plain.client.request('PATCH', `${CONFIG_MAPS}/plain?fieldManager=m`, {
    body: configMap('plain', { a: '2' }),
    headers: { 'content-type': APPLY },
  });
  t.is(refused.status, 415);
});
