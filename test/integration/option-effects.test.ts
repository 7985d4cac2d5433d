// What options do that no other test looks at on a running server, a test an option, named after it. Two servers carry them:
// `one` and `two` have each option otherwise, so that each shows what the other would be without. What keeps the machine busy comes
// first and alone (`serial`): beside it the handshakes of the others would take longer than the servers wait for one.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { request as startRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { filesHolding } from '../server/data-folder.ts';
import { agentPair, startFakeAgent } from '../server/fake-agent.ts';
import type { Answer } from '../server/https-client.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { newServer, type Scope, ServerProcess, startServer } from '../server/server-process.ts';
import { accountIn, eventually, POD_SPEC } from './objects.ts';

const CONTROL_PLANE = '/api/v1/namespaces/default';
const JANE = { token: 'jane-token' };

const undo: (() => void | Promise<void>)[] = [];
const scope: Scope = { teardown: (step) => undo.push(step) };
let one!: ServerProcess;
let two!: ServerProcess;

const metricsOf = async ({ client }: ServerProcess): Promise<MetricsText> =>
  new MetricsText((await client.get('/metrics')).text);

test.before(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-effects-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { certPem, keyPem } = await agentPair('operator', 'serverAuth');
  const agent = await startFakeAgent(scope, { handler: (_request, response) => response.end('the agent') });
  const policy = '{"apiVersion":"abac.authorization.orch.io/v1beta1","kind":"Policy","spec":{"user":"jane",';
  const tokens = ['--token-auth-file', file('tokens.csv', 'jane-token,jane,1\n')];
  [one, two] = await Promise.all([
    startServer(scope, {
      args: [
        ...['--advertise-address', '192.0.2.9', '--external-hostname', 'cp.example.test', '--min-request-timeout', '1'],
        ...['--event-ttl', '1s', '--allow-privileged', '--anonymous-auth', '--orch-service-node-port', '31000'],
        ...['--logging-format', 'json', '-v', '4', '--storage-media-type', 'application/json'],
        ...[
          '--tls-min-version',
          'VersionTLS13',
          '--storage-backend',
          'etcd3',
          '--store-db-metric-poll-interval',
          '50ms',
        ],
        ...['--orchlet-port', String(agent.port), '--orchlet-preferred-address-types', 'InternalIP,Hostname'],
        ...['--orchlet-permit-loopback', '--placement', 'single', '--goaway-chance', '0.02'],
        ...['--disabled-metrics', 'orch_ingress_connections,process_open_fds', '--emulated-release', '1.23'],
        ...['--allow-metric-labels', 'apiserver_request_total,verb=LIST,WATCH'],
        ...['--show-hidden-metrics-for-version', '1.22'],
      ],
    }),
    startServer(scope, {
      args: [
        ...['--tls-cert-file', file('tls.crt', certPem), '--tls-private-key-file', file('tls.key', keyPem)],
        ...['--authorization-mode', 'ABAC', ...tokens, '--max-requests-inflight', '1', '--request-timeout', '5s'],
        ...['--enable-priority-and-fairness=false', '--emulated-release', '1.23'],
        ...['--authorization-policy-file', file('policy', `${policy}"namespace":"default","resource":"configmaps"}}`)],
        ...[
          '--encoding-cache-bytes',
          '0',
          '--endpoint-reconciler-type',
          'none',
          '--store-db-metric-poll-interval',
          '0',
        ],
        ...['--service-account-extend-token-expiration=false', '--orchlet-permit-loopback', '--placement', 'single'],
        ...['--orchlet-port', String(agent.port), '--anonymous-auth=false'],
      ],
    }),
  ]);
});

test.after.always(async () => {
  for (const step of undo) await step();
});

async function created({ client }: ServerProcess, path: string, body: object): Promise<Answer> {
  const answer = await client.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer;
}

/** A connection to the server with the given versions of TLS; undefined when it comes to none. */
async function tlsConnection(
  t: ExecutionContext,
  { port }: ServerProcess,
  more: object,
): Promise<TLSSocket | undefined> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...more });
  t.teardown(() => void socket.destroy());
  return Promise.race([
    once(socket, 'secureConnect').then(() => socket),
    once(socket, 'error').then(() => undefined),
  ]).catch(() => undefined);
}

