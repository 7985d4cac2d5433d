// TLS with RSA keys of 1024 bits, as old authorities have them: OpenSSL's level in Node 24 and newer turns them away by itself. What
// stands at the other end is a peer that is content with anything.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { type Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, DEFAULT_CIPHERS, type TLSSocket, type TlsOptions } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { chooseCiphers } from '../../transport/cipher-suites.ts';
import { openNodeListener } from '../../transport/node/listener.ts';
import { AgentClient } from '../../transport/outgoing/agent-client.ts';
import { AgentConnections } from '../../transport/outgoing/agent-connections.ts';
import { NOTHING_SHOWN } from '../../transport/outgoing/connection-file.ts';
import { openTunnel } from '../../transport/outgoing/egress.ts';
import { ConnectionOpener } from '../../transport/outgoing/http1/open-connection.ts';
import { atUsualLevel } from '../../values/security-level.ts';
import { type IssuedPair, testAuthority } from '../server/test-authority.ts';
import { get, JSON_HEADERS, listenerOptions } from './listener-fixture.ts';

const CONTENT = `${DEFAULT_CIPHERS}:@SECLEVEL=0`;
const folder = mkdtempSync(join(tmpdir(), 'orch-short-keys-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

const authority = testAuthority(folder, 'old', 'RSA-1024');
const own = authority.issue('server', ['127.0.0.1']);
const shown = authority.issue('client', [], 'clientAuth');
const PEMS = { caPem: authority.certPem, certPem: shown.certPem, keyPem: shown.keyPem };

test('a server whose own key and whose clients’ authority are short serves who shows a certificate of a short key', async (t) => {
  const vouched: (string | undefined)[] = [];
  const material = { certPem: own.certPem, keyPem: own.keyPem, clientCaPem: authority.certPem };
  const listener = await openNodeListener(
    await listenerOptions(
      true,
      (request, response) => {
        vouched.push(request.peerCertificate?.chain.length === 0 ? undefined : 'vouched');
        response.respond(200, JSON_HEADERS, '{}');
      },
      { tls: material },
    ),
  );
  t.teardown(() => listener.close());
  const ask = async ({ certPem, keyPem }: IssuedPair): Promise<void> => {
    const socket = connect({
      host: '127.0.0.1',
      port: listener.port,
      ciphers: CONTENT,
      ca: authority.certPem,
      cert: certPem,
      key: keyPem,
    });
    await once(socket, 'secureConnect');
    socket.write(get('/'));
    await once(socket, 'data');
    socket.destroy();
  };
  await ask(shown);
  await listener.replaceTls(material);
  await ask(shown);
  await listener.replaceTls({ ...material, ciphers: chooseCiphers(['TLS_AES_128_GCM_SHA256']) });
  await ask(shown);
  t.deepEqual(vouched, ['vouched', 'vouched', 'vouched']);
});

const ASKS_FOR_CERTIFICATE: TlsOptions = {
  cert: own.certPem,
  key: own.keyPem,
  ciphers: CONTENT,
  ca: authority.certPem,
  requestCert: true,
};

/** A peer that wants to be shown a certificate, and answers everything with the same. Resolves with its port. */
async function peer(t: ExecutionContext, answer: string): Promise<number> {
  const sockets: TLSSocket[] = [];
  const server = createServer(ASKS_FOR_CERTIFICATE, (socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.on('data', () => socket.write(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

async function statusBy(agent: Agent, port: number): Promise<number | undefined> {
  const asked = request({ host: '127.0.0.1', port, agent }).end();
  const [{ statusCode }] = await once(asked, 'response');
  return statusCode;
}

/** Each way to call somebody over TLS; resolves once it has come to an answer. */
const WAYS: Readonly<Record<string, (port: number, t: ExecutionContext) => Promise<unknown>>> = {
  'a webhook or an issuer of tokens': (port) =>
    new Promise<void>((resolve, reject) => {
      const opener = new ConnectionOpener({ url: `https://127.0.0.1:${port}`, insecure: false }, PEMS);
      opener.open({ host: '127.0.0.1', port, serverName: '' }, (error, standing) => {
        standing?.socket.destroy();
        if (error === undefined) resolve();
        else reject(error);
      });
    }),
  'an API server': async (port) => {
    const connections = new AgentConnections(
      { ...NOTHING_SHOWN, ...PEMS, url: `https://127.0.0.1:${port}`, insecure: false, serverName: '' },
      PEMS,
    );
    await statusBy(connections.agent as Agent, port).finally(() => connections.close());
  },
  'a node agent': async (port) => {
    const client = new AgentClient({ tls: PEMS, connectTimeoutMs: 0 });
    const target = { scheme: 'https', host: '127.0.0.1', port, trust: 'agent' } as const;
    const asked = { method: 'GET', path: '/', headers: [], body: undefined };
    await client.send(target, asked, () => {}).finally(() => client.close());
  },
  'an egress proxy': (port) =>
    new Promise<void>((resolve, reject) => {
      openTunnel(
        { host: '127.0.0.1', port, socketPath: '', tls: PEMS },
        { hostname: 'service', port: 443 },
        (error, socket) => {
          socket?.destroy();
          if (error === null) resolve();
          else reject(error);
        },
      );
    }),
};

for (const [whom, call] of Object.entries(WAYS)) {
  test(`${whom} that goes by short keys is called, and shown a certificate of one`, async (t) => {
    await t.notThrowsAsync(call(await peer(t, OK), t));
  });
}

test('etcd that goes by short keys is asked, and shown a certificate of one', async (t) => {
  const server = createSecureServer(ASKS_FOR_CERTIFICATE);
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': 5 }, { endStream: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { caPem: ca, certPem: certificate, keyPem: key } = PEMS;
  const client = new EtcdClient(
    { servers: [`https://127.0.0.1:${port}`], ca, certificate, key },
    realEnvironment.timers,
  );
  t.teardown(() => {
    client.close();
    server.close();
  });
  await t.throwsAsync(client.status(), { message: /5|not found/i });
});

test('what an operator says of the level of TLS stays', (t) => {
  t.is(atUsualLevel('HIGH'), 'HIGH:@SECLEVEL=1');
  t.is(atUsualLevel('HIGH:@SECLEVEL=2'), 'HIGH:@SECLEVEL=2');
  t.is(atUsualLevel('TLS_AES_128_GCM_SHA256'), 'TLS_AES_128_GCM_SHA256');
});
