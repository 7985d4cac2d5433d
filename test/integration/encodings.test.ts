// Answers in every encoding, through a real server: Protobuf, read by an independent route, says what JSON says; errors,
// documents and options come and go in it; what cannot be made is refused.
import test from 'ava';
import type { Answer, ApiObject, HttpsClient } from '../server/https-client.ts';
import { fromWire, openWire, readEvents, readWire, sealWire } from '../server/kubernetes-messages.ts';
import { sharedServer } from '../server/server-process.ts';
import {
  accountIn,
  configMap,
  createConfigMap,
  deployment,
  freshNamespace,
  type Namespace,
  POD_SPEC,
} from './objects.ts';

const server = sharedServer(test, { args: ['--api-dialect', 'kubernetes'] });
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const AS_PROTOBUF = { headers: { accept: PROTOBUF } };
const partial = (kind: string, version = 'v1'): string => `${PROTOBUF};as=${kind};v=${version};g=meta.k8s.io`;

/** An object without the members that a message cannot tell from absent ones. */
function plain(object: object): unknown {
  return JSON.parse(JSON.stringify(object), (_, value: unknown) =>
    value === null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0)
      ? undefined
      : value,
  ) as unknown;
}

async function createPod(client: HttpsClient, { core, name: namespace }: Namespace, name: string): Promise<ApiObject> {
  await accountIn(client, namespace);
  const spec = { ...POD_SPEC, schedulerName: 'none', automountServiceAccountToken: false };
  const body = { metadata: { name, labels: { app: 'web' } }, spec };
  const answer = await client.request('POST', `${core}/pods`, { body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json;
}

test('an object in Protobuf is the object in JSON', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const pod = await createPod(client, namespace, 'a');
  const map = await createConfigMap(client, namespace, { name: 'a', annotations: { note: 'ü' } }, { k: 'v' });
  for (const [path, object] of [
    [`${namespace.core}/pods/a`, pod],
    [`${namespace.configMaps}/a`, map],
  ] as const) {
    for (let i = 0; i < 2; i++) {
      const answer = await client.get(path, AS_PROTOBUF);
      t.is(answer.status, 200);
      t.is(answer.headers['content-type'], PROTOBUF);
      t.deepEqual(plain(readWire(answer.bytes)), plain(object));
    }
  }
});

test('an object written in Protobuf is answered in it, with its new version', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const headers = { accept: PROTOBUF, 'content-type': PROTOBUF };
  const body = sealWire('v1', 'ConfigMap', { metadata: { name: 'a' }, data: { k: 'v' } });
  const created = await client.request('POST', configMaps, { body, headers });
  t.is(created.status, 201);
  const object = readWire(created.bytes) as unknown as ApiObject;
  t.like(object, { kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } });
  const changed = sealWire('v1', 'ConfigMap', { ...object, data: { k: 'w' } });
  const updated = await client.request('PUT', `${configMaps}/a`, { body: changed, headers });
  t.is(updated.status, 200);
  const after = readWire(updated.bytes) as unknown as ApiObject;
  t.deepEqual(after.data, { k: 'w' });
  t.not(after.metadata.resourceVersion, object.metadata.resourceVersion);
  t.deepEqual(plain((await client.get(`${configMaps}/a`)).json), plain(after));
});

test('the items of a list in Protobuf are those of JSON, from one to more than one write', async (t) => {
  const { client } = server();
  for (const count of [0, 3, 150]) {
    const { configMaps } = await freshNamespace(client);
    for (let i = 0; i < count; i++) {
      const body = configMap({ name: `m${i}` }, { filler: 'x'.repeat(i === 7 ? 300_000 : 2000) });
      t.is((await client.request('POST', configMaps, { body })).status, 201);
    }
    const selected = `${configMaps}?fieldSelector=metadata.name%21%3Dkube-root-ca.crt`;
    for (const limit of ['', '&limit=2']) {
      const answer = await client.get(selected + limit, AS_PROTOBUF);
      t.is(answer.status, 200);
      const { kind, apiVersion, ...list } = readWire(answer.bytes);
      t.deepEqual([kind, apiVersion], ['ConfigMapList', 'v1']);
      const expected = (await client.get(selected + limit)).json;
      t.deepEqual(plain({ items: list.items ?? [] }), plain({ items: expected.items ?? [] }));
      const metadata = list.metadata as ApiObject['metadata'];
      t.is(metadata.continue === undefined, expected.metadata.continue === undefined);
      t.is(metadata.remainingItemCount, expected.metadata.remainingItemCount);
      t.true(Number(metadata.resourceVersion) > 0);
    }
  }
});

