// Goal: a scheduler in a process of its own does what the one inside does, one at a time of several, and tells about itself only
// who may know. Method: a real server without a scheduler, and real `orch scheduler`s.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { asObject, asText } from '../../api/json/object-fields.ts';
import { HttpsClient } from '../server/https-client.ts';
import { ORCH } from '../server/program.ts';
import { type SchedulerProcess, spawnScheduler } from '../server/scheduler-process.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { testAuthority } from '../server/test-authority.ts';
import { accountIn, eventually, NODES_STAY, POD_SPEC } from './objects.ts';

const PODS = '/api/v1/namespaces/default/pods';
const NO_SCHEDULER = [...NODES_STAY, '--scheduler-name', 'off'];
const NODE_STATUS = { capacity: { cpu: '4', pods: '10' }, allocatable: { cpu: '4', pods: '10' } };
/** So short that a test need not wait long for another to take over, and so long that a busy machine loses no lease. */
const QUICK = [
  '--leader-elect-lease-duration=20s',
  '--leader-elect-renew-deadline=18s',
  '--leader-elect-retry-period=500ms',
];

async function makeNode({ client }: ServerProcess, name: string): Promise<void> {
  await client.request('POST', '/api/v1/nodes', { body: { metadata: { name }, status: NODE_STATUS } });
}

async function makePod({ client }: ServerProcess, name: string, spec: object = {}): Promise<void> {
  await accountIn(client);
  const { status } = await client.request('POST', PODS, {
    body: { metadata: { name }, spec: { ...POD_SPEC, ...spec } },
  });
  if (status !== 201) throw new Error(`the pod was answered ${status}`);
}

const nodeOf = async ({ client }: ServerProcess, name: string): Promise<unknown> =>
  ((await client.get(`${PODS}/${name}`)).json.spec as { nodeName?: string }).nodeName;

const placed = (server: ServerProcess, name: string) =>
  eventually(
    () => nodeOf(server, name),
    (node) => node !== undefined,
  );

const leading = (scheduler: SchedulerProcess) =>
  eventually(
    async () => scheduler.leads,
    (leads) => leads,
  );

/** The kinds of the objects that events say of that somebody leads by them. */
async function leadersTold({ client }: ServerProcess): Promise<readonly string[]> {
  const { json } = await client.get('/api/v1/namespaces/orch-system/events');
  return (json.items ?? [])
    .map(asObject)
    .filter(({ reason, message }) => reason === 'LeaderElection' && / became leader$/.test(asText(message)))
    .map(({ involvedObject }) => asObject(involvedObject))
    .filter(({ name, uid }) => name === 'orch-scheduler' && asText(uid) !== '')
    .map(({ kind }) => asText(kind))
    .sort();
}

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-scheduler-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

