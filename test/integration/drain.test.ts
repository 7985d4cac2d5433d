// A server that leaves, behind a balancer: it says so first, tells its clients to go elsewhere, and none of their requests is lost.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import ava from 'ava';
import { EtcdMember } from '../server/etcd-member.ts';
import { HttpsClient } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { TcpBalancer } from '../server/tcp-balancer.ts';
import { testAuthority } from '../server/test-authority.ts';
import { eventually } from './objects.ts';

const hooks = testNeeding(ava, ['etcd', 'uws']);
const test = hooks.serial;
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
const TOKEN = 'drain-token';
const MAPS = '/api/v1/namespaces/default/configmaps';
const OBJECTS_WANTED = 20;
const servers: ServerProcess[] = [];
let balancer: TcpBalancer;
let caPem: string;

hooks.before(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drain-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const authority = testAuthority(folder);
  const { certFile, keyFile } = authority.issue('orch', ['127.0.0.1']);
  caPem = authority.certPem;
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, `${TOKEN},admin,1,system:masters\n`, { mode: 0o600 });
  const member = await EtcdMember.start();
  scope.teardown(() => member.dispose());
  const args = [
    ...['--store-servers', member.server, '--shutdown-delay-duration', '15s'],
    ...['--tls-cert-file', certFile, '--tls-private-key-file', keyFile, '--token-auth-file', tokens],
  ];
  servers.push(
    ...(await Promise.all([
      startServer(scope, { args: [...args, '--ingress', 'node'] }),
      startServer(scope, { args: [...args, '--ingress', 'uws'] }),
    ])),
  );
  balancer = await TcpBalancer.start({ caPem, ports: servers.map(({ port }) => port), silentAfterMs: 120_000 });
  scope.teardown(() => balancer.close());
});

hooks.after.always(async () => {
  for (const step of undo) await step();
});

interface Load {
  /** Names that were answered to be made. */
  readonly made: string[];
  readonly failures: string[];
  goaways: number;
  isOver: boolean;
}

/** Makes objects one after the other on connections that it keeps, as clients do. */
async function overHttp1(load: Load, name: string): Promise<void> {
  const client = new HttpsClient(balancer.url, caPem, TOKEN);
  for (let index = 0; !load.isOver; index++) {
    const body = { metadata: { name: `${name}-${index}` } };
    const answer = await client.request('POST', MAPS, { body }).catch((error: Error) => error);
    if (answer instanceof Error) load.failures.push(`${name}-${index}: ${answer.message}`);
    else if (answer.status !== 201) load.failures.push(`${name}-${index}: ${answer.status} ${answer.text}`);
    else load.made.push(`${name}-${index}`);
  }
  client.close();
}

/** The same, several at once on one HTTP/2 connection, where the server speaks it; on another after a GOAWAY. */
async function overHttp2(load: Load, name: string): Promise<void> {
  const one = async (session: ClientHttp2Session, named: string): Promise<void> => {
    const answer = await post(session, { metadata: { name: named } });
    if (answer === '201') load.made.push(named);
    // A stream behind a GOAWAY was not looked at: clients ask again by themselves.
    else if (answer !== 'refused') load.failures.push(`${named}: ${answer}`);
  };
  for (let connection = 0; !load.isOver; connection++) {
    const socket = await secured().catch((error: Error) => {
      load.failures.push(`${name}-${connection}: ${error.message}`);
    });
    if (socket?.alpnProtocol !== 'h2') {
      socket?.destroy();
      await new Promise((resolve) => setTimeout(resolve, 10));
      continue;
    }
    const session = connect(balancer.url, { createConnection: () => socket });
    let isSentAway = false;
    session.on('error', () => {});
    session.on('goaway', () => {
      isSentAway = true;
      load.goaways++;
    });
    const lane = async (number: number): Promise<void> => {
      for (let index = 0; !load.isOver && !isSentAway && !session.closed && !session.destroyed; index++)
        await one(session, `${name}-${connection}-${number}-${index}`);
    };
    await Promise.all([lane(0), lane(1), lane(2)]);
    if (!session.destroyed) {
      const closed = new Promise<void>((resolve) => session.once('close', resolve));
      session.close();
      await closed;
    }
  }
}

/** A connection of TLS whose client would like to speak HTTP/2. */
function secured(): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const settings = { host: '127.0.0.1', port: balancer.port, ca: caPem, ALPNProtocols: ['h2', 'http/1.1'] };
    const socket = connectSecurely(settings, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Resolves with the status, or what became of the stream. */
function post(session: ClientHttp2Session, body: object): Promise<string> {
  return new Promise((resolve) => {
    let status = '';
    const stream = session.request({
      ':method': 'POST',
      ':path': MAPS,
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
    });
    stream.on('response', (headers) => {
      status = String(headers[':status']);
    });
    stream.on('error', () => {});
    stream.resume();
    stream.on('close', () => {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) resolve('refused');
      else resolve(stream.rstCode === constants.NGHTTP2_NO_ERROR ? status : `reset with ${stream.rstCode}`);
    });
    stream.end(JSON.stringify(body));
  });
}

for (const [index, kind] of ['node', 'uws'].entries()) {
  test(`a server with the listener ${kind} that leaves is not ready first, sends its clients away, and loses no request`, async (t) => {
    const server = servers[index]!;
    const direct = new HttpsClient(server.url, caPem, TOKEN);
    const other = new HttpsClient(servers[1 - index]!.url, caPem, TOKEN);
    t.teardown(() => {
      load.isOver = true;
      direct.close();
      other.close();
    });
    const load: Load = { made: [], failures: [], goaways: 0, isOver: false };
    const work = [0, 1, 2, 3].map((number) => overHttp1(load, `${kind}-h1-${number}`));
    work.push(overHttp2(load, `${kind}-h2-0`), overHttp2(load, `${kind}-h2-1`));
    const watch = await direct.watch(`${MAPS}?watch=1`);
    await eventually(
      async () => load.made.length,
      (made) => made >= OBJECTS_WANTED,
    );
    process.kill(server.pid, 'SIGTERM');
    await eventually(
      async () => balancer.healthOf(server.port),
      (health) => health === 'leaving',
    );
    // Everything is served meanwhile, to whoever has not heard it yet.
    t.is((await direct.get(MAPS)).status, 200);
    t.is((await direct.get(MAPS)).headers.connection?.toLowerCase(), 'close');
    t.is(await server.exited(), 0);
    t.is(await watch.ended, 'clean');
    const before = load.made.length;
    await eventually(
      async () => load.made.length,
      (made) => made >= before + OBJECTS_WANTED,
    );
    load.isOver = true;
    await Promise.all(work);
    t.deepEqual(load.failures, []);
    if (kind === 'node') t.true(load.goaways > 0);
    const { json } = await other.get(MAPS);
    const stored = new Set(json.items?.map(({ metadata }) => metadata.name));
    t.deepEqual(
      load.made.filter((name) => !stored.has(name)),
      [],
    );
    await server.restart();
    await eventually(
      async () => balancer.healthOf(server.port),
      (health) => health === 'ready',
    );
  });
}
