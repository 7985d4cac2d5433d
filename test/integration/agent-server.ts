// A server with a node and pods on it for tests, and clients that ask it for streams of other protocols. Nothing here is
// part of a server.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { accountIn } from './objects.ts';

export const PODS = '/api/v1/namespaces/default/pods';

/** A server with a node `n` whose agent is at a port, and pods on it and on none. */
export async function serverWithNode(
  t: ExecutionContext,
  port: number,
  args: readonly string[],
): Promise<ServerProcess> {
  const server = await startServer(t, { args: ['--orchlet-permit-loopback', ...args] });
  const { client } = server;
  const made = async (path: string, body: object): Promise<void> => {
    const { status, text: answer } = await client.request('POST', path, { body });
    if (status !== 201) throw new Error(answer);
  };
  await accountIn(client);
  await made('/api/v1/nodes', {
    metadata: { name: 'n' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { orchletEndpoint: { Port: port } },
    },
  });
  const containers = [{ name: 'c', image: 'i' }];
  await made(PODS, { metadata: { name: 'p' }, spec: { containers, nodeName: 'n' } });
  await made(PODS, {
    metadata: { name: 'two' },
    spec: { nodeName: 'n', containers: [...containers, { name: 'd', image: 'i' }] },
  });
  await made(PODS, { metadata: { name: 'lost' }, spec: { containers, nodeName: 'gone' } });
  await made(PODS, { metadata: { name: 'waiting' }, spec: { containers, schedulerName: 'nobody' } });
  return server;
}

/** A connection to a server that asks for another protocol, as raw bytes. */
export async function upgraded(
  t: ExecutionContext,
  server: ServerProcess,
  path: string,
  protocol = 'SPDY/3.1',
  port = server.port,
) {
  const socket = connectTls({ host: '127.0.0.1', port, ca: server.caPem, ALPNProtocols: ['http/1.1'] });
  t.teardown(() => void socket.destroy());
  let received = '';
  socket.on('error', () => {});
  socket.setEncoding('latin1').on('data', (piece: string) => {
    received += piece;
  });
  await once(socket, 'secureConnect');
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${server.token}`,
    'Connection: Upgrade',
    `Upgrade: ${protocol}`,
    'X-Stream-Protocol-Version: v4.channel.k8s.io',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\nearly`);
  return { socket, received: () => received };
}

/** Upgrades, and gives everything back. */
export const echo = (_request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Agent: yes\r\n\r\n');
  socket.write(head);
  socket.pipe(socket);
};
