// WebSockets that lead to a node agent, through servers with either listener: messages both ways, pings, closes, and either
// side slower than the other.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { type FakeAgent, startFakeAgent } from '../server/fake-agent.ts';
import { LISTENERS, testOn } from '../server/listeners.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { type AgentSocket, acceptWebSocket } from '../server/web-socket-agent.ts';
import { clientFrame, type Frame, handshake, WebSocketReader } from '../server/web-socket-client.ts';
import { accountIn } from './objects.ts';

// One after the other: each starts a process of its own.
const test = testOn('uws').serial;
const EXEC = '/api/v1/namespaces/default/pods/p/exec?command=sh&stdin=true';
const MEGABYTE = 1024 * 1024;
const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

const closeOf = (code: number, reason = ''): Buffer =>
  Buffer.concat([Buffer.of(code >> 8, code & 255), Buffer.from(reason)]);
const isData = ({ opcode }: Frame): boolean => opcode === TEXT || opcode === BINARY;

async function until(condition: () => boolean): Promise<void> {
  const patience = AbortSignal.timeout(120_000);
  while (!condition()) {
    patience.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface Setup {
  readonly server: ServerProcess;
  readonly agent: FakeAgent;
  /** The agent's end of the latest connection. */
  readonly agentSide: () => AgentSocket;
}

/** A server with a pod `p` on a node whose agent accepts WebSockets. */
async function setUp(
  t: ExecutionContext,
  listener: string,
  onFrame?: (frame: Frame, agent: AgentSocket) => void,
  accept = (request: IncomingMessage, socket: Duplex): AgentSocket | undefined =>
    acceptWebSocket(request, socket, onFrame),
): Promise<Setup> {
  let latest: AgentSocket | undefined;
  const agent = await startFakeAgent(t, {
    handler: (_request, response) => {
      response.writeHead(403, { 'content-type': 'text/plain' });
      response.end('not you');
    },
    onUpgrade: (request, socket) => {
      latest = accept(request, socket);
    },
  });
  const server = await startServer(t, { args: ['--orchlet-permit-loopback', '--ingress', listener] });
  const made = async (path: string, body: object): Promise<void> => {
    const { status, text } = await server.client.request('POST', path, { body });
    if (status !== 201) throw new Error(text);
  };
  await accountIn(server.client);
  await made('/api/v1/nodes', {
    metadata: { name: 'n' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { orchletEndpoint: { Port: agent.port } },
    },
  });
  await made('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' },
  });
  return {
    server,
    agent,
    agentSide: () => {
      if (latest === undefined) throw new Error('nobody has come to the agent');
      return latest;
    },
  };
}

interface Client extends WebSocketReader {
  readonly socket: Duplex;
  readonly accept: string;
}

