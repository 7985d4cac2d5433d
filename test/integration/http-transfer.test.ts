// How answers travel, on both listeners of a real server: compressed, over WebSockets, within a connection's limits.
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import type { ApiObject } from '../server/https-client.ts';
import { readEvent, readWire } from '../server/kubernetes-messages.ts';
import { type ServerProcess, sharedServer } from '../server/server-process.ts';
import { clientFrame, handshake, WebSocketReader } from '../server/web-socket-client.ts';
import { configMap, createConfigMap, eventually, freshNamespace } from './objects.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const STREAMS_MAX = 7;

const ARGS = ['--api-dialect', 'kubernetes'];
const SERVERS = {
  uws: sharedServer(test, { args: ARGS }),
  node: sharedServer(test, {
    args: [...ARGS, '--ingress', 'node', '--http2-max-streams-per-connection', String(STREAMS_MAX)],
  }),
};
const plainServer = sharedServer(test, { args: [...ARGS, '--feature-gates', 'APIResponseCompression=false'] });

const throttledServer = sharedServer(test, { args: [...ARGS, '--max-connection-bytes-per-sec', '200000'] });

interface Opened {
  readonly socket: TLSSocket;
  readonly reader: WebSocketReader;
}

/** Sends the request for a WebSocket on a connection of its own. `token` undefined: the admin's. */
async function openSocket(
  server: ServerProcess,
  path: string,
  headers: readonly string[],
  token?: string,
): Promise<Opened> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.caPem });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  const bearer = token ?? server.token;
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: test',
    ...handshake().headers,
    ...(bearer === '' ? [] : [`Authorization: Bearer ${bearer}`]),
    ...headers,
  ];
  const reader = new WebSocketReader(socket);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await reader.until(({ head }) => head !== '');
  return { socket, reader };
}

/** How many objects a list of any encoding has. */
function itemsIn(bytes: Buffer, accept: string): number {
  if (accept === PROTOBUF) return (readWire(bytes).items as unknown[]).length;
  if (accept === 'application/yaml') return bytes.toString().match(/^- /gm)?.length ?? 0;
  const { items, rows } = JSON.parse(bytes.toString()) as { readonly items?: unknown[]; readonly rows?: unknown[] };
  return (items ?? rows ?? []).length;
}

const jsonOf = (payload: Buffer): { readonly type: string; readonly object: ApiObject } =>
  JSON.parse(payload.toString('utf8')) as { readonly type: string; readonly object: ApiObject };

