// Encryption at rest with `--store-layout kubernetes`: values that a kube-apiserver with the same configuration opens, and seals. And
// the commands of the store on such a keyspace.
import { execFile } from 'node:child_process';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import type { ApiObject } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type Json, OriginalServer } from '../server/original-server.ts';
import { ORCH } from '../server/program.ts';
import { newServer, ServerProcess, startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const SECRETS = '/api/v1/namespaces/default/secrets';
const KEY = Buffer.alloc(32, 7);
const hooks = testNeeding(ava, ['etcd']);
const test = hooks.serial;
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
const folder = mkdtempSync(join(tmpdir(), 'original-encryption-'));
const configuration = join(folder, 'encryption.yaml');
let member: EtcdMember;
let etcd: EtcdClient;
let shared: readonly string[];
let one: ServerProcess;

/** AES-GCM as the original has it: bound to the whole path. */
const GCM = {
  prefix: 'k8s:enc:aesgcm:v1:k1:',
  seal: (path: string, value: Buffer): Buffer => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', KEY, nonce).setAAD(Buffer.from(path));
    const sealed = [nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat([Buffer.from(GCM.prefix), ...sealed]);
  },
  open: (path: string, value: Buffer): Buffer => {
    if (value.subarray(0, GCM.prefix.length).toString() !== GCM.prefix) throw new Error(`${path} is not sealed`);
    const body = value.subarray(GCM.prefix.length);
    const cipher = createDecipheriv('aes-256-gcm', KEY, body.subarray(0, 12)).setAAD(Buffer.from(path));
    cipher.setAuthTag(body.subarray(-16));
    return Buffer.concat([cipher.update(body.subarray(12, -16)), cipher.final()]);
  },
};

function encryptWith(...providers: readonly string[]): void {
  const lines = [
    'kind: EncryptionConfiguration',
    'apiVersion: apiserver.config.k8s.io/v1',
    'resources:',
    '- resources: [secrets, services]',
    '  providers:',
    ...providers.map((provider) => `  - ${provider}`),
  ];
  writeFileSync(configuration, lines.join('\n'));
}

const key = (name: string, secret: Buffer) => `{keys: [{name: ${name}, secret: ${secret.toString('base64')}}]}`;
const AESGCM = `aesgcm: ${key('k1', KEY)}`;
const OTHERS = {
  aescbc: `aescbc: ${key('k2', Buffer.alloc(32, 8))}`,
  secretbox: `secretbox: ${key('k3', Buffer.alloc(32, 9))}`,
} as const;

function store(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [ORCH, 'store', ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

hooks.before(async () => {
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  member = await EtcdMember.start();
  scope.teardown(() => member.dispose());
  etcd = new EtcdClient({ servers: [member.server] }, realEnvironment.timers);
  scope.teardown(() => etcd.close());
  shared = ['--api-dialect', 'kubernetes', '--store-servers', member.server, '--store-layout', 'kubernetes'];
  encryptWith(AESGCM, 'identity: {}');
  one = await startServer(scope, { args: [...shared, '--encryption-provider-config', configuration] });
});

hooks.after.always(async () => {
  for (const step of undo) await step();
});

async function bytesAt(path: string): Promise<Buffer> {
  return Buffer.from((await etcd.range({ key: path })).pairs[0]!.value);
}

const text = (value: string): string => Buffer.from(value).toString('base64');

test('what a server encrypts the original opens, and the reverse; ranges are as services are', async (t) => {
  const sealing = new OriginalServer(etcd, '/registry', GCM);
  const body = { metadata: { name: 'ours' }, data: { k: text('hidden') } } as unknown as ApiObject;
  t.is((await one.client.request('POST', SECRETS, { body })).status, 201);
  t.false((await bytesAt('/registry/secrets/default/ours')).includes('hidden'));
  t.like((await sealing.get('secrets/default/ours'))?.object, { kind: 'Secret', data: { k: text('hidden') } });
  const theirs = {
    metadata: { name: 'theirs', namespace: 'default', uid: 'u' },
    type: 'Opaque',
    data: { k: text('theirs') },
  };
  await sealing.create('secrets/default/theirs', 'v1', 'Secret', theirs);
  t.like((await one.client.get(`${SECRETS}/theirs`)).json as unknown as Json, { data: { k: text('theirs') } });
  t.true((await sealing.given('addresses')).includes(0));
  t.like((await sealing.get('services/specs/default/kubernetes'))?.object, { kind: 'Service' });
  // Moved to another path, it is not what it says.
  await sealing.leave('secrets/default/moved', await bytesAt('/registry/secrets/default/ours'));
  await eventually(
    async () => one.stderr,
    (printed) => printed.includes('/registry/secrets/default/moved cannot be read'),
  );
  await etcd.transact({ compare: [], success: [{ delete: { key: '/registry/secrets/default/moved' } }], failure: [] });
  await eventually(
    () => one.client.get(`${SECRETS}/ours`).catch(() => undefined),
    (answer) => answer?.status === 200,
  );
});

test('under each kind of key an object is written again as it is when its key is not the first any more', async (t) => {
  for (const [kind, provider] of Object.entries(OTHERS)) {
    await one.stop();
    encryptWith(provider, AESGCM, ...Object.values(OTHERS).filter((other) => other !== provider), 'identity: {}');
    await one.restart();
    const found = (await one.client.get(`${SECRETS}/ours`)).json;
    t.is((await one.client.request('PUT', `${SECRETS}/ours`, { body: found })).status, 200);
    const bytes = await bytesAt('/registry/secrets/default/ours');
    t.true(bytes.toString('latin1').startsWith(`k8s:enc:${kind}:v1:k`), bytes.toString('latin1', 0, 40));
    t.like((await one.client.get(`${SECRETS}/ours`)).json as unknown as Json, { data: { k: text('hidden') } });
    await one.stop();
    await one.restart();
    t.like((await one.client.get(`${SECRETS}/ours`)).json as unknown as Json, { data: { k: text('hidden') } });
  }
});

test('the store is checked beside a server; what no command does for this layout is refused with a line', async (t) => {
  const config = ['--encryption-provider-config', configuration];
  const sound = await store('check', ...shared, ...config);
  t.is(sound.code, 0, sound.stdout + sound.stderr);
  t.regex(
    sound.stdout,
    /store \/registry\/ of layout kubernetes\nobjects \d+, of which \d+ are encrypted; 0 keys are nothing/,
  );
  const original = new OriginalServer(etcd);
  await original.leave('configmaps/default/broken', Buffer.from('?'));
  const broken = await store('check', ...shared, ...config);
  t.is(broken.code, 1);
  t.regex(broken.stdout, /damaged: the stored value of \/registry\/configmaps\/default\/broken cannot be read/);
  await etcd.transact({
    compare: [],
    success: [{ delete: { key: '/registry/configmaps/default/broken' } }],
    failure: [],
  });
  for (const args of [
    ['repair', ...shared],
    ['reencrypt', ...shared, ...config],
    ['move', join(folder, 'nothing'), ...shared],
  ]) {
    const { code, stderr } = await store(...args);
    t.not(code, 0);
    t.regex(stderr, /is for --store-layout own: /, args[0]);
  }
  const saved = await store('snapshot', join(folder, 'etcd.db'), ...shared);
  t.is(saved.code, 0, saved.stderr);
});

test('a snapshot of a server has nothing in the clear that is encrypted, and a folder made of it serves it with the same keys', async (t) => {
  const [file, restored] = [join(folder, 'objects.snap'), join(folder, 'restored')];
  const saved = await store('snapshot', file, '--data-dir', one.dataDirectory);
  t.deepEqual([saved.code, saved.stderr], [0, '']);
  const bytes = readFileSync(file);
  t.false(bytes.includes('hidden') || bytes.includes(text('hidden')));
  t.is((await store('restore', file, restored)).code, 0);
  const args = ['--api-dialect', 'kubernetes', '--encryption-provider-config', configuration];
  const server = new ServerProcess(restored, await freePort(), { args });
  scope.teardown(() => server.dispose());
  t.is(await server.start(), undefined);
  t.like((await server.client.get(`${SECRETS}/ours`)).json as unknown as Json, { data: { k: text('hidden') } });
  await server.stop();
});

test('a server of the other layout does not start on the keyspace', async (t) => {
  const own = await newServer(scope, { args: ['--api-dialect', 'kubernetes', '--store-servers', member.server] });
  const failed = await own.start();
  t.regex(failed?.stderr ?? '', /was made with --store-layout kubernetes/);
});