for (const encoding of ['application/vnd.orch.protobuf', 'application/json']) {
  test(`pods are bound, told of and kept waiting over HTTPS, with objects sent as ${encoding}`, async (t) => {
    const server = await startServer(t, { args: NO_SCHEDULER });
    const args = ['--orchconfig', server.kubeconfig, '--orch-api-content-type', encoding];
    const scheduler = await spawnScheduler(t, args);
    await makePod(server, 'before');
    await makePod(server, 'large', {
      containers: [{ ...POD_SPEC.containers[0], resources: { requests: { cpu: '99' } } }],
    });
    await makeNode(server, 'n1');
    t.is(await placed(server, 'before'), 'n1');
    await makePod(server, 'after');
    t.is(await placed(server, 'after'), 'n1');
    const { status } = await eventually(
      async () => (await server.client.get(`${PODS}/large`)).json,
      (pod) => JSON.stringify(pod.status).includes('Unschedulable'),
    );
    t.regex(JSON.stringify(status), /Insufficient cpu/);
    const { items: events = [] } = await eventually(
      async () => (await server.client.get('/api/v1/namespaces/default/events')).json,
      ({ items = [] }) =>
        ['FailedScheduling', 'Scheduled'].every((wanted) => items.some(({ reason }) => reason === wanted)),
    );
    const told = events.find(({ reason }) => reason === 'Scheduled') as unknown as Readonly<Record<string, unknown>>;
    t.like(told, {
      type: 'Normal',
      action: 'Binding',
      reportingComponent: 'default-scheduler',
      reportingInstance: `default-scheduler-${hostname()}`,
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
    });
    t.regex(`${told.message}`, /^Successfully assigned default\/(?:before|after) to n1$/);
    t.regex(`${told.eventTime}`, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    // An event that is told again is patched, which the scheduler does when it has heard of the answer before.
    const { text: counted } = await eventually(
      () => scheduler.page('/metrics'),
      ({ text }) =>
        /scheduler_schedule_attempts_total\{[^}]*result="scheduled"[^}]*\} 2/.test(text) &&
        /rest_client_request_duration_seconds_count\{verb="PATCH"/.test(text),
    );
    const { text: requested } = await scheduler.page('/metrics/resources');
    t.regex(
      requested,
      /^orch_pod_resource_request\{namespace="default",pod="large",node="",.*,resource="cpu",unit="cores"\} 99$/m,
    );
    t.regex(counted, /orch_build_info\{[^}]*major="1"[^}]*\} 1/);
    t.regex(counted, /apiserver_tls_handshake_errors_total 0/);
    t.regex(counted, /rest_client_requests_total\{code="201",host="127.0.0.1:\d+",method="POST"\} \d/);
    t.regex(counted, /rest_client_request_duration_seconds_count\{verb="PATCH",url="https:[^"]*%7Bprefix%7D"\} \d/);
    t.regex(counted, /rest_client_rate_limiter_duration_seconds_count\{verb="POST",url="https:[^"]*%7Bprefix%7D"\} \d/);
    t.regex(
      counted,
      /scheduler_framework_extension_point_duration_seconds_count\{[^}]*"Bind",status="Success"[^}]*\} 2/,
    );
    // One cycle in ten is timed, and the first may have been one without nodes, in which no plug-in is asked.
    let more = 0;
    await eventually(
      async () => {
        await makePod(server, `more-${more++}`);
        return scheduler.page('/metrics');
      },
      ({ text }) =>
        /scheduler_plugin_execution_duration_seconds_count\{plugin="NodeResourcesFit"[^}]*\} [1-9]/.test(text),
    );
    t.is(await scheduler.end('SIGTERM'), 0);
  });
}

test('a scheduler that loses its watches goes on when the server is back', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  const scheduler = await spawnScheduler(t, ['--orchconfig', server.kubeconfig, '--leader-elect=false']);
  await makeNode(server, 'n1');
  await makePod(server, 'a');
  await placed(server, 'a');
  await server.kill9();
  await server.restart();
  await makePod(server, 'b');
  t.is(await placed(server, 'b'), 'n1');
  t.is((await scheduler.page('/healthz')).text, 'ok');
  t.is((await scheduler.page('/healthz/leaderElection')).text, 'ok');
  t.is((await scheduler.page('/readyz/ping')).text, 'ok');
});

// The other kinds of lock are in test/unit/scheduler/leader-election.test.ts.
for (const lock of ['leases', 'endpointsleases']) {
  test.serial(
    `of two schedulers one leads, and the other takes over when that is killed, with the lock in ${lock}`,
    async (t) => {
      const server = await startServer(t, { args: NO_SCHEDULER });
      const args = ['--orchconfig', server.kubeconfig, ...QUICK, '--leader-elect-resource-lock', lock];
      const first = await spawnScheduler(t, args);
      await leading(first);
      const second = await spawnScheduler(t, args);
      await eventually(
        async () => second.output,
        (output) => output.includes('a scheduler leads'),
      );
      t.false(second.leads);
      await makeNode(server, 'n1');
      await makePod(server, 'a');
      await placed(server, 'a');
      t.regex((await second.page('/metrics')).text, /leader_election_master_status\{name="orch-scheduler"\} 0/);
      await first.end('SIGKILL');
      await leading(second);
      await makePod(server, 'b');
      t.is(await placed(server, 'b'), 'n1');
      t.regex((await second.page('/metrics')).text, /leader_election_master_status\{name="orch-scheduler"\} 1/);
      const kinds = lock === 'leases' ? ['Lease'] : ['Endpoints', 'Lease'];
      const told = await eventually(
        () => leadersTold(server),
        (events) => events.length >= 2 * kinds.length,
      );
      t.deepEqual(told, [...kinds, ...kinds].sort());
    },
  );
}

