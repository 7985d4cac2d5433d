// Several servers on one etcd: what one acknowledged the others show, watches see both, and servers and members come and go.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ava from 'ava';
import { EtcdMember } from '../server/etcd-member.ts';
import type { ApiObject } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { newServer, type ServerProcess, startServer } from '../server/server-process.ts';
import { type TestAuthority, testAuthority } from '../server/test-authority.ts';
import { configMap, createConfigMap, eventually, freshNamespace, namespaceForPods } from './objects.ts';

// One after the other: they kill what they share.
const hooks = testNeeding(ava, ['etcd']);
const test = hooks.serial;
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
let member: EtcdMember;
let one: ServerProcess;
let other: ServerProcess;

hooks.before(async () => {
  member = await EtcdMember.start();
  scope.teardown(() => member.dispose());
  const args = ['--store-servers', member.server];
  [one, other] = await Promise.all([
    startServer(scope, { args }),
    startServer(scope, { args: [...args, '--placement', 'single'] }),
  ]);
});

hooks.after.always(async () => {
  for (const step of undo) await step();
});

const versionOf = ({ metadata }: ApiObject): number => Number(metadata.resourceVersion);

test('what one server acknowledged the other shows', async (t) => {
  const namespace = await freshNamespace(one.client);
  for (let round = 0; round < 10; round++) {
    const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
    const made = await createConfigMap(writer.client, namespace, { name: `c-${round}` }, { round: String(round) });
    const path = `${namespace.configMaps}/c-${round}`;
    const got = await reader.client.get(path);
    t.is(got.status, 200, got.text);
    t.deepEqual(got.json, made);
    const list = (await reader.client.get(namespace.configMaps)).json;
    t.true(versionOf(list) >= versionOf(made));
    t.true(list.items?.some(({ metadata }) => metadata.name === `c-${round}`));
    t.is((await reader.client.request('DELETE', path)).status, 200);
    t.is((await writer.client.get(path)).status, 404);
  }
});

test('an update of what another server has changed is a conflict, and without a version it is made', async (t) => {
  const namespace = await freshNamespace(one.client);
  const made = await createConfigMap(one.client, namespace, { name: 'c' });
  const path = `${namespace.configMaps}/c`;
  const changed = await other.client.request('PUT', path, { body: { ...made, data: { by: 'other' } } });
  t.is(changed.status, 200, changed.text);
  const late = await one.client.request('PUT', path, { body: { ...made, data: { by: 'one' } } });
  t.is(late.status, 409, late.text);
  t.is((await one.client.request('PUT', path, { body: configMap({ name: 'c' }, { by: 'one' }) })).status, 200);
  const again = await other.client.request('POST', namespace.configMaps, { body: configMap({ name: 'c' }) });
  t.is(again.json.reason, 'AlreadyExists');
});

test('writers of two servers that raise one number lose none', async (t) => {
  const namespace = await freshNamespace(one.client);
  await createConfigMap(one.client, namespace, { name: 'count' }, { n: '0' });
  const path = `${namespace.configMaps}/count`;
  const raise = async ({ client }: ServerProcess): Promise<void> => {
    for (let left = 10; left > 0; ) {
      const { json } = await client.get(path);
      const body = { ...json, data: { n: String(Number(json.data?.n) + 1) } };
      const { status } = await client.request('PUT', path, { body });
      if (status === 200) left--;
    }
  };
  await Promise.all([raise(one), raise(one), raise(other), raise(other)]);
  t.is((await one.client.get(path)).json.data?.n, '40');
});

