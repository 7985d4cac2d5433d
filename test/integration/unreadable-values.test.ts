// Values in etcd that one of several servers cannot read: they cost their own reads, and nothing else; and what could not be read is
// served as soon as it can be.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import type { ApiObject } from '../server/https-client.ts';
import { KmsPlugin } from '../server/kms-plugin.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const SECRETS = '/api/v1/namespaces/default/secrets';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const NO_KEY = 'no matching key was found for the provided AES transformer';

const hooks = testNeeding(ava, ['etcd']);
const test = hooks.serial;
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
const folder = mkdtempSync(join(tmpdir(), 'unreadable-'));
let member: EtcdMember;
let etcd: EtcdClient;
let one: ServerProcess;
let other: ServerProcess;

/** The path of a configuration under whose keys, the first of them, secrets are written. */
function encryptionWith(group: string, ...names: readonly string[]): string {
  const keys = names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') }));
  return encryptionFile(group, names.join('-'), [{ aescbc: { keys } }, { identity: {} }]);
}

function encryptionFile(group: string, name: string, providers: readonly object[]): string {
  const path = join(folder, `${group}-${name}.yaml`);
  const resources = [`- ${JSON.stringify({ resources: ['secrets'], providers })}`];
  const kind = 'kind: EncryptionConfiguration';
  writeFileSync(path, [kind, `apiVersion: apiserver.config.${group}/v1`, 'resources:', ...resources].join('\n'));
  return path;
}

async function leave(key: string, value: string | undefined): Promise<void> {
  const change = value === undefined ? { delete: { key } } : { put: { key, value: Buffer.from(value) } };
  await etcd.transact({ compare: [], success: [change], failure: [] });
}

const named = (name: string): ApiObject => ({ metadata: { name } }) as unknown as ApiObject;

hooks.before(async () => {
  member = await EtcdMember.start();
  scope.teardown(() => member.dispose());
  scope.teardown(() => rmSync(folder, { recursive: true }));
  etcd = new EtcdClient({ servers: [member.server] }, realEnvironment.timers);
  scope.teardown(() => etcd.close());
  const start = (key: string, placement: string) => {
    const args = ['--store-servers', member.server, '--placement', placement];
    return startServer(scope, { args: [...args, '--encryption-provider-config', encryptionWith('orch.io', key)] });
  };
  // What cannot be read is told to other threads as well.
  one = await start('a', 'wide');
  other = await start('b', 'single');
});

hooks.after.always(async () => {
  for (const step of undo) await step();
});

test('of two servers with different keys each answers for what it can read, and says 500 of the rest', async (t) => {
  const { metadata } = (await one.client.get(SECRETS)).json;
  const watch = await one.client.watch(`${SECRETS}?watch=1&resourceVersion=${metadata.resourceVersion}`);
  t.is((await one.client.request('POST', SECRETS, { body: named('ours') })).status, 201);
  t.is((await watch.next())?.object.metadata.name, 'ours');
  t.is((await other.client.request('POST', SECRETS, { body: named('theirs') })).status, 201);
  t.is(await watch.next(), undefined, 'it ends, as in the original');
  const path = `${SECRETS}/theirs`;
  const got = await one.client.get(path);
  const message = `Internal error occurred: ${NO_KEY}`;
  t.like(got.json, { code: 500, reason: 'InternalError', message, details: { causes: [{ message: NO_KEY }] } });
  const why = `unable to transform key "/registry/orch/objects/core/secrets/default/theirs": ${NO_KEY}`;
  for (const list of ['/api/v1/secrets', SECRETS, `${SECRETS}?resourceVersion=0`, `${SECRETS}?watch=1`])
    t.like((await one.client.get(list)).json, { code: 500, message: `Internal error occurred: ${why}` }, list);
  const refused = `Internal error occurred: the value of /registry/orch/objects/core/secrets/default/theirs cannot be read: ${NO_KEY}`;
  t.like((await one.client.get('/store/snapshot')).json, { code: 500, message: refused });
  t.is((await one.client.request('DELETE', path)).status, 500);
  t.is((await one.client.request('PUT', path, { body: named('theirs') })).status, 500);
  t.is((await one.client.request('POST', SECRETS, { body: named('theirs') })).json.reason, 'AlreadyExists');
  t.is((await one.client.get(`${SECRETS}/ours`)).status, 200);
  t.is((await one.client.get('/api/v1/namespaces/nowhere/secrets')).status, 200);
  t.is((await one.client.request('POST', CONFIG_MAPS, { body: named('beside') })).status, 201);
  t.is((await one.client.get('/readyz')).status, 200);
  t.is((await other.client.request('DELETE', path)).status, 200);
  t.is((await one.client.get(path)).status, 404);
  t.is((await one.client.get(`${SECRETS}?resourceVersion=0`)).status, 200);
});

