// Requests to backends that do not keep to HTTP.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test from 'ava';
import { AgentClient } from '../../../../transport/outgoing/agent-client.ts';

test('a backend that switches protocols unasked is told of, and does not keep the request for ever', async (t) => {
  let isClosed = false;
  const backend = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('close', () => {
      isClosed = true;
      backend.close();
    });
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n'),
    );
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const client = new AgentClient({ tls: {}, connectTimeoutMs: 0 });
  const { port } = backend.address() as AddressInfo;
  const target = { scheme: 'http', host: '127.0.0.1', port, trust: 'none' } as const;
  const asked = client.send(target, { method: 'GET', path: '/', headers: [], body: undefined }, () => {});
  await t.throwsAsync(asked, { message: /backend tried to switch protocol "chat" when "" was requested/ });
  await once(backend, 'close');
  t.true(isClosed);
  client.close();
});

test('a backend that answers with what is no status is told of, and its answer is nobody’s', async (t) => {
  const backend = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('close', () => backend.close());
    socket.once('data', () => socket.write('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'));
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const client = new AgentClient({ tls: {}, connectTimeoutMs: 0 });
  const { port } = backend.address() as AddressInfo;
  const target = { scheme: 'http', host: '127.0.0.1', port, trust: 'none' } as const;
  const asked = client.send(target, { method: 'GET', path: '/', headers: [], body: undefined }, () => {});
  await t.throwsAsync(asked, { message: /malformed HTTP status code "099"/ });
  await once(backend, 'close');
  client.close();
});