for (const [name, server] of Object.entries(SERVERS)) {
  test(`${name}: a watch over a WebSocket is a text message for each event, and closes in order`, async (t) => {
    const { client } = server();
    const namespace = await freshNamespace(client);
    const path = `${namespace.configMaps}?watch=1&labelSelector=m`;
    const first = await createConfigMap(client, namespace, { name: 'a', labels: { m: '' } });
    const { socket, reader } = await openSocket(server(), path, []);
    t.regex(reader.head, /^HTTP\/1\.1 101 /);
    const second = await createConfigMap(client, namespace, { name: 'b', labels: { m: '' } }, { k: 'ü' });
    socket.write(clientFrame(TEXT, Buffer.from('nobody reads this')));
    socket.write(clientFrame(9, Buffer.from('ping')));
    await reader.until(({ frames }) => frames.filter(({ opcode }) => opcode === TEXT).length === 2);
    const events = reader.frames.filter(({ opcode }) => opcode === TEXT).map(({ payload }) => jsonOf(payload));
    t.deepEqual(events, [
      { type: 'ADDED', object: first },
      { type: 'ADDED', object: second },
    ]);
    await reader.until(({ frames }) =>
      frames.some(({ opcode, payload }) => opcode === 10 && payload.toString() === 'ping'),
    );
    socket.destroy();
    const short = await openSocket(server(), `${path}&timeoutSeconds=1`, []);
    await short.reader.until(({ frames }) => frames.some(({ opcode }) => opcode === CLOSE));
    t.is(short.reader.frames.at(-1)?.payload.readUInt16BE(0), 1000);
    short.socket.destroy();
  });

  test(`${name}: a watch in Protobuf over a WebSocket is a binary message for each event`, async (t) => {
    const { client } = server();
    const namespace = await freshNamespace(client);
    await createConfigMap(client, namespace, { name: 'a', labels: { m: '' } });
    const path = `${namespace.configMaps}?watch=1&labelSelector=m`;
    const { socket, reader } = await openSocket(server(), path, [`Accept: ${PROTOBUF};stream=watch`]);
    await reader.until(({ frames }) => frames.length === 1);
    t.is(reader.frames[0]!.opcode, BINARY);
    t.like(readEvent(reader.frames[0]!.payload), {
      type: 'ADDED',
      object: { kind: 'ConfigMap', metadata: { name: 'a' } },
    });
    socket.destroy();
  });

  test(`${name}: a browser's token comes among the protocols, and is not answered back`, async (t) => {
    const { configMaps } = await freshNamespace(server().client);
    const path = `${configMaps}?watch=1&resourceVersion=0`;
    const encoded = Buffer.from(server().token).toString('base64url');
    const offered = (token: string): string =>
      `Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.${token}, base64.binary.k8s.io, other`;
    const { socket, reader } = await openSocket(server(), path, [offered(encoded)], '');
    t.regex(reader.head, /^HTTP\/1\.1 101 /);
    t.regex(reader.head, /^Sec-WebSocket-Protocol: base64\.binary\.k8s\.io$/im);
    t.false(reader.head.includes(encoded));
    socket.destroy();
    const wrong = await openSocket(server(), path, [offered(Buffer.from('wrong').toString('base64url'))], '');
    t.regex(wrong.reader.head, /^HTTP\/1\.1 401 /);
    wrong.socket.destroy();
  });

  test(`${name}: what is refused before a WebSocket opens is an ordinary Status`, async (t) => {
    const { configMaps } = await freshNamespace(server().client);
    for (const [path, code] of [
      [`${configMaps}?watch=1&labelSelector=%28`, 400],
      ['/api/v1/nothings?watch=1', 404],
      [`${configMaps}/none`, 404],
    ] as const) {
      const { socket, reader } = await openSocket(server(), path, []);
      t.regex(reader.head, new RegExp(`^HTTP/1\\.1 ${code} `), path);
      await reader.until(({ body }) => body.includes('}\n'));
      t.like(JSON.parse(reader.body), { kind: 'Status', code });
      socket.destroy();
    }
  });

  test(`${name}: long answers are compressed for who takes gzip, in every encoding`, async (t) => {
    const { client } = server();
    const { configMaps } = await freshNamespace(client);
    const filler = Array.from({ length: 2000 }, (_, i) => String(i)).join(' ');
    for (let i = 0; i < 60; i++) {
      const answer = await client.request('POST', configMaps, { body: configMap({ name: `m${i}` }, { filler }) });
      t.is(answer.status, 201);
      t.is(answer.headers['content-encoding'], undefined);
    }
    // The cluster's authority is published in every namespace.
    await eventually(
      () => client.get(configMaps),
      ({ json }) => json.items?.length === 61,
    );
    const gzip = { 'accept-encoding': 'gzip' };
    for (const accept of [
      'application/json',
      PROTOBUF,
      'application/yaml',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
    ]) {
      const whole = accept.includes('Table') ? `${configMaps}?includeObject=Object` : configMaps;
      const plain = await client.get(whole, { headers: { accept } });
      t.is(plain.headers['content-encoding'], undefined, accept);
      const packed = await client.get(whole, { headers: { accept, ...gzip } });
      t.is(packed.headers['content-encoding'], 'gzip', accept);
      t.is(packed.headers.vary, 'Accept-Encoding');
      t.is(packed.headers['content-type'], plain.headers['content-type']);
      t.true(packed.bytes.length < plain.bytes.length / 2);
      t.is(itemsIn(gunzipSync(packed.bytes), accept), 61, accept);
      const short = await client.get(`${whole}${whole.includes('?') ? '&' : '?'}limit=2`, {
        headers: { accept, ...gzip },
      });
      t.is(short.headers['content-encoding'], undefined);
    }
    // Whoever scrapes metrics takes gzip.
    const metrics = await client.get('/metrics', { headers: gzip });
    t.is(metrics.headers['content-encoding'], 'gzip');
    t.regex(gunzipSync(metrics.bytes).toString(), /^orch_store_revision \d/m);
    const watch = await client.watch(`${configMaps}?watch=1`, { headers: gzip });
    t.is(watch.headers['content-encoding'], undefined);
    t.is((await watch.take(61)).length, 61);
    watch.close();
  });
}

test('a watch on a connection with an allowance tells everything, in order, however much comes at once', async (t) => {
  const { client } = throttledServer();
  const namespace = await freshNamespace(client);
  const filler = 'x'.repeat(10_000);
  const names = Array.from({ length: 25 }, (_, i) => `m${String(i).padStart(2, '0')}`);
  const watch = await client.watch(`${namespace.configMaps}?watch=1&labelSelector=m`);
  for (const name of names) await createConfigMap(client, namespace, { name, labels: { m: '' } }, { filler });
  const late = await client.watch(`${namespace.configMaps}?watch=1&labelSelector=m`);
  for (const stream of [watch, late]) {
    const seen = (await stream.take(names.length)).map(({ object }) => object.metadata.name);
    t.deepEqual(seen, names);
    stream.close();
  }
});

test('nothing is compressed where the gate is off', async (t) => {
  const { client } = plainServer();
  const { configMaps } = await freshNamespace(client);
  const body = configMap({ name: 'large' }, { filler: 'x'.repeat(200_000) });
  await client.request('POST', configMaps, { body });
  const answer = await client.get(`${configMaps}/large`, { headers: { 'accept-encoding': 'gzip' } });
  t.is(answer.headers['content-encoding'], undefined);
  t.is(answer.json.data?.filler?.length, 200_000);
});

test('an HTTP/2 client is told how many streams a connection may have', async (t) => {
  const server = SERVERS.node();
  const session = connectHttp2(server.url, { ca: server.caPem });
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve, reject) => {
    session.once('remoteSettings', resolve);
    session.once('error', reject);
  });
  t.is(settings.maxConcurrentStreams, STREAMS_MAX);
  session.destroy();
});
