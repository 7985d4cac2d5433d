// Addresses and node ports of services on real servers: each goes to one service only, whoever asks at the same time, and
// comes back when the service no longer has it.
import ava, { type ExecutionContext } from 'ava';
import type { Answer, ApiObject, HttpsClient } from '../server/https-client.ts';
import { ServerProcess, startServer } from '../server/server-process.ts';

// One after the other: each starts processes of its own.
const test = ava.serial;
const SERVICES = '/api/v1/namespaces/default/services';

interface Port {
  readonly port: number;
  readonly nodePort?: number;
  readonly name?: string;
  readonly protocol?: string;
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
  readonly healthCheckNodePort?: number;
  readonly externalTrafficPolicy?: string;
  readonly ports?: readonly Port[];
  readonly [member: string]: unknown;
}

const specOf = ({ json }: Answer): ServiceSpec => (json.spec ?? {}) as ServiceSpec;

function create(client: HttpsClient, name: string, spec: ServiceSpec, query = ''): Promise<Answer> {
  return client.request('POST', `${SERVICES}${query}`, {
    body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } },
  });
}

async function replace(client: HttpsClient, name: string, change: (spec: ServiceSpec) => ServiceSpec): Promise<Answer> {
  const { json } = await client.get(`${SERVICES}/${name}`);
  return client.request('PUT', `${SERVICES}/${name}`, {
    body: { ...json, spec: change((json.spec ?? {}) as ServiceSpec) },
  });
}

function assertRefused(t: ExecutionContext, answer: Answer, field: string, message: RegExp): void {
  t.is(answer.status, 422);
  t.deepEqual(
    (answer.json.details?.causes ?? []).map((cause) => cause.field),
    [field],
  );
  t.regex(answer.json.message ?? '', message);
}

/** The control plane's own service is written while the server is up already. */
async function ownService(client: HttpsClient): Promise<ApiObject> {
  for (;;) {
    const answer = await client.get(`${SERVICES}/orch`);
    if (answer.status === 200) return answer.json;
  }
}

test('a range is given out to its last address and no further, under several admission threads', async (t) => {
  const server = await startServer(t, { args: ['--service-cluster-ip-range', '10.9.0.0/28', '--placement', 'wide'] });
  const { client } = server;
  t.is((await ownService(client)).spec?.clusterIP, '10.9.0.1');
  const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => create(client, `s${index}`, {})));
  const made = answers.filter(({ status }) => status === 201);
  const addresses = made.map((answer) => specOf(answer).clusterIP);
  t.is(new Set(addresses).size, made.length);
  t.false(addresses.includes('10.9.0.1'));
  const rest = answers.filter(({ status }) => status !== 201);
  for (const { status, json } of rest) {
    t.is(status, 500);
    t.is(json.message, 'Internal error occurred: failed to allocate a serviceIP: range is full');
  }
  // A race may refuse one although an address is left; asked again, every address goes out.
  for (let left = 13 - made.length; left > 0; left--) t.is((await create(client, `more${left}`, {})).status, 201);
  t.is((await create(client, 'last', {})).status, 500);
  t.is((await client.request('DELETE', `${SERVICES}/${made[0]!.json.metadata.name}`)).status, 200);
  t.is(specOf(await create(client, 'again', {})).clusterIP, addresses[0]);
});

test('services that ask for one address or port at once: one has it', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'wide'] });
  const spec = { type: 'NodePort', clusterIP: '10.0.0.50', ports: [{ port: 80, nodePort: 31_000 }] };
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => create(client, `s${index}`, spec)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, ...new Array<number>(7).fill(422)]);
});

