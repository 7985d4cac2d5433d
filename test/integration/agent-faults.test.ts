// Streams to a node agent that does not do what it should, through real servers with either listener, and clients that do not wait
// for it.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, createServer, type TLSSocket } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { agentPair, startFakeAgent } from '../server/fake-agent.ts';
import { LISTENERS, testOn } from '../server/listeners.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { handshake } from '../server/web-socket-client.ts';
import { PODS, serverWithNode } from './agent-server.ts';

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
/** Of the kernel's table of connections: how the keepalive timer is told from others. */
const KEEPALIVE_TIMER = '02';

async function until(condition: () => boolean): Promise<void> {
  const patience = AbortSignal.timeout(60_000);
  while (!condition()) {
    patience.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What asks for a stream of another protocol. */
const asking = {
  WebSocket: (): readonly string[] => handshake().headers,
  SPDY: (): readonly string[] => ['Connection: Upgrade', 'Upgrade: SPDY/3.1'],
};

/** A client's connection that has sent a request. */
async function asked(
  t: ExecutionContext,
  { port, caPem, token }: ServerProcess,
  line: string,
  headers: readonly string[] = [],
): Promise<{ readonly socket: TLSSocket; readonly text: () => string }> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: caPem, ALPNProtocols: ['http/1.1'] });
  t.teardown(() => void socket.destroy());
  let text = '';
  socket
    .on('error', () => {})
    .on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
  await once(socket, 'secureConnect');
  const lines = [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return { socket, text: () => text };
}

/** An agent that answers every request with these bytes, and then closes where it `ends`. Returns its port. */
async function agentSaying(t: ExecutionContext, bytes: string, ends: boolean): Promise<number> {
  const { certPem, keyPem } = await agentPair('agent', 'serverAuth');
  const sockets = new Set<Socket>();
  const agent = createServer({ cert: certPem, key: keyPem }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => (ends ? socket.end(bytes) : socket.write(bytes)));
  });
  agent.listen(0, '127.0.0.1');
  await once(agent, 'listening');
  t.teardown(() => {
    agent.close();
    for (const socket of sockets) socket.destroy();
  });
  return (agent.address() as AddressInfo).port;
}

