// Logs, exec and proxies through real servers with either listener, to a node agent and to backends of this test.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { request as startRequest } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import ava, { type ExecutionContext } from 'ava';
import { agentPair, type FakeAgent, startFakeAgent } from '../server/fake-agent.ts';
import { LISTENERS, testOn } from '../server/listeners.ts';
import { hasTool } from '../server/machine-tools.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { patchOf, webhookService } from '../server/webhook-service.ts';
import { echo, PODS, serverWithNode, upgraded } from './agent-server.ts';
import { configure, webhookAt } from './hooked-server.ts';

// One after the other: each starts processes of its own.
const test = ava.serial;
const MEGABYTE = 1024 * 1024;

/** An address of this machine that others could reach: what pods and services are proxied to. */
const OUTSIDE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

const text =
  (status: number, body: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/plain' });
    response.end(body);
  };

/** A streamed answer to a GET. */
async function opened(server: ServerProcess, path: string): Promise<IncomingMessage> {
  const outgoing = startRequest(`${server.url}${path}`, {
    ca: server.caPem,
    headers: { authorization: `Bearer ${server.token}` },
    agent: false,
  });
  outgoing.end();
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  return message;
}

for (const listener of LISTENERS) {
  const test = testOn(listener).serial;
  test(`logs come from the agent as it writes them, and its refusals as ours (${listener})`, async (t) => {
    let write: ((line: string) => void) | undefined;
    let agentSideClosed = false;
    const agent = await startFakeAgent(t, {
      handler: (request, response) => {
        if (!request.url!.includes('follow=true')) {
          if (request.url!.includes('previous=true')) return text(403, 'Forbidden (user=x)')(request, response);
          if (request.url!.includes('tailLines=0')) return text(404, 'no such pod')(request, response);
          const isReady = request.url!.includes('/two/');
          text(isReady ? 200 : 400, isReady ? 'one line\n' : 'container "c" is waiting to start')(request, response);
          return;
        }
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.write('first\n');
        write = (line) => response.write(line);
        response.once('close', () => {
          agentSideClosed = true;
        });
      },
    });
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    const { client } = server;
    const whole = await client.get(`${PODS}/two/log?container=d&tailLines=3`);
    t.deepEqual([whole.status, whole.text], [200, 'one line\n']);
    t.is(agent.seen[0]?.url, '/containerLogs/default/two/d?tailLines=3');
    t.is(agent.seen[0]?.headers.authorization, undefined);
    const refused = await client.get(`${PODS}/p/log`);
    t.is(refused.status, 400);
    t.is(refused.json.message, 'container "c" is waiting to start');
    const denied = await client.get(`${PODS}/p/log?previous=true`);
    t.deepEqual([denied.status, denied.json.reason], [403, 'Forbidden']);
    t.is(denied.json.message, 'Forbidden (user=x) ( pods/log p)');
    const unknown = await client.get(`${PODS}/p/log?tailLines=0`);
    t.deepEqual([unknown.status, unknown.json.reason], [404, 'NotFound']);
    t.is(unknown.json.message, 'the server could not find the requested resource ( pods/log p)');

    const stream = await opened(server, `${PODS}/p/log?follow=true`);
    t.is(stream.statusCode, 200);
    t.is(String((await once(stream, 'data'))[0]), 'first\n');
    write?.('second\n');
    t.is(String((await once(stream, 'data'))[0]), 'second\n');
    stream.destroy();
    await eventually(() => agentSideClosed);
    t.is((await client.get('/readyz')).status, 200);
  });

  test(`what a node agent is not asked for is answered here (${listener})`, async (t) => {
    // A port that nobody listens on.
    const server = await serverWithNode(t, 1, ['--ingress', listener]);
    const { client } = server;
    const cases: readonly (readonly [method: string, path: string, status: number, message: RegExp])[] = [
      [
        'GET',
        'p/log',
        500,
        /^Get "https:\/\/127\.0\.0\.1:1\/containerLogs\/default\/p\/c": dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
      ],
      ['GET', 'two/log', 400, /a container name must be specified for pod two, choose one of: \[c d\]/],
      ['GET', 'p/log?container=x', 400, /container x is not valid for pod p/],
      ['GET', 'p/log?tailLines=-1', 422, /tailLines/],
      ['GET', 'lost/log', 404, /nodes "gone" not found/],
      ['GET', 'none/log', 404, /pods "none" not found/],
      ['POST', 'waiting/exec?command=x', 400, /pod waiting does not have a host assigned/],
      ['GET', 'waiting/attach', 400, /pod waiting does not have a host assigned/],
      ['POST', 'waiting/portforward', 400, /pod waiting does not have a host assigned/],
      ['POST', 'p/exec?command=x', 400, /^Upgrade request required$/],
      ['POST', 'two/portforward?ports=x', 400, /^cannot convert to \[\]int32/],
      ['GET', 'p/proxy/', 400, /no IP address/],
      ['GET', 'p:/proxy/', 400, /no IP address/],
      ['GET', 'ftp:p:80/proxy/', 400, /^invalid pod request "ftp:p:80"$/],
    ];
    for (const [method, path, status, message] of cases) {
      const answer = await client.request(method, `${PODS}/${path}`);
      t.is(answer.status, status, `${path}: ${answer.text}`);
      t.regex(answer.json.message ?? '', message, path);
    }
    const unreached = await client.get('/api/v1/nodes/n/proxy/healthz');
    t.is(unreached.status, 503);
    t.is(unreached.json.message, 'error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused');
    t.is((await client.get('/api/v1/nodes/n:22/proxy/')).status, 400);
    const named = { metadata: { name: 'named' }, status: { addresses: [{ type: 'Hostname', address: 'localhost' }] } };
    await client.request('POST', '/api/v1/nodes', { body: named });
    const own = await client.get(`/api/v1/nodes/https:named:${server.port}/proxy/`);
    t.is(own.status, 503);
    t.regex(own.json.message ?? '', /not one the server connects to/);
    const nothing = await client.get(`${PODS}/waiting/log`);
    t.deepEqual([nothing.status, nothing.headers['cache-control']], [204, 'no-cache, private']);
    const none = await client.get('/api/v1/namespaces/default/services/none/proxy/');
    t.deepEqual([none.status, none.json.message], [404, 'services "none" not found']);
  });

  test(`a proxy passes on any method, path, header and body, both ways (${listener})`, async (t) => {
    const agent = await startFakeAgent(t, {
      handler: (request, response) => {
        if (request.url === '/huge') {
          response.writeHead(200, { 'content-type': 'application/octet-stream' });
          response.end(Buffer.alloc(20 * MEGABYTE, 7));
          return;
        }
        if (request.url === '/blob') {
          response.writeHead(200, { 'content-length': 12345 });
          response.end();
          return;
        }
        if (request.url === '/cut') {
          response.writeHead(200);
          response.write('a part');
          setImmediate(() => response.destroy());
          return;
        }
        if (request.url === '/moved') {
          response.writeHead(302, { location: `https://127.0.0.1:${agent.port}/login?from=%2F` });
          response.end();
          return;
        }
        if (request.url!.startsWith('/page')) {
          const page = Buffer.from('<p>é<a href="/login">');
          const isPacked = request.url === '/page/packed';
          const sent = isPacked ? gzipSync(page) : page;
          response.writeHead(200, {
            'content-type': 'text/html; charset=utf-8',
            'content-length': request.url === '/page/broken' ? sent.length + 1 : sent.length,
            ...(isPacked || request.url === '/page/false' ? { 'content-encoding': 'gzip' } : {}),
          });
          response.write(sent, () => (request.url === '/page/broken' ? response.destroy() : response.end()));
          return;
        }
        response.writeHead(request.url!.startsWith('/teapot') ? 418 : 200, {
          'content-type': 'application/json',
          'set-cookie': ['a=b', 'c=d'],
          'access-control-allow-origin': '*',
        });
        request.pipe(response);
      },
    });
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    const { client } = server;
    const proxy = '/api/v1/nodes/n/proxy';
    const body = '{"é":1}\n';
    const echoed = await client.request('PUT', `${proxy}/teapot/a%20b/../c?x=y%20z&x=`, {
      body,
      headers: { 'x-own': 'yes', te: 'trailers' },
    });
    t.is(echoed.status, 418);
    // Not a byte more: not even white space.
    t.is(echoed.text, body);
    t.deepEqual(echoed.headers['set-cookie'], ['a=b', 'c=d']);
    t.is(echoed.headers['access-control-allow-origin'], undefined);
    const [seen] = agent.seen;
    t.is(seen?.method, 'PUT');
    t.is(seen?.url, '/teapot/c?x=y%20z&x=');
    t.is(seen?.headers['x-own'], 'yes');
    t.is(seen?.headers.authorization, undefined);
    t.is(seen?.headers.host, `127.0.0.1:${agent.port}`);
    t.is(seen?.headers['x-forwarded-for'], '127.0.0.1');
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await client.request(method, `${proxy}/x`, method === 'GET' ? {} : { body: 'b' });
      t.is(answer.status, 200, method);
      t.is(agent.seen.at(-1)?.method, method);
      if (method !== 'GET' && method !== 'OPTIONS') t.is(answer.text, 'b', method);
    }
    const head = await client.request('HEAD', `${proxy}/x`);
    t.deepEqual([head.status, head.text], [200, '']);
    const moved = await client.get(proxy);
    t.deepEqual([moved.status, moved.headers.location], [301, `${proxy}/`]);
    t.is(moved.headers['cache-control'], 'no-cache, private');
    const sent = await client.get(`${proxy}/moved`);
    t.deepEqual([sent.status, sent.headers.location], [302, `${proxy}/login?from=%2F`]);
    for (const path of ['page', 'page/packed']) {
      const page = await client.get(`${proxy}/${path}`);
      t.deepEqual([page.status, page.text], [200, `<p>é<a href="${proxy}/login">`], path);
      t.is(page.headers['content-encoding'], undefined);
    }
    t.is((await client.request('HEAD', `${proxy}/page`)).status, 200);
    const blob = await client.request('HEAD', `${proxy}/blob`);
    t.deepEqual([blob.status, blob.headers['content-length']], [200, '12345']);
    t.is((await client.request('HEAD', `${proxy}/page/packed`)).status, 200);
    for (const path of ['page/broken', 'page/false'])
      await t.throwsAsync(client.get(`${proxy}/${path}`), undefined, path);

    const large = Buffer.alloc(6 * MEGABYTE, 'x');
    t.true((await client.request('POST', `${proxy}/large`, { body: large })).text === large.toString());
    t.is((await client.get(`${proxy}/huge`)).text.length, 20 * MEGABYTE);
    await t.throwsAsync(client.get(`${proxy}/cut`));
    t.is((await client.get('/readyz')).status, 200);
  });

  if (OUTSIDE !== undefined) {
    test(`pods and services are proxied to the addresses they have, and to no others (${listener})`, async (t) => {
      const backend = await startFakeAgent(t, { handler: text(200, 'hello'), host: OUTSIDE, isPlain: true });
      const server = await serverWithNode(t, 1, ['--ingress', listener]);
      const { client } = server;
      const setAddress = (podIP: string) =>
        client.request('PATCH', `${PODS}/p/status`, {
          body: { status: { podIP, podIPs: [{ ip: podIP }] } },
          headers: { 'content-type': 'application/merge-patch+json' },
        });
      await setAddress(OUTSIDE);
      t.is((await client.get(`${PODS}/http:p:${backend.port}/proxy/x?y`)).text, 'hello');
      t.is(backend.seen[0]?.url, '/x?y');
      const services = '/api/v1/namespaces/default/services';
      await client.request('POST', services, {
        body: { metadata: { name: 's' }, spec: { ports: [{ name: 'web', port: 80 }] } },
      });
      t.is((await client.get(`${services}/s:web/proxy/`)).status, 404);
      const targetRef = { kind: 'Pod', namespace: 'default', name: 'p' };
      const subsets = [{ addresses: [{ ip: OUTSIDE, targetRef }], ports: [{ name: 'web', port: backend.port }] }];
      await client.request('POST', '/api/v1/namespaces/default/endpoints', {
        body: { metadata: { name: 's' }, subsets },
      });
      t.is((await client.get(`${services}/s:web/proxy/`)).text, 'hello');
      t.is((await client.get(`${services}/s:80/proxy/`)).text, 'hello');
      t.is((await client.get(`${services}/s:81/proxy/`)).status, 503);
      // The pod has moved: whoever has its address now is not asked.
      await setAddress('192.0.2.99');
      t.is((await client.get(`${services}/s:web/proxy/`)).status, 503);
    });
  }
}