test('a watch shows what is written through either server, and goes on at the other where it was left', async (t) => {
  const namespace = await freshNamespace(one.client);
  const { json } = await one.client.get(namespace.configMaps);
  const names = Array.from({ length: 12 }, (_, index) => `w-${index}`);
  const watches = await Promise.all(
    [one, other].map(({ client }) =>
      client.watch(`${namespace.configMaps}?watch=true&resourceVersion=${json.metadata.resourceVersion}`),
    ),
  );
  const made: ApiObject[] = [];
  for (const [index, name] of names.entries()) {
    made.push(await createConfigMap((index % 3 === 0 ? one : other).client, namespace, { name }));
  }
  const isOurs = ({ metadata }: ApiObject): boolean => metadata.name?.startsWith('w-') === true;
  for (const watch of watches) {
    const events = await watch.until(({ object }) => object.metadata.name === names.at(-1));
    const ours = events.filter(({ object }) => isOurs(object));
    t.deepEqual(
      ours.map(({ object }) => object),
      made,
    );
  }
  const from = made[5]!.metadata.resourceVersion;
  const resumed = await other.client.watch(`${namespace.configMaps}?watch=true&resourceVersion=${from}`);
  const rest = await resumed.until(({ object }) => object.metadata.name === names.at(-1));
  t.deepEqual(rest.map(({ object }) => object).filter(isOurs), made.slice(6));
  for (const watch of [...watches, resumed]) watch.close();
});

test('a server that is killed and started again has everything, under the same versions', async (t) => {
  const namespace = await freshNamespace(other.client);
  const made = await createConfigMap(one.client, namespace, { name: 'kept' });
  await one.kill9();
  const meanwhile = await createConfigMap(other.client, namespace, { name: 'meanwhile' });
  await one.restart();
  const { json } = await one.client.get(namespace.configMaps);
  const kept = json.items?.filter(({ metadata }) => !metadata.name?.endsWith('root-ca.crt')) ?? [];
  t.deepEqual(kept.map(versionOf), [made, meanwhile].map(versionOf));
  const old = await one.client.watch(`${namespace.configMaps}?watch=true&resourceVersion=1`);
  const [gone] = await old.until(({ type }) => type === 'ERROR');
  t.like(gone?.object, { code: 410 });
});

test('services that are made at two servers at once get addresses and node ports of their own', async (t) => {
  const namespace = await freshNamespace(one.client);
  const path = `${namespace.core}/services`;
  const make = async ({ client }: ServerProcess, name: string): Promise<ApiObject> => {
    const spec = { type: 'NodePort', ports: [{ port: 80 }], selector: { app: name } };
    const { status, text, json } = await client.request('POST', path, { body: { metadata: { name }, spec } });
    t.is(status, 201, text);
    return json;
  };
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, index) => make(index % 2 === 0 ? one : other, `s-${index}`)),
  );
  const specs = made.map(({ spec }) => spec as { clusterIP: string; ports: readonly { nodePort: number }[] });
  t.is(new Set(specs.map(({ clusterIP }) => clusterIP)).size, made.length);
  t.is(new Set(specs.map(({ ports }) => ports[0]!.nodePort)).size, made.length);
  const [wanted] = specs;
  const taken = { type: 'NodePort', clusterIP: wanted!.clusterIP, ports: [{ port: 80 }] };
  const same = await other.client.request('POST', path, { body: { metadata: { name: 'taken' }, spec: taken } });
  t.is(same.status, 422, same.text);
  // Freed through one server, it can be had at the other.
  t.is((await one.client.request('DELETE', `${path}/s-0`)).status, 200);
  const again = await other.client.request('POST', path, { body: { metadata: { name: 'again' }, spec: taken } });
  t.is(again.status, 201, again.text);
});

test('a server with a key of its own for service accounts says that others need the same', async (t) => {
  t.regex(
    one.stderr,
    /warning: the key of service accounts is this data directory's own: .*--service-account-key-file/,
  );
});

test('kubectl writes through one server and reads through the other', async (t) => {
  const namespace = await freshNamespace(one.client);
  const kubectl = async (server: ServerProcess, ...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('kubectl', [
      '--kubeconfig',
      server.kubeconfig,
      '-n',
      namespace.name,
      ...args,
    ]);
    return stdout;
  };
  await kubectl(one, 'create', 'configmap', 'by-kubectl', '--from-literal=a=b');
  t.is(await kubectl(other, 'get', 'configmap', 'by-kubectl', '-o', 'jsonpath={.data.a}'), 'b');
  await kubectl(other, 'label', 'configmap', 'by-kubectl', 'seen=yes');
  t.regex(await kubectl(one, 'get', 'configmaps', '-l', 'seen=yes', '-o', 'name'), /configmap\/by-kubectl/);
});

