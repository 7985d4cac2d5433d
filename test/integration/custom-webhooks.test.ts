// What admission webhooks are told of custom objects: on a real server.
import ava from 'ava';
import { patchOf } from '../server/webhook-service.ts';
import { establish, GROUP, object, path, SCHEMA } from './custom-definitions.ts';
import { configure, webhookAt, world } from './hooked-server.ts';

// One after the other: each keeps a server busy.
const test = ava.serial;

interface Conversion {
  readonly desiredAPIVersion: string;
  readonly objects: readonly object[];
}

const hears = (apiVersion: string, resources: readonly string[]) => ({
  rules: [{ operations: ['*'], apiGroups: [GROUP], apiVersions: [apiVersion], resources }],
  objectSelector: {},
  matchPolicy: 'Equivalent',
});

test('what a webhook brings into a custom object has the defaults of the version that it was told, for those after it as well', async (t) => {
  const at = await world(t, {
    adds: () => patchOf({ op: 'add', path: '/spec/parts', value: [{ name: 'a' }] }),
    converts: ({ review }) => {
      const { desiredAPIVersion, objects } = review.request as unknown as Conversion;
      const convertedObjects = objects.map((one) => ({ ...one, apiVersion: desiredAPIVersion }));
      return { result: { status: 'Success' }, convertedObjects };
    },
    looks: () => ({ allowed: true }),
  });
  const { client } = at.server;
  const schema = structuredClone(SCHEMA);
  Object.assign(schema.properties.spec.properties, { image: { type: 'string', default: 'newer' } });
  const v2 = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: schema } };
  const clientConfig = { url: `${at.hooks.url}/converts`, caBundle: at.hooks.caBundle };
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
  await establish(client, { more: [v2], spec: { conversion } });
  await configure(at, 'mutating', 'm', [
    webhookAt(at.hooks, 'adds', hears('v2', ['crontabs'])),
    webhookAt(at.hooks, 'looks', hears('v1', ['crontabs'])),
  ]);
  const made = await client.request('POST', path(), { body: object('a', { cron: '1' }) });
  t.is(made.status, 201, made.text);
  const wanted = { cron: '1', replicas: 1, image: 'newer', parts: [{ name: 'a', size: 'S' }] };
  const told = at.hooks.asked.find((asked) => asked.path === 'looks')!.review.request.object;
  t.deepEqual((told as unknown as { spec: object }).spec, wanted);
  t.deepEqual((made.json as unknown as { spec: object }).spec, wanted);
});

test('a webhook that is told of the first replicas of a custom object is told that there were none', async (t) => {
  const at = await world(t, { looks: () => ({ allowed: true }) });
  const { client } = at.server;
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { replicas: { type: 'integer' } } } },
  };
  await establish(client, { schema });
  await configure(at, 'mutating', 'm', [webhookAt(at.hooks, 'looks', hears('v1', ['crontabs/scale']))]);
  await configure(at, 'validating', 'v', [webhookAt(at.hooks, 'looks', hears('v1', ['crontabs/scale']))]);
  t.is((await client.request('POST', path(), { body: object('a', {}) })).status, 201);
  const body = { kind: 'Scale', metadata: { name: 'a', namespace: 'default' }, spec: { replicas: 3 } };
  const scaled = await client.request('PUT', `${path()}/a/scale`, { body });
  t.is(scaled.status, 200, scaled.text);
  const told = at.hooks.asked.map(({ review: { request } }) =>
    [request.oldObject, request.object].map((one) => (one as unknown as { spec: object }).spec),
  );
  t.deepEqual(told, [
    [{}, { replicas: 3 }],
    [{}, { replicas: 3 }],
  ]);
});