test.serial(
  'a leader that is not heard any more ends, and one that is asked to end lets the next lead at once',
  async (t) => {
    const server = await startServer(t, { args: NO_SCHEDULER });
    const names = ['--leader-elect-resource-name=mine', '--leader-elect-resource-namespace=default'];
    const args = ['--orchconfig', server.kubeconfig, ...names];
    const first = await spawnScheduler(t, args);
    await leading(first);
    t.is(await first.end('SIGTERM'), 0);
    const second = await spawnScheduler(t, [...args, ...QUICK]);
    await leading(second);
    const lease = '/apis/coordination.orch.io/v1/namespaces/default/leases/mine';
    t.like((await server.client.get(lease)).json.spec, { leaseTransitions: 1, leaseDurationSeconds: 20 });
    await server.kill9();
    t.is(await second.exited(), 1);
    t.regex(second.output, /does not lead any more/);
  },
);

test('what a scheduler tells of itself is for who may know: by token, certificate and path', async (t) => {
  const folder = folderOf(t);
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, 'secret-of-reader,reader,1\nsecret-of-other,other,2\n');
  const server = await startServer(t, { args: [...NO_SCHEDULER, '--token-auth-file', tokens] });
  const role = { metadata: { name: 'metrics' }, rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] };
  const group = '/apis/rbac.authorization.orch.io/v1';
  await server.client.request('POST', `${group}/clusterroles`, { body: role });
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'metrics' };
  const subjects = ['reader', 'prover'].map((name) => ({ apiGroup: roleRef.apiGroup, kind: 'User', name }));
  const binding = { metadata: { name: 'metrics' }, roleRef, subjects };
  t.is((await server.client.request('POST', `${group}/clusterrolebindings`, { body: binding })).status, 201);
  const authority = testAuthority(folder);
  const { kubeconfig } = server;
  const scheduler = await spawnScheduler(t, [
    ...[
      '--orchconfig',
      kubeconfig,
      '--authentication-kubeconfig',
      kubeconfig,
      '--authorization-orchconfig',
      kubeconfig,
    ],
    ...['--cert-dir', folder, '--client-ca-file', authority.certFile, '--leader-elect=false'],
  ]);
  await eventually(
    async () => scheduler.output,
    (output) => /^ready in/m.test(output),
  );
  const caPem = readFileSync(join(folder, 'apiserver.crt'), 'utf8');
  const url = `https://127.0.0.1:${scheduler.port}`;
  const client = new HttpsClient(url, caPem, '');
  t.teardown(() => client.close());
  const statusOf = async (path: string, token: string): Promise<number> => (await client.get(path, { token })).status;
  t.is(await statusOf('/healthz', ''), 200);
  t.is(await statusOf('/metrics', ''), 403);
  t.is(await statusOf('/metrics', 'nobody-s'), 401);
  t.is(await statusOf('/healthz', 'nobody-s'), 401);
  t.is(await statusOf('/metrics', 'secret-of-other'), 403);
  t.is(await statusOf('/metrics', 'secret-of-reader'), 200);
  t.is(await statusOf('/configz', 'secret-of-reader'), 403);
  t.is(await statusOf('/configz', server.token), 200);
  t.is(await statusOf('/nothing', server.token), 404);
  t.is(await statusOf('/debug/pprof/', 'secret-of-reader'), 403);
  const unslashed = await client.get('/debug/pprof', { token: server.token });
  t.deepEqual([unslashed.status, unslashed.headers.location], [302, '/debug/pprof/']);
  t.regex((await client.get('/debug/pprof/', { token: server.token })).text, /^\/debug\/pprof\/heap$/m);
  const held = await client.get('/debug/pprof/heap?debug=1', { token: server.token });
  t.regex(held.text, /^thread scheduler: used=[1-9]/m);
  const profile = await client.get('/debug/pprof/profile?seconds=1', { token: server.token });
  // What pprof writes is compressed so.
  t.deepEqual([...profile.bytes.subarray(0, 2)], [0x1f, 0x8b]);
  t.is(await statusOf('/debug/pprof/profile?seconds=0', server.token), 400);
  const { json } = await client.get('/metrics', { token: 'secret-of-other' });
  t.is(json.message, 'forbidden: User "other" cannot get path "/metrics"');
  const { certPem: cert, keyPem: key } = authority.issue('prover', [], 'clientAuth');
  const prover = new HttpsClient(url, caPem, '', { cert, key });
  t.teardown(() => prover.close());
  const own = await prover.get('/metrics');
  t.is(own.status, 200);
  for (const what of ['authn', 'authz'])
    t.regex(own.text, new RegExp(`^apiserver_delegated_${what}_request_total\\{code="201"\\} [1-9]`, 'm'));
  t.regex(own.text, /^rest_client_requests_total\{code="201",host="127.0.0.1:\d+",method="POST"\} [1-9]/m);
  t.is((await prover.get('/configz')).status, 403);
});

