// What becomes of a command that asks a server which takes its connection and says nothing.
import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { endWhereSilent } from '../../../bin/admin/admin-connection.ts';

async function asked(t: ExecutionContext, listener: RequestListener, timeout?: number): Promise<ClientRequest> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close().closeAllConnections());
  return get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { timeout });
}

/** Of an answer that stops after its first word. */
async function endsBehindHalf(t: ExecutionContext, request: ClientRequest): Promise<void> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  endWhereSilent(request, 100);
  await t.throwsAsync(
    async () => {
      for await (const piece of response) t.is(String(piece), 'half');
    },
    { code: 'ECONNRESET' },
  );
}

test('a request that a server never answers ends', async (t) => {
  const request = await asked(t, () => {});
  const failed = once(request, 'error');
  endWhereSilent(request, 100);
  const [error] = (await failed) as [Error];
  t.is(error.message, 'it has said nothing for 0.1 seconds');
});

test('a request whose answer goes on no more ends', async (t) => {
  const request = await asked(t, (_, response) => void response.write('half'));
  await endsBehindHalf(t, request);
});

test('a request ends by its own time, whatever the agent thought of its connection before', async (t) => {
  let hold: (response: ServerResponse) => void = () => {};
  const held = new Promise<ServerResponse>((resolve) => {
    hold = resolve;
  });
  const request = await asked(t, (_, response) => hold(response), 20);
  // The agent's time for the connection is over.
  await once(request, 'timeout');
  (await held).write('half');
  await endsBehindHalf(t, request);
});