test('while no member answers cached reads go on and writes wait; nothing acknowledged is lost with the member', async (t) => {
  const namespace = await freshNamespace(one.client);
  const made = await createConfigMap(one.client, namespace, { name: 'before' });
  const path = `${namespace.configMaps}/before`;
  const issued = await one.client.request('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
    body: { spec: {} },
  });
  t.is(issued.status, 201, issued.text);
  const { token } = issued.json.status as { token: string };
  await member.kill9();
  t.is((await one.client.get(`${path}?resourceVersion=0`)).status, 200);
  const waiting = one.client.request('POST', namespace.configMaps, { body: configMap({ name: 'during' }) });
  t.is((await other.client.get('/readyz')).status, 500);
  const asked = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
  const review = '/apis/authorization.orch.io/v1/selfsubjectaccessreviews';
  t.is((await other.client.request('POST', review, { body: asked })).status, 201, 'questions are answered');
  t.is((await one.client.get('/api', { token })).status, 200, 'a token that nobody came with before is let in');
  member.go();
  t.is((await waiting).status, 201);
  await eventually(
    () => other.client.get(path),
    ({ status }) => status === 200,
  );
  t.is(versionOf((await other.client.get(path)).json), versionOf(made));
  t.is((await other.client.get(`${namespace.configMaps}/during`)).status, 200);
  await eventually(
    () => other.client.get('/readyz'),
    ({ status }) => status === 200,
  );
});

test('one server runs the controllers and schedules; when it is gone another does', async (t) => {
  const hasAccount = async (client: ServerProcess['client']): Promise<void> => {
    await namespaceForPods(client);
  };
  const holderOf = async (lease: string): Promise<string> => {
    const path = `/apis/coordination.orch.io/v1/namespaces/orch-system/leases/${lease}`;
    const { json } = await other.client.get(path);
    return (json.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity ?? '';
  };
  await hasAccount(one.client);
  for (const lease of ['orch-controller-manager', 'orch-scheduler'])
    t.truthy(
      await eventually(
        () => holderOf(lease),
        (holder) => holder !== '',
      ),
    );
  await one.kill9();
  await hasAccount(other.client);
  await other.stop();
  await one.restart();
  await other.restart();
  await hasAccount(one.client);
});

/** Watches from a version, again and again where a watch ends or is refused, until it hears that the version is too old. */
async function toldToBeginAnew(client: ServerProcess['client'], path: string, version = ''): Promise<void> {
  for (;;) {
    const watch = await client.watch(`${path}?watch=1&resourceVersion=${version}`).catch(() => undefined);
    if (watch?.status !== 200) {
      watch?.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
      if (event.type !== 'ERROR') continue;
      watch.close();
      if (event.object.code === 410) return;
    }
  }
}

test('an etcd that was restored from a backup is said to be one, and its state is shown', async (t) => {
  const namespace = await freshNamespace(one.client);
  await createConfigMap(one.client, namespace, { name: 'kept' });
  await EtcdMember.backUp([member]);
  for (let index = 0; index < 10; index++) {
    await eventually(
      () => one.client.request('POST', namespace.configMaps, { body: configMap({ name: `lost-${index}` }) }),
      ({ status }) => status === 201,
    );
  }
  t.is((await other.client.get(`${namespace.configMaps}/lost-9`)).status, 200);
  const { metadata } = (await one.client.get(namespace.configMaps)).json;
  const watches = [one, other].map(({ client }) =>
    toldToBeginAnew(client, namespace.configMaps, metadata.resourceVersion),
  );
  await EtcdMember.restore([member]);
  for (const { client } of [one, other]) {
    await eventually(
      () => client.get(`${namespace.configMaps}/lost-9`).catch(() => undefined),
      (answer) => answer?.status === 404,
    );
    t.is((await client.get(`${namespace.configMaps}/kept`)).status, 200);
    const list = await client.get(`${namespace.configMaps}?resourceVersion=0`);
    t.false(list.text.includes('lost-'));
  }
  for (const { stdout, stderr } of [one, other])
    t.regex(stdout + stderr, /etcd went back|of another history|changed by somebody else/);
  await Promise.all(watches);
  await createConfigMap(other.client, namespace, { name: 'after' });
  t.is((await one.client.get(`${namespace.configMaps}/after`)).status, 200);
});

test('a server whose addresses are of two etcds serves the objects of one, and nothing where that one is away', async (t) => {
  const [first, second] = [await EtcdMember.start(), await EtcdMember.start()];
  for (const started of [first, second]) t.teardown(() => started.dispose());
  const server = await startServer(t, { args: ['--store-servers', `${first.server},${second.server}`] });
  const namespace = await freshNamespace(server.client);
  await createConfigMap(server.client, namespace, { name: 'kept' });
  await first.kill9();
  await eventually(
    async () => server.stdout + server.stderr,
    (said) => said.includes('is not the one that this server has served'),
  );
  const missing = `${namespace.configMaps}/kept`;
  t.not((await server.client.get(missing).catch(() => undefined))?.status, 404);
  first.go();
  await eventually(
    () => server.client.get(missing).catch(() => undefined),
    (answer) => {
      t.not(answer?.status, 404);
      return answer?.status === 200;
    },
  );
  await eventually(
    () => server.client.request('POST', namespace.configMaps, { body: configMap({ name: 'after' }) }),
    ({ status }) => status === 201,
  );
});

test('a store that wants certificates is shown them, and one of another dialect or beside another store is refused', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-tls-'));
  const authority = testAuthority(folder);
  const served = authority.issue('etcd', ['127.0.0.1']);
  const shown = authority.issue('orch', [], 'clientAuth');
  const secure = await EtcdMember.start('https', [
    ...['--cert-file', served.certFile, '--key-file', served.keyFile],
    ...['--client-cert-auth', '--trusted-ca-file', authority.certFile],
  ]);
  t.teardown(async () => {
    await secure.dispose();
    rmSync(folder, { recursive: true });
  });
  const args = ['--store-servers', secure.server, '--store-cafile', authority.certFile, '--placement', 'single'];
  const own = ['--store-certfile', shown.certFile, '--store-keyfile', shown.keyFile];
  const server = await startServer(t, { args: [...args, ...own] });
  await createConfigMap(server.client, await freshNamespace(server.client), { name: 'c' });
  const stranger = await newServer(t, { args: [...args, ...own, '--api-dialect', 'kubernetes'] });
  const refused = await stranger.start();
  t.regex(refused?.stderr ?? '', /was made by a server of dialect orch/);
  const beside = await newServer(t, { args: [...args, ...own] });
  mkdirSync(join(beside.dataDirectory, 'store'));
  t.regex((await beside.start())?.stderr ?? '', /holds a store, which --store-servers would leave aside/);
});