/** What the control plane's endpoints and service say. */
const addressesOf = async ({ client }: ServerProcess): Promise<string> =>
  JSON.stringify((await client.get(`${CONTROL_PLANE}/endpoints/orch`)).json);

test('--advertise-address is the address of the control plane’s endpoints', async (t) => {
  t.regex(await addressesOf(one), /"ip":"192\.0\.2\.9"/);
});

test('--endpoint-reconciler-type none keeps no endpoints of the control plane', async (t) => {
  t.is((await one.client.get(`${CONTROL_PLANE}/endpoints/orch`)).status, 200);
  t.is((await two.client.get(`${CONTROL_PLANE}/endpoints/orch`)).status, 404);
});

test('--orch-service-node-port makes the control plane’s service one with a node port', async (t) => {
  const specOf = async ({ client }: ServerProcess): Promise<string> =>
    JSON.stringify((await client.get(`${CONTROL_PLANE}/services/orch`)).json.spec);
  t.regex(await specOf(one), /"nodePort":31000.*"type":"NodePort"/);
  t.regex(await specOf(two), /"type":"ClusterIP"/);
});

test('--external-hostname is a name of the certificate that is made', async (t) => {
  const names = (await tlsConnection(t, one, {}))?.getPeerCertificate().subjectaltname;
  t.regex(names ?? '', /DNS:cp\.example\.test/);
});

test('--tls-cert-file and --tls-private-key-file are the pair that is served', async (t) => {
  t.is((await tlsConnection(t, two, {}))?.getPeerCertificate().subject.CN, 'operator');
  t.not((await tlsConnection(t, one, {}))?.getPeerCertificate().subject.CN, 'operator');
});

test('--tls-min-version refuses older ones', async (t) => {
  const older = { maxVersion: 'TLSv1.2' };
  t.is(await tlsConnection(t, one, older), undefined);
  t.is((await tlsConnection(t, two, older))?.getProtocol(), 'TLSv1.2');
  t.is((await tlsConnection(t, one, {}))?.getProtocol(), 'TLSv1.3');
});

test('--min-request-timeout is when watches end, within twice its time', async (t) => {
  const watch = await one.client.watch(`${CONTROL_PLANE}/configmaps?watch=1`);
  t.is(await watch.ended, 'clean');
});

test('--event-ttl is how long events are kept', async (t) => {
  const body = { metadata: { name: 'e', namespace: 'default' }, involvedObject: { namespace: 'default' } };
  for (const server of [one, two]) await created(server, `${CONTROL_PLANE}/events`, body);
  await eventually(
    () => one.client.get(`${CONTROL_PLANE}/events/e`),
    ({ status }) => status === 404,
  );
  t.is((await two.client.get(`${CONTROL_PLANE}/events/e`)).status, 200);
});

