// Encryption at rest as an operator meets it: what is on the disk, byte by byte, what a restart with other keys does, and
// how keys are changed.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import { filesHolding } from '../server/data-folder.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { KmsPlugin } from '../server/kms-plugin.ts';
import { ORCH } from '../server/program.ts';
import { newServer, type ServerProcess, startServer } from '../server/server-process.ts';
import { eventually, settledSecrets } from './objects.ts';

const test = ava.serial;
const SECRETS = '/api/v1/namespaces/default/secrets';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** What is searched for on the disk: a label, which is stored beside the object as well, and data. */
const MARKER = 'MARKER-3f9c71';
const DATA = Buffer.from(`${MARKER}-data`).toString('base64');
const PREFIX = 'orch:enc:';

type Provider = Readonly<Record<string, unknown>>;

const key = (name: string, fill: number) => ({ name, secret: Buffer.alloc(32, fill).toString('base64') });
const aesgcm = (...keys: object[]): Provider => ({ aesgcm: { keys } });
const aescbc = (...keys: object[]): Provider => ({ aescbc: { keys } });
const secretbox = (...keys: object[]): Provider => ({ secretbox: { keys } });
const IDENTITY: Provider = { identity: {} };

/** A configuration file whose providers a test changes between starts. */
class Configuration {
  readonly directory: string;
  readonly path: string;

  constructor(t: ExecutionContext) {
    this.directory = mkdtempSync(join(tmpdir(), 'encryption-'));
    t.teardown(() => rmSync(this.directory, { recursive: true }));
    this.path = join(this.directory, 'encryption.yaml');
  }

  get args(): readonly string[] {
    return ['--encryption-provider-config', this.path];
  }

  /** JSON is YAML too; the flow mapping keeps it from being read as JSON. */
  write(...providers: Provider[]): void {
    this.writeFor(['secrets'], providers);
  }

  writeFor(resources: readonly string[], providers: readonly Provider[]): void {
    const entry = `- ${JSON.stringify({ resources, providers })}`;
    writeFileSync(
      this.path,
      `kind: EncryptionConfiguration\napiVersion: apiserver.config.orch.io/v1\nresources:\n${entry}\n`,
    );
  }
}

function secret(name: string, more = ''): object {
  const metadata = { name, labels: { marker: MARKER }, annotations: { note: `${MARKER}${more}` } };
  return { metadata, data: { value: DATA } };
}

async function stored(t: ExecutionContext, client: HttpsClient, name: string): Promise<string> {
  const { status, json } = await client.get(`${SECRETS}/${name}`);
  t.is(status, 200);
  t.is(json.data?.value, DATA);
  return json.metadata.resourceVersion ?? '';
}

function holds(server: ServerProcess, text: string): boolean {
  return filesHolding(server.dataDirectory, text).length > 0;
}

