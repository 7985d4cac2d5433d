// Custom objects under what guards every object of a real server: access by roles, encryption at rest, and watches that end
// with the schema they were opened under. What a definition made before it was dropped is never shown by one that is made anew.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { filesHolding } from '../server/data-folder.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';
import { DEFINITIONS, definition, establish, GROUP, object, path, SCHEMA } from './custom-definitions.ts';
import { eventually } from './objects.ts';

const test = ava.serial;
const NAME = `crontabs.${GROUP}`;
const RBAC = '/apis/rbac.authorization.orch.io/v1/namespaces/default';

/** A schema with one more member, which has a default. */
const withZone = (zone: string) => ({
  ...SCHEMA,
  properties: {
    ...SCHEMA.properties,
    spec: {
      ...SCHEMA.properties.spec,
      properties: { ...SCHEMA.properties.spec.properties, zone: { type: 'string', default: zone } },
    },
  },
});

/** Changes the definition's spec, and answers when it is served. */
async function changed(client: HttpsClient, wanted: Parameters<typeof definition>[0]): Promise<void> {
  const { json } = await client.get(`${DEFINITIONS}/${NAME}`);
  const body = { ...json, spec: definition(wanted).spec };
  const answer = await client.request('PUT', `${DEFINITIONS}/${NAME}`, { body });
  if (answer.status !== 200) throw new Error(answer.text);
}

test('roles say who may do what with custom objects, and with their status apart', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default', '--authorization-mode', 'RBAC'] });
  await establish(client);
  await client.request('POST', path(), { body: object('a', { cron: '1' }) });
  const as = (user: string) => ({ headers: { 'impersonate-user': user } });
  t.is((await client.request('GET', `${path()}/a`, as('jane'))).status, 403);
  const rules = [
    { apiGroups: [GROUP], resources: ['crontabs'], verbs: ['get', 'list', 'create'] },
    { apiGroups: [GROUP], resources: ['crontabs/status'], verbs: ['update'] },
  ];
  const role = { metadata: { name: 'r' }, rules };
  t.is((await client.request('POST', `${RBAC}/roles`, { body: role })).status, 201);
  const binding = {
    metadata: { name: 'b' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'r' },
    subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'jane' }],
  };
  t.is((await client.request('POST', `${RBAC}/rolebindings`, { body: binding })).status, 201);
  const read = await eventually(
    () => client.request('GET', `${path()}/a`, as('jane')),
    ({ status }) => status === 200,
  );
  const { headers } = as('jane');
  t.is((await client.request('POST', path(), { headers, body: object('b', { cron: '1' }) })).status, 201);
  t.is((await client.request('DELETE', `${path()}/a`, { headers })).status, 403);
  t.is((await client.request('PUT', `${path()}/a`, { headers, body: read.json })).status, 403);
  const status = { headers, body: { ...read.json, status: { phase: 'Fine' } } };
  t.is((await client.request('PUT', `${path()}/a/status`, status)).status, 200);
  const refused = await client.request('GET', path('crontabs', 'other'), { headers });
  t.is(
    refused.json.message,
    `crontabs.${GROUP} is forbidden: User "jane" cannot list resource "crontabs" in API group "${GROUP}" in the namespace "other"`,
  );
});

test('custom objects are encrypted on the disk where their resource is named, and read as ever', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'custom-encryption-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'encryption.yaml');
  const keys = [{ name: 'one', secret: Buffer.alloc(32, 7).toString('base64') }];
  const entry = `- {resources: [${NAME}], providers: ${JSON.stringify([{ aesgcm: { keys } }, { identity: {} }])}}`;
  writeFileSync(file, `kind: EncryptionConfiguration\napiVersion: apiserver.config.orch.io/v1\nresources:\n${entry}\n`);
  const args = ['--placement', 'default', '--encryption-provider-config', file];
  const server = await startServer(t, { args });
  await establish(server.client);
  await establish(server.client, { plural: 'openkinds', kind: 'OpenKind' });
  const secret = { cron: '1', image: 'HIDDEN-51c0de' };
  t.is((await server.client.request('POST', path(), { body: object('a', secret) })).status, 201);
  const open = object('a', { cron: '1', image: 'SHOWN-51c0de' }, 'OpenKind');
  t.is((await server.client.request('POST', path('openkinds'), { body: open })).status, 201);
  t.is((await server.client.get(`${path()}/a`)).json.spec?.image, 'HIDDEN-51c0de');
  await server.stop();
  t.deepEqual(filesHolding(server.dataDirectory, 'HIDDEN-51c0de'), []);
  t.true(filesHolding(server.dataDirectory, 'SHOWN-51c0de').length > 0);
  await server.start();
  t.is((await server.client.get(`${path()}/a`)).json.spec?.image, 'HIDDEN-51c0de');
});

