// What the way out keeps of its connections, against a server that answers in bursts.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { AgentClient } from '../../../transport/outgoing/agent-client.ts';

const BURST = 24;

/** How many connections two bursts of requests take, each answered at once when all of it has arrived. */
async function connectionsOfTwoBursts(t: ExecutionContext, idleMax: number): Promise<number> {
  let connections = 0;
  const waiting: ServerResponse[] = [];
  const server = createServer((_, response) => {
    if (waiting.push(response) === BURST) for (const one of waiting.splice(0)) one.end('x');
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new AgentClient({ tls: {}, connectTimeoutMs: 0, idleMax });
  t.teardown(() => {
    client.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const target = { scheme: 'http', host: '127.0.0.1', port, trust: 'none' } as const;
  const request = { method: 'GET', path: '/', headers: [], body: undefined } as const;
  for (let burst = 0; burst < 2; burst++) {
    const asked = Array.from({ length: BURST }, async () => (await client.send(target, request, () => {})).text(BURST));
    t.deepEqual(new Set(await Promise.all(asked)), new Set(['x']));
    await turn();
  }
  return connections;
}

test('a burst of requests finds the connections of the burst before it, as many as are kept', async (t) => {
  t.is(await connectionsOfTwoBursts(t, BURST), BURST);
  t.is(await connectionsOfTwoBursts(t, BURST / 2), BURST + BURST / 2);
});
