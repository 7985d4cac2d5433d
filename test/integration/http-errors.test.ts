// What clients are told when a request cannot be served: the code, and a Status that says why.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Answer, ApiObject, RequestSettings } from '../server/https-client.ts';
import { sharedServer, startServer } from '../server/server-process.ts';
import { lateWrite } from './flow-levels.ts';
import {
  configMap,
  createConfigMap,
  deployment,
  eventually,
  freshNamespace,
  namespaceForPods,
  POD_SPEC,
} from './objects.ts';

const server = sharedServer(test, { args: ['--api-dialect', 'kubernetes'] });

/** A request that fails, and what its Status must say. */
interface Case {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly settings?: RequestSettings;
  readonly code: number;
  readonly reason: string;
  readonly message: RegExp;
}

const BIG = 'x'.repeat(3 * 1024 * 1024);
const DEFAULT = '/api/v1/namespaces/default';
const CONFIG_MAPS = `${DEFAULT}/configmaps`;
const NO_RESOURCE = /^the server could not find the requested resource$/;
const NO_METHOD = /^the server does not allow this method on the requested resource$/;
const NO_NUMBER = /^strconv.ParseInt: parsing "many": invalid syntax$/;
const YAML_TYPE = { 'content-type': 'application/yaml' };

const CASES: readonly Case[] = [
  row('a missing object', 'GET', `${CONFIG_MAPS}/nobody`, 404, 'NotFound', /^configmaps "nobody" not found$/),
  row(
    'a missing object of a group',
    'GET',
    '/apis/apps/v1/namespaces/default/deployments/nobody',
    404,
    'NotFound',
    /^deployments\.apps "nobody" not found$/,
  ),
  row(
    'a missing object to update',
    'PUT',
    `${CONFIG_MAPS}/nobody`,
    404,
    'NotFound',
    /^configmaps "nobody" not found$/,
    { body: configMap({ name: 'nobody' }) },
  ),
  row(
    'a missing object to delete',
    'DELETE',
    `${CONFIG_MAPS}/nobody`,
    404,
    'NotFound',
    /^configmaps "nobody" not found$/,
  ),
  row('an unknown resource', 'GET', '/api/v1/nonsense', 404, 'NotFound', NO_RESOURCE),
  row('an unknown resource to create', 'POST', `${DEFAULT}/nonsense`, 404, 'NotFound', NO_RESOURCE, { body: {} }),
  row('a name among what is only created', 'GET', `${DEFAULT}/bindings/a`, 404, 'NotFound', NO_RESOURCE),
  row('what is only created, across namespaces', 'POST', '/api/v1/bindings', 404, 'NotFound', NO_RESOURCE, {
    body: {},
  }),
  row(
    'the scale of what is missing',
    'GET',
    '/apis/apps/v1/namespaces/default/deployments/nobody/scale',
    404,
    'NotFound',
    /^deployments\/scale\.apps "nobody" not found$/,
  ),
  row(
    'an object of another namespace to update',
    'PUT',
    `${CONFIG_MAPS}/a`,
    400,
    'BadRequest',
    /^the namespace of the object \(other\) does not match the namespace on the request \(default\)$/,
    { body: { metadata: { name: 'a', namespace: 'other' } } },
  ),
  row(
    'a dry run of a connection',
    'POST',
    `${DEFAULT}/services/a/proxy?dryRun=All`,
    400,
    'BadRequest',
    /^dryRun is not supported$/,
  ),
  row('an unknown version', 'GET', '/apis/apps/v9/deployments', 404, 'NotFound', NO_RESOURCE),
  row('an unknown subresource', 'GET', `${CONFIG_MAPS}/a/nonsense`, 404, 'NotFound', NO_RESOURCE),
  row('a name without its namespace', 'GET', '/api/v1/configmaps/a', 404, 'NotFound', NO_RESOURCE),
  row('a cluster-scoped type in a namespace', 'GET', `${DEFAULT}/nodes`, 404, 'NotFound', NO_RESOURCE),
  row('something below a subresource', 'GET', `${DEFAULT}/pods/a/status/b`, 404, 'NotFound', NO_RESOURCE),
  row('creating without a namespace', 'POST', '/api/v1/configmaps', 405, 'MethodNotAllowed', NO_METHOD, {
    body: configMap({ name: 'a', namespace: 'default' }),
  }),
  row('another method on a path of watches', 'POST', '/api/v1/watch/configmaps', 405, 'MethodNotAllowed', NO_METHOD),
  row(
    'a namespace that is not there',
    'POST',
    '/api/v1/namespaces/nowhere/configmaps',
    404,
    'NotFound',
    /^namespaces "nowhere" not found$/,
    { body: configMap({ name: 'a' }) },
  ),
  row('POST to a name', 'POST', `${CONFIG_MAPS}/a`, 405, 'MethodNotAllowed', NO_METHOD, {
    body: configMap({ name: 'a' }),
  }),
  row('PUT to a collection', 'PUT', CONFIG_MAPS, 405, 'MethodNotAllowed', NO_METHOD, {
    body: configMap({ name: 'a' }),
  }),
  row('an unknown method', 'PROPFIND', CONFIG_MAPS, 405, 'MethodNotAllowed', NO_METHOD),
  row('OPTIONS', 'OPTIONS', CONFIG_MAPS, 405, 'MethodNotAllowed', NO_METHOD),
  row('deleting a collection across namespaces', 'DELETE', '/api/v1/configmaps', 405, 'MethodNotAllowed', NO_METHOD),
  row('deleting all namespaces', 'DELETE', '/api/v1/namespaces', 405, 'MethodNotAllowed', NO_METHOD),
  row('writing to a path that is no resource', 'POST', '/version', 405, 'MethodNotAllowed', NO_METHOD, { body: {} }),
  row('an Accept header nothing serves', 'GET', CONFIG_MAPS, 406, 'NotAcceptable', /^406: Not Acceptable$/, {
    headers: { accept: 'text/html' },
  }),
  row(
    'a watch in a format there is none of',
    'GET',
    `${CONFIG_MAPS}?watch=1`,
    406,
    'NotAcceptable',
    /^only the following media types are accepted: application\/json, application\/yaml, /,
    { headers: { accept: 'application/json;as=Nothing' } },
  ),
  row('a body of an unknown type', 'POST', CONFIG_MAPS, 415, 'UnsupportedMediaType', /application\/json/, {
    body: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  row(
    'a patch of an unknown type',
    'PATCH',
    `${CONFIG_MAPS}/a`,
    415,
    'UnsupportedMediaType',
    /^415: Unsupported Media Type$/,
    {
      body: {},
    },
  ),
  row('a body over 3 MiB', 'POST', CONFIG_MAPS, 413, 'RequestEntityTooLarge', /limit is 3145728/, {
    body: configMap({ name: 'a' }, { big: BIG }),
  }),
  row('a body that is no JSON', 'POST', CONFIG_MAPS, 400, 'BadRequest', /not valid JSON/, { body: '{"kind":' }),
  row('a body that is no YAML', 'POST', CONFIG_MAPS, 400, 'BadRequest', /YAML/, { body: 'a: [b', headers: YAML_TYPE }),
  row('no body', 'POST', CONFIG_MAPS, 400, 'BadRequest', /^the body is not valid JSON/, { body: '' }),
  row('a body that is no object', 'POST', CONFIG_MAPS, 400, 'BadRequest', /must be an object/, { body: '[]' }),
  row(
    'a body of another kind',
    'POST',
    CONFIG_MAPS,
    400,
    'BadRequest',
    /^Secret in version "v1" cannot be handled as a ConfigMap: /,
    {
      body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } },
    },
  ),
  row('a body of another version', 'POST', CONFIG_MAPS, 400, 'BadRequest', /version/, {
    body: { kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'a' } },
  }),
  row('a field of the wrong type', 'POST', CONFIG_MAPS, 400, 'BadRequest', /data/, {
    body: { metadata: { name: 'a' }, data: [1] },
  }),
  row('a body named unlike the path', 'PUT', `${CONFIG_MAPS}/a`, 400, 'BadRequest', /name/, {
    body: configMap({ name: 'b' }),
  }),
  row('a body in another namespace than the path', 'POST', CONFIG_MAPS, 400, 'BadRequest', /namespace/, {
    body: configMap({ name: 'a', namespace: 'other' }),
  }),
  ...(
    [
      ['abc', 'time: invalid duration "abc"'],
      ['10', 'time: missing unit in duration "10"'],
      ['1x', 'time: unknown unit "x" in duration "1x"'],
      ['-1s', 'timeout duration can not be negative'],
    ] as const
  ).flatMap(([timeout, reason]) =>
    [CONFIG_MAPS, '/version'].map((path) =>
      row(
        `a timeout of ${timeout} at ${path}`,
        'GET',
        `${path}?timeout=${timeout}`,
        400,
        'BadRequest',
        new RegExp(`^invalid timeout specified in the request URL - ${reason}$`),
      ),
    ),
  ),
  row('a bad timeout of a stranger', 'GET', `${CONFIG_MAPS}?timeout=abc`, 400, 'BadRequest', /invalid timeout/, {
    token: 'nobody',
  }),
  row(
    'a version that is not reached in the time the client has',
    'GET',
    `${CONFIG_MAPS}?resourceVersion=999999999&timeout=50ms`,
    504,
    'Timeout',
    /^Timeout: request did not complete within the allotted timeout$/,
  ),
  row(
    'a version that is not reached in the time the server takes',
    'GET',
    `${CONFIG_MAPS}?resourceVersion=999999999&timeout=1h`,
    504,
    'Timeout',
    /Too large resource version/,
  ),
  row(
    'a bad label selector',
    'GET',
    `${CONFIG_MAPS}?labelSelector=a%3D%3D%3Db`,
    400,
    'BadRequest',
    /^unable to parse requirement: /,
  ),
  row(
    'a field that nothing selects by',
    'GET',
    `${CONFIG_MAPS}?fieldSelector=data.a%3Db`,
    400,
    'BadRequest',
    /data\.a/,
  ),
  row('a bad limit', 'GET', `${CONFIG_MAPS}?limit=many`, 400, 'BadRequest', NO_NUMBER),
  row('a bad limit of a watch', 'GET', `${CONFIG_MAPS}?watch=1&limit=many`, 400, 'BadRequest', NO_NUMBER),
  row('a bad time of a list', 'GET', `${CONFIG_MAPS}?timeoutSeconds=many`, 400, 'BadRequest', NO_NUMBER),
  row('a bad time of a deletion of all', 'DELETE', `${CONFIG_MAPS}?timeoutSeconds=many`, 400, 'BadRequest', NO_NUMBER),
  row(
    'a body of what is no type',
    'POST',
    CONFIG_MAPS,
    415,
    'UnsupportedMediaType',
    /^the body of the request was in an unknown format - /,
    {
      body: '{}',
      headers: { 'content-type': 'garbage' },
    },
  ),
  row(
    'a resource version of nobody',
    'GET',
    `${CONFIG_MAPS}?resourceVersion=abc`,
    400,
    'BadRequest',
    /^resourceVersion: Invalid value: "abc": strconv.ParseUint/,
  ),
  row(
    'a continue token of nobody',
    'GET',
    `${CONFIG_MAPS}?limit=1&continue=abc`,
    400,
    'BadRequest',
    /^invalid continue token: continue key is not valid/,
  ),
  row(
    'a match without a version',
    'GET',
    `${CONFIG_MAPS}?resourceVersionMatch=Exact`,
    422,
    'Invalid',
    /ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Forbidden/,
  ),
  row(
    'an unknown match',
    'GET',
    `${CONFIG_MAPS}?resourceVersion=1&resourceVersionMatch=About`,
    422,
    'Invalid',
    /Unsupported value: "About"/,
  ),
  row(
    'a match with a watch',
    'GET',
    `${CONFIG_MAPS}?watch=1&resourceVersion=1&resourceVersionMatch=Exact`,
    422,
    'Invalid',
    /forbidden for watch/,
  ),
  row(
    'a name that is none',
    'POST',
    CONFIG_MAPS,
    422,
    'Invalid',
    /^ConfigMap "Not_A_Name" is invalid: metadata\.name: Invalid value: "Not_A_Name"/,
    { body: configMap({ name: 'Not_A_Name' }) },
  ),
  row('no name', 'POST', CONFIG_MAPS, 422, 'Invalid', /metadata\.name: Required value/, { body: configMap({}) }),
  row('a label that is none', 'POST', CONFIG_MAPS, 422, 'Invalid', /metadata\.labels: Invalid value/, {
    body: configMap({ name: 'a', labels: { 'a b': 'c' } }),
  }),
  row(
    'an unknown value of dryRun',
    'POST',
    `${CONFIG_MAPS}?dryRun=Some`,
    422,
    'Invalid',
    /CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: \[\]string\{"Some"\}/,
    { body: configMap({ name: 'a' }) },
  ),
  row(
    'an unknown value of dryRun in a delete',
    'DELETE',
    `${CONFIG_MAPS}/a?dryRun=Some`,
    422,
    'Invalid',
    /DeleteOptions\.meta\.k8s\.io/,
  ),
  row(
    'a version in the future',
    'GET',
    `${CONFIG_MAPS}?resourceVersion=999999999`,
    504,
    'Timeout',
    /Too large resource version: 999999999, current: \d+/,
  ),
  row(
    'a version in the future of one object',
    'GET',
    `${CONFIG_MAPS}/a?resourceVersion=999999999`,
    504,
    'Timeout',
    /Too large resource version/,
  ),
];

