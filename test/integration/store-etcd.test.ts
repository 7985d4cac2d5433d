// `orch store …` where the store is in etcd, as an operator meets it: members that want certificates, servers that run meanwhile.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { ORCH } from '../server/program.ts';
import { ServerProcess, startServer } from '../server/server-process.ts';
import { testAuthority } from '../server/test-authority.ts';
import { configMap, createConfigMap, eventually } from './objects.ts';

const STORED = '/registry/orch/objects/core/configmaps/default/';
const HASH_BYTES = 32;
const CORE = '/api/v1/namespaces/default';
const DEFAULT = {
  name: 'default',
  core: CORE,
  configMaps: `${CORE}/configmaps`,
  apps: '/apis/apps/v1/namespaces/default',
};
const MAPS = DEFAULT.configMaps;
const SECRETS = `${CORE}/secrets`;
const SERVICES = `${CORE}/services`;

// One after the other: they change what they share.
const hooks = testNeeding(ava, ['etcd']);
const test = hooks.serial;
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
const folder = mkdtempSync(join(tmpdir(), 'store-etcd-'));
const configuration = join(folder, 'encryption.yaml');
let shared: readonly string[];
let one: ServerProcess;
let other: ServerProcess;
let etcd: EtcdClient;

hooks.before(async () => {
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const authority = testAuthority(folder);
  const served = authority.issue('etcd', ['127.0.0.1']);
  const shown = authority.issue('orch', [], 'clientAuth');
  const member = await EtcdMember.start('https', [
    ...['--cert-file', served.certFile, '--key-file', served.keyFile],
    ...['--client-cert-auth', '--trusted-ca-file', authority.certFile],
  ]);
  scope.teardown(() => member.dispose());
  shared = [
    ...['--store-servers', member.server, '--store-cafile', authority.certFile],
    ...['--store-certfile', shown.certFile, '--store-keyfile', shown.keyFile],
  ];
  const access = {
    servers: [member.server],
    ca: readFileSync(authority.certFile, 'utf8'),
    certificate: readFileSync(shown.certFile, 'utf8'),
    key: readFileSync(shown.keyFile, 'utf8'),
  };
  etcd = new EtcdClient(access, realEnvironment.timers);
  scope.teardown(() => etcd.close());
  encryptWith('{identity: {}}');
  const args = [...shared, '--encryption-provider-config', configuration, '--placement', 'single'];
  [one, other] = await Promise.all([startServer(scope, { args }), startServer(scope, { args })]);
});

hooks.after.always(async () => {
  for (const step of undo) await step();
});

function encryptWith(...providers: readonly string[]): void {
  const entry = `- {resources: [secrets], providers: [${providers.join(', ')}]}`;
  writeFileSync(
    configuration,
    `kind: EncryptionConfiguration\napiVersion: apiserver.config.orch.io/v1\nresources:\n${entry}\n`,
  );
}

const keyed = (name: string, fill: number): string => {
  return `{aesgcm: {keys: [{name: ${name}, secret: ${Buffer.alloc(32, fill).toString('base64')}}]}}`;
};

