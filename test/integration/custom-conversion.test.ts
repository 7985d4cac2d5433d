// Custom objects whose definition has a webhook that converts them: on a real server, with webhooks that work, and webhooks that
// do not.
import ava from 'ava';
import type { ApiObject, HttpsClient } from '../server/https-client.ts';
import { readWire } from '../server/kubernetes-messages.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type Scope, startServer } from '../server/server-process.ts';
import { type Behaviour, type WebhookService, webhookService } from '../server/webhook-service.ts';
import { DEFINITIONS, establish, GROUP, path, TABLE } from './custom-definitions.ts';
import { eventually } from './objects.ts';

// One after the other: each keeps a server busy.
const test = ava.serial;

interface Converted {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string; readonly uid: string };
  readonly spec: { readonly hostPort?: string; readonly host?: string; readonly port?: string };
}

interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly Converted[];
}

const V1 = { type: 'object', properties: { spec: { type: 'object', properties: { hostPort: { type: 'string' } } } } };
const V2 = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { host: { type: 'string' }, port: { type: 'string' }, mode: { type: 'string', default: 'plain' } },
    },
  },
};

/** An object of v1 (`hostPort`) in v2 (`host` and `port`), or the other way round. */
function inVersion(object: Converted, apiVersion: string): Converted {
  if (object.apiVersion === apiVersion) return object;
  const { host, port, hostPort = ':' } = object.spec;
  const [first, second] = hostPort.split(':');
  const spec = apiVersion.endsWith('v2') ? { host: first!, port: second! } : { hostPort: `${host}:${port}` };
  return { ...object, apiVersion, spec };
}

const requestOf = (review: unknown): ConversionRequest => (review as { request: ConversionRequest }).request;

/** Answers as it should, but for what `change` makes of it. */
function behaviour(change: (objects: readonly Converted[]) => object = () => ({})): Behaviour {
  return ({ review }) => {
    const { desiredAPIVersion, objects } = requestOf(review);
    const convertedObjects = objects.map((object) => inVersion(object, desiredAPIVersion));
    return { result: { status: 'Success' }, convertedObjects, ...change(convertedObjects) };
  };
}

/** A definition of v1, which is stored, and v2, converted at a path of the webhook. */
async function convertedAt(
  client: HttpsClient,
  { url, caBundle }: WebhookService,
  at: string,
  plural = `${at}s`,
  reviewVersions: readonly string[] = ['v1'],
): Promise<void> {
  await establish(client, {
    plural,
    kind: kindOf(plural),
    schema: V1,
    version: { additionalPrinterColumns: [], subresources: { status: {} } },
    more: [
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: V2 },
        additionalPrinterColumns: [{ name: 'Host', type: 'string', jsonPath: '.spec.host' }],
      },
    ],
    spec: {
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: `${url}/${at}`, caBundle }, conversionReviewVersions: reviewVersions },
      },
    },
  });
}

const kindOf = (plural: string): string => `Kind${plural}`;

function inV1(plural: string, name: string, hostPort = 'a:1', more: object = {}): object {
  return { apiVersion: `${GROUP}/v1`, kind: kindOf(plural), metadata: { name, ...more }, spec: { hostPort } };
}

async function made(client: HttpsClient, plural: string, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const answer = await client.request('POST', path(plural), { body: inV1(plural, name) });
    if (answer.status !== 201) throw new Error(answer.text);
  }
}

/** How many reviews of a definition the server has measured, by their labels. */
async function reviewsMeasured(
  client: HttpsClient,
  plural: string,
): Promise<(labels: Record<string, string>) => number> {
  const metrics = new MetricsText((await client.get('/metrics')).text);
  const name = 'apiserver_crd_webhook_conversion_duration_seconds_count';
  return (labels) => metrics.sum(name, { crd_name: `${plural}.${GROUP}`, ...labels });
}

async function world(
  scope: Scope,
  behaviours: Readonly<Record<string, Behaviour>>,
  args: string[] = [],
): Promise<{ client: HttpsClient; hooks: WebhookService; port: number }> {
  const hooks = await webhookService(scope, behaviours);
  const { client, port } = await startServer(scope, { args });
  return { client, hooks, port };
}