test('without files for reviews every token is anonymous, and only the paths that always may be are answered', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  const folder = folderOf(t);
  const scheduler = await spawnScheduler(t, [
    ...['--orchconfig', server.kubeconfig, '--cert-dir', folder, '--leader-elect=false'],
    ...['--authorization-always-allow-paths', '/healthz,/conf*', '--authentication-skip-lookup', '--profiling=false'],
  ]);
  await eventually(
    async () => scheduler.output,
    (output) => /^ready in/m.test(output),
  );
  const caPem = readFileSync(join(folder, 'apiserver.crt'), 'utf8');
  const client = new HttpsClient(`https://127.0.0.1:${scheduler.port}`, caPem, server.token);
  t.teardown(() => client.close());
  t.is((await client.get('/healthz')).text, 'ok');
  t.is((await client.get('/livez')).status, 403);
  t.is((await scheduler.page('/debug/pprof/')).status, 404);
  t.is((await client.get('/configz')).status, 200);
  const { status, json } = await client.get('/metrics');
  t.is(status, 403);
  t.is(json.message, 'forbidden: User "system:anonymous" cannot get path "/metrics"');
});

test('the address of the server goes before that of the file, and the older names of the lock hold', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  const file = join(folderOf(t), 'elsewhere.conf');
  writeFileSync(file, readFileSync(server.kubeconfig, 'utf8').replace(server.url, 'https://127.0.0.1:1'));
  const names = ['--lock-object-name=older', '--lock-object-namespace=default'];
  const scheduler = await spawnScheduler(t, ['--orchconfig', file, '--master', server.url, ...names]);
  await leading(scheduler);
  const lease = '/apis/coordination.orch.io/v1/namespaces/default/leases/older';
  t.is((await server.client.get(lease)).status, 200);
});

test('what a scheduler says about a pod is explained node by node', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  await makeNode(server, 'roomy');
  const small = { capacity: { cpu: '1', pods: '10' }, allocatable: { cpu: '1', pods: '10' } };
  const body = { metadata: { name: 'small' }, status: small };
  t.is((await server.client.request('POST', '/api/v1/nodes', { body })).status, 201);
  await makePod(server, 'p', { containers: [{ ...POD_SPEC.containers[0], resources: { requests: { cpu: '2' } } }] });
  const explain = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [ORCH, 'schedule', 'explain', ...args, '--orchconfig', server.kubeconfig]);
  const { stdout } = await explain('default/p');
  t.regex(stdout, /^NODE +TOTAL {2}WHY\nroomy +\d+ {2}\S.*NodeResourcesLeastAllocated \d+\*1/);
  t.regex(stdout, /^small {2,}refused {2}NodeResourcesFit: Insufficient cpu$/m);
  const { stderr } = await t.throwsAsync<Error & { stderr: string }>(explain('missing'));
  t.regex(stderr, /the pod default\/missing cannot be read \(404\)/);
  const nameless = await t.throwsAsync<Error & { stderr: string }>(explain('default/'));
  t.regex(nameless.stderr, /^orch: usage: orch schedule explain/);
  const text = join(folderOf(t), 'text.yaml');
  writeFileSync(text, 'no mapping at all\n');
  const args = [ORCH, 'schedule', 'simulate', text, '--orchconfig', server.kubeconfig];
  const unread = await t.throwsAsync<Error & { stderr: string }>(promisify(execFile)(process.execPath, args));
  t.regex(unread.stderr, /text\.yaml: the kind must be Pod/);
});

