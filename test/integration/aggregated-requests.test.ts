// What reaches an extension server of the requests that are passed on to it, with either listener: their bodies, who asks, and the
// connections of other protocols that they become.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as startRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import ava from 'ava';
import { OUTSIDE } from '../server/extension-server.ts';
import { answering, fakeExtension } from '../server/fake-extension.ts';
import { LISTENERS, testOn } from '../server/listeners.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';
import { testAuthority } from '../server/test-authority.ts';
import { acceptWebSocket } from '../server/web-socket-agent.ts';
import { clientFrame, handshake, WebSocketReader } from '../server/web-socket-client.ts';
import { eventually } from './objects.ts';

const test = OUTSIDE === undefined ? ava.skip : ava;

/** Sends a request as it is written, and reads until the server closes the connection. */
async function raw(scope: Scope, server: ServerProcess, lines: readonly string[], body = ''): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.caPem, ALPNProtocols: ['http/1.1'] });
  scope.teardown(() => void socket.destroy());
  await once(socket, 'secureConnect');
  const head = [...lines, 'Host: x', `Authorization: Bearer ${server.token}`, 'Connection: close, X-Named'];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  let text = '';
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  await eventually(
    async () => text,
    (now) => /^HTTP\/1\.1 \d+/.test(now) || socket.closed,
  );
  return text;
}

/** An extension's end of a connection: an echo, of frames or of bytes. */
function onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (/websocket/i.test(request.headers.upgrade ?? '')) {
    acceptWebSocket(request, socket, ({ opcode, payload }, agent) => void agent.send(opcode, payload));
    return;
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
  socket.write(head);
  socket.pipe(socket);
}

const asJane = { 'Impersonate-User': 'jane', 'Impersonate-Group': 'system:masters' };

/** Where the client of a SPDY connection finds it: where it asked, or where it is sent. */
async function spdyPlace(server: ServerProcess, path: string, listener: string): Promise<URL> {
  if (listener === 'node') return new URL(`${server.url}${path}`);
  const headers = { authorization: `Bearer ${server.token}`, connection: 'Upgrade', upgrade: 'SPDY/3.1', ...asJane };
  const outgoing = startRequest(`${server.url}${path}`, { method: 'POST', ca: server.caPem, headers, agent: false });
  outgoing.end();
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  message.resume();
  if (message.statusCode !== 302) throw new Error(`answered ${message.statusCode}`);
  return new URL(message.headers.location ?? '');
}