test('a list in Protobuf continues where it ended', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await createConfigMap(client, namespace, { name, labels: { m: '' } });
  const names: string[] = [];
  let token = '';
  do {
    const path = `${namespace.configMaps}?labelSelector=m&limit=2&continue=${encodeURIComponent(token)}`;
    const list = readWire((await client.get(path, AS_PROTOBUF)).bytes) as unknown as ApiObject;
    for (const { metadata } of list.items ?? []) names.push(metadata.name ?? '');
    token = list.metadata.continue ?? '';
  } while (token !== '');
  t.deepEqual(names, ['a', 'b', 'c', 'd', 'e']);
});

test('partial metadata in Protobuf: one, many, in both versions', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  for (const name of ['a', 'b']) await createConfigMap(client, namespace, { name, labels: { m: '' } }, { big: 'x' });
  const accept = (value: string) => ({ headers: { accept: value } });
  const one = await client.get(`${namespace.configMaps}/a`, accept(partial('PartialObjectMetadata')));
  const { kind, apiVersion, metadata } = readWire(one.bytes);
  t.deepEqual([kind, apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1']);
  const whole = (await client.get(`${namespace.configMaps}/a`)).json;
  t.deepEqual(plain(metadata as object), plain(whole.metadata));
  for (const version of ['v1', 'v1beta1']) {
    const path = `${namespace.configMaps}?labelSelector=m`;
    const answer = await client.get(path, accept(partial('PartialObjectMetadataList', version)));
    const typeName = version === 'v1' ? 'PartialObjectMetadataList' : 'PartialObjectMetadataListV1Beta1';
    const list = readWire(answer.bytes, typeName) as unknown as ApiObject;
    t.is(list.apiVersion, `meta.k8s.io/${version}`);
    t.deepEqual(
      list.items?.map((item) => item.metadata.name),
      ['a', 'b'],
    );
    t.true(Number(list.metadata.resourceVersion) > 0);
    t.deepEqual(plain(list.items?.[0]?.metadata ?? {}), plain(whole.metadata));
  }
});

test('there is no Table of what lies below an object: 406, or plain where that is accepted as well', async (t) => {
  const { client } = server();
  const { name: namespace } = await freshNamespace(client);
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  t.is((await client.request('POST', deployments, { body: deployment('a', 2) })).status, 201);
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  for (const [below, kind] of [
    ['status', 'Deployment'],
    ['scale', 'Scale'],
  ] as const) {
    const at = `${deployments}/a/${below}`;
    const refused = await client.get(at, { headers: { accept: table } });
    t.deepEqual([refused.status, refused.json.reason], [406, 'NotAcceptable'] as never);
    const accept = `${table},application/json`;
    t.is((await client.get(at, { headers: { accept } })).json.kind, kind);
    const headers = { accept, 'content-type': 'application/merge-patch+json' };
    t.is((await client.request('PATCH', at, { body: { spec: { replicas: 3 } }, headers })).json.kind, kind);
  }
  t.is((await client.get(`${deployments}/a`, { headers: { accept: table } })).json.kind, 'Table');
});

test('a Table is never Protobuf: the next of the list is taken, or 406 with a Status in Protobuf', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const table = partial('Table');
  const next = await client.get(configMaps, {
    headers: { accept: `${table},application/json;as=Table;v=v1;g=meta.k8s.io` },
  });
  t.is(next.json.kind, 'Table');
  const refused = await client.get(configMaps, { headers: { accept: table } });
  t.is(refused.status, 406);
  t.is(refused.json.reason, 'NotAcceptable');
});