function row(
  title: string,
  method: string,
  path: string,
  code: number,
  reason: string,
  message: RegExp,
  settings?: RequestSettings,
): Case {
  return { title, method, path, code, reason, message, ...(settings === undefined ? {} : { settings }) };
}

for (const { title, method, path, settings, code, reason, message } of CASES) {
  test(`${code} for ${title}`, async (t) => {
    const answer = await server().client.request(method, path, settings);
    t.is(answer.status, code, answer.text);
    t.regex(answer.headers['content-type'] ?? '', /^application\/json/);
    const { json } = answer;
    t.like(json, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code });
    t.is(json.reason ?? '', reason);
    t.regex(json.message ?? '', message);
  });
}

test('an invalid object names each field that is wrong', async (t) => {
  const body = configMap({ name: 'UPPER', labels: { 'a b': 'c' } });
  const { json } = await server().client.request('POST', CONFIG_MAPS, { body });
  t.like(json.details, { name: 'UPPER', kind: 'ConfigMap' });
  t.deepEqual(json.details?.causes?.map(({ field }) => field).sort(), ['metadata.labels', 'metadata.name']);
});

test('creating what exists, and updating from an old version, are conflicts', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const first = await createConfigMap(client, namespace, { name: 'one' });
  const path = `${namespace.configMaps}/one`;

  const again = await client.request('POST', namespace.configMaps, { body: configMap({ name: 'one' }) });
  t.is(again.status, 409);
  t.like(again.json, { reason: 'AlreadyExists', message: 'configmaps "one" already exists' });
  t.like(again.json.details, { name: 'one', kind: 'configmaps' });

  const changed = await client.request('PUT', path, { body: { ...first, data: { a: '1' } } });
  t.is(changed.status, 200);
  const late = await client.request('PUT', path, { body: { ...first, data: { a: '2' } } });
  t.is(late.status, 409);
  t.like(late.json, { reason: 'Conflict', code: 409 });
  t.regex(late.json.message ?? '', /^Operation cannot be fulfilled on configmaps "one": /);

  const wrongUid = await client.request('DELETE', path, { body: { preconditions: { uid: 'other' } } });
  t.is(wrongUid.status, 409);
  t.deepEqual((await client.get(path)).json.data, { a: '1' });
});