test('a server starts beside values that it cannot read, and reads what is written again under a key that it has', async (t) => {
  t.is((await other.client.request('POST', SECRETS, { body: named('late') })).status, 201);
  await one.stop();
  await one.restart();
  t.is((await one.client.get(`${SECRETS}/late`)).status, 500);
  t.is((await one.client.request('POST', CONFIG_MAPS, { body: named('after') })).status, 201);
  const args = ['--store-servers', member.server, '--placement', 'single', '--encryption-provider-config'];
  const both = await startServer(t, { args: [...args, encryptionWith('orch.io', 'a', 'b')] });
  const body = (await both.client.get(`${SECRETS}/late`)).json;
  t.is((await both.client.request('PUT', `${SECRETS}/late`, { body })).status, 200);
  t.is((await one.client.get(`${SECRETS}/late`)).status, 200);
});

test('a damaged value under a key of ours ends nothing but the watches of its type', async (t) => {
  const key = '/registry/orch/objects/core/configmaps/default/garbled';
  t.is((await one.client.request('POST', CONFIG_MAPS, { body: named('garbled') })).status, 201);
  const { metadata } = (await one.client.get(SECRETS)).json;
  const others = await one.client.watch(`/api/v1/pods?watch=1&resourceVersion=${metadata.resourceVersion}`);
  await leave(key, 'garbage');
  for (const server of [one, other]) {
    // Who puts something there raises no revision of ours that a read would wait for.
    await eventually(
      () => server.client.get(`${CONFIG_MAPS}/garbled`),
      ({ status }) => status === 500,
    );
    t.is((await server.client.get(CONFIG_MAPS)).status, 500);
    t.is((await server.client.get('/api/v1/namespaces')).status, 200);
    t.notRegex(server.stderr, /begins again|restarted/);
  }
  await leave(key, undefined);
  for (const { client } of [one, other]) {
    await eventually(
      () => client.get(CONFIG_MAPS),
      ({ status }) => status === 200,
    );
    t.is((await client.get(`${CONFIG_MAPS}/garbled`)).status, 404);
  }
  others.close();
});

for (const [layout, more] of [
  ['our own', ['--store-prefix', '/kept']],
  ["a kube-apiserver's", ['--api-dialect', 'kubernetes', '--store-layout', 'kubernetes', '--store-prefix', '/others']],
] as const)
  test(`in ${layout} layout a server starts while the service of its keys is away, and reads again when that is back`, async (t) => {
    const plugin = new KmsPlugin(join(folder, `${more.length}.sock`));
    await plugin.start();
    t.teardown(() => plugin.stop());
    const group = more.length > 2 ? 'k8s.io' : 'orch.io';
    const providers = [{ kms: { name: 'vault', endpoint: plugin.endpoint } }];
    const file = encryptionFile(group, `kms-${more.length}`, providers);
    const args = ['--store-servers', member.server, ...more, '--encryption-provider-config', file];
    // The thread of the store begins anew when it is back.
    const server = await startServer(t, { args, placement: 'wide' });
    t.is((await server.client.request('POST', SECRETS, { body: named('kept') })).status, 201);
    await server.stop();
    await plugin.stop();
    await server.restart();
    t.is((await server.client.get(`${SECRETS}/kept`)).status, 500);
    t.is((await server.client.get(SECRETS)).status, 500);
    t.is((await server.client.request('POST', CONFIG_MAPS, { body: named('beside') })).status, 201);
    await plugin.start();
    await eventually(
      () => server.client.get(`${SECRETS}/kept`),
      ({ status }) => status === 200,
    );
    await eventually(
      () => server.client.get(SECRETS),
      ({ status }) => status === 200,
    );
  });

test("beside a kube-apiserver's objects, too, what cannot be read costs its own reads only", async (t) => {
  const registry = ['--api-dialect', 'kubernetes', '--store-layout', 'kubernetes', '--store-prefix', '/original'];
  const args = ['--store-servers', member.server, '--placement', 'single', ...registry];
  const config = ['--encryption-provider-config', encryptionWith('k8s.io', 'a')];
  const server = await startServer(t, { args: [...args, ...config] });
  const theirs = '/original/secrets/default/theirs';
  await leave(theirs, 'k8s:enc:aescbc:v1:b:0123456789abcdef0123456789abcdef');
  const told = await eventually(
    () => server.client.get(`${SECRETS}/theirs`),
    ({ status }) => status !== 404,
  );
  t.like(told.json, { code: 500, message: `Internal error occurred: ${NO_KEY}` });
  const message = `Internal error occurred: unable to transform key "${theirs}": ${NO_KEY}`;
  t.like((await server.client.get(SECRETS)).json, { code: 500, message });
  await leave('/original/configmaps/default/garbled', 'garbage');
  t.is((await server.client.get(`${CONFIG_MAPS}/garbled`)).status, 500);
  await server.stop();
  await server.restart();
  t.is((await server.client.get(`${CONFIG_MAPS}/garbled`)).status, 500);
  t.is((await server.client.get(`${SECRETS}/theirs`)).status, 500);
  await leave(theirs, undefined);
  t.is((await server.client.get(SECRETS)).status, 200);
});