for (const layout of ['own', 'kubernetes'] as const) {
  test(`the files of the certificates for etcd may be replaced while the server runs, authority and all (${layout})`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'etcd-renewed-'));
    const [first, second] = [testAuthority(folder, 'first'), testAuthority(folder, 'second')];
    const issue = (authority: TestAuthority) => ({
      authority,
      served: authority.issue('etcd', ['127.0.0.1']),
      shown: authority.issue('orch', [], 'clientAuth'),
    });
    const [old, renewed] = [issue(first), issue(second)];
    const member = await EtcdMember.start('https', [
      ...['--cert-file', old.served.certFile, '--key-file', old.served.keyFile],
      ...['--client-cert-auth', '--trusted-ca-file', first.certFile],
    ]);
    t.teardown(async () => {
      await member.dispose();
      rmSync(folder, { recursive: true });
    });
    const dialect = layout === 'own' ? [] : ['--api-dialect', 'kubernetes', '--store-layout', layout];
    const args = [
      ...['--store-servers', member.server, '--store-cafile', first.certFile, '--placement', 'single', ...dialect],
      ...['--store-certfile', old.shown.certFile, '--store-keyfile', old.shown.keyFile],
    ];
    const { client } = await startServer(t, { args });
    copyFileSync(second.certFile, first.certFile);
    for (const name of ['served', 'shown'] as const) {
      copyFileSync(renewed[name].certFile, old[name].certFile);
      copyFileSync(renewed[name].keyFile, old[name].keyFile);
    }
    await member.kill9();
    member.go();
    const namespaces = '/api/v1/namespaces?timeout=1s';
    const body = { metadata: { name: 'after' } };
    const answer = await eventually(
      () => client.request('POST', namespaces, { body }),
      ({ status }) => status !== 504,
    );
    t.true([201, 409].includes(answer.status), answer.text);
  });
}