test('a pod is bound once', async (t) => {
  const { client } = server();
  const { core } = await namespaceForPods(client);
  const pod = { metadata: { name: 'one' }, spec: { ...POD_SPEC, schedulerName: 'nobody' } };
  t.is((await client.request('POST', `${core}/pods`, { body: pod })).status, 201);
  const binding = { metadata: { name: 'one' }, target: { kind: 'Node', name: 'here' } };
  const bound = await client.request('POST', `${core}/pods/one/binding`, { body: binding });
  t.is(bound.status, 201, bound.text);
  t.like(bound.json, { kind: 'Status', status: 'Success', code: 201 });
  const again = await client.request('POST', `${core}/pods/one/binding`, { body: binding });
  t.is(again.status, 409);
  t.like(again.json.details, { name: 'one', kind: 'pods/binding' });
  t.is((await client.get(`${core}/pods/one`)).json.spec?.nodeName, 'here');
  const missing = await client.request('POST', `${core}/pods/two/binding`, {
    body: { ...binding, metadata: { name: 'two' } },
  });
  t.is(missing.status, 404);
});

test('a JSON patch that does not apply is 422, and one that is none is 400', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'one' }, { a: '1' });
  const headers = { 'content-type': 'application/json-patch+json' };
  const patch = (body: object) => client.request('PATCH', `${namespace.configMaps}/one`, { body, headers });
  const failed = await patch([{ op: 'test', path: '/data/a', value: '2' }]);
  t.is(failed.status, 422);
  t.like(failed.json, { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' });
  t.is((await patch([{ op: 'remove', path: '/data/b' }])).status, 422);
  t.is((await patch({ op: 'remove', path: '/data/a' })).status, 400);
});