for (const listener of LISTENERS) {
  const test = OUTSIDE === undefined ? ava.skip : testOn(listener);
  test(`a body that is passed on is no request of its own, and only this server says who asks, also by WebSocket and SPDY (${listener})`, async (t) => {
    const server = await startServer(t, { args: ['--enable-aggregator-routing', '--ingress', listener] });
    const bodies: string[] = [];
    const { path, seen } = await fakeExtension(t, server, 'things', {
      onUpgrade,
      handler: (request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          // What this server asks by itself, from time to time, has none.
          if (chunks.length > 0) bodies.push(Buffer.concat(chunks).toString());
          answering({ kind: 'Status', status: 'Success' })(request, response);
        });
      },
    });
    const asked = () => seen.filter(({ url }) => url.startsWith(path));
    const smuggled = `GET ${path}/smuggled HTTP/1.1\r\nHost: x\r\nX-Remote-User: root\r\nX-Remote-Group: system:masters\r\n\r\n`;
    const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    const answer = await raw(t, server, [`DELETE ${path}/one HTTP/1.1`, 'Transfer-Encoding: chunked'], chunked);
    t.regex(answer, /^HTTP\/1\.1 200 /);
    t.deepEqual(
      asked().map(({ method, url }) => `${method} ${url}`),
      [`DELETE ${path}/one`],
    );
    t.deepEqual(bodies, [smuggled]);
    // Passed over, the body would be the beginning of whatever comes next on that connection.
    const pretending = ['X-Remote-User: root', 'x-remote-group: system:masters', 'X-Remote-Extra-Scopes: all'];
    const hop = ['X-Named: mine', 'Keep-Alive: 5', 'TE: trailers', 'Proxy-Authorization: Basic eA=='];
    const impersonating = ['Impersonate-User: jane', 'Impersonate-Group: system:masters', 'Impersonate-Extra-Team: a'];
    const get = [`GET ${path}/two HTTP/1.1`, 'Content-Length: 5', ...pretending, ...hop, ...impersonating];
    t.regex(await raw(t, server, get, 'GET /'), /^HTTP\/1\.1 200 /);
    const { headers } = asked().at(-1)!;
    t.is(headers['content-length'], '5');
    t.is(bodies.at(-1), 'GET /');
    t.is(headers['x-remote-user'], 'jane');
    t.is(headers['x-remote-group'], 'system:masters, system:authenticated');
    t.is(headers['x-remote-extra-team'], 'a');
    for (const name of ['x-remote-extra-scopes', 'x-named', 'keep-alive', 'te', 'proxy-authorization', 'authorization'])
      t.is(headers[name], undefined, name);
    t.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('impersonate-')),
      [],
    );
    // Another path, to a server that takes a backslash for a slash.
    t.regex(await raw(t, server, [`GET ${path}/two\\..\\..\\others#x HTTP/1.1`]), /^HTTP\/1\.1 200 /);
    t.is(asked().at(-1)!.url, `${path}/two%5C..%5C..%5Cothers%23x`);
    const next = await server.client.get(`${path}/three`);
    t.is(next.status, 200);
    t.is(asked().at(-1)!.url, `${path}/three`);

    const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.caPem, ALPNProtocols: ['http/1.1'] });
    t.teardown(() => void socket.destroy());
    await once(socket, 'secureConnect');
    const reader = new WebSocketReader(socket);
    const bearer = Buffer.from(server.token).toString('base64url');
    const offered = `base64url.bearer.authorization.orch.io.${bearer}, v4.channel.k8s.io`;
    const lines = [`GET ${path}/four/exec?command=ls HTTP/1.1`, 'Host: x', ...handshake().headers];
    const own = [`Sec-WebSocket-Protocol: ${offered}`, ...pretending];
    socket.write(`${[...lines, ...own].join('\r\n')}\r\n\r\n`);
    await reader.until(({ head }) => head !== '');
    t.regex(reader.head, /^HTTP\/1\.1 101 /);
    t.regex(reader.head, /^Sec-WebSocket-Protocol: v4\.channel\.k8s\.io$/im);
    socket.write(clientFrame(1, Buffer.from('hello')));
    await reader.until(({ frames }) => frames.length === 1);
    t.is(reader.frames[0]!.payload.toString(), 'hello');
    const joined = asked().at(-1)!;
    t.is(joined.url, `${path}/four/exec?command=ls`);
    t.is(joined.headers['x-remote-user'], 'orch-admin');
    t.regex(String(joined.headers['x-remote-group']), /^system:masters/);
    t.is(joined.headers['x-remote-extra-scopes'], undefined);
    t.is(joined.headers['sec-websocket-protocol'], 'v4.channel.k8s.io');
    socket.destroy();

    const there = await spdyPlace(server, `${path}/five/exec?command=sh`, listener);
    const streams = connectTls({ host: '127.0.0.1', port: Number(there.port), ca: server.caPem });
    t.teardown(() => void streams.destroy());
    await once(streams, 'secureConnect');
    let received = '';
    streams.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    const named = Object.entries(asJane).map(([name, value]) => `${name}: ${value}`);
    const start = [
      `POST ${there.pathname}${there.search} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${server.token}`,
    ];
    const upgrading = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', ...named, ...pretending];
    streams.write(`${[...start, ...upgrading].join('\r\n')}\r\n\r\nearly`);
    await eventually(
      async () => received,
      (now) => now.endsWith('early') || streams.closed,
    );
    t.regex(received, /^HTTP\/1\.1 101 [\s\S]*early$/);
    const tunnel = asked().at(-1)!;
    t.is(`${tunnel.method} ${tunnel.url}`, `POST ${path}/five/exec?command=sh`);
    t.is(tunnel.headers['x-remote-user'], 'jane');
    t.is(tunnel.headers['x-remote-extra-scopes'], undefined);
    t.is(tunnel.headers.authorization, undefined);
  });
}

