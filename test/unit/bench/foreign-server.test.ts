// A bench that is aimed at a server which runs already: it makes its namespace there, and is gone when it says so.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { Bench } from '../../../bench/bench.ts';

const NAMESPACE = '/api/v1/namespaces/bench';
const LOOKS_WHILE_GOING = 3;

test('a workload that follows another on a running server finds the namespace of that one gone', async (t) => {
  let state: 'none' | 'there' | number = 'none';
  const server = createServer(({ method, url }, response) => {
    if (method === 'POST' && url === '/api/v1/namespaces') {
      response.statusCode = state === 'none' ? 201 : 409;
      if (state === 'none') state = 'there';
    } else if (method === 'POST' && typeof state === 'number') response.statusCode = 403;
    else if (method === 'DELETE' && url === NAMESPACE) state = LOOKS_WHILE_GOING;
    else if (method === 'GET' && url === NAMESPACE && typeof state === 'number' && state-- === 0) state = 'none';
    if (method === 'GET' && state === 'none') response.statusCode = 404;
    response.end('{}');
  });
  // A busy process must not find its kept connection closed.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const bench = new Bench({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  t.teardown(() => bench.close());
  for (const workload of ['first', 'second']) {
    t.is(await bench.withTarget(() => Promise.resolve(workload)), workload);
    t.is(state, 'none');
  }
  t.throws(() => bench.requireOwnServer('auth'), { name: 'UsageError', message: /^auth measures servers of its own/ });
});