// One after the other: each starts a process of its own.
for (const listener of LISTENERS) {
  const test = testOn(listener).serial;
  for (const protocol of ['WebSocket', 'SPDY'] as const) {
    if (listener === 'uws' && protocol === 'SPDY') continue;

    test(`who goes away before the agent has answered takes the connection to it along (${listener}, ${protocol})`, async (t) => {
      const reached: Duplex[] = [];
      let left = 0;
      const hold = (_request: IncomingMessage, socket: Duplex): void => {
        reached.push(socket.resume());
        socket.once('close', () => left++);
        socket.once('end', () => socket.end());
      };
      const agent = await startFakeAgent(t, { handler: () => {}, onUpgrade: hold });
      const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
      const client = await asked(t, server, `GET ${PODS}/p/exec?command=sh`, asking[protocol]());
      await until(() => reached.length === 1);
      client.socket.end();
      await until(() => left === 1);
      t.is((await server.client.get('/readyz')).status, 200);
    });

    test(`who goes away while an agent answers a stream in HTTP ends the answer (${listener}, ${protocol})`, async (t) => {
      let left = 0;
      const answer = (_request: IncomingMessage, socket: Duplex): void => {
        socket.resume().once('close', () => left++);
        socket.once('end', () => socket.end());
        socket.write('HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nno!\r\n');
      };
      const agent = await startFakeAgent(t, { handler: () => {}, onUpgrade: answer });
      const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
      const client = await asked(t, server, `GET ${PODS}/p/exec?command=sh`, asking[protocol]());
      await until(() => client.text().includes('no!'));
      t.is(left, 0);
      client.socket.end();
      await until(() => left === 1);
    });
  }

  test(`an agent that leaves HTTP without a word is not followed (${listener})`, async (t) => {
    const port = await agentSaying(t, 'HTTP/1.1 101 Switching Protocols\r\n\r\n', false);
    const server = await serverWithNode(t, port, ['--ingress', listener]);
    const proxied = await server.client.get('/api/v1/nodes/n/proxy/x');
    t.is(proxied.status, 503);
    t.regex(proxied.text, /backend tried to switch protocol \\"\\" when \\"\\" was requested/);
    const log = await server.client.get(`${PODS}/p/log`);
    t.is(log.status, 500);
    t.regex(log.text, /backend tried to switch protocol/);
    const stream = await asked(t, server, `GET ${PODS}/p/exec?command=sh`, asking.WebSocket());
    await until(() => stream.text().includes('"code":'));
    t.regex(stream.text(), /^HTTP\/1\.1 500 /);
    t.regex(
      stream.text(),
      /error dialing backend: .*tried to switch protocol \\"\\" when \\"WebSocket\\" was requested/,
    );
  });

  test(`a refusal of an agent that breaks off is told as one (${listener})`, async (t) => {
    const port = await agentSaying(t, 'HTTP/1.1 500 Oh\r\nContent-Length: 1000\r\n\r\nhalf', true);
    const server = await serverWithNode(t, port, ['--ingress', listener]);
    const log = await server.client.get(`${PODS}/p/log`);
    t.is(log.status, 500);
    t.is(log.json.message, 'Internal error occurred: unexpected EOF');
  });

  test(`not one header of an answer is left out, however many an agent sends (${listener})`, async (t) => {
    const names = Array.from({ length: 2500 }, (_, at) => `X-Own-${at}`);
    const head = ['HTTP/1.1 200 OK', ...names.map((name) => `${name}: 1`), 'Content-Length: 4', '\r\nwell'];
    const port = await agentSaying(t, head.join('\r\n'), true);
    const server = await serverWithNode(t, port, ['--ingress', listener]);
    const proxied = await asked(t, server, 'GET /api/v1/nodes/n/proxy/x');
    await until(() => proxied.text().includes('well') || proxied.socket.closed);
    t.regex(proxied.text(), /^Content-Length: 4\r$/im);
    t.deepEqual(proxied.text().match(/^X-Own-\d+/gim), names);
  });

  test(`an answer with a long head is passed on whole (${listener})`, async (t) => {
    const names = Array.from({ length: 400 }, (_, at) => `X-Long-${at}`);
    const head = ['HTTP/1.1 200 OK', ...names.map((name) => `${name}: ${'l'.repeat(1000)}`), 'Content-Length: 4'];
    const port = await agentSaying(t, `${head.join('\r\n')}\r\n\r\nwell`, true);
    const server = await serverWithNode(t, port, ['--ingress', listener]);
    const proxied = await asked(t, server, 'GET /api/v1/nodes/n/proxy/x');
    await until(() => proxied.text().includes('well') || proxied.socket.closed);
    t.deepEqual(proxied.text().match(/^X-Long-\d+(?=: l{1000}\r$)/gim), names);
    t.true(proxied.text().endsWith('\r\n\r\nwell'));
  });

  test(`a tunnel asks from time to time whether the agent is still there (${listener})`, async (t) => {
    const agent = await startFakeAgent(t, {
      handler: () => {},
      onUpgrade: (_request, socket) => void socket.write(SWITCH),
    });
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    const client = await asked(t, server, `GET ${PODS}/p/exec?command=sh`, asking.WebSocket());
    await until(() => client.text().includes(' 101 '));
    const to = `0100007F:${agent.port.toString(16).toUpperCase().padStart(4, '0')}`;
    const timers = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[2] === to && columns[3] === '01')
      .map((columns) => columns[5]!.split(':')[0]);
    t.deepEqual(timers, [KEEPALIVE_TIMER]);
  });
}