/** A client that asks for a WebSocket, and has an answer. */
async function open(t: ExecutionContext, server: ServerProcess, path = EXEC, ...more: string[]): Promise<Client> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.caPem, ALPNProtocols: ['http/1.1'] });
  t.teardown(() => void socket.destroy());
  await once(socket, 'secureConnect');
  const reader = new WebSocketReader(socket);
  const { headers, accept } = handshake();
  const lines = [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${server.token}`, ...headers, ...more];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await reader.until(({ head }) => head !== '');
  return Object.assign(reader, { socket, accept });
}

for (const listener of LISTENERS) {
  const test = testOn(listener).serial;
  test(`messages pass both ways, whole and in order, and so do closes (${listener})`, async (t) => {
    const { server, agent, agentSide } = await setUp(t, listener, (frame, side) => {
      if (isData(frame)) side.send(frame.opcode, frame.payload);
    });
    const client = await open(t, server, EXEC, 'Sec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io');
    t.regex(client.head, /^HTTP\/1\.1 101 /);
    t.true(client.head.includes(`Sec-WebSocket-Accept: ${client.accept}`));
    t.regex(client.head, /^Sec-WebSocket-Protocol: v5\.channel\.k8s\.io$/im);
    t.is(agent.seen[0]?.url, '/exec/default/p/c?input=1&command=sh');
    t.is(agent.seen[0]?.headers.authorization, undefined);
    t.is(agent.seen[0]?.headers['sec-websocket-protocol'], 'v5.channel.k8s.io, v4.channel.k8s.io');

    const sent: readonly (readonly [opcode: number, payload: Buffer])[] = [
      [BINARY, Buffer.from([0, 1, 2])],
      [TEXT, Buffer.from('grüße')],
      [BINARY, Buffer.alloc(0)],
      [BINARY, Buffer.alloc(100_000, 'long ')],
      [BINARY, Buffer.alloc(MEGABYTE, 'z')],
    ];
    for (const [opcode, payload] of sent) client.socket.write(clientFrame(opcode, payload));
    await client.until(({ frames }) => frames.filter(isData).length === sent.length);
    for (const [i, frame] of client.frames.filter(isData).entries()) {
      t.is(frame.opcode, sent[i]![0]);
      t.true(frame.payload.equals(sent[i]![1]), `message ${i}`);
    }
    t.true(agentSide().frames.every(({ masked }) => masked));

    client.socket.write(clientFrame(CLOSE, closeOf(1001, 'bye')));
    await until(() => agentSide().frames.some(({ opcode }) => opcode === CLOSE));
    t.true(
      agentSide()
        .frames.find(({ opcode }) => opcode === CLOSE)!
        .payload.equals(closeOf(1001, 'bye')),
    );
    agentSide().socket.end();
    await until(() => client.isClosed);
    t.is((await server.client.get('/readyz')).status, 200);
  });

  test(`an agent's parts, pings and close reach the client (${listener})`, async (t) => {
    const { server, agentSide } = await setUp(t, listener);
    const client = await open(t, server);
    const side = agentSide();
    side.send(BINARY, 'in ', false);
    side.send(PING, 'there?');
    side.send(CONTINUATION, 'parts');
    const text = (): string =>
      client.frames
        .filter(({ opcode }) => opcode <= BINARY)
        .map(({ payload }) => payload.toString())
        .join('');
    await client.until(() => text() === 'in parts');
    // Whoever answers it: the server, or the client that it is passed to.
    for (const { payload } of client.frames.filter(({ opcode }) => opcode === PING && listener === 'node'))
      client.socket.write(clientFrame(PONG, payload));
    await until(() => side.frames.some(({ opcode, payload }) => opcode === PONG && payload.toString() === 'there?'));
    side.send(CLOSE, closeOf(4000, 'done'));
    await client.until(({ frames }) => frames.some(({ opcode }) => opcode === CLOSE));
    t.true(client.frames.at(-1)!.payload.equals(closeOf(4000, 'done')));
  });

  test(`when one side is gone, the other one is let go (${listener})`, async (t) => {
    const { server, agentSide } = await setUp(t, listener);
    const leaving = await open(t, server);
    const first = agentSide();
    leaving.socket.destroy();
    await until(() => first.socket.closed);
    const left = await open(t, server);
    agentSide().socket.destroy();
    await until(() => left.isClosed);
    t.is((await server.client.get('/readyz')).status, 200);
    const metrics = (await server.client.get('/metrics')).text;
    t.regex(metrics, /^apiserver_longrunning_gauge\{.*subresource="exec".*\} 0$/m);
    t.regex(metrics, /^apiserver_request_total\{.*subresource="exec".*code="101".*\} 2$/m);
  });

  test(`a client that reads late gets everything, and the agent waits for it (${listener})`, async (t) => {
    const { server, agentSide } = await setUp(t, listener);
    const client = await open(t, server);
    const { socket } = agentSide();
    client.socket.pause();
    const PIECES = 400;
    const piece = Buffer.alloc(100_000, 'y');
    let sent = 0;
    let waited = false;
    const send = (): void => {
      for (; sent < PIECES; sent++) {
        if (agentSide().send(BINARY, piece)) continue;
        waited = true;
        sent++;
        socket.once('drain', send);
        return;
      }
    };
    send();
    await until(() => waited);
    client.socket.resume();
    await client.until(({ frames }) => frames.filter(isData).length === PIECES);
    t.true(client.frames.every((frame) => !isData(frame) || frame.payload.equals(piece)));
  });

  test(`an agent that reads late gets everything, and the client waits for it (${listener})`, async (t) => {
    const { server, agentSide } = await setUp(t, listener);
    const client = await open(t, server);
    const side = agentSide();
    side.socket.pause();
    const MESSAGES = 60;
    const payload = Buffer.alloc(512 * 1024, 'y');
    const message = clientFrame(BINARY, payload);
    for (let i = 0; i < MESSAGES; i++) client.socket.write(message);
    client.socket.write(clientFrame(TEXT, Buffer.from('the last')));
    await until(() => client.socket.writableLength === 0 || side.socket.readableLength > 0);
    side.socket.resume();
    await until(() => client.isClosed || side.frames.at(-1)?.opcode === TEXT);
    t.is(side.frames.filter(isData).length, MESSAGES + 1);
    t.true(side.frames.slice(0, -1).every((frame) => !isData(frame) || frame.payload.equals(payload)));
    // Both ways still work.
    side.send(TEXT, 'thanks');
    await client.until(({ frames }) => frames.some(({ payload: said }) => said.toString() === 'thanks'));
    client.socket.destroy();
    await until(() => side.socket.closed);
  });

  test(`a client that goes away while it reads nothing takes the agent’s connection along (${listener})`, async (t) => {
    const { server, agentSide } = await setUp(t, listener);
    const client = await open(t, server);
    client.socket.pause();
    const side = agentSide();
    const piece = Buffer.alloc(MEGABYTE);
    // More than all that is between them takes.
    for (let i = 0; i < 64; i++) side.send(BINARY, piece);
    let [left, still] = [0, 0];
    await until(() => {
      const { writableLength } = side.socket;
      still = writableLength === left ? still + 1 : 0;
      left = writableLength;
      return still > 100;
    });
    client.socket.destroy();
    await until(() => side.socket.closed);
    t.is((await server.client.get('/readyz')).status, 200);
  });

  test(`a client that reads slowly what an agent sends back of a lot loses nothing (${listener})`, async (t) => {
    const { server } = await setUp(t, listener, ({ opcode, payload }, side) => {
      if (side.send(opcode, payload)) return;
      side.socket.pause();
      side.socket.once('drain', () => side.socket.resume());
    });
    const client = await open(t, server);
    client.socket.on('data', () => {
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 1);
    });
    const MESSAGES = 60;
    const payload = Buffer.alloc(512 * 1024, 'z');
    const message = clientFrame(BINARY, payload);
    for (let i = 0; i < MESSAGES; i++) client.socket.write(message);
    await client.until(({ frames }) => frames.filter(isData).length === MESSAGES);
    t.true(client.frames.every((frame) => !isData(frame) || frame.payload.equals(payload)));
  });

  test(`an agent that will not have a WebSocket is heard (${listener})`, async (t) => {
    const { server } = await setUp(t, listener, undefined, (_request, socket) => {
      socket.end(
        'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 7\r\nConnection: close\r\n\r\nnot you',
      );
      return undefined;
    });
    const client = await open(t, server);
    await until(() => client.body.includes('not you'));
    t.regex(client.head, /^HTTP\/1\.1 403 Forbidden\r\n/);
    t.regex(client.head, /^Content-Type: text\/plain$/im);
    t.regex(
      (await server.client.get('/metrics')).text,
      /^apiserver_request_total\{.*subresource="exec".*code="403".*\} 1$/m,
    );
  });
}