/** What an extension server says of caches, by what is asked for. */
const CACHED: Readonly<Record<string, string | undefined>> = {
  nothing: undefined,
  'as-here': 'no-cache, private',
  'for-all': 'public, max-age=3600',
};

test('no cache shows what another server answers to anybody else, whatever that server says', async (t) => {
  const server = await startServer(t, { args: ['--enable-aggregator-routing'] });
  const { path } = await fakeExtension(t, server, 'things', {
    handler: (request, response) => {
      const said = CACHED[request.url!.slice(request.url!.lastIndexOf('/') + 1)];
      if (said !== undefined) response.setHeader('Cache-Control', said);
      response.end('{}');
    },
  });
  const heard = async (name: string) => (await server.client.get(`${path}/${name}`)).headers['cache-control'];
  t.is(await heard('nothing'), 'no-cache, private');
  t.is(await heard('as-here'), 'no-cache, private');
  t.is(await heard('for-all'), 'no-cache, private, public, max-age=3600');
});

/** A request whose client has a second for it, as it is written; resolves when it has been told that the second is over. */
async function givenUp(scope: Scope, server: ServerProcess, lines: readonly string[], body = '') {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.caPem, ALPNProtocols: ['http/1.1'] });
  scope.teardown(() => void socket.destroy());
  const reader = new WebSocketReader(socket);
  socket.write(`${[...lines, 'Host: x', `Authorization: Bearer ${server.token}`].join('\r\n')}\r\n\r\n${body}`);
  await reader.until(({ head }) => head !== '');
  return { socket, head: reader.head };
}