test('a pod is explained also where the server does not serve every type in its first version', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  await makeNode(server, 'roomy');
  await makePod(server, 'p');
  // The groups of the other dialect are not served here, so that several versions of a type are tried one after the other.
  const args = [ORCH, 'schedule', 'explain', 'p', '--orchconfig', server.kubeconfig, '--api-dialect', 'kubernetes'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  t.regex(stdout, /^roomy +\d+ {2}\S/m);
});

test('what a scheduler would say about a pod is simulated for a manifest, and nothing is made', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  await makeNode(server, 'roomy');
  const folder = folderOf(t);
  const simulate = (text: string, ...args: readonly string[]) => {
    const path = join(folder, 'pod.yaml');
    writeFileSync(path, text);
    const all = [ORCH, 'schedule', 'simulate', '-f', path, '--orchconfig', server.kubeconfig, ...args];
    return promisify(execFile)(process.execPath, all);
  };
  const manifest = (cpu: string) =>
    [
      'apiVersion: v1',
      'kind: Pod',
      'metadata: {name: thought}',
      `spec: {containers: [{name: c, image: i, resources: {requests: {cpu: ${JSON.stringify(cpu)}}}}]}`,
    ].join('\n');
  t.regex((await simulate(manifest('1'))).stdout, /^roomy +\d+ {2}\S/m);
  t.regex((await simulate(manifest('9'))).stdout, /^roomy +refused {2}NodeResourcesFit: Insufficient cpu$/m);
  t.deepEqual((await server.client.get(PODS)).json.items, []);
  for (const [text, problem] of [
    [manifest('many'), /cannot unmarshal "many"/],
    ['{"kind": "Pod", "apiVersion": "v1", "spec": {}}', /the server would not make the pod: .*containers/],
    ['kind: Node', /the kind must be Pod/],
    ['{', /cannot be read: /],
  ] as const) {
    const { stderr } = await t.throwsAsync<Error & { stderr: string }>(simulate(text));
    t.regex(stderr, problem);
    t.notRegex(stderr, /^ +at /m);
  }
});

test('a certificate that is replaced is served from then on', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  const folder = folderOf(t);
  const [cert, key] = [join(folder, 'serving.crt'), join(folder, 'serving.key')];
  const put = (name: string): string => {
    const authority = testAuthority(folder, name);
    const pair = authority.issue('scheduler', ['127.0.0.1']);
    writeFileSync(cert, pair.certPem);
    writeFileSync(key, pair.keyPem);
    return authority.certPem;
  };
  put('first');
  const pair = ['--tls-cert-file', cert, '--tls-private-key-file', key];
  const scheduler = await spawnScheduler(t, ['--orchconfig', server.kubeconfig, '--leader-elect=false', ...pair]);
  await eventually(
    async () => scheduler.output,
    (output) => /^ready in/m.test(output),
  );
  const client = new HttpsClient(`https://127.0.0.1:${scheduler.port}`, put('second'), '');
  t.teardown(() => client.close());
  const healthy = () =>
    client.get('/healthz').then(
      ({ text }) => text,
      () => '',
    );
  t.is(await eventually(healthy, (text) => text !== ''), 'ok');
});