function store(
  ...args: string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [ORCH, 'store', ...args], { timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function readyAgain(client: HttpsClient): Promise<void> {
  await eventually(
    () => client.get('/readyz').catch(() => undefined),
    (answer) => answer?.status === 200,
  );
}

test('a keyspace that servers use is checked while they run, and is sound', async (t) => {
  const service = { type: 'NodePort', ports: [{ port: 80 }] };
  const body = { metadata: { name: 's' }, spec: service };
  t.is((await one.client.request('POST', SERVICES, { body })).status, 201);
  t.is((await other.client.request('DELETE', `${SERVICES}/s`)).status, 200);
  t.is((await other.client.request('POST', SERVICES, { body })).status, 201);
  const { code, stdout, stderr } = await store('check', ...shared);
  t.deepEqual([code, stderr], [0, '']);
  t.regex(
    stdout,
    /^store \/registry\/orch\/identity\ndialect orch\nobjects \d+, of which 0 are encrypted\nread at revision \d+/,
  );
  t.regex(stdout, /\nthe store is sound\n$/);
  const elsewhere = await store('check', ...shared, '--store-prefix', '/elsewhere');
  t.is(elsewhere.code, 1);
  t.regex(elsewhere.stderr, /there is no store at \/elsewhere\/orch\/identity/);
  t.regex((await store('check', '--store-prefix', '/registry')).stderr, /usage: orch store check --store-servers URLS/);
});

test('everything is written again under the first key while two servers write, and no write is lost', async (t) => {
  const names = Array.from({ length: 150 }, (_, index) => `secret-${index}`);
  for (const name of names) {
    const body = { metadata: { name }, stringData: { text: `plain-${name}` } };
    t.is((await one.client.request('POST', SECRETS, { body })).status, 201);
  }
  const before = (await one.client.get(`${SECRETS}/${names[0]}`)).json;
  encryptWith(keyed('first', 1), '{identity: {}}');
  for (const server of [one, other]) {
    await server.stop();
    await server.restart();
  }
  let isOver = false;
  const last = new Map<string, string>();
  const write = async ({ client }: ServerProcess, name: string): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      const text = Buffer.from(`round ${round}`).toString('base64');
      const headers = { 'content-type': 'application/merge-patch+json' };
      const answer = await client.request('PATCH', `${SECRETS}/${name}`, { headers, body: { data: { text } } });
      t.is(answer.status, 200, answer.text);
      last.set(name, text);
    }
  };
  const writing = [
    write(one, 'secret-3'),
    write(other, 'secret-140'),
    write(one, 'secret-77'),
    write(other, 'secret-77'),
  ];
  const config = ['--encryption-provider-config', configuration];
  const { code, stdout, stderr } = await store('reencrypt', ...shared, ...config);
  isOver = true;
  await Promise.all(writing);
  t.deepEqual([code, stderr], [0, '']);
  t.true(Number(/^rewritten: (\d+) of \d+ objects$/m.exec(stdout)?.[1]) > 140, stdout);
  for (const name of ['secret-3', 'secret-140']) {
    t.is(((await one.client.get(`${SECRETS}/${name}`)).json.data as { text: string }).text, last.get(name)!);
  }
  // What was written again is the same object under a later version, at both servers.
  const after = (await other.client.get(`${SECRETS}/${names[0]}`)).json;
  t.true(Number(after.metadata.resourceVersion) > Number(before.metadata.resourceVersion));
  const { resourceVersion: _old, ...same } = before.metadata;
  t.like(after, { data: before.data, metadata: same });
  const prefix = '/registry/orch/objects/core/secrets/';
  for (let after = prefix, more = true; more; ) {
    const page = await etcd.range({ key: after, end: '/registry/orch/objects/core/secrets0', limit: 100 });
    for (const { key, value } of page.pairs) t.true(Buffer.from(value).includes('orch:enc:aesgcm:v1:first:'), key);
    after = `${page.pairs.at(-1)?.key}\0`;
    more = page.more;
  }
  const checked = await store('check', ...shared, ...config);
  t.is(checked.code, 0, checked.stdout);
  t.regex(checked.stdout, /of which 1[5-9]\d are encrypted/);
  t.regex((await store('reencrypt', ...shared, ...config)).stdout, /^rewritten: 0 of/);
  const unopened = join(folder, 'wrong.yaml');
  writeFileSync(unopened, readFileSync(configuration, 'utf8').replace('name: first', 'name: unheard'));
  const wrong = await store('check', ...shared, '--encryption-provider-config', unopened);
  t.is(wrong.code, 1);
  t.regex(wrong.stdout, /secret-3 cannot be opened: .* encrypted with orch:enc:aesgcm:v1:first:/);
});

test('the whole etcd is saved with its hash, and nothing takes that for a snapshot of a folder', async (t) => {
  const file = join(folder, 'saved.db');
  const { code, stdout, stderr } = await store('snapshot', file, ...shared);
  t.deepEqual([code, stderr], [0, '']);
  const bytes = readFileSync(file);
  t.regex(stdout, new RegExp(`^saved an etcd 3\\.\\d+\\.\\d+, ${bytes.length} bytes with their hash, in `));
  t.is(bytes.length % 512, HASH_BYTES);
  const content = bytes.subarray(0, -HASH_BYTES);
  t.true(createHash('sha256').update(content).digest().equals(bytes.subarray(-HASH_BYTES)));
  t.is(statSync(file).mode & 0o777, 0o600);
  const refused = await store('restore', file, join(folder, 'restored'));
  t.is(refused.code, 1);
  t.regex(refused.stderr, /is a snapshot of an etcd: etcdctl snapshot restore makes members of it/);
  const nobody = await store('snapshot', join(folder, 'none'), '--store-servers', 'http://127.0.0.1:1');
  t.is(nobody.code, 1);
});