async function refusals(t: ExecutionContext, { client }: ServerProcess): Promise<void> {
  await ownService(client);
  t.is((await create(client, 'fixed', { clusterIP: '10.0.0.20' })).status, 201);
  assertRefused(
    t,
    await create(client, 'a', { clusterIP: '10.0.0.20' }),
    'spec.clusterIPs',
    /provided IP is already allocated/,
  );
  assertRefused(
    t,
    await create(client, 'a', { clusterIP: '10.0.0.1' }),
    'spec.clusterIPs',
    /provided IP is already allocated/,
  );
  assertRefused(
    t,
    await create(client, 'a', { clusterIP: '10.0.1.1' }),
    'spec.clusterIPs',
    /provided IP is not in the valid range. The range of valid IPs is 10.0.0.0\/24/,
  );
  for (const end of ['10.0.0.0', '10.0.0.255']) {
    assertRefused(t, await create(client, 'a', { clusterIP: end }), 'spec.clusterIPs', /not in the valid range/);
  }
  const port = (nodePort: number): ServiceSpec => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });
  t.is((await create(client, 'port', port(30_001))).status, 201);
  assertRefused(
    t,
    await create(client, 'b', port(30_001)),
    'spec.ports[0].nodePort',
    /provided port is already allocated/,
  );
  assertRefused(
    t,
    await create(client, 'b', port(80)),
    'spec.ports[0].nodePort',
    /provided port is not in the valid range. The range of valid ports is 30000-32767/,
  );
  assertRefused(
    t,
    await create(client, 'b', port(30_001), '?dryRun=All'),
    'spec.ports[0].nodePort',
    /already allocated/,
  );
  assertRefused(
    t,
    await create(client, 'c', { ipFamilyPolicy: 'RequireDualStack' }),
    'spec.ipFamilyPolicy',
    /Cluster is not configured for dual stack services/,
  );
  assertRefused(t, await create(client, 'c', { ipFamilies: ['IPv6'] }), 'spec.ipFamilies[0]', /not configured/);
}

async function fields(t: ExecutionContext, { client }: ServerProcess): Promise<void> {
  const plain = specOf(await create(client, 'plain', {}));
  t.deepEqual(plain.clusterIPs, [plain.clusterIP]);
  t.deepEqual(plain.ipFamilies, ['IPv4']);
  t.is(plain.ipFamilyPolicy, 'SingleStack');
  const headless = specOf(await create(client, 'headless', { clusterIP: 'None', selector: { a: 'b' } }));
  t.deepEqual(headless.clusterIPs, ['None']);
  const external = specOf(await create(client, 'external', { type: 'ExternalName', externalName: 'example.com' }));
  t.is(external.clusterIP, undefined);
  t.is(external.ipFamilies, undefined);
  const dns = specOf(
    await create(client, 'dns', {
      type: 'NodePort',
      ports: [
        { name: 'udp', port: 53, protocol: 'UDP' },
        { name: 'tcp', port: 53, protocol: 'TCP' },
        { name: 'metrics', port: 9153 },
      ],
    }),
  );
  const [udp, tcp, metrics] = dns.ports!.map(({ nodePort = 0 }) => nodePort);
  t.is(udp, tcp);
  t.not(udp, metrics);
  t.true(metrics! >= 30_000 && metrics! <= 32_767);
  const balanced = specOf(await create(client, 'balanced', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }));
  t.true(balanced.healthCheckNodePort! >= 30_000);
  t.not(balanced.healthCheckNodePort, balanced.ports?.[0]?.nodePort);
  const dry = await create(client, 'dry', { type: 'NodePort' }, '?dryRun=All');
  t.is(dry.status, 201);
  t.regex(specOf(dry).clusterIP ?? '', /^10\.0\.0\.\d+$/);
  t.is((await client.get(`${SERVICES}/dry`)).status, 404);
}