test('what is accepted is a list of preferences', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const typeOf = async (accept: string): Promise<string> =>
    (await client.get(configMaps, { headers: { accept } })).headers['content-type'] ?? '';
  t.is(await typeOf(`application/json;q=0.5, ${PROTOBUF}`), PROTOBUF);
  t.is(await typeOf(`${PROTOBUF};q=0.1, application/json`), 'application/json');
  t.is(await typeOf(`${PROTOBUF};q=0, */*`), 'application/json');
  t.is(await typeOf(`image/png, application/yaml;q=0.2, ${PROTOBUF};q=0.1`), 'application/yaml');
  t.is(await typeOf('*/*'), 'application/json');
});

const STATUSES: readonly (readonly [title: string, accept: string, read: (answer: Answer) => unknown])[] = [
  ['Protobuf', PROTOBUF, (answer) => readWire(answer.bytes)],
  ['JSON where nothing can be made', 'image/png', (answer) => answer.json],
  ['JSON by default', '*/*', (answer) => answer.json],
];
for (const [title, accept, read] of STATUSES) {
  test(`an error is a Status in ${title}`, async (t) => {
    const { client } = server();
    const { configMaps } = await freshNamespace(client);
    const answer = await client.request('DELETE', `${configMaps}/none`, { headers: { accept } });
    const expected = accept === 'image/png' ? 406 : 404;
    t.is(answer.status, expected);
    t.like(read(answer) as object, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: expected });
  });
}

test('an error is a Status in YAML, too', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const answer = await client.get(`${configMaps}/none`, { headers: { accept: 'application/yaml' } });
  t.is(answer.status, 404);
  t.is(answer.headers['content-type'], 'application/yaml');
  t.regex(answer.text, /^kind: Status$/m);
  t.regex(answer.text, /^reason: NotFound$/m);
});

test('the Status of a delete comes in Protobuf, and its options may', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'a' });
  const headers = { accept: PROTOBUF, 'content-type': PROTOBUF };
  const remove = (options: object): Promise<Answer> =>
    client.request('DELETE', `${namespace.configMaps}/a`, { headers, body: sealWire('v1', 'DeleteOptions', options) });
  const other = await remove({ preconditions: { uid: 'another' } });
  t.is(other.status, 409);
  t.is(readWire(other.bytes).reason, 'Conflict');
  t.is((await remove({ dryRun: ['All'] })).status, 200);
  const done = await remove({ preconditions: { uid: metadata.uid }, gracePeriodSeconds: 0 });
  t.is(done.status, 200);
  t.like(readWire(done.bytes), { kind: 'Status', status: 'Success', details: { name: 'a', uid: metadata.uid } });
  t.is((await client.get(`${namespace.configMaps}/a`)).status, 404);
});

test('a body of another type is 415 with all that are taken', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const answer = await client.request('POST', configMaps, { body: 'a=b', headers: { 'content-type': 'text/csv' } });
  t.is(answer.status, 415);
  for (const type of ['application/json', 'application/yaml', PROTOBUF]) {
    t.true((answer.json.message ?? '').includes(type), answer.text);
  }
});

test('discovery comes in Protobuf, but for documents that have no message', async (t) => {
  const { client } = server();
  const asJson = async (path: string): Promise<ApiObject> => (await client.get(path)).json;
  for (const path of ['/api', '/apis', '/apis/apps', '/api/v1', '/apis/apps/v1']) {
    const answer = await client.get(path, AS_PROTOBUF);
    t.is(answer.headers['content-type'], PROTOBUF, path);
    const expected = await asJson(path);
    const { apiVersion, kind, raw } = openWire(answer.bytes);
    t.deepEqual([kind, apiVersion], [expected.kind, expected.apiVersion ?? '']);
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = expected;
    t.deepEqual(plain(withoutFalse(fromWire(kind, raw))), plain(withoutFalse(rest)), path);
  }
  for (const path of ['/version', '/']) {
    const answer = await client.get(path, AS_PROTOBUF);
    t.is(answer.status, 200);
    t.is(answer.headers['content-type'], 'application/json', path);
  }
});

