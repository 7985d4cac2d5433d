// Extension servers that are killed and come back: what is answered meanwhile, and the namespaces that are deleted meanwhile.
import type { RequestListener } from 'node:http';
import ava from 'ava';
import { available, federation, OUTSIDE, register } from '../server/extension-server.ts';
import { answering, fakeExtension } from '../server/fake-extension.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { GROUP, object, path } from './custom-definitions.ts';
import { eventually } from './objects.ts';

const test = OUTSIDE === undefined ? ava.skip : ava;
const MERGE = { 'content-type': 'application/merge-patch+json' };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** A namespace's condition once it is as wanted. */
async function condition(client: HttpsClient, namespace: string, type: string, status: string): Promise<Condition> {
  const found = await eventually(
    async () => {
      const { json } = await client.get(`/api/v1/namespaces/${namespace}`);
      const { conditions = [] } = (json.status ?? {}) as { conditions?: readonly Condition[] };
      return conditions.find((one) => one.type === type);
    },
    (one) => one?.status === status,
  );
  return found!;
}

const gone = (client: HttpsClient, at: string) =>
  eventually(
    () => client.get(at),
    ({ status }) => status === 404,
  );

test('a server that is killed and started again: its watches end, requests name it, namespaces wait for it and go when it is back', async (t) => {
  const at = await federation(t);
  const { front, extension, direct } = at;
  const { client } = front;
  await register(at);
  for (const one of [client, direct])
    t.is((await one.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'shop' } } })).status, 201);
  const things = path('crontabs', 'shop');
  const held = object('held', { cron: '1' });
  const finalizers = ['example.com/hold'];
  t.is((await client.request('POST', things, { body: object('free', { cron: '1' }) })).status, 201);
  const body = { ...held, metadata: { name: 'held', finalizers } };
  t.is((await client.request('POST', things, { body })).status, 201);
  const watch = await client.watch(`${things}?watch=true`);
  t.like(await watch.next(), { type: 'ADDED' });

  await extension.kill9();
  t.not(await watch.ended, 'closed', 'nothing is left hanging');
  const refused = await client.get(things);
  t.is(refused.status, 503, refused.text);
  const named = new RegExp(`^service default/extension:${extension.port}, which answers for v1\\.${GROUP}: `);
  t.regex(refused.json.message ?? '', named);
  // As the cluster hears of it.
  const touch = { metadata: { annotations: { seen: 'gone' } } };
  await client.request('PATCH', '/api/v1/namespaces/default/endpoints/extension', { body: touch, headers: MERGE });
  t.is((await available(client, 'FailedDiscoveryCheck')).status, 'False');
  t.regex((await client.get(things)).json.message ?? '', /: it is not available$/);

  t.is((await client.request('DELETE', '/api/v1/namespaces/shop')).status, 200);
  const failure = await condition(client, 'shop', 'NamespaceDeletionDiscoveryFailure', 'True');
  t.is(failure.reason, 'DiscoveryFailed');
  t.regex(
    failure.message,
    /^Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: stable\.example\.com\/v1: the server is currently unable to handle the request$/,
  );

  await extension.restart();
  t.is((await available(client, 'Passed')).status, 'True');
  await gone(direct, `${things}/free`);
  const waiting = await condition(client, 'shop', 'NamespaceFinalizersRemaining', 'True');
  t.regex(waiting.message, /example\.com\/hold in 1 resource instances/);
  t.is((await condition(client, 'shop', 'NamespaceDeletionDiscoveryFailure', 'False')).reason, 'ResourcesDiscovered');
  t.regex(
    (await condition(client, 'shop', 'NamespaceContentRemaining', 'True')).message,
    /crontabs\.stable\.example\.com has 1 resource instances/,
  );
  const unheld = { body: { metadata: { finalizers: null } }, headers: MERGE };
  t.is((await direct.request('PATCH', `${things}/held`, unheld)).status, 200);
  await gone(client, '/api/v1/namespaces/shop');
  t.is((await direct.get(`${things}/held`)).status, 404);

  // What of an extension server cannot be deleted is told by its type; one that takes no collections is emptied one by one.
  const names = new Set(['a', 'b', 'ü/x']);
  let refuses = true;
  const handler: RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'https://x');
    const [, name] = /^\/apis\/fake\.example\.net\/v1\/namespaces\/stall\/things(?:\/(.+))?$/.exec(pathname) ?? [];
    const status = (code: number, message: string) =>
      answering({ kind: 'Status', code, message }, code)(request, response);
    if (request.method === 'GET')
      return answering({ items: [...names].map((one) => ({ metadata: { name: one } })) })(request, response);
    if (refuses) return status(500, 'the disk is full');
    if (name === undefined) return status(405, 'no collections');
    names.delete(decodeURIComponent(name));
    return status(200, '');
  };
  const { seen } = await fakeExtension(t, front, 'fake', { handler });
  t.is((await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'stall' } } })).status, 201);
  t.is((await client.request('DELETE', '/api/v1/namespaces/stall')).status, 200);
  const content = await condition(client, 'stall', 'NamespaceDeletionContentFailure', 'True');
  t.is(content.reason, 'ContentDeletionFailed');
  t.regex(content.message, /^Failed to delete all resource types, 1 remaining: the disk is full$/);
  t.is((await client.get('/api/v1/namespaces/stall')).status, 200);
  refuses = false;
  await gone(client, '/api/v1/namespaces/stall');
  t.deepEqual([...names], []);
  const deletion = seen.find(({ method }) => method === 'DELETE')!;
  t.is(deletion.headers['x-remote-user'], 'system:serviceaccount:orch-system:namespace-controller');
});
