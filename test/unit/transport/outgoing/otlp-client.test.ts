// A collector that does not keep to what it is asked.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test from 'ava';
import { otlpClient } from '../../../../transport/outgoing/otlp-client.ts';

test('a collector that goes over to another protocol has not said yes', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const post = otlpClient({ url: `http://127.0.0.1:${port}/`, headers: [], timeoutMs: 240_000 });
  await t.throwsAsync(post('{}'), { message: 'it went over to another protocol' });
});