async function changes(t: ExecutionContext, { client }: ServerProcess): Promise<void> {
  const nodePort = await freePort(client);
  const before = specOf(await create(client, 'changing', { type: 'NodePort', ports: [{ port: 80, nodePort }] }));
  const kept = specOf(
    await replace(client, 'changing', ({ clusterIP: _, clusterIPs: __, ports: ___, ...spec }) => ({
      ...spec,
      ports: [{ port: 80 }],
    })),
  );
  t.is(kept.clusterIP, before.clusterIP);
  t.is(kept.ports?.[0]?.nodePort, nodePort);
  const inside = await replace(client, 'changing', (spec) => ({ ...spec, type: 'ClusterIP' }));
  t.is(inside.status, 200);
  t.is(specOf(inside).ports?.[0]?.nodePort, undefined);
  t.is((await create(client, 'next', { type: 'NodePort', ports: [{ port: 80, nodePort }] })).status, 201);
  const refused = await replace(client, 'changing', (spec) => ({
    ...spec,
    clusterIP: '10.0.0.77',
    clusterIPs: ['10.0.0.77'],
  }));
  assertRefused(t, refused, 'spec.clusterIPs[0]', /may not change once set/);
  const named = await replace(client, 'changing', (spec) => ({
    ...spec,
    type: 'ExternalName',
    externalName: 'example.com',
  }));
  t.is(named.status, 200);
  t.is(specOf(named).clusterIP, undefined);
  t.is((await create(client, 'heir', { clusterIP: before.clusterIP! })).status, 201);
  const back = await replace(client, 'changing', (spec) => ({ ...spec, type: 'ClusterIP' }));
  t.is(back.status, 200);
  t.truthy(specOf(back).clusterIP);
  t.not(specOf(back).clusterIP, before.clusterIP);
}

/** Answers the address that a service has in the end. */
async function releases(t: ExecutionContext, { client }: ServerProcess): Promise<string> {
  const address = await freeAddress(client);
  const labelled = {
    metadata: { name: 'held', finalizers: ['example.com/hold'] },
    spec: { clusterIP: address, ports: [{ port: 80 }] },
  };
  t.is((await client.request('POST', SERVICES, { body: labelled })).status, 201);
  await client.request('DELETE', `${SERVICES}/held`);
  assertRefused(t, await create(client, 'early', { clusterIP: address }), 'spec.clusterIPs', /already allocated/);
  const { json } = await client.get(`${SERVICES}/held`);
  const freed = await client.request('PUT', `${SERVICES}/held`, {
    body: { ...json, metadata: { ...json.metadata, finalizers: [] } },
  });
  t.is(freed.status, 200);
  t.is((await create(client, 'late', { clusterIP: address })).status, 201);
  t.is((await client.request('DELETE', `${SERVICES}/late`)).status, 200);
  const taken = { type: 'NodePort', ports: [{ port: 80, nodePort: await freePort(client) }] };
  t.is((await create(client, 'owner', taken)).status, 201);
  const thief = {
    metadata: { name: 'thief', finalizers: ['example.com/hold'] },
    spec: { ...taken, ports: [{ port: 80 }] },
  };
  t.is((await client.request('POST', SERVICES, { body: thief })).status, 201);
  await client.request('DELETE', `${SERVICES}/thief`);
  const last = (await client.get(`${SERVICES}/thief`)).json;
  const parting = { ...last, metadata: { ...last.metadata, finalizers: [] }, spec: { ...last.spec, ...taken } };
  await client.request('PUT', `${SERVICES}/thief`, { body: parting });
  t.is((await client.get(`${SERVICES}/thief`)).status, 404);
  assertRefused(t, await create(client, 'third', taken), 'spec.ports[0].nodePort', /already allocated/);
  const remembered = await freeAddress(client);
  t.is((await create(client, 'one', { clusterIP: remembered })).status, 201);
  return remembered;
}

async function specsOf(client: HttpsClient): Promise<readonly ServiceSpec[]> {
  const { items = [] } = (await client.get(SERVICES)).json as { items?: readonly { spec?: ServiceSpec }[] };
  return items.map(({ spec = {} }) => spec);
}