for (const listener of LISTENERS) {
  const test = OUTSIDE === undefined ? ava.skip : testOn(listener);
  test(`what its client has no more time for is not begun at an extension server (${listener})`, async (t) => {
    const server = await startServer(t, { args: ['--enable-aggregator-routing', '--ingress', listener] });
    const { client } = server;
    const late: Duplex[] = [];
    const { path, seen } = await fakeExtension(t, server, 'late', {
      handler: answering({ kind: 'ThingList', items: [] }),
      onUpgrade: (_request, socket) => void late.push(socket.resume()),
    });
    const watch = await client.watch('/api/v1/namespaces/default/configmaps?watch=true');

    const upgrade = await givenUp(t, server, [`GET ${path}/x?timeout=1s HTTP/1.1`, ...handshake().headers]);
    t.regex(upgrade.head, /^HTTP\/1\.1 504 /);
    const [backend] = late;
    backend!.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await eventually(
      async () => backend!.destroyed,
      (isClosed) => isClosed,
    );

    const body = JSON.stringify({ kind: 'Thing', metadata: { name: 'x' } });
    const lines = [
      `POST ${path}?timeout=1s HTTP/1.1`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    const post = await givenUp(t, server, lines, body.slice(0, 10));
    t.regex(post.head, /^HTTP\/1\.1 504 /);
    post.socket.write(body.slice(10));
    // Whatever came of it has come before these.
    for (let i = 0; i < 10; i++) t.is((await client.get(path)).status, 200);
    t.false(seen.some(({ method }) => method === 'POST'));

    // No thread has ended meanwhile.
    const made = { metadata: { name: 'after' } };
    t.is((await client.request('POST', '/api/v1/namespaces/default/configmaps', { body: made })).status, 201);
    await watch.until(({ object }) => object.metadata?.name === 'after');
    t.notRegex(server.stderr, /ends this thread/);
  });
}

test('a server that answers garbage, too much or not at all takes nothing from the others, and nothing of this server', async (t) => {
  const server = await startServer(t, { args: ['--enable-aggregator-routing', '--request-timeout=8s'] });
  const { client } = server;
  const good = await fakeExtension(t, server, 'good', { handler: answering({ kind: 'ThingList', items: [] }) });
  // The condition looks at the code alone, as the original's does: what is said is for clients to read.
  await fakeExtension(t, server, 'garbage', {
    discovery: (_request, response) => response.end('<html>'),
    handler: (_request, response) => response.end('<html>'),
  });
  const huge = await fakeExtension(t, server, 'huge', {
    handler: (request, response) => {
      if (request.url !== '/openapi/v2') return answering({ kind: 'ThingList', items: [] })(request, response);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"swagger":"2.0","paths":{},"definitions":{"a":{"description":"');
      for (let i = 0; i < 20; i++) response.write('x'.repeat(1024 * 1024));
      response.end('"}}}');
    },
  });
  const silent = await fakeExtension(t, server, 'silent', { handler: () => {} });
  const wrong = await fakeExtension(t, server, 'wrong', {
    reason: 'FailedDiscoveryCheck',
    apiService: { caBundle: Buffer.from(good.certPem).toString('base64') },
  });
  const cut = await fakeExtension(t, server, 'cut', {
    handler: (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    },
  });
  const hanging = client.get(silent.path);
  await t.throwsAsync(client.get(cut.path));
  t.is((await client.get(good.path)).status, 200);
  t.is((await client.get(huge.path)).status, 200);
  const refused = await client.get(wrong.path);
  t.is(refused.status, 503);
  t.regex(refused.json.message ?? '', /^service default\/wrong:\d+, which answers for v1\.wrong\.example\.net: /);
  t.is((await client.get('/apis/garbage.example.net/v1')).text, '<html>');
  const groups = (await client.get('/apis')).json as unknown as { groups: { name: string }[] };
  for (const name of ['good', 'garbage', 'huge', 'silent', 'wrong'])
    t.true(
      groups.groups.some((group) => group.name === `${name}.example.net`),
      name,
    );
  const { status, json } = await client.get('/openapi/v2');
  t.is(status, 200);
  t.true('/api/v1/namespaces/{namespace}/pods' in (json as unknown as { paths: object }).paths);
  t.is((await hanging).status, 504);
  const metrics = new MetricsText((await client.get('/metrics')).text);
  const turnedAway = (labels: object): number =>
    metrics.sum('apiserver_request_terminations_total', { verb: 'LIST', ...labels });
  t.is(turnedAway({ code: '503', component: 'aggregator' }), 1);
  t.is(turnedAway({ code: '504', component: 'apiserver' }), 1);
  t.is(metrics.sum('apiserver_request_aborts_total', { verb: 'LIST', group: '', resource: '' }), 1);
  t.is((await client.get('/readyz')).status, 200);
  // What cannot be known of a namespace keeps it.
  await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'kept' } } });
  await client.request('DELETE', '/api/v1/namespaces/kept');
  const kept = await eventually(
    () => client.get('/api/v1/namespaces/kept'),
    ({ text }) => text.includes('garbage.example.net/v1: the server answered what is no JSON'),
  );
  t.regex(kept.text, /wrong\.example\.net\/v1: the server is currently unable to handle the request/);
});

test('an extension server whose certificate names it in the subject alone is noticed', async (t) => {
  const server = await startServer(t, { args: ['--enable-aggregator-routing'] });
  const folder = mkdtempSync(join(tmpdir(), 'orch-subject-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const authority = testAuthority(folder);
  const nameless = async (): Promise<number> =>
    new MetricsText((await server.client.get('/metrics')).text).sum('apiserver_kube_aggregator_x509_missing_san_total');
  await fakeExtension(t, server, 'named');
  t.is(await nameless(), 0);
  const { path } = await fakeExtension(t, server, 'subject', {
    handler: answering({ kind: 'ThingList', items: [] }),
    pair: authority.issue('subject.default.svc', []),
    apiService: { caBundle: Buffer.from(authority.certPem).toString('base64') },
  });
  t.is((await server.client.get(path)).status, 200);
  t.true((await nameless()) >= 1);
});
