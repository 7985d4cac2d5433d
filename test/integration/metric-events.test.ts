// The original's metrics of what happens seldom: each is there from the start at 0, and a real event makes it count.
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { MetricsText } from '../server/metrics-text.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const NAMESPACE = '/api/v1/namespaces/default';
const CONFIGURATION = `kind: EncryptionConfiguration
apiVersion: apiserver.config.orch.io/v1
resources:
- {resources: [secrets], providers: [{secretbox: {keys: [{name: one, secret: ${Buffer.alloc(32, 1).toString('base64')}}]}}]}
`;

const metricsOf = async ({ client }: ServerProcess): Promise<MetricsText> =>
  new MetricsText((await client.get('/metrics')).text);

/** Bytes that begin no handshake. */
function speakPlainly(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('this is not TLS\r\n\r\n'));
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** A token as pods are given it, whose renewal is due from a moment on. */
async function extendedToken(server: ServerProcess, warnafter: number): Promise<string> {
  const path = `${NAMESPACE}/serviceaccounts/default/token`;
  const made = await eventually(
    () => server.client.request('POST', path, { body: { spec: {} } }),
    ({ status }) => status === 201,
  );
  const { token } = made.json.status as { token: string };
  const claims = decodeJwt(token);
  const key = createPrivateKey(readFileSync(join(server.dataDirectory, 'service-account.key')));
  const { alg = '', kid = '' } = decodeProtectedHeader(token);
  return new SignJWT({ ...claims, 'orch.io': { ...(claims['orch.io'] as object), warnafter } })
    .setProtectedHeader({ alg, kid })
    .sign(key);
}

test('failed handshakes, uses of tokens, encrypted values and the graph of nodes are counted; audit totals are there while it is off', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'metric-events-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'encryption.yaml');
  writeFileSync(file, CONFIGURATION);
  const server = await startServer(t, { args: ['--ingress', 'node', '--encryption-provider-config', file] });
  const { client } = server;
  const before = await metricsOf(server);
  for (const name of [
    'apiserver_tls_handshake_errors_total',
    'apiserver_audit_event_total',
    'apiserver_audit_requests_rejected_total',
    'apiserver_audit_error_total',
    'serviceaccount_legacy_tokens_total',
    'serviceaccount_stale_tokens_total',
    'serviceaccount_valid_tokens_total',
    'apiserver_storage_data_key_generation_failures_total',
    'apiserver_storage_envelope_transformation_cache_misses_total',
  ]) {
    t.is(before.kinds.get(name), 'counter', name);
    t.is(before.sum(name), 0, name);
  }
  await speakPlainly(server.port);
  t.is((await client.request('POST', `${NAMESPACE}/secrets`, { body: { metadata: { name: 's' } } })).status, 201);
  t.is((await client.request('POST', '/api/v1/nodes', { body: { metadata: { name: 'n' } } })).status, 201);
  const nowSeconds = Math.floor(Date.now() / 1000);
  await client.get('/api', { token: await extendedToken(server, nowSeconds - 600) });
  await client.get('/api', { token: await extendedToken(server, nowSeconds + 3600) });
  const sealed = { transformation_type: 'to_storage', transformer_prefix: 'orch:enc:secretbox:v1:', status: 'OK' };
  const after = await eventually(
    () => metricsOf(server),
    (now) =>
      now.sum('apiserver_tls_handshake_errors_total') >= 1 &&
      now.sum('node_authorizer_graph_actions_duration_seconds_count', { operation: 'SetNodeConfigMap' }) >= 1,
  );
  t.true(after.sum('apiserver_storage_transformation_operations_total', sealed) >= 1);
  t.true(after.sum('apiserver_storage_transformation_duration_seconds_count') >= 1);
  t.is(after.sum('serviceaccount_stale_tokens_total'), 1);
  t.is(after.sum('serviceaccount_valid_tokens_total'), 1);
});