/** One that none of the services so far has drawn. */
async function freeAddress(client: HttpsClient): Promise<string> {
  const taken = new Set((await specsOf(client)).map(({ clusterIP }) => clusterIP));
  for (let last = 90; ; last++) if (!taken.has(`10.0.0.${last}`)) return `10.0.0.${last}`;
}

/** A node port that none of the services so far has drawn. */
async function freePort(client: HttpsClient): Promise<number> {
  const taken = new Set(
    (await specsOf(client)).flatMap(({ healthCheckNodePort, ports = [] }) => [
      healthCheckNodePort,
      ...ports.map(({ nodePort }) => nodePort),
    ]),
  );
  for (let port = 30_500; ; port++) if (!taken.has(port)) return port;
}

test('addresses and ports are chosen, kept, refused and given back, and a restart remembers them', async (t) => {
  const server = await startServer(t);
  await refusals(t, server);
  await fields(t, server);
  await changes(t, server);
  const address = await releases(t, server);
  await server.stop();
  await server.restart();
  assertRefused(
    t,
    await create(server.client, 'after', { clusterIP: address }),
    'spec.clusterIPs',
    /provided IP is already allocated/,
  );
  for (const path of ['/apis/internal', '/apis/internal/v1/clusteraddresses', '/apis/internal/v1/nodeports']) {
    t.is((await server.client.get(path)).status, 404);
  }
});

test('services from outside of the range, or of a family that is gone, stay as they are', async (t) => {
  const ranges = (text: string): string[] => ['--service-cluster-ip-range', text];
  const before = await startServer(t, { args: ranges('10.0.0.0/24,fd00:10::/112') });
  const spec = specOf(await create(before.client, 'old', { ipFamilyPolicy: 'RequireDualStack', type: 'NodePort' }));
  await before.stop();
  const after = new ServerProcess(before.dataDirectory, before.port, {
    args: [...ranges('10.3.0.0/24'), '--service-node-port-range', '20000-20010'],
  });
  t.teardown(() => after.dispose());
  t.is(await after.start(), undefined);
  const changed = await replace(after.client, 'old', (old) => ({ ...old, selector: { a: 'b' } }));
  t.is(changed.status, 200);
  t.deepEqual(specOf(changed).clusterIPs, spec.clusterIPs);
  t.deepEqual(specOf(changed).ports?.[0]?.nodePort, spec.ports?.[0]?.nodePort);
  t.is((await after.client.request('DELETE', `${SERVICES}/old`)).status, 200);
  t.regex(specOf(await create(after.client, 'new', {})).clusterIP ?? '', /^10\.3\.0\./);
});

test('with two ranges a service has an address of each family it wants, and gives up the second with it', async (t) => {
  const server = await startServer(t, { args: ['--service-cluster-ip-range', '10.0.0.0/24,fd00:10::/112'] });
  const { client } = server;
  const both = specOf(await create(client, 'both', { ipFamilyPolicy: 'PreferDualStack' }));
  t.deepEqual(both.ipFamilies, ['IPv4', 'IPv6']);
  t.regex(both.clusterIPs?.[1] ?? '', /^fd00:10::/);
  const second = both.clusterIPs![1]!;
  const turned = specOf(
    await create(client, 'turned', { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' }),
  );
  t.regex(turned.clusterIP ?? '', /^fd00:10::/);
  const single = await replace(client, 'both', (spec) => ({ ...spec, ipFamilyPolicy: 'SingleStack' }));
  t.deepEqual(specOf(single).clusterIPs, [both.clusterIP]);
  t.deepEqual(specOf(single).ipFamilies, ['IPv4']);
  const heir = specOf(await create(client, 'heir', { clusterIP: second }));
  t.deepEqual(heir.ipFamilies, ['IPv6']);
  const upgraded = specOf(await replace(client, 'both', (spec) => ({ ...spec, ipFamilyPolicy: 'RequireDualStack' })));
  t.is(upgraded.clusterIPs?.length, 2);
  t.is(upgraded.clusterIP, both.clusterIP);
});