test('extensions of frames are not agreed on where only messages pass (uws)', async (t) => {
  const { server, agent } = await setUp(t, 'uws');
  await open(t, server, EXEC, 'Sec-WebSocket-Extensions: permessage-deflate');
  t.is(agent.seen[0]?.headers['sec-websocket-extensions'], undefined);
});

/** So many turns of a millisecond without a byte more: the client is held back. */
const STILL_TURNS = 2000;
const QUEUED_BYTES_MAX = 4 * MEGABYTE;
/** Messages of half a MiB, one a turn at most: one whose connection is ended has twenty seconds, in which what it sends is dropped. */
const SENT_MAX = 60_000;

test('a client that reads nothing, and whose agent takes nothing, is held back or loses its connection before the server has very much of it (uws)', async (t) => {
  const { server, agentSide } = await setUp(t, 'uws');
  const client = await open(t, server);
  const { socket } = agentSide();
  client.socket.pause();
  const piece = Buffer.alloc(MEGABYTE);
  const send = (): void => {
    while (agentSide().send(BINARY, piece));
    socket.once('drain', send);
  };
  send();
  socket.pause();
  const message = clientFrame(BINARY, Buffer.alloc(512 * 1024));
  client.socket.on('error', () => {});
  let sent = 0;
  for (let still = 0, left = 0; still < STILL_TURNS && sent <= SENT_MAX && !client.isClosed; still++) {
    const { writableLength } = client.socket;
    if (writableLength !== left) still = 0;
    left = writableLength;
    // Node makes one piece of all that has gathered.
    if (writableLength < QUEUED_BYTES_MAX) {
      client.socket.write(message);
      sent++;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  t.true(sent <= SENT_MAX, 'the server takes what nobody reads');
  t.is((await server.client.get('/readyz')).status, 200);
});