test('what refuses a request leaves nothing behind', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const before = (await client.get(namespace.configMaps)).json.metadata.resourceVersion;
  await client.request('POST', namespace.configMaps, { body: configMap({ name: 'Bad' }) });
  await client.request('POST', `${namespace.configMaps}?dryRun=All`, { body: configMap({ name: 'dry' }) });
  const selected = `${namespace.configMaps}?fieldSelector=metadata.name%3Ddry`;
  t.deepEqual((await client.get(selected)).json.items, []);
  t.truthy(before);
});

test('a change older than the history kept is Expired, in a list as 410, in a watch as an event', async (t) => {
  const small = await startServer(t, { args: ['--placement', 'single', '--store-compaction-interval', '100ms'] });
  const { client } = small;
  const namespace = await freshNamespace(client);
  const old = await createConfigMap(client, namespace, { name: 'old' });
  const { resourceVersion = '' } = old.metadata;
  const page = (await client.get('/api/v1/namespaces?limit=1')).json.metadata.continue ?? '';
  t.not(page, '');
  let writes = 0;
  const exact = `${namespace.configMaps}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  const onceCompacted = (path: string): Promise<Answer> =>
    eventually(
      async () => {
        await createConfigMap(client, namespace, { name: `new-${writes++}` });
        return client.get(path);
      },
      ({ status }) => status !== 200,
    );
  const gone = await onceCompacted(exact);
  t.is(gone.status, 410);
  t.like(gone.json, { kind: 'Status', reason: 'Expired', code: 410 });
  t.is(gone.json.message, 'The resourceVersion for the provided list is too old.');

  const watch = await client.watch(`${namespace.configMaps}?watch=1&resourceVersion=${resourceVersion}`);
  t.is(watch.status, 200);
  const event = await watch.next();
  t.is(event?.type, 'ERROR');
  t.like(event?.object, { kind: 'Status', reason: 'Expired', code: 410 });
  t.is(await watch.next(), undefined);
  t.is(await watch.ended, 'clean');

  // The page may be of a later version than what was written before it.
  const expiredPage = await onceCompacted(`/api/v1/namespaces?limit=100&continue=${page}`);
  t.is(expiredPage.status, 410);
  t.is(expiredPage.json.reason, 'Expired');
  const goOn = expiredPage.json.metadata.continue ?? '';
  const rest = await client.get(`/api/v1/namespaces?limit=100&continue=${goOn}`);
  t.is(rest.status, 200, rest.text);
  t.true(rest.json.items?.some(({ metadata }) => metadata.name === namespace.name));
});

test('writes beyond the limit are 429 with Retry-After, but for superusers', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-tokens-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, 'jane-token,jane,1\n');
  const small = await startServer(t, {
    args: [
      '--placement',
      'single',
      '--max-mutating-requests-inflight',
      '1',
      '--enable-priority-and-fairness=false',
      '--token-auth-file',
      tokens,
      '--authorization-mode',
      'AlwaysAllow',
    ],
  });
  const { client } = small;
  const namespace = await freshNamespace(client);
  const write = (name: string): Promise<Answer> =>
    client.request('POST', namespace.configMaps, { body: configMap({ name }), token: 'jane-token' });
  let slow = lateWrite(small, namespace, 'jane-token');
  let tries = 0;
  const refused = await eventually(
    async () => {
      // It came while a try was in flight.
      if (slow.isAnswered()) slow = lateWrite(small, namespace, 'jane-token');
      return write(`try-${tries++}`);
    },
    ({ status }) => status !== 201,
  );
  t.is(refused.status, 429);
  t.is(refused.headers['retry-after'], '1');
  t.is(refused.text, 'Too many requests, please try again later.\n');
  t.is((await client.get(namespace.configMaps, { token: 'jane-token' })).status, 200);
  await createConfigMap(client, namespace, { name: 'by-admin' });
  slow.finish();
  t.is(await slow.answered, 201);
  t.is((await write('after')).status, 201);
});

test('a scale that names an old version is a conflict', async (t) => {
  const { client } = server();
  const { apps } = await freshNamespace(client);
  t.is((await client.request('POST', `${apps}/deployments`, { body: deployment('web', 1) })).status, 201);
  const path = `${apps}/deployments/web/scale`;
  const scale = (await client.get(path)).json;
  const wanted: ApiObject = { ...scale, spec: { replicas: 3 } };
  const scaled = await client.request('PUT', path, { body: wanted });
  t.is(scaled.status, 200, scaled.text);
  t.is(scaled.json.spec?.replicas, 3);
  t.is((await client.request('PUT', path, { body: wanted })).status, 409);
});