test('an event ends with its time, whatever webhooks say of deletions', async (t) => {
  const matchLabels = { kept: 'yes' };
  const rule = { operations: ['DELETE'], apiGroups: [''], apiVersions: ['*'], resources: ['events', 'configmaps'] };
  const webhook = {
    name: 'keep.example.org',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [rule],
    objectSelector: { matchLabels },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const configurations = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations';
  await created(one, configurations, { metadata: { name: 'keep' }, webhooks: [webhook] });
  await created(one, `${CONTROL_PLANE}/configmaps`, { metadata: { name: 'kept', labels: matchLabels } });
  t.is((await one.client.request('DELETE', `${CONTROL_PLANE}/configmaps/kept`)).status, 500);
  const metadata = { name: 'kept', namespace: 'default', labels: matchLabels };
  await created(one, `${CONTROL_PLANE}/events`, { metadata, involvedObject: { namespace: 'default' } });
  await eventually(
    () => one.client.get(`${CONTROL_PLANE}/events/kept`),
    ({ status }) => status === 404,
  );
});

test('--allow-privileged lets pods be privileged', async (t) => {
  const containers = [{ ...POD_SPEC.containers[0], securityContext: { privileged: true } }];
  const body = { metadata: { name: 'privileged' }, spec: { containers, schedulerName: 'nobody' } };
  for (const { client } of [one, two]) await accountIn(client);
  const codes = [one, two].map(
    async ({ client }) => (await client.request('POST', `${CONTROL_PLANE}/pods`, { body })).status,
  );
  t.deepEqual(await Promise.all(codes), [201, 422]);
});

test('--anonymous-auth lets in who has no credentials', async (t) => {
  const codes = [one, two].map(async ({ client }) => (await client.get('/version', { token: '' })).status);
  t.deepEqual(await Promise.all(codes), [200, 401]);
});

test('--logging-format json makes an object of each line of the log, and -v says how many there are', async (t) => {
  await one.client.get('/api/v1/nodes');
  const lines = ({ stderr }: ServerProcess): string[] =>
    stderr.split('\n').filter((line) => line !== '' && !line.startsWith('warning: '));
  await eventually(
    async () => lines(one),
    (all) => all.some((line) => line.includes('/api/v1/nodes')),
  );
  // The last line may be half there.
  for (const line of lines(one).slice(0, -1)) t.notThrows(() => JSON.parse(line), line);
  // A request that took long is worth a line at any level.
  const ofRequests = (line: string): boolean => line.includes('/api/v1/') && !line.includes('Trace[');
  t.false(lines(two).some((line) => line.startsWith('{') || ofRequests(line)));
});

test('--storage-media-type is the form of values in the store', async (t) => {
  // Several times: where a block of the log ends, a word is cut in two.
  const data = { words: 'findable '.repeat(8) };
  for (const server of [one, two]) {
    await created(server, `${CONTROL_PLANE}/configmaps`, { metadata: { name: 'stored' }, data });
    t.true(filesHolding(join(server.dataDirectory, 'store'), 'findable').length > 0);
  }
  const enveloped = (server: ServerProcess): number =>
    filesHolding(join(server.dataDirectory, 'store'), 'application/json').length;
  t.is(enveloped(one), 0);
  t.true(enveloped(two) > 0);
});

test('--storage-backend takes either name of the only store', async (t) => {
  t.is((await one.client.get('/readyz')).status, 200);
});

test('--store-db-metric-poll-interval is how often the size of the store is measured, 0 for never', async (t) => {
  const size = async ({ client }: ServerProcess): Promise<number> =>
    Number(/^apiserver_storage_db_total_size_in_bytes\S* (\d+)/m.exec((await client.get('/metrics')).text)?.[1] ?? 0);
  await eventually(
    () => size(one),
    (bytes) => bytes > 0,
  );
  t.is(await size(two), 0);
});

test('--encoding-cache-bytes bounds the Protobuf encodings that are kept', async (t) => {
  const kept = async ({ client }: ServerProcess): Promise<number> => {
    const headers = { accept: 'application/vnd.orch.protobuf' };
    t.is((await client.get('/api/v1/namespaces', { headers })).status, 200);
    return Number(/^orch_kept_encoding_bytes\S* (\d+)/m.exec((await client.get('/metrics')).text)?.[1]);
  };
  t.true((await kept(one)) > 0);
  t.is(await kept(two), 0);
});

test('--orchlet-port and --orchlet-preferred-address-types say where an agent is that does not', async (t) => {
  const addresses = [
    { type: 'Hostname', address: 'nowhere.invalid' },
    { type: 'InternalIP', address: '127.0.0.1' },
  ];
  const said = async (server: ServerProcess): Promise<string> => {
    await created(server, '/api/v1/nodes', { metadata: { name: 'quiet' }, status: { addresses } });
    return (await server.client.get('/api/v1/nodes/quiet/proxy/x')).text;
  };
  t.is(await said(one), 'the agent');
  t.not(await said(two), 'the agent');
});

test('--service-account-extend-token-expiration=false lets tokens of pods end when they say', async (t) => {
  const lifetime = async (server: ServerProcess): Promise<number> => {
    const spec = { ...POD_SPEC, schedulerName: 'nobody', serviceAccountName: 'default' };
    await accountIn(server.client);
    await created(server, `${CONTROL_PLANE}/pods`, { metadata: { name: 'bound' }, spec });
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'bound' };
    const path = `${CONTROL_PLANE}/serviceaccounts/default/token`;
    const { json } = await created(server, path, { spec: { expirationSeconds: 3607, boundObjectRef } });
    const [, claims = ''] = (json.status as { token: string }).token.split('.');
    const { exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { exp: number; iat: number };
    return exp - iat;
  };
  t.is(await lifetime(one), 365 * 24 * 3600);
  t.is(await lifetime(two), 3607);
});

test('--authorization-policy-file says what ABAC allows', async (t) => {
  const code = async (resource: string): Promise<number> =>
    (
      await eventually(
        () => two.client.get(`${CONTROL_PLANE}/${resource}`, JANE),
        ({ status }) => status !== 429,
      )
    ).status;
  t.is(await code('configmaps'), 200);
  t.is(await code('secrets'), 403);
});

test.serial('--max-requests-inflight turns reads away beyond it', async (t) => {
  const codes = await eventually(
    () =>
      Promise.all(
        Array.from({ length: 50 }, async () => (await two.client.get(`${CONTROL_PLANE}/configmaps`, JANE)).status),
      ),
    (all) => all.includes(429),
  );
  t.true(codes.every((code) => code === 200 || code === 429));
});

/** A write whose body does not come: resolves when the server has answered it or cut it off. */
function stalledWrite(t: ExecutionContext, { url, caPem, token }: ServerProcess): Promise<string> {
  const outgoing = startRequest(`${url}${CONTROL_PLANE}/configmaps`, {
    method: 'POST',
    ca: caPem,
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': 100 },
  });
  t.teardown(() => void outgoing.destroy());
  outgoing.write('{');
  return new Promise((resolve) => {
    outgoing.on('response', ({ statusCode }) => resolve(`answered ${statusCode}`));
    outgoing.on('error', () => resolve('cut off'));
  });
}

test('--request-timeout ends a request that is not through by then', async (t) => {
  const ended = await stalledWrite(t, two);
  // A body that stands still is cut off by the listener too, later and without an answer.
  t.is(ended, 'answered 504');
});

test.serial('--goaway-chance sends HTTP/2 connections away now and then', async (t) => {
  let isSentAway = false;
  const connected = (): ClientHttp2Session => {
    const session = connectHttp2(one.url, { ca: one.caPem });
    t.teardown(() => session.destroy());
    session.on('error', () => {});
    session.on('goaway', () => {
      isSentAway = true;
    });
    return session;
  };
  let session = connected();
  await eventually(
    async () => {
      if (isSentAway) return;
      // On a busy machine a handshake may last until it is cut off, without a GOAWAY.
      if (session.closed || session.destroyed) session = connected();
      const stream = session.request({ ':path': '/version' });
      stream.on('error', () => {});
      stream.resume().end();
      // Not `once`, which fails where a stream is refused: one that meets the GOAWAY is.
      await new Promise((resolve) => stream.once('close', resolve));
    },
    () => isSentAway,
  );
  t.true(isSentAway);
});

test.serial('--permit-port-sharing lets two servers listen on one port', async (t) => {
  const first = await startServer(t, { args: ['--permit-port-sharing', '--placement', 'single'] });
  const beside = async (args: readonly string[]): Promise<string | undefined> => {
    const { dataDirectory } = await newServer(t);
    const server = new ServerProcess(dataDirectory, first.port, { args });
    t.teardown(() => server.dispose());
    return (await server.start())?.stderr;
  };
  t.is(await beside(['--permit-port-sharing']), undefined);
  t.regex((await beside([])) ?? '', /is already in use/);
});

test('--disabled-metrics are not shown, and --allow-metric-labels shows the other values of a label as one', async (t) => {
  const [fewer, all] = await Promise.all([metricsOf(one), metricsOf(two)]);
  for (const name of ['orch_ingress_connections', 'process_open_fds']) {
    t.deepEqual([fewer.kinds.has(name), all.kinds.has(name)], [false, true], name);
  }
  const verbs = new Set(fewer.matching('apiserver_request_total').map(({ labels }) => labels.verb));
  t.deepEqual(
    [...verbs].filter((verb) => !['LIST', 'WATCH', 'unexpected'].includes(verb ?? '')),
    [],
  );
  t.true(verbs.has('unexpected'));
  t.true(all.matching('apiserver_request_total', { verb: 'GET' }).length > 0);
});

test('--show-hidden-metrics-for-version shows what the release before had', async (t) => {
  const HIDDEN = 'scheduler_binding_duration_seconds';
  const { text } = await one.client.get('/metrics');
  t.true(text.includes(`# HELP ${HIDDEN} (Deprecated from 1.20) `));
  t.false((await metricsOf(two)).kinds.has(HIDDEN));
});
