// The requests around a load, which come on a connection that the server may close meanwhile.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Connector } from '../../../bench/load/connection.ts';
import { openSession } from '../../../bench/load/http2-watches.ts';
import { ApiClient } from '../../../bench/server/api-client.ts';
import { certificateAuthority, certificateOf } from '../../server/credentials.ts';
import { testNeeding } from '../../server/machine-tools.ts';

/** A client, and the requests that a server saw which closes each connection at its second request. */
async function forgetful(t: ExecutionContext): Promise<{ client: ApiClient; seen: readonly string[] }> {
  const seen: string[] = [];
  const answered = new WeakSet<object>();
  const server = createServer(({ method = '', socket }, response) => {
    seen.push(method);
    if (answered.has(socket)) socket.destroy();
    else response.end('{}');
    answered.add(socket);
  });
  // Nothing else closes them, however long it takes until the second one comes.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new ApiClient({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  t.teardown(() => {
    client.close();
    server.close();
  });
  return { client, seen };
}

test('a read that meets the end of a kept connection is sent again', async (t) => {
  const { client, seen } = await forgetful(t);
  await client.send('GET', '/');
  t.is((await client.send('GET', '/')).status, 200);
  t.deepEqual(seen, ['GET', 'GET', 'GET']);
});

test('a POST that meets the end of a kept connection is not', async (t) => {
  const { client, seen } = await forgetful(t);
  await client.send('GET', '/');
  await t.throwsAsync(client.send('POST', '/', '{}'), { code: 'ECONNRESET' });
  t.deepEqual(seen, ['GET', 'POST']);
});

testNeeding(test, ['openssl'])(
  'a certificate for another name, which stands in the connection file without its authority, is believed by all that the bench connects with',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-named-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    certificateAuthority(folder, 'ca');
    certificateOf(folder, 'ca', 'leaf', '/CN=leaf', { usage: 'serverAuth', names: ['DNS:a.example'] });
    const pair = { cert: read('leaf.crt'), key: read('leaf.key') };
    const server = createTlsServer(pair, (_request, response) => response.end('{}')).listen(0, '127.0.0.1');
    const streams = createSecureServer(pair).listen(0, '127.0.0.1');
    await Promise.all([once(server, 'listening'), once(streams, 'listening')]);
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
      streams.close();
    });
    const endpointAt = (address: unknown, servername: string) => {
      return { host: '127.0.0.1', port: (address as AddressInfo).port, tls: { ca: pair.cert, servername } };
    };
    const sink = { onHead: () => {}, onBody: () => {}, onEnd: () => {}, onLost: () => {} };
    for (const [servername, isFor] of [
      ['a.example', true],
      ['b.example', false],
    ] as const) {
      const here = endpointAt(server.address(), servername);
      const client = new ApiClient(here);
      const ways = [
        () => client.send('GET', '/').then(() => client.close()),
        async () => (await new Connector(here).open(sink)).close(),
        async () => (await openSession(endpointAt(streams.address(), servername))).destroy(),
      ];
      for (const way of ways) {
        if (isFor) await t.notThrowsAsync(way());
        else await t.throwsAsync(way(), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
      }
    }
  },
);
