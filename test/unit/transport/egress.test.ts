// Ways out through a proxy: requests and upgrades to plain and TLS servers, by each way of reaching the proxy.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { AgentClient } from '../../../transport/outgoing/agent-client.ts';
import { NOTHING_SHOWN } from '../../../transport/outgoing/connection-file.ts';
import type { EgressWay } from '../../../transport/outgoing/egress.ts';
import { egressDials } from '../../../transport/outgoing/egress-metrics.ts';
import { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { type ConnectProxy, connectProxy } from '../../server/connect-proxy.ts';
import { servicePair } from '../../server/credentials.ts';

interface Place {
  readonly files: string;
  readonly pair: { readonly cert: string; readonly key: string };
}

async function place(t: ExecutionContext): Promise<Place> {
  const files = mkdtempSync(join(tmpdir(), 'orch-egress-'));
  t.teardown(() => rmSync(files, { recursive: true, force: true }));
  return { files, pair: await servicePair(files, 'own') };
}

/** A server that says which path it was asked for. */
async function backend(t: ExecutionContext, pair?: Place['pair']): Promise<number> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    response.end(JSON.stringify({ path: request.url }));
  };
  const server = pair === undefined ? createPlain(answer) : createSecure(pair, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** What was measured of tunnels, and how often. */
function dialled(metrics: MetricsRegistry) {
  return metrics
    .reading()
    .flatMap(({ name, series }) =>
      series.map(({ labels, value, counts }) => [name, labels, counts?.reduce((sum, one) => sum + one, 0) ?? value]),
    );
}

type Way = readonly [what: string, make: (t: ExecutionContext, at: Place) => Promise<[EgressWay, ConnectProxy]>];

// What is waited for a tunnel is half a minute, for which the other tests of a process may keep the thread of a busy machine: those that
// get an answer of a proxy come before them, one after another.
const PATIENT_MS = 240_000;

const WAYS: readonly Way[] = [
  [
    'TCP',
    async (t) => {
      const proxy = await connectProxy(t);
      return [{ host: '127.0.0.1', port: proxy.port, socketPath: '' }, proxy];
    },
  ],
  [
    'TLS',
    async (t, { pair }) => {
      const proxy = await connectProxy(t, { tls: pair });
      const tls = { caPem: pair.cert, certPem: pair.cert, keyPem: pair.key };
      return [{ host: '127.0.0.1', port: proxy.port, socketPath: '', tls }, proxy];
    },
  ],
  [
    'a socket of the machine',
    async (t, { files }) => {
      const socketPath = join(files, 'proxy.sock');
      return [{ host: '', port: 0, socketPath }, await connectProxy(t, { socketPath })];
    },
  ],
];

for (const [what, make] of WAYS) {
  test.serial(`a proxy over ${what} leads to plain and to TLS servers`, async (t) => {
    const at = await place(t);
    const [way, proxy] = await make(t, at);
    const metrics = new MetricsRegistry();
    const onDial = egressDials(metrics);
    const client = new AgentClient({ tls: { caPem: at.pair.cert }, connectTimeoutMs: PATIENT_MS, way, onDial });
    t.teardown(() => client.close());
    const request = { method: 'GET', path: '/x', headers: [], body: undefined };
    const ports = { http: await backend(t), https: await backend(t, at.pair) };
    for (const scheme of ['http', 'https', 'https'] as const) {
      const target = { scheme, host: '127.0.0.1', port: ports[scheme], trust: 'service' } as const;
      const answer = await client.send(target, request, () => {});
      t.is(answer.status, 200);
      t.is(await answer.text(1000), '{"path":"/x"}');
    }
    t.true(proxy.asked.includes(`127.0.0.1:${ports.http}`));
    t.true(proxy.asked.includes(`127.0.0.1:${ports.https}`));
    const service = new ServiceClient({
      connection: {
        url: `https://127.0.0.1:${ports.https}`,
        caPem: at.pair.cert,
        insecure: false,
        serverName: '',
        ...NOTHING_SHOWN,
        way,
      },
      readFile: () => Promise.reject(new Error('no file')),
      nowMs: () => 0,
      onRefused: () => {},
      onDial,
    });
    t.teardown(() => service.close());
    const before = proxy.asked.length;
    t.deepEqual(await service.post('{}', PATIENT_MS), { path: '/' });
    t.true(proxy.asked.length > before);
    const transport = way.socketPath === '' ? 'tcp' : 'uds';
    t.deepEqual(dialled(metrics), [
      ['apiserver_egress_dialer_dial_duration_seconds', { protocol: 'http_connect', transport }, proxy.asked.length],
    ]);
  });
}

test.serial('the certificate of the server behind the proxy is verified all the same', async (t) => {
  const at = await place(t);
  const proxy = await connectProxy(t);
  const port = await backend(t, at.pair);
  const way = { host: '127.0.0.1', port: proxy.port, socketPath: '' };
  const client = new AgentClient({ tls: {}, connectTimeoutMs: PATIENT_MS, way });
  t.teardown(() => client.close());
  const target = { scheme: 'https', host: '127.0.0.1', port, trust: 'service' } as const;
  const request = { method: 'GET', path: '/', headers: [], body: undefined };
  await t.throwsAsync(() => client.send(target, request, () => {}), {
    message: /^x509: certificate signed by unknown authority$/,
  });
});

const REFUSALS: readonly (readonly [answer: string, message: RegExp])[] = [
  ['HTTP/1.1 403 Forbidden\r\n\r\n', /the egress proxy: answered 403/],
  ['nonsense\r\n\r\n', /the egress proxy: did not answer in HTTP/],
  ['', /the egress proxy: closed the connection/],
  [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`, /the egress proxy: answered more than a head/],
];

for (const [refusal, message] of REFUSALS) {
  test.serial(`a proxy that says ${JSON.stringify(refusal.slice(0, 30))} opens no tunnel`, async (t) => {
    const proxy = await connectProxy(t, { refusal });
    const way = { host: '127.0.0.1', port: proxy.port, socketPath: '' };
    const metrics = new MetricsRegistry();
    const client = new AgentClient({ tls: {}, connectTimeoutMs: PATIENT_MS, way, onDial: egressDials(metrics) });
    t.teardown(() => client.close());
    const target = { scheme: 'http', host: '127.0.0.1', port: 1, trust: 'none' } as const;
    const request = { method: 'GET', path: '/', headers: [], body: undefined };
    await t.throwsAsync(() => client.send(target, request, () => {}), { message });
    const labels = { protocol: 'http_connect', transport: 'tcp', stage: 'proxy' };
    t.deepEqual(dialled(metrics), [['apiserver_egress_dialer_dial_failure_count', labels, 1]]);
  });
}

test.serial('a proxy that is not there is counted as one that could not be connected to', async (t) => {
  const at = await place(t);
  const metrics = new MetricsRegistry();
  const way = { host: '', port: 0, socketPath: join(at.files, 'nobody.sock') };
  const client = new AgentClient({ tls: {}, connectTimeoutMs: PATIENT_MS, way, onDial: egressDials(metrics) });
  t.teardown(() => client.close());
  const target = { scheme: 'http', host: '127.0.0.1', port: 1, trust: 'none' } as const;
  const request = { method: 'GET', path: '/', headers: [], body: undefined };
  await t.throwsAsync(() => client.send(target, request, () => {}), { message: /ENOENT/ });
  const labels = { protocol: 'http_connect', transport: 'uds', stage: 'connect' };
  t.deepEqual(dialled(metrics), [['apiserver_egress_dialer_dial_failure_count', labels, 1]]);
});

test('a tunnel that is waited for no longer is given up with its connection, and counted', async (t) => {
  let ended = (): void => {};
  const isGone = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const silent = createServer(
    (socket) =>
      void socket
        .on('error', () => {})
        .on('close', () => ended())
        .resume(),
  );
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.teardown(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const way = { host: '127.0.0.1', port, socketPath: '' };
  const outcomes: unknown[] = [];
  const client = new ServiceClient({
    connection: { ...NOTHING_SHOWN, url: 'http://svc/', caPem: '', insecure: false, serverName: '', way },
    readFile: () => Promise.reject(new Error('there are no files')),
    nowMs: () => performance.now(),
    onRefused: () => {},
    onDial: (_way, outcome) => void outcomes.push(outcome),
  });
  const connected = new Promise((resolve) => silent.once('connection', resolve));
  const call = client.post('{}', 500);
  await Promise.all([connected, t.throwsAsync(call)]);
  t.is(outcomes.length, 1);
  await isGone;
});
