// Goal: calls are counted where they went and by what came of them, whoever makes them. Method: a plain server, both clients.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { ApiClient } from '../../../../transport/outgoing/api-client.ts';
import { NOTHING_SHOWN } from '../../../../transport/outgoing/connection-file.ts';
import type { ConnectionSecretsParts } from '../../../../transport/outgoing/connection-secrets.ts';
import { delegatedCalls, restClientCalls } from '../../../../transport/outgoing/rest-client-metrics.ts';
import { ServiceClient } from '../../../../transport/outgoing/service-client.ts';

const PATIENT_MS = 240_000;

/** A server that answers with the code that a path names, and hangs up where it names none. */
async function called(t: ExecutionContext) {
  const server = createServer(({ url = '' }, response) => {
    const code = Number(url.slice(1));
    if (code === 0) response.destroy();
    else response.writeHead(code).end('{}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metrics = new MetricsRegistry();
  const parts = (path: string): ConnectionSecretsParts => ({
    connection: { ...NOTHING_SHOWN, url: `http://${host}${path}`, caPem: '', insecure: false, serverName: '' },
    readFile: () => Promise.reject(new Error('there are no files')),
    nowMs: () => performance.now(),
    onRefused: () => {},
    onCall: restClientCalls(metrics, `http://us:secret@${host}${path}`),
  });
  /** What was counted, by method and code; and how often it was timed, by method. */
  const counts = (): Readonly<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const { name, series } of metrics.reading())
      for (const { labels, value, counts: timed } of series) {
        const place = name === 'rest_client_requests_total' ? labels.host : labels.url;
        t.is(place, timed === undefined ? host : `http://${host}/%7Bprefix%7D`);
        const key = timed === undefined ? `${labels.method} ${labels.code}` : `${labels.verb} timed`;
        found[key] = timed === undefined ? value : timed.reduce((sum, count) => sum + count, 0);
      }
    return found;
  };
  return { parts, counts };
}

test('a call of a service is counted once, by its code, or as an error where there was no answer', async (t) => {
  const { parts, counts } = await called(t);
  for (const path of ['/200', '/200', '/503', '/0']) {
    const client = new ServiceClient(parts(path));
    await client.post('{}', PATIENT_MS).catch(() => {});
    client.close();
  }
  t.deepEqual(counts(), { 'POST 200': 2, 'POST 503': 1, 'POST <error>': 1, 'POST timed': 4 });
});

test('a call of an API server is counted as it ends, and a watch as it begins, which has no time of its own', async (t) => {
  const { parts, counts } = await called(t);
  const client = new ApiClient(parts(''), 'test');
  t.teardown(() => client.close());
  await client.call({ method: 'GET', path: '/404' }, PATIENT_MS);
  await t.throwsAsync(client.call({ method: 'PATCH', path: '/0' }, PATIENT_MS));
  await client.parts({ method: 'GET', path: '/200' }, () => {}, new AbortController().signal);
  t.deepEqual(counts(), { 'GET 404': 1, 'PATCH <error>': 1, 'GET 200': 1, 'GET timed': 1, 'PATCH timed': 1 });
});

test('where a name has a port it is told with it, and where it has none without', (t) => {
  const metrics = new MetricsRegistry();
  for (const url of ['https://a.b.svc:443/x?y', 'https://example.org', 'https://u:p@w@[::1]:8443/'])
    restClientCalls(metrics, url)('POST', 200, 1);
  const hosts = metrics.reading()[0]!.series.map(({ labels }) => labels.host);
  t.deepEqual(hosts, ['a.b.svc:443', 'example.org', '[::1]:8443']);
});

test('reviews of another server are counted by code, apart for who asks and for whether they may', (t) => {
  const metrics = new MetricsRegistry();
  delegatedCalls(metrics, 'authn')('POST', 201, 300);
  delegatedCalls(metrics, 'authz')('POST', undefined, 10);
  const told = metrics.reading().map(({ name, series }) => [name, series[0]!.labels.code, series[0]!.value]);
  t.deepEqual(told, [
    ['apiserver_delegated_authn_request_total', '201', 1],
    ['apiserver_delegated_authn_request_duration_seconds', '201', 0.3],
    ['apiserver_delegated_authz_request_total', '<error>', 1],
    ['apiserver_delegated_authz_request_duration_seconds', '<error>', 0.01],
  ]);
});
