// The requests around a load, which come on a connection that the server may close meanwhile.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { ApiClient } from '../../../bench/server/api-client.ts';

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