test('an agent on this machine is not asked for anything without the option, by whatever name and port', async (t) => {
  const agent = await startFakeAgent(t, { handler: text(200, 'known\n'), onUpgrade: echo });
  const server = await serverWithNode(t, agent.port, ['--orchlet-permit-loopback=false']);
  const { client } = server;
  const cases: readonly (readonly [address: object, status: number, reason: RegExp])[] = [
    [{ type: 'InternalIP', address: '127.0.0.1' }, 400, /the address 127\.0\.0\.1 is not one the server connects to/],
    [{ type: 'InternalIP', address: '::1' }, 400, /the address ::1 is not one the server connects to/],
    [{ type: 'Hostname', address: 'localhost' }, 500, /is not one the server connects to/],
  ];
  for (const [address, status, reason] of cases) {
    const body = { status: { addresses: [address] } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    t.is((await client.request('PATCH', '/api/v1/nodes/n/status', { body, headers })).status, 200);
    const log = await client.get(`${PODS}/p/log`);
    t.is(log.status, status);
    t.regex(log.json.message ?? '', reason);
    for (const name of ['n', `n:${agent.port}`, `https:n:${agent.port}`]) {
      const proxied = await client.get(`/api/v1/nodes/${name}/proxy/`);
      t.true([400, 503].includes(proxied.status), name);
      t.regex(proxied.json.message ?? '', reason);
    }
  }
  t.deepEqual(agent.seen, []);
});

/** A file that is there for one test. */
function fileWith(t: ExecutionContext, name: string, content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'agents-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

/** How logs were asked for, and how often an agent was not believed to be one. */
async function logsCounted({ client }: ServerProcess) {
  const metrics = new MetricsText((await client.get('/metrics')).text);
  const prefix = 'kube_apiserver_pod_logs_pods_logs_';
  const asked = (usage: string): number => metrics.sum(`${prefix}insecure_backend_total`, { usage });
  return {
    enforced: asked('enforce_tls'),
    skipped: asked('skip_tls_allowed'),
    unbelieved: metrics.sum(`${prefix}backend_tls_failure_total`),
  };
}

test('the agent is shown our certificate, and believed by its authority alone', async (t) => {
  const agent = await startFakeAgent(t, { handler: text(200, 'known\n') });
  const { certPem, keyPem } = await agentPair('the-server', 'clientAuth');
  const identity = [
    '--orchlet-client-certificate',
    fileWith(t, 'client.crt', certPem),
    '--orchlet-client-key',
    fileWith(t, 'client.key', keyPem),
    '--orchlet-certificate-authority',
  ];
  const trusting = await serverWithNode(t, agent.port, [...identity, fileWith(t, 'ca.crt', agent.certPem)]);
  t.is((await trusting.client.get(`${PODS}/p/log`)).text, 'known\n');
  t.is(agent.seen[0]?.shownBy, 'the-server');
  t.deepEqual(await logsCounted(trusting), { enforced: 1, skipped: 0, unbelieved: 0 });
  const other = await agentPair('somebody-else', 'serverAuth');
  const doubting = await serverWithNode(t, agent.port, [...identity, fileWith(t, 'ca.crt', other.certPem)]);
  const refused = await doubting.client.get(`${PODS}/p/log`);
  t.is(refused.status, 500);
  t.regex(refused.json.message ?? '', /: x509: certificate signed by unknown authority$/);
  t.is((await doubting.client.get(`${PODS}/p/log?insecureSkipTLSVerifyBackend=true`)).text, 'known\n');
  t.deepEqual(await logsCounted(doubting), { enforced: 1, skipped: 1, unbelieved: 1 });
  t.is((await doubting.client.get('/api/v1/nodes/n/proxy/x')).status, 503);
  t.is((await logsCounted(doubting)).unbelieved, 1, 'which is no log');
});

test('what agents are shown and believed by is another when its files are', async (t) => {
  const agent = await startFakeAgent(t, { handler: text(200, 'known\n') });
  const [first, second] = [await agentPair('first', 'clientAuth'), await agentPair('second', 'clientAuth')];
  const certFile = fileWith(t, 'client.crt', first.certPem);
  const keyFile = fileWith(t, 'client.key', first.keyPem);
  const caFile = fileWith(t, 'ca.crt', agent.certPem);
  const server = await serverWithNode(t, agent.port, [
    ...['--orchlet-client-certificate', certFile, '--orchlet-client-key', keyFile],
    ...['--orchlet-certificate-authority', caFile],
  ]);
  const log = () => server.client.get(`${PODS}/p/log`);
  t.is((await log()).text, 'known\n');
  t.is(agent.seen.at(-1)?.shownBy, 'first');
  writeFileSync(certFile, second.certPem);
  writeFileSync(keyFile, second.keyPem);
  await eventually(async () => (await log()).status === 200 && agent.seen.at(-1)?.shownBy === 'second');
  writeFileSync(caFile, 'no certificates');
  await eventually(() => server.stderr.includes('what was replaced is not shown to node agents'));
  t.is((await log()).text, 'known\n');
  writeFileSync(caFile, first.certPem);
  await eventually(async () => (await log()).status === 500);
});

test('an agent that does not answer the handshake is given up in time', async (t) => {
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const server = await serverWithNode(t, port, ['--orchlet-timeout', '100ms']);
  const { status, json } = await server.client.get(`${PODS}/p/log`);
  t.is(status, 500);
  t.regex(json.message ?? '', /i\/o timeout$/);
});

test('a server stops although streams of its node agents go on', async (t) => {
  const agent = await startFakeAgent(t, {
    handler: (_request, response) => {
      response.writeHead(200);
      response.write('on and on\n');
    },
    onUpgrade: echo,
  });
  for (const listener of LISTENERS) {
    if (listener === 'uws' && !hasTool('uws')) continue;
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    const stream = await opened(server, `${PODS}/p/log?follow=true`);
    stream.on('error', () => {});
    await once(stream, 'data');
    if (listener === 'node') {
      const { received } = await upgraded(t, server, `${PODS}/p/exec?command=sh`);
      await eventually(() => received().endsWith('early'));
    }
    t.is(await server.stop(), 0, listener);
  }
});

async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const patience = AbortSignal.timeout(120_000);
  while (!(await condition())) {
    patience.throwIfAborted();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('an upgraded connection is a tunnel to the agent, both ways and to the last byte (node)', async (t) => {
  const agent = await startFakeAgent(t, { handler: text(403, 'no'), onUpgrade: echo });
  const server = await serverWithNode(t, agent.port, ['--ingress', 'node']);
  const { socket, received } = await upgraded(t, server, `${PODS}/p/exec?command=sh&stdin=true`);
  await eventually(() => received().endsWith('early'));
  t.regex(received(), /^HTTP\/1\.1 101 /);
  t.regex(received(), /X-Agent: yes\r\n/);
  t.is(agent.seen[0]?.url, '/exec/default/p/c?input=1&command=sh');
  t.is(agent.seen[0]?.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
  t.is(agent.seen[0]?.headers.authorization, undefined);
  const before = received().length;
  socket.write(Buffer.alloc(3 * MEGABYTE, 'z'));
  socket.end();
  await once(socket, 'close');
  t.is(received().length - before, 3 * MEGABYTE);
  t.is((await server.client.get('/readyz')).status, 200);
});

test('an agent that will not upgrade is heard (node)', async (t) => {
  const agent: FakeAgent = await startFakeAgent(t, { handler: text(403, 'not you') });
  const server = await serverWithNode(t, agent.port, ['--ingress', 'node']);
  const { socket, received } = await upgraded(t, server, `${PODS}/p/exec?command=sh`);
  await once(socket, 'close');
  t.regex(received(), /^HTTP\/1\.1 403 [\s\S]*not you/);
  t.regex(received(), /^connection: close\r$/im);
});

test('an upgrade that cannot be made is refused in HTTP (node)', async (t) => {
  const server = await serverWithNode(t, 1, ['--ingress', 'node']);
  const cases: readonly (readonly [path: string, status: RegExp])[] = [
    [
      `${PODS}/p/exec?command=sh`,
      /^HTTP\/1\.1 500 [\s\S]*error dialing backend: dial tcp [^ ]+ connect: connection refused/,
    ],
    [
      '/api/v1/nodes/n/proxy/x',
      /^HTTP\/1\.1 500 [\s\S]*error dialing backend: dial tcp [^ ]+ connect: connection refused/,
    ],
    [`${PODS}/none/exec?command=sh`, /^HTTP\/1\.1 404 /],
    ['/version', /^HTTP\/1\.1 405 /],
  ];
  for (const [path, status] of cases) {
    const { socket, received } = await upgraded(t, server, path);
    await once(socket, 'close');
    t.regex(received(), status, path);
    t.regex(received(), /connection: close/i);
  }
});

test('a protocol that nobody tunnels is passed over, and the connection goes on (node)', async (t) => {
  const server = await startServer(t, { args: ['--ingress', 'node'] });
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.caPem, ALPNProtocols: ['http/1.1'] });
  t.teardown(() => void socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    received += piece;
  });
  await once(socket, 'secureConnect');
  const head = `Host: x\r\nAuthorization: Bearer ${server.token}\r\n`;
  const wish = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
  const body = '{"metadata":{"name":"made"}}';
  const path = '/api/v1/namespaces/default/configmaps';
  socket.write(
    `POST ${path} HTTP/1.1\r\n${head}${wish}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually(() => received.includes('"uid"'));
  t.regex(received, /^HTTP\/1\.1 201 /);
  socket.write(`GET /readyz HTTP/1.1\r\n${head}\r\n`);
  await eventually(() => /HTTP\/1\.1 200 [\s\S]*ok$/.test(received));
  t.regex(received, /^HTTP\/1\.1 201 [\s\S]*HTTP\/1\.1 200 [\s\S]*ok$/);
});

/** Where a client that asks for SPDY is sent. */
async function redirected(server: ServerProcess, path: string): Promise<URL> {
  const outgoing = startRequest(`${server.url}${path}`, {
    method: 'POST',
    ca: server.caPem,
    headers: { authorization: `Bearer ${server.token}`, connection: 'Upgrade', upgrade: 'SPDY/3.1' },
    agent: false,
  });
  outgoing.end();
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  message.resume();
  if (message.statusCode !== 302) throw new Error(`answered ${message.statusCode}`);
  return new URL(message.headers.location ?? '');
}

testOn('uws').serial(
  'who asks for SPDY is sent to where connections are handed over, with a ticket for what it may (uws)',
  async (t) => {
    const agent = await startFakeAgent(t, { handler: text(200, ''), onUpgrade: echo });
    const server = await serverWithNode(t, agent.port, ['--ingress', 'uws']);
    const cases: readonly (readonly [path: string, asked: string])[] = [
      [`${PODS}/p/exec?command=sh&stdin=true`, '/exec/default/p/c?input=1&command=sh'],
      [`${PODS}/p/portforward`, '/portForward/default/p'],
      ['/api/v1/nodes/n/proxy/x?y=z', '/x?y=z'],
    ];
    let door = 0;
    for (const [path, asked] of cases) {
      const there = await redirected(server, path);
      t.is(there.hostname, '127.0.0.1');
      t.not(Number(there.port), server.port);
      door = Number(there.port);
      // Another query than the one that was admitted is not listened to.
      const { received } = await upgraded(
        t,
        server,
        `${there.pathname}${path.includes('exec') ? '?command=rm' : there.search}`,
        'SPDY/3.1',
        door,
      );
      await eventually(() => received().endsWith('early'));
      t.regex(received(), /^HTTP\/1\.1 101 [\s\S]*X-Agent: yes\r\n/);
      t.is(agent.seen.at(-1)?.url, asked);
      const again = await upgraded(t, server, there.pathname, 'SPDY/3.1', door);
      await once(again.socket, 'close');
      t.regex(again.received(), /^HTTP\/1\.1 404 /);
    }
    // It is no other way in.
    for (const path of ['/readyz', '/api/v1/namespaces', `/${'A'.repeat(32)}`]) {
      const answer = await upgraded(t, server, path, 'SPDY/3.1', door);
      await once(answer.socket, 'close');
      t.regex(answer.received(), /^HTTP\/1\.1 404 /, path);
    }
    const metrics = (await server.client.get('/metrics')).text;
    t.regex(metrics, /^apiserver_request_total\{verb="POST",.*subresource="exec".*code="302".*\} 1$/m);
    t.is(agent.seen.length, cases.length);
    t.is(await server.stop(), 0);
  },
);

testOn('uws').serial('a request that is no handshake is refused (uws)', async (t) => {
  const server = await serverWithNode(t, 1, ['--ingress', 'uws']);
  for (const protocol of ['websocket', 'h2c', 'SPDY/2']) {
    const { received } = await upgraded(t, server, `${PODS}/p/exec?command=sh`, protocol);
    await eventually(() => /no handshake for/.test(received()));
    t.regex(received(), /^HTTP\/1\.1 400 /, protocol);
  }
});

test('a mutating webhook may change what is run in a container', async (t) => {
  const agent = await startFakeAgent(t, { handler: text(200, ''), onUpgrade: echo });
  const hooks = await webhookService(t, {
    run: () =>
      patchOf({ op: 'replace', path: '/command', value: ['id'] }, { op: 'add', path: '/container', value: 'd' }),
  });
  const server = await serverWithNode(t, agent.port, ['--ingress', 'node']);
  const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] }];
  await configure({ server, hooks }, 'mutating', 'run', [webhookAt(hooks, 'run', { rules, objectSelector: {} })]);
  await eventually(async () => {
    const seen = agent.seen.length;
    await upgraded(t, server, `${PODS}/two/exec?command=sh&container=c&stdout=true`);
    await eventually(() => agent.seen.length > seen);
    return hooks.asked.length > 0;
  });
  t.is(agent.seen.at(-1)?.url, '/exec/default/two/d?output=1&command=id');
});