test('authorities of clients that are replaced are believed from then on, and the others no more', async (t) => {
  const folder = folderOf(t);
  const server = await startServer(t, { args: NO_SCHEDULER });
  const authorityFile = join(folder, 'clients.crt');
  const [first, second] = ['first', 'second'].map((name) => testAuthority(folder, name));
  writeFileSync(authorityFile, first!.certPem);
  const scheduler = await spawnScheduler(t, [
    ...['--orchconfig', server.kubeconfig, '--authentication-orchconfig', server.kubeconfig, '--leader-elect=false'],
    ...['--authorization-orchconfig', server.kubeconfig, '--cert-dir', folder, '--client-ca-file', authorityFile],
  ]);
  await eventually(
    async () => scheduler.output,
    (output) => /^ready in/m.test(output),
  );
  const caPem = readFileSync(join(folder, 'apiserver.crt'), 'utf8');
  const statusFor = async (authority: typeof first): Promise<number> => {
    const { certPem: cert, keyPem: key } = authority!.issue('prover', [], 'clientAuth');
    const client = new HttpsClient(`https://127.0.0.1:${scheduler.port}`, caPem, '', { cert, key });
    try {
      return (await client.get('/healthz')).status;
    } finally {
      client.close();
    }
  };
  t.is(await statusFor(first), 200);
  t.is(await statusFor(second), 401);
  writeFileSync(authorityFile, 'no certificate');
  await eventually(
    async () => scheduler.output,
    (output) => /the authorities that were replaced are not believed/.test(output),
  );
  t.is(await statusFor(first), 200);
  writeFileSync(authorityFile, second!.certPem);
  t.is(
    await eventually(
      () => statusFor(second),
      (status) => status !== 401,
    ),
    200,
  );
  t.is(await statusFor(first), 401);
});

test('a policy comes from a config map, unless the policy file is to be taken', async (t) => {
  const server = await startServer(t, { args: NO_SCHEDULER });
  const folder = folderOf(t);
  const policy = { kind: 'Policy', apiVersion: 'v1', predicates: [{ name: 'HostName' }], priorities: [] };
  const body = { metadata: { name: 'policy' }, data: { 'policy.cfg': JSON.stringify(policy) } };
  t.is((await server.client.request('POST', '/api/v1/namespaces/default/configmaps', { body })).status, 201);
  const file = join(folder, 'policy.json');
  writeFileSync(file, JSON.stringify({ ...policy, predicates: [{ name: 'PodFitsHostPorts' }] }));
  const out = join(folder, 'written.json');
  const filters = async (...args: readonly string[]): Promise<unknown> => {
    const named = ['--policy-configmap=policy', '--policy-configmap-namespace=default'];
    const own = ['--orchconfig', server.kubeconfig, '--write-config-to', out, '--policy-config-file', file];
    const scheduler = await spawnScheduler(t, [...own, ...named, ...args]);
    t.is(await scheduler.exited(), 0, scheduler.output);
    t.is(statSync(out).mode & 0o777, 0o600);
    const { profiles } = JSON.parse(readFileSync(out, 'utf8'));
    return profiles[0].plugins.filter.enabled.map(({ name }: { name: string }) => name);
  };
  t.deepEqual(await filters(), ['NodeUnschedulable', 'NodeName', 'TaintToleration']);
  t.deepEqual(await filters('--use-legacy-policy-config'), ['NodeUnschedulable', 'NodePorts', 'TaintToleration']);
});

const REFUSED: readonly (readonly [title: string, args: readonly string[], message: RegExp])[] = [
  ['no server is named', [], /no API server is named/],
  ['the address of the server is none', ['--master', 'there'], /--master must be an http or https address/],
  ['the connection file is not there', ['--orchconfig', '/nothing/there'], /there cannot be read/],
  [
    'the lookup of the authorities fails and may not',
    ['--master=http://127.0.0.1:1', '--authentication-tolerate-lookup-failure=false'],
    /the authorities of the cluster cannot be looked up/,
  ],
];

for (const [title, args, message] of REFUSED) {
  test(`a scheduler does not start where ${title}`, async (t) => {
    const folder = folderOf(t);
    const file = join(folder, 'nobody.conf');
    writeFileSync(
      file,
      JSON.stringify({
        kind: 'Config',
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'k' } }],
        clusters: [{ name: 'k', cluster: { server: 'http://127.0.0.1:1' } }],
      }),
    );
    const scheduler = await spawnScheduler(t, [...args, '--authentication-orchconfig', file]);
    t.is(await scheduler.exited(), 1);
    t.regex(scheduler.output, message);
  });
}