test('a running server is saved into a file as one on a folder is, and restored into a folder that serves the same', async (t) => {
  const text = 'x'.repeat(3000);
  for (let index = 0; index < 30; index++) {
    await createConfigMap(one.client, DEFAULT, { name: `saved-${index}` }, { text });
    if (index % 3 === 0) await other.client.request('DELETE', `${MAPS}/saved-${index}`);
  }
  const listed = async (client: HttpsClient): Promise<unknown> => {
    const lists = await Promise.all([MAPS, SECRETS, SERVICES].map((path) => client.get(path)));
    // What a server keeps up to date says its port and its authority.
    return lists.map(({ json }) => json.items?.filter(({ metadata }) => /^s/.test(metadata.name ?? '')));
  };
  const before = await listed(one.client);
  const file = join(folder, 'snapshot');
  const saved = await store('snapshot', file, '--data-dir', one.dataDirectory);
  t.deepEqual([saved.code, saved.stderr], [0, '']);
  const restored = join(folder, 'restored');
  const { code, stderr } = await store('restore', file, restored);
  t.deepEqual([code, stderr], [0, '']);
  t.is((await store('check', restored)).code, 0);
  const args = ['--placement', 'single', '--encryption-provider-config', configuration];
  const server = new ServerProcess(restored, await freePort(), { args });
  t.teardown(() => server.dispose());
  t.is(await server.start(), undefined);
  t.deepEqual(await listed(server.client), before);
});

test('values that nobody can read are put aside, what was there before takes their place, and servers go on', async (t) => {
  const kept = await createConfigMap(one.client, DEFAULT, { name: 'kept' }, { a: 'before' });
  await createConfigMap(one.client, DEFAULT, { name: 'gone' });
  t.is((await one.client.request('DELETE', `${MAPS}/gone`)).status, 200);
  for (const name of ['kept', 'gone']) {
    const put = {
      put: { key: `${STORED}${name}`, value: Buffer.from('not one of ours, and longer than a header is') },
    };
    await etcd.transact({ compare: [], success: [put], failure: [] });
  }
  const checked = await store('check', ...shared);
  t.is(checked.code, 1);
  for (const name of ['kept', 'gone']) {
    t.regex(
      checked.stdout,
      new RegExp(`^damaged: the value of core/configmaps/default/${name} does not match its checksum$`, 'm'),
    );
  }
  for (const { client } of [one, other]) {
    await eventually(
      () => client.get(`${MAPS}/gone`),
      ({ status }) => status === 500,
    );
  }
  t.regex(checked.stderr, /orch store repair --store-servers … puts aside/);
  const repaired = await store('repair', ...shared);
  t.deepEqual([repaired.code, repaired.stderr], [0, '']);
  t.regex(
    repaired.stdout,
    /^lost: core\/configmaps\/default\/kept; kept as it was at revision \d+ of etcd; its value is in \/registry\/orch\/damaged\/core\/configmaps\/default\/kept$/m,
  );
  t.regex(repaired.stdout, /^lost: core\/configmaps\/default\/gone; its value is in /m);
  t.false(repaired.stdout.includes('left:'));
  t.is((await store('check', ...shared)).code, 0);
  t.regex((await store('repair', ...shared)).stdout, /^the store is sound: nothing was changed$/m);
  for (const { client } of [one, other]) {
    await readyAgain(client);
    const answer = await eventually(
      () => client.get(`${MAPS}/kept`).catch(() => undefined),
      (got) => got?.status === 200,
    );
    const { metadata, data } = answer!.json;
    t.deepEqual([metadata.uid, data], [kept.metadata.uid, { a: 'before' }]);
    t.is((await client.get(`${MAPS}/gone`)).status, 404);
  }
  for (const { client } of [one, other]) {
    const written = await eventually(
      () => client.request('PUT', `${MAPS}/kept`, { body: configMap({ name: 'kept' }, { a: 'after' }) }),
      ({ status }) => status < 500,
    );
    t.is(written.status, 200, written.text);
  }
});