test('objects are read, listed, changed and applied in a version that a webhook converts to', async (t) => {
  const { client, hooks } = await world(t, { good: behaviour() });
  await convertedAt(client, hooks, 'good');
  const [older, newer] = [path('goods'), path('goods', 'default', 'v2')];
  await made(client, 'goods', 'one', 'two', 'three');
  t.is(hooks.asked.length, 0, 'nobody is asked about objects of the version that is stored');

  const read = await client.get(`${newer}/one`);
  t.is(read.status, 200, read.text);
  t.is(read.json.apiVersion, `${GROUP}/v2`);
  t.deepEqual(read.json.spec, { host: 'a', port: '1' });
  const before = hooks.asked.length;
  const list = await client.get(newer);
  t.is(list.status, 200, list.text);
  t.is(list.json.apiVersion, `${GROUP}/v2`);
  t.deepEqual(
    (list.json.items as unknown as Converted[]).map(({ spec }) => spec.host),
    ['a', 'a', 'a'],
  );
  t.is(hooks.asked.length, before + 1, 'one review for all of them');
  t.is(requestOf(hooks.asked.at(-1)!.review).objects.length, 3);
  const metrics = new MetricsText((await client.get('/metrics')).text);
  t.is(metrics.sum('rest_client_requests_total', { code: '200', method: 'POST' }), hooks.asked.length);
  t.is(hooks.asked.at(-1)!.review.apiVersion, 'apiextensions.orch.io/v1');
  const page = await client.get(`${newer}?limit=2`);
  t.is((page.json.items as unknown as object[]).length, 2);
  const rest = await client.get(`${newer}?limit=2&continue=${String(page.json.metadata.continue)}`);
  t.is((rest.json.items as unknown as object[]).length, 1);
  const table = await client.get(newer, { headers: { accept: TABLE } });
  t.deepEqual(
    (JSON.parse(table.text) as { rows: { cells: unknown[] }[] }).rows.map(({ cells }) => cells),
    [
      ['one', 'a'],
      ['three', 'a'],
      ['two', 'a'],
    ],
  );

  const wanted = {
    apiVersion: `${GROUP}/v2`,
    kind: 'Kindgoods',
    metadata: { name: 'four' },
    spec: { host: 'b', port: '2' },
  };
  const created = await client.request('POST', newer, { body: wanted });
  t.is(created.status, 201, created.text);
  t.is(created.json.apiVersion, `${GROUP}/v2`);
  t.deepEqual(created.json.spec, { host: 'b', port: '2' }, 'as it is read: the version that is stored has no mode');
  t.like((await client.get(`${older}/four`)).json, { apiVersion: `${GROUP}/v1`, spec: { hostPort: 'b:2' } });
  const merge = { body: { spec: { port: '3' } }, headers: { 'content-type': 'application/merge-patch+json' } };
  const patched = await client.request('PATCH', `${newer}/four`, merge);
  t.is(patched.status, 200, patched.text);
  t.like((await client.get(`${older}/four`)).json, { spec: { hostPort: 'b:3' } });
  const put = await client.request('PUT', `${newer}/four`, {
    body: { ...patched.json, spec: { host: 'c', port: '4' } },
  });
  t.is(put.status, 200, put.text);
  t.like((await client.get(`${older}/four`)).json, { spec: { hostPort: 'c:4' } });

  const apply = { headers: { 'content-type': 'application/apply-patch+yaml' } };
  const first = await client.request('PATCH', `${newer}/five?fieldManager=x`, {
    ...apply,
    body: { ...wanted, metadata: { name: 'five' } },
  });
  t.is(first.status, 201, first.text);
  const second = await client.request('PATCH', `${older}/five?fieldManager=y`, {
    ...apply,
    body: inV1('goods', 'five'),
  });
  t.is(second.status, 409, 'the field is owned by the manager of the other version');
  const same = await client.request('PATCH', `${older}/five?fieldManager=y`, {
    ...apply,
    body: inV1('goods', 'five', 'b:2'),
  });
  t.is(same.status, 200, same.text);
  const { managedFields: managers } = same.json.metadata as unknown as {
    managedFields: { manager: string; apiVersion: string }[];
  };
  t.deepEqual(managers.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`).sort(), [
    `x ${GROUP}/v2`,
    `y ${GROUP}/v1`,
  ]);
  t.is((await client.request('DELETE', `${newer}/five`)).status, 200);

  const measured = await reviewsMeasured(client, 'goods');
  t.true(measured({ from_version: 'v1', to_version: 'v2', succeeded: 'true' }) >= 3);
  t.true(measured({ from_version: 'v2', to_version: 'v1', succeeded: 'true' }) >= 1);
  t.is(measured({ succeeded: 'false' }), 0);
});

test('a webhook is sent what is read in the stored version, and the version that it converts to gives no defaults', async (t) => {
  const { client, hooks } = await world(t, { good: behaviour() });
  await convertedAt(client, hooks, 'good');
  const stale = { ...inV1('goods', 'one'), spec: { hostPort: 'a:1', gone: 'x' } };
  const definition = `${DEFINITIONS}/goods.${GROUP}`;
  const headers = { 'content-type': 'application/json-patch+json' };
  const members = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties';
  const change = async (...body: readonly object[]): Promise<void> => {
    const changed = await client.request('PATCH', definition, { body, headers });
    t.is(changed.status, 200, changed.text);
  };
  await change({ op: 'add', path: `${members}/gone`, value: { type: 'string' } });
  t.is((await client.request('POST', path('goods'), { body: stale })).status, 201);
  await change(
    { op: 'remove', path: `${members}/gone` },
    { op: 'add', path: `${members}/zone`, value: { type: 'string', default: 'east' } },
  );
  const [older, newer] = [path('goods'), path('goods', 'default', 'v2')];
  t.deepEqual((await client.get(`${older}/one`)).json.spec, { hostPort: 'a:1', zone: 'east' });
  t.deepEqual((await client.get(`${newer}/one`)).json.spec, { host: 'a', port: '1' });
  const list = await client.get(newer);
  t.deepEqual(
    list.json.items?.map(({ spec }) => spec),
    [{ host: 'a', port: '1' }],
  );
  const watch = await client.watch(`${newer}?watch=1`);
  t.deepEqual((await watch.next())!.object.spec, { host: 'a', port: '1' });
  const merge = {
    body: { metadata: { labels: { a: 'b' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  };
  t.is((await client.request('PATCH', `${newer}/one`, merge)).status, 200);
  const sent = hooks.asked
    .map(({ review }) => requestOf(review))
    .filter(({ desiredAPIVersion }) => desiredAPIVersion === `${GROUP}/v2`)
    .flatMap(({ objects }) => objects.filter(({ apiVersion }) => apiVersion === `${GROUP}/v1`));
  t.true(sent.length >= 3);
  for (const { spec } of sent) t.like(spec, { hostPort: 'a:1', zone: 'east', gone: undefined });
});

test('a watch in a version that a webhook converts to keeps its order, also beside a slow webhook', async (t) => {
  let isSlow = false;
  const good = behaviour();
  const { client, hooks } = await world(t, {
    good: async (call) => {
      // The slower, the fewer objects there are: what came later is answered sooner.
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 100 / requestOf(call.review).objects.length));
      return good(call);
    },
  });
  await convertedAt(client, hooks, 'good');
  await made(client, 'goods', 'a0');
  isSlow = true;
  const watch = await client.watch(`${path('goods', 'default', 'v2')}?watch=1&allowWatchBookmarks=true`);
  const names = Array.from({ length: 20 }, (_, i) => `b${String(i).padStart(2, '0')}`);
  await made(client, 'goods', ...names);
  t.is((await client.request('DELETE', `${path('goods')}/b00`)).status, 200);
  const seen: string[] = [];
  while (seen.length < names.length + 2) {
    const { type, object } = (await watch.next())!;
    if (type === 'BOOKMARK') continue;
    t.is(object.apiVersion, `${GROUP}/v2`);
    t.deepEqual(object.spec, { host: 'a', port: '1' });
    seen.push(`${type} ${object.metadata?.name}`);
  }
  t.deepEqual(seen, ['ADDED a0', ...names.map((name) => `ADDED ${name}`), 'DELETED b00']);
});

const FAILURES: readonly (readonly [string, string, Behaviour, RegExp, string[]?])[] = [
  [
    'another uid',
    'uid',
    behaviour(() => ({ uid: 'other' })),
    /^conversion webhook for stable\.example\.com\/v1, Kind=Kinduids failed: expected response\.uid="[0-9a-f-]{36}", got "other"$/,
  ],
  [
    'too few objects',
    'count',
    behaviour(() => ({ convertedObjects: [] })),
    /^conversion webhook for stable\.example\.com\/v1, Kind=Kindcounts returned 0 objects, expected 1$/,
  ],
  [
    'another name',
    'name',
    behaviour(([object]) => ({ convertedObjects: [{ ...object, metadata: { ...object!.metadata, name: 'x' } }] })),
    /returned invalid object: must have the same name: one != x$/,
  ],
  [
    'another uid of the object',
    'objectuid',
    behaviour(([object]) => ({ convertedObjects: [{ ...object, metadata: { ...object!.metadata, uid: 'x' } }] })),
    /returned invalid object: must have the same UID: [0-9a-f-]{36} != x$/,
  ],
  [
    'bad labels',
    'label',
    behaviour(([object]) => ({
      convertedObjects: [{ ...object, metadata: { ...object!.metadata, labels: { a: '/' } } }],
    })),
    /returned invalid metadata: metadata\.labels: Invalid value: "\/"/,
  ],
  [
    'another version',
    'version',
    behaviour(([object]) => ({ convertedObjects: [{ ...object, apiVersion: `${GROUP}/v3` }] })),
    /returned invalid object at index 0: invalid groupVersion \(expected stable\.example\.com\/v2, received stable\.example\.com\/v3\)$/,
  ],
  [
    'a failure',
    'failure',
    behaviour(() => ({ result: { status: 'Failure', message: 'no such port' } })),
    /^conversion webhook for stable\.example\.com\/v1, Kind=Kindfailures failed: no such port$/,
  ],
  [
    'no word of success',
    'silent',
    behaviour(() => ({ result: {} })),
    /failed: response\.result\.status was '', not 'Success'$/,
  ],
  [
    'an error of HTTP',
    'http',
    ({ response }) => {
      response.writeHead(500).end();
      return undefined;
    },
    /failed: an error on the server \(".*"\) has prevented the request from succeeding$/,
  ],
  [
    'nothing at all',
    'hang',
    () => undefined,
    /failed: Post "https:\/\/127\.0\.0\.1:\d+\/hang\?timeout=30s": context deadline exceeded$/,
    ['--request-timeout=6s'],
  ],
];

for (const [what, at, does, message, args] of FAILURES) {
  test(`a conversion webhook that answers with ${what} fails the reads that need it and nothing else`, async (t) => {
    const { client, hooks } = await world(t, { [at]: does }, args);
    const plural = `${at}s`;
    await convertedAt(client, hooks, at);
    await made(client, plural, 'one');
    const [read, list] = await Promise.all([
      client.get(`${path(plural, 'default', 'v2')}/one`),
      client.get(path(plural, 'default', 'v2')),
    ]);
    for (const answer of [read, list]) t.true(answer.status === 500 || answer.status === 504, answer.text);
    if (what !== 'nothing at all') {
      t.regex(String(read.json.message), message);
      t.is(read.json.reason, undefined);
    }
    t.is((await client.get(`${path(plural)}/one`)).status, 200);
    const measured = await reviewsMeasured(client, plural);
    t.is(measured({ succeeded: 'true' }), 0);
    if (what !== 'nothing at all') t.is(measured({ from_version: 'v1', to_version: 'v2', succeeded: 'false' }), 2);
    const changed = await client.request('DELETE', `${path(plural)}/one`);
    t.is(changed.status, 200, changed.text);
  });
}

test('a conversion webhook that is busy is asked again when it says so', async (t) => {
  const does = behaviour();
  const { client, hooks } = await world(t, {
    busy: (call) =>
      hooks.asked.length === 1 ? void call.response.writeHead(429, { 'retry-after': '0' }).end() : does(call),
  });
  await convertedAt(client, hooks, 'busy');
  await made(client, 'busys', 'one');
  const read = await client.get(`${path('busys', 'default', 'v2')}/one`);
  t.is(read.status, 200, read.text);
  t.is(hooks.asked[1]?.review.request.uid, hooks.asked[0]?.review.request.uid);
});

test('a watch whose webhook fails ends with the reason', async (t) => {
  const { client, hooks } = await world(t, {
    bad: behaviour(() => ({ result: { status: 'Failure', message: 'no' } })),
  });
  await convertedAt(client, hooks, 'bad');
  await made(client, 'bads', 'one');
  const watch = await client.watch(`${path('bads', 'default', 'v2')}?watch=1`);
  const { type, object } = (await watch.next())!;
  t.is(type, 'ERROR');
  t.like(object, { kind: 'Status', code: 500 });
  t.regex(String(object.message), /failed: no$/);
  t.is(await watch.next(), undefined);
});

test("labels and annotations are the webhook's to change, all other metadata stays", async (t) => {
  const { client, hooks } = await world(t, {
    mark: behaviour(([object]) => ({
      convertedObjects: [
        {
          ...object,
          metadata: { ...object!.metadata, labels: { by: 'hook' }, generation: 99, finalizers: ['a.example.com/b'] },
        },
      ],
    })),
  });
  await convertedAt(client, hooks, 'mark');
  await made(client, 'marks', 'one');
  const { json } = await client.get(`${path('marks', 'default', 'v2')}/one`);
  t.like(json.metadata, { labels: { by: 'hook' }, generation: 1, name: 'one' });
  t.is(json.metadata.finalizers, undefined);
  for (const [place, kind] of [
    [`${path('marks', 'default', 'v2')}/one`, 'PartialObjectMetadata'],
    [path('marks', 'default', 'v2'), 'PartialObjectMetadataList'],
  ] as const) {
    const accept = `application/vnd.orch.protobuf;as=${kind};g=meta.orch.io;v=v1`;
    const alone = readWire((await client.get(place, { headers: { accept } })).bytes) as unknown as ApiObject;
    t.is(alone.kind, kind);
    const { metadata } = alone.items?.[0] ?? alone;
    t.like(metadata, { labels: { by: 'hook' }, name: 'one' }, 'in Protobuf it is the same');
    t.is(metadata.resourceVersion, json.metadata.resourceVersion);
  }
});

test('a webhook that takes reviews of v1beta1 only is asked in that version', async (t) => {
  const { client, hooks } = await world(t, { old: behaviour() });
  await convertedAt(client, hooks, 'old', 'olds', ['v0', 'v1beta1', 'v1']);
  await made(client, 'olds', 'one');
  t.like((await client.get(`${path('olds', 'default', 'v2')}/one`)).json, { spec: { host: 'a' } });
  t.is(hooks.asked[0]!.review.apiVersion, 'apiextensions.orch.io/v1beta1');
});

test('objects move to another storage version by being written, through the webhook', async (t) => {
  const { client, hooks } = await world(t, { good: behaviour() });
  await convertedAt(client, hooks, 'good');
  await made(client, 'goods', 'one', 'two');
  const at = `${DEFINITIONS}/goods.${GROUP}`;
  const json = { headers: { 'content-type': 'application/json-patch+json' } };
  const moved = await client.request('PATCH', at, {
    ...json,
    body: [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ],
  });
  t.is(moved.status, 200, moved.text);
  await eventually(
    () => client.get(at),
    (answer) => String((answer.json.status as { storedVersions?: string[] }).storedVersions) === 'v1,v2',
  );
  const newer = path('goods', 'default', 'v2');
  const read = await client.get(`${newer}/one`);
  t.like(read.json, { apiVersion: `${GROUP}/v2`, spec: { host: 'a', port: '1' } });
  const put = await client.request('PUT', `${newer}/one`, { body: read.json });
  t.is(put.status, 200, put.text);
  t.not(put.json.metadata.resourceVersion, read.json.metadata.resourceVersion, 'it was written anew');
  const asked = hooks.asked.length;
  t.like((await client.get(`${newer}/one`)).json, { spec: { host: 'a', port: '1' } });
  t.is(hooks.asked.length, asked, 'it lies there in the version that is asked for');
  const list = await client.get(newer);
  t.is(requestOf(hooks.asked.at(-1)!.review).objects.length, 1, 'only the other one has to be converted');
  t.is((list.json.items as unknown as object[]).length, 2);
  t.like((await client.get(`${path('goods')}/one`)).json, { spec: { hostPort: 'a:1' } });
});