function withoutFalse(object: object): object {
  return JSON.parse(JSON.stringify(object), (_, value: unknown) => (value === false ? undefined : value)) as object;
}

test('a watch in Protobuf tells what a watch in JSON does, and is resumed in the other', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { configMaps } = namespace;
  await createConfigMap(client, namespace, { name: 'early', labels: { m: '' } });
  const path = `${configMaps}?watch=1&labelSelector=m`;
  const stream = await client.stream(path, { headers: { accept: `${PROTOBUF};stream=watch` } });
  t.is(stream.headers['content-type'], `${PROTOBUF};stream=watch`);
  await createConfigMap(client, namespace, { name: 'one', labels: { m: '' } }, { k: 'v' });
  const merge = { 'content-type': 'application/merge-patch+json' };
  await client.request('PATCH', `${configMaps}/one`, { body: { data: { k: 'w' } }, headers: merge });
  await client.request('PATCH', `${configMaps}/one`, { body: { metadata: { labels: { m: null } } }, headers: merge });
  await client.request('DELETE', `${configMaps}/early`);
  const bytes = await stream.until((received) => readEvents(received).events.length === 5);
  const { events, rest } = readEvents(bytes);
  // On one of the listeners the first byte of the next length may be there already.
  t.true(rest.length <= 1);
  const first = events[0] as { readonly object: ApiObject };
  const version = first.object.metadata.resourceVersion ?? '';
  const inJson = await client.watch(`${path}&resourceVersion=${version}`);
  const expected = await inJson.take(4);
  t.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'ADDED', 'MODIFIED', 'DELETED', 'DELETED'],
  );
  t.deepEqual(plain(events.slice(1)), plain(expected));
  const resumed = await client.stream(`${path}&resourceVersion=${version}`, { headers: { accept: PROTOBUF } });
  const again = readEvents(await resumed.until((received) => readEvents(received).events.length === 4));
  t.deepEqual(again.events, events.slice(1));
  for (const open of [stream, resumed, inJson]) open.close();
});

test('a watch of partial metadata in Protobuf, to its last bookmark', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const path = `${namespace.configMaps}?watch=1&labelSelector=m`;
  const accept = partial('PartialObjectMetadata');
  const stream = await client.stream(path, { headers: { accept } });
  const { metadata } = await createConfigMap(client, namespace, { name: 'one', labels: { m: '' } }, { k: 'v' });
  const { events } = readEvents(await stream.until((received) => readEvents(received).events.length === 1));
  t.deepEqual(
    plain(events[0]!),
    plain({
      type: 'ADDED',
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata },
    }),
  );
  stream.close();
  // One whose time is over before its client has been seen to take the first event is not told how far it has come.
  const endedAfter = async (seconds: number) => {
    const marked = `${path}&allowWatchBookmarks=1&timeoutSeconds=${seconds}`;
    return readEvents(await (await client.stream(marked, { headers: { accept } })).untilEnd());
  };
  let ended = await endedAfter(1);
  for (let seconds = 2; ended.events.length < 2; seconds *= 2) ended = await endedAfter(seconds);
  t.deepEqual(
    ended.events.map(({ type }) => type),
    ['ADDED', 'BOOKMARK'],
  );
  t.is(ended.rest.length, 0);
});

test('a watch in Protobuf answers its headers before there is an event, and ends cleanly', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const version = (await client.get(configMaps)).json.metadata.resourceVersion ?? '';
  const path = `${configMaps}?watch=1&labelSelector=none&resourceVersion=${version}&timeoutSeconds=1`;
  const stream = await client.stream(path, { headers: { accept: PROTOBUF } });
  t.is(stream.status, 200);
  t.true((await stream.untilEnd()).length <= 1);
});