/** The store's own command, run to its end. */
function orch(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [ORCH, ...args], { timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function refusedStart(t: ExecutionContext, server: ServerProcess, reason: RegExp): Promise<void> {
  const failed = await server.start();
  t.is(failed?.code, 1);
  t.regex(failed?.stderr ?? '', reason);
  t.regex(failed?.stderr ?? '', /^orch: [^\n]+\n$/);
  t.false(failed?.stderr.includes(MARKER) ?? true);
}

const PROVIDERS: readonly (readonly [name: string, provider: Provider])[] = [
  ['aescbc', aescbc(key('one', 1))],
  ['aesgcm', aesgcm(key('one', 1))],
  ['secretbox', secretbox(key('one', 1))],
];

for (const [name, provider] of PROVIDERS) {
  test(`nothing of a secret is on the disk in plain text, whatever is done with it (${name})`, async (t) => {
    const configuration = new Configuration(t);
    configuration.write(provider);
    const server = await startServer(t, { args: [...configuration.args, '--placement', 'single'] });
    const { client } = server;
    for (const kept of ['kept', 'changed', 'gone']) {
      t.is((await client.request('POST', SECRETS, { body: secret(kept) })).status, 201);
    }
    t.is((await client.request('PUT', `${SECRETS}/changed`, { body: secret('changed', '-2') })).status, 200);
    t.is((await client.request('DELETE', `${SECRETS}/gone`)).status, 200);
    t.is(
      (await client.request('POST', CONFIG_MAPS, { body: { metadata: { name: 'c' }, data: { v: 'PLAIN-77' } } }))
        .status,
      201,
    );
    t.deepEqual(filesHolding(server.dataDirectory, MARKER), [], 'while it runs');
    t.deepEqual(filesHolding(server.dataDirectory, DATA), []);
    t.true(holds(server, `${PREFIX}${name}:v1:one:`));
    t.true(holds(server, 'PLAIN-77'), 'other resources are not encrypted');

    const version = await stored(t, client, 'changed');
    const watch = await client.watch(`${SECRETS}?watch=1&labelSelector=marker%3D${MARKER}&resourceVersion=1`);
    t.is((await watch.next())?.object.metadata.name, 'kept');
    await server.kill9();
    await server.restart();
    t.deepEqual(filesHolding(server.dataDirectory, MARKER), [], 'after a restart, which rewrites the log');
    t.is(await stored(t, server.client, 'changed'), version);
    t.is((await server.client.get(`${SECRETS}/gone`)).status, 404);
    const history = await server.client.watch(`${SECRETS}?watch=1&labelSelector=marker%3D${MARKER}&resourceVersion=1`);
    const seen = await history.take(5);
    t.deepEqual(
      seen.map(({ type, object }) => `${type} ${object.metadata.name}`),
      ['ADDED kept', 'ADDED changed', 'ADDED gone', 'MODIFIED changed', 'DELETED gone'],
    );
    t.true(seen.every(({ object }) => object.data?.value === DATA));

    t.is(await server.stop(), 0);
    const again = await orch('store', 'reencrypt', server.dataDirectory, ...configuration.args);
    t.is(again.code, 0, again.stderr);
    t.regex(again.stdout, /^rewritten: 0 of \d+ objects; /);
    t.deepEqual(filesHolding(server.dataDirectory, MARKER), [], 'after compaction');
    t.true(holds(server, 'PLAIN-77'), 'where other texts are found');
    t.is((await orch('store', 'check', server.dataDirectory)).code, 0);
  });
}

test('what is not encrypted is read, and encrypted when it is next written, even by an update that changes nothing', async (t) => {
  const configuration = new Configuration(t);
  configuration.write(IDENTITY);
  const server = await startServer(t, { args: [...configuration.args, '--placement', 'single'] });
  for (const name of ['a', 'b', 'c']) await server.client.request('POST', SECRETS, { body: secret(name) });
  await server.stop();
  t.true(holds(server, MARKER));

  configuration.write(aesgcm(key('one', 1)), IDENTITY);
  await server.restart();
  const { client } = server;
  const before = await stored(t, client, 'a');
  const { json } = await client.get(`${SECRETS}/a`);
  t.is((await client.request('PUT', `${SECRETS}/a`, { body: json })).status, 200);
  const after = await stored(t, client, 'a');
  t.true(Number(after) > Number(before), 'it was stored');
  t.is((await client.request('PUT', `${SECRETS}/a`, { body: (await client.get(`${SECRETS}/a`)).json })).status, 200);
  t.is(await stored(t, client, 'a'), after, 'once is enough');
  const patched = await client.request('PATCH', `${SECRETS}/b`, {
    body: '{}',
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.is(patched.status, 200);
  t.is(await server.stop(), 0);

  configuration.write(aesgcm(key('one', 1)));
  await refusedStart(
    t,
    server,
    /the stored value of core\/secrets\/default\/\w+ cannot be read: it is not encrypted, and the providers of secrets do not include identity/,
  );
  configuration.write(aesgcm(key('one', 1)), IDENTITY);
  const again = await orch('store', 'reencrypt', server.dataDirectory, ...configuration.args);
  t.is(again.code, 0, again.stderr);
  t.deepEqual(filesHolding(server.dataDirectory, MARKER), []);
  configuration.write(aesgcm(key('one', 1)));
  await server.restart();
  for (const name of ['a', 'b', 'c']) await stored(t, server.client, name);
});

test('a key is changed: the new one first, everything rewritten, the old one taken away', async (t) => {
  const configuration = new Configuration(t);
  configuration.write(aescbc(key('old', 1)));
  const server = await startServer(t, { args: [...configuration.args, '--placement', 'single'] });
  for (const name of ['a', 'b', 'gone']) await server.client.request('POST', SECRETS, { body: secret(name) });
  const version = await stored(t, server.client, 'b');
  await server.client.request('DELETE', `${SECRETS}/gone`);
  await server.stop();

  configuration.write(aesgcm(key('new', 2)));
  await refusedStart(
    t,
    server,
    /it is encrypted with orch:enc:aescbc:v1:old:, and --encryption-provider-config has no such provider among those of secrets/,
  );
  configuration.write(aescbc(key('old', 3)));
  await refusedStart(
    t,
    server,
    /(orch:enc:aescbc:v1:old: does not decrypt it \(|once decrypted: )wrong key, or changed bytes/,
  );

  configuration.write(aesgcm(key('new', 2)), aescbc(key('old', 1)));
  await server.restart();
  await stored(t, server.client, 'a');
  t.is((await server.client.request('PUT', `${SECRETS}/a`, { body: secret('a', '-2') })).status, 200);
  await server.stop();

  const again = await orch('store', 'reencrypt', server.dataDirectory, ...configuration.args);
  t.is(again.code, 0, again.stderr);
  t.regex(
    again.stdout,
    /^rewritten: [1-9]\d* of \d+ objects; the store is at revision \d+, with no history before it\n$/,
  );
  t.false(holds(server, 'aescbc:v1:old:'), 'nothing under the old key is left, in the event log either');
  configuration.write(aesgcm(key('new', 2)));
  await server.restart();
  for (const name of ['a', 'b']) await stored(t, server.client, name);
  t.true(Number(await stored(t, server.client, 'b')) > Number(version));
  t.is((await server.client.get(`${SECRETS}/gone`)).status, 404);
});

test('a running server is brought under a new key through its API, and the old one can go when history has', async (t) => {
  const configuration = new Configuration(t);
  configuration.write(aescbc(key('old', 1)));
  const args = [...configuration.args, '--placement', 'single', '--store-compaction-interval', '1s'];
  const server = await startServer(t, { args });
  for (const name of ['a', 'b', 'c']) await server.client.request('POST', SECRETS, { body: secret(name) });
  const count = await settledSecrets(server.client);
  await server.stop();
  configuration.write(aesgcm(key('new', 2)), aescbc(key('old', 1)));
  await server.restart();
  await server.client.request('PUT', `${SECRETS}/a`, { body: secret('a', '-2') });
  for (const rewritten of [count - 1, 0]) {
    const { code, stdout, stderr } = await orch('store', 'reencrypt', server.dataDirectory, ...configuration.args);
    t.is(code, 0, stderr);
    t.regex(
      stdout,
      new RegExp(
        `^rewritten: ${rewritten} of ${count} objects, by the running server and under its own configuration\n`,
      ),
    );
  }
  const refused = await eventually(
    () => server.client.get(`${SECRETS}?watch=1&resourceVersion=1&timeoutSeconds=1`),
    ({ text }) => text.includes('"code":410'),
  );
  t.is(refused.status, 200, 'history is compacted');
  // The disk follows between two writes.
  for (const name of ['x', 'y']) await server.client.request('POST', CONFIG_MAPS, { body: { metadata: { name } } });
  await server.stop();
  configuration.write(aesgcm(key('new', 2)));
  await server.restart();
  for (const name of ['a', 'b', 'c']) await stored(t, server.client, name);
});

test('a running server rewrites more than its history holds, what the preferred version of a group lacks, and goes on where a type is not there', async (t) => {
  const configuration = new Configuration(t);
  const resources = ['secrets', 'podsecuritypolicies.policy', 'widgets.example.com'];
  configuration.writeFor(resources, [aesgcm(key('old', 1)), IDENTITY]);
  const server = await startServer(t, { args: [...configuration.args, '--store-history-bytes', '1048576'] });
  const data = { value: Buffer.alloc(3_000).toString('base64') };
  // More than a page of the command's, and a page is more than the history.
  const names = Array.from({ length: 510 }, (_, index) => `s${index}`);
  const create = (path: string, body: object): Promise<Answer> => server.client.request('POST', path, { body });
  await Promise.all(names.map((name) => create(SECRETS, { metadata: { name }, data })));
  const rules = Object.fromEntries(
    ['seLinux', 'runAsUser', 'supplementalGroups', 'fsGroup'].map((name) => [name, { rule: 'RunAsAny' }]),
  );
  const policy = { metadata: { name: 'p' }, spec: rules };
  t.is((await create('/apis/policy/v1beta1/podsecuritypolicies', policy)).status, 201);
  const count = (await settledSecrets(server.client)) + 1;
  await server.stop();
  configuration.writeFor(resources, [aesgcm(key('new', 2), key('old', 1))]);
  await server.restart();
  const again = await orch('store', 'reencrypt', server.dataDirectory, ...configuration.args);
  t.is(again.code, 0, again.stderr);
  t.regex(again.stdout, new RegExp(`^rewritten: ${count} of ${count} objects, `));
  t.regex(again.stdout, /^widgets\.example\.com is not served: /m);
});

test('an object that a webhook refuses is named, and keeps no other from being rewritten', async (t) => {
  const configuration = new Configuration(t);
  configuration.write(aescbc(key('old', 1)));
  const server = await startServer(t, { args: [...configuration.args, '--placement', 'single'] });
  const create = (path: string, body: object): Promise<Answer> => server.client.request('POST', path, { body });
  for (const name of ['a', 'b', 'c']) await create(SECRETS, { metadata: { name, labels: { is: name } } });
  const count = await settledSecrets(server.client);
  const webhook = {
    name: 'nobody.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
    objectSelector: { matchLabels: { is: 'b' } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const webhooks = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations';
  t.is((await create(webhooks, { metadata: { name: 'w' }, webhooks: [webhook] })).status, 201);
  await server.stop();
  configuration.write(aesgcm(key('new', 2)), aescbc(key('old', 1)));
  await server.restart();
  const { code, stdout, stderr } = await orch('store', 'reencrypt', server.dataDirectory, ...configuration.args);
  t.is(code, 1);
  t.regex(stdout, new RegExp(`^rewritten: ${count - 1} of ${count} objects, `));
  t.deepEqual(stdout.match(/^left as it was: .*?: /gm), [`left as it was: PATCH ${SECRETS}/b was answered 500: `]);
  t.regex(stderr, new RegExp(`^orch: 1 of ${count} objects were not rewritten; `, 'm'));
});

test('without its configuration a store with encrypted values is refused, and with it nothing is lost', async (t) => {
  const configuration = new Configuration(t);
  configuration.write(secretbox(key('one', 1)));
  const server = await startServer(t, { args: [...configuration.args, '--placement', 'single'] });
  await server.client.request('POST', SECRETS, { body: secret('a') });
  await server.stop();
  const failed = await orch('up', '--data-dir', server.dataDirectory, '--secure-port', String(server.port));
  t.is(failed.code, 1);
  t.regex(
    failed.stderr,
    /^orch: [^\n]*it is encrypted with orch:enc:secretbox:v1:one:, and --encryption-provider-config has no such provider\n$/,
  );
  await server.restart();
  await stored(t, server.client, 'a');
});

test('a configuration that cannot be used keeps the server from starting, with one line', async (t) => {
  const configuration = new Configuration(t);
  const server = await newServer(t, { args: configuration.args });
  await refusedStart(t, server, /the encryption configuration \/.+ cannot be read \(ENOENT\)/);
  configuration.write(aescbc({ name: 'one', secret: Buffer.from(MARKER).toString('base64') }));
  await refusedStart(
    t,
    server,
    /resources\[0\]\.providers\[0\]\.aescbc\.keys\[0\]\.secret: must be 16, 24 or 32 bytes long, not 13/,
  );
  for (const text of ['resources: [', '{"kind": ', '- a\n- b\n']) {
    writeFileSync(configuration.path, text);
    await refusedStart(t, server, /the encryption configuration \/.+: /);
  }
});

test('keys are kept by a plugin: nothing is readable without it, and writes of other resources never need it', async (t) => {
  const configuration = new Configuration(t);
  const plugin = new KmsPlugin(join(configuration.directory, 'kms.sock'));
  configuration.write({
    kms: { name: 'vault', endpoint: plugin.endpoint, cachesize: 10, timeout: '30s' },
  });
  t.teardown(() => plugin.stop());
  const server = await startServer(t, { args: [...configuration.args, '--placement', 'default'] });
  const { client } = server;

  const away = await client.request('POST', SECRETS, { body: secret('a') });
  t.is(away.status, 500);
  t.regex(away.json.message ?? '', /the key management service vault failed to version: ENOENT/);
  t.is((await client.request('POST', CONFIG_MAPS, { body: { metadata: { name: 'c' } } })).status, 201);
  t.is((await client.get('/healthz/kms-provider-0')).status, 500);
  t.is((await client.get('/healthz/store')).status, 200);

  await plugin.start();
  t.is((await client.get('/healthz/kms-provider-0')).text, 'ok');
  t.regex((await client.get('/readyz?verbose')).text, /^\[\+\]kms-provider-0 ok$/m);
  const names = Array.from({ length: 30 }, (_, n) => `s${n}`);
  const created = await Promise.all(names.map((name) => client.request('POST', SECRETS, { body: secret(name) })));
  t.true(created.every(({ status }) => status === 201));
  t.deepEqual(filesHolding(server.dataDirectory, MARKER), []);
  t.true(holds(server, `${PREFIX}kms:v1:vault:`));
  t.true(plugin.calls.length < 10, `${plugin.calls.length} calls`);

  await plugin.stop();
  await stored(t, client, 's3');
  t.is((await client.request('DELETE', `${SECRETS}/s3`)).status, 200, 'under the data key there is');
  await server.stop();
  await refusedStart(
    t,
    server,
    /orch:enc:kms:v1:vault: does not decrypt it \(the key management service vault failed to version: (ENOENT|ECONNREFUSED)\)/,
  );
  await plugin.start();
  await server.restart();
  await stored(t, server.client, 's4');
  await server.stop();
  plugin.mask = 0x77;
  await refusedStart(t, server, /(does not decrypt it|once decrypted)/);
  plugin.mask = 0x5a;

  configuration.write(aesgcm(key('one', 1)), { kms: { name: 'vault', endpoint: plugin.endpoint } });
  const again = await orch('store', 'reencrypt', server.dataDirectory, ...configuration.args);
  t.is(again.code, 0, again.stderr);
  await plugin.stop();
  configuration.write(aesgcm(key('one', 1)));
  await server.restart();
  await stored(t, server.client, 's29');
});