test('objects of several schemas are shown by the one of today, in lists and watches too', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client);
  for (const name of ['a', 'b']) await client.request('POST', path(), { body: object(name, { cron: '1' }) });
  const before = await client.watch(`${path()}?watch=1&resourceVersion=0`);
  await before.until(({ object: { metadata } }) => metadata?.name === 'b');
  await changed(client, { schema: withZone('x') });
  t.is(await before.ended, 'clean', 'the watch of the earlier schema ends');
  await client.request('POST', path(), { body: object('c', { cron: '1', zone: 'y' }) });
  const merge = { body: { spec: { replicas: 2 } }, headers: { 'content-type': 'application/merge-patch+json' } };
  t.is((await client.request('PATCH', `${path()}/b`, merge)).status, 200);
  const zones = async (): Promise<unknown[]> =>
    ((await client.get(path())).json.items ?? []).map(({ spec }) => spec?.zone);
  t.deepEqual(await zones(), ['x', 'x', 'y']);
  const after = await client.watch(`${path()}?watch=1&resourceVersion=0`);
  const seen = await after.until(({ object: { metadata } }) => metadata?.name === 'c');
  t.deepEqual(seen.map(({ object: { metadata, spec } }) => `${metadata?.name} ${String(spec?.zone)}`).sort(), [
    'a x',
    'b x',
    'c y',
  ]);
  // Of the three, what was written under the schema of then has its default.
  await changed(client, { schema: withZone('z') });
  t.deepEqual(await zones(), ['z', 'x', 'y']);
  t.is((await client.get(`${path()}/a`)).json.spec?.zone, 'z');
});

test('what is written through another version has the defaults of the stored one', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  const other = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: withZone('two') } };
  await establish(client, { schema: withZone('one'), more: [other] });
  const body = { ...object('a', { cron: '1' }), apiVersion: `${GROUP}/v2` };
  const made = await client.request('POST', path('crontabs', 'default', 'v2'), { body });
  t.is(made.json.spec?.zone, 'two', 'the defaults of the version that is spoken come first');
  t.is((await client.get(`${path()}/a`)).json.spec?.zone, 'two');
  await client.request('POST', path(), { body: object('b', { cron: '1' }) });
  t.is((await client.get(`${path('crontabs', 'default', 'v2')}/b`)).json.spec?.zone, 'one');
});

test('a definition that is dropped and made anew never shows what was there before', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'wide'] });
  for (let round = 0; round < 3; round++) {
    await establish(client);
    t.deepEqual((await client.get(path())).json.items, [], `round ${round}`);
    const watch = await client.watch(`${path()}?watch=1&resourceVersion=0`);
    const names = Array.from({ length: 10 }, (_, i) => `o${round}-${i}`);
    for (const name of names) await client.request('POST', path(), { body: object(name, { cron: '1' }) });
    const seen = await watch.until(({ object: { metadata } }) => metadata?.name === names.at(-1));
    t.deepEqual(
      seen.map(({ type, object: { metadata } }) => `${type} ${metadata?.name}`),
      names.map((name) => `ADDED ${name}`),
    );
    await client.request('DELETE', `${DEFINITIONS}/${NAME}`);
    await eventually(
      () => client.get(`${DEFINITIONS}/${NAME}`),
      ({ status }) => status === 404,
    );
    t.is(await watch.ended, 'clean');
    const lists = await Promise.all(Array.from({ length: 8 }, () => client.get(path())));
    t.deepEqual([...new Set(lists.map(({ status }) => status))], [404]);
  }
});
