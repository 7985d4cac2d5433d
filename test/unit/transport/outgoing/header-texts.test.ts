// What headers say beyond ASCII, on the way to an agent or an extension server and back.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { AgentClient } from '../../../../transport/outgoing/agent-client.ts';

const TEXT = 'größe 你好';
/** As Node says the bytes of a header. */
const SAID = Buffer.from(TEXT).toString('latin1');

test('a header is sent as the bytes of its text, and is the text of its bytes when it comes back', async (t) => {
  let heard: unknown;
  const server = createServer(({ headers }, response) => {
    heard = headers['x-who'];
    response.setHeader('X-Answer', SAID).end(Buffer.from('x'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new AgentClient({ tls: {}, connectTimeoutMs: 0 });
  t.teardown(() => {
    client.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const target = { scheme: 'http', host: '127.0.0.1', port, trust: 'none' } as const;
  const request = { method: 'GET', path: '/', headers: [['x-who', TEXT]], body: undefined } as const;
  const answer = await client.send(target, request, () => {});
  t.is(await answer.text(1), 'x');
  t.is(heard, SAID);
  t.is(answer.headers.find(([name]) => name === 'X-Answer')?.[1], TEXT);
});
