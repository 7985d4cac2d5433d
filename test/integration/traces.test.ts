// Traces of requests as a collector is sent them: on a server that has one, and of requests that come with a trace of their own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { newServer, type Scope, startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** An endpoint that takes OTLP as JSON. `fails`: it refuses so many bodies first. */
async function startCollector(scope: Scope, fails = 0) {
  const bodies: Export[] = [];
  const paths = new Set<string>();
  let left = fails;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      paths.add(`${request.method} ${request.url} ${request.headers['content-type']} ${request.headers['x-key']}`);
      if (left-- <= 0) bodies.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Export);
      response.writeHead(left >= 0 ? 503 : 200).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const spans = (): readonly Span[] =>
    bodies.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)),
    );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, paths, spans };
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

test('a collector is sent the spans of each request, and a request that belongs to a trace goes on with it', async (t) => {
  const collector = await startCollector(t, 1);
  const server = await startServer(t, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20secret',
      OTEL_SERVICE_NAME: 'my-orch',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  const { client } = server;
  const get = (sampled: boolean, path: string) =>
    client.get(path, { headers: { traceparent: `00-${TRACE}-${PARENT}-0${sampled ? 1 : 0}`, tracestate: 'vendor=1' } });
  t.is((await get(true, '/version')).status, 200);
  await eventually(
    async () => collector.paths.size,
    (seen) => seen > 0,
  );
  t.is((await get(false, '/api/v1/namespaces/default/secrets')).status, 200);
  t.is((await client.get('/api/v1/namespaces/default/services')).status, 200);
  // What is kept of a watch that is open must still tell its trace.
  t.is((await get(true, '/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1')).status, 200);
  t.is((await get(true, '/api/v1/namespaces/default/configmaps?limit=1')).status, 200);
  const spans = await eventually(
    async () => collector.spans(),
    (seen) => seen.some(({ name }) => name === 'list configmaps'),
  );
  const root = spans.find(({ name }) => name === 'list configmaps')!;
  t.like(root, { traceId: TRACE, parentSpanId: PARENT, traceState: 'vendor=1', kind: 2 });
  t.like(
    spans.find(({ name }) => name === 'watch pods'),
    { traceId: TRACE, parentSpanId: PARENT },
  );
  t.true(BigInt(root.endTimeUnixNano) >= BigInt(root.startTimeUnixNano));
  const attributes = Object.fromEntries(root.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  t.like(attributes, {
    'http.request.method': 'GET',
    'url.path': '/api/v1/namespaces/default/configmaps',
    'http.response.status_code': '200',
    'k8s.namespace.name': 'default',
  });
  const parts = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId).map(({ name }) => name);
  t.deepEqual(parts.sort(), ['authenticate and authorize', 'serve', 'wait']);
  t.false(spans.some(({ name }) => /secrets|services/.test(name)));
  t.deepEqual([...collector.paths], ['POST /v1/traces application/json a secret']);
  const resource = Object.fromEntries(
    collector.bodies[0]!.resourceSpans[0]!.resource.attributes.map(({ key, value }) => [key, value.stringValue]),
  );
  t.deepEqual(resource, { 'deployment.environment': 'test', 'service.name': 'my-orch' });
  await get(true, '/livez');
  await server.stop();
  t.true(collector.spans().some(({ attributes }) => attributes.some(({ value }) => value.stringValue === '/livez')));
});

test('what the environment says of traces and cannot be used keeps a server from starting', async (t) => {
  const server = await newServer(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' } });
  const failed = await server.start();
  t.is(failed?.code, 1, failed?.stderr);
  t.regex(failed!.stderr, /OTEL_EXPORTER_OTLP_ENDPOINT must be an address/);
});
