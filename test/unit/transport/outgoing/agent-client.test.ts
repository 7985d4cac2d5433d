// Requests to backends that do not keep to HTTP, and requests that are given up.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import type { BodyFlow, BodyReceiver } from '../../../../transport/http.ts';
import { AgentClient } from '../../../../transport/outgoing/agent-client.ts';

const PATIENT_MS = 240_000;

/** Where a server of the test listens. */
async function listening(t: ExecutionContext, server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { scheme: 'http', host: '127.0.0.1', port, trust: 'none' } as const;
}

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

/** Joins nobody. */
const noClient = (): never => {
  throw new Error('nobody is to be joined');
};

for (const kind of ['send', 'join'] as const)
  test(`what is given up before a backend has answered ends its connection (${kind})`, async (t) => {
    const backend = createServer();
    const target = await listening(t, backend);
    const connecting = once(backend, 'connection');
    const client = new AgentClient({ tls: {}, connectTimeoutMs: PATIENT_MS });
    const request = { method: 'GET', path: '/', headers: [['upgrade', 'websocket']], body: undefined } as const;
    let giveUp = (): void => {};
    const onSent = (cancel: () => void): void => {
      giveUp = cancel;
    };
    const asking =
      kind === 'send' ? client.send(target, request, onSent) : client.join(target, request, noClient, onSent);
    const [socket] = (await connecting) as [Socket];
    await once(socket, 'data');
    const ended = once(socket, 'close');
    giveUp();
    await t.throwsAsync(asking);
    await ended;
    client.close();
  });

test('a client that is closed ends what is joined, and what it keeps for later', async (t) => {
  const backend = createServer((socket) => {
    socket.on('data', (bytes) => {
      const isUpgrade = bytes.toString().startsWith('GET /joined');
      if (isUpgrade) socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n');
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
  });
  const closed: Promise<unknown>[] = [];
  backend.on('connection', (socket) => closed.push(once(socket, 'close')));
  const target = await listening(t, backend);
  const client = new AgentClient({ tls: {}, connectTimeoutMs: PATIENT_MS });
  const answer = await client.send(target, { method: 'GET', path: '/', headers: [], body: undefined }, () => {});
  t.is(await answer.text(10), 'ok');
  const ourEnd = new PassThrough();
  let tellTaken = (): void => {};
  const taken = new Promise<void>((resolve) => {
    tellTaken = resolve;
  });
  const take = () => {
    tellTaken();
    return { stream: ourEnd, head: new Uint8Array() };
  };
  const headers = [
    ['upgrade', 'chat'],
    ['connection', 'Upgrade'],
  ] as const;
  const joined = client.join(target, { method: 'GET', path: '/joined', headers, body: undefined }, take, () => {});
  await taken;
  t.is(closed.length, 2);
  client.close();
  t.is(await joined, undefined);
  t.true(ourEnd.destroyed);
  await Promise.all(closed);
});

test('the time for connecting is over with the connection: an answer may take longer, on a kept one too', async (t) => {
  let connectMs = 50;
  const backend = createServer((socket) => {
    // The client's own timer, had it not been cleared, would be before this one.
    const answer = (): boolean => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    socket.on('data', () => void setTimeout(answer, 2 * connectMs));
  });
  const target = await listening(t, backend);
  const askTwice = async (client: AgentClient): Promise<string> => {
    let texts = '';
    for (let asked = 0; asked < 2; asked++) {
      const answer = await client.send(target, { method: 'GET', path: '/', headers: [], body: undefined }, () => {});
      texts += await answer.text(10);
    }
    return texts;
  };
  let texts = '';
  // On a busy machine even a connection may take longer than that.
  for (; texts === '' && connectMs < PATIENT_MS / 20; connectMs *= 2) {
    const client = new AgentClient({ tls: {}, connectTimeoutMs: connectMs });
    texts = await askTwice(client).catch(() => '');
    client.close();
  }
  t.is(texts, 'okok');
});

test('of an answer without end that is read as a text, the beginning is read, and its connection ends', async (t) => {
  const backend = createServer();
  const target = await listening(t, backend);
  const connecting = once(backend, 'connection');
  const client = new AgentClient({ tls: {}, connectTimeoutMs: PATIENT_MS });
  const sending = client.send(target, { method: 'GET', path: '/', headers: [], body: undefined }, () => {});
  const [socket] = (await connecting) as [Socket];
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const goOn = (): void => void (socket.writable && socket.write('and on ', goOn));
  socket.write('HTTP/1.1 200 OK\r\n\r\n', goOn);
  t.is(await (await sending).text(9), 'and on an');
  await ended;
  client.close();
});

/** What comes behind the first byte of a body of two. */
const WRONG_RESTS = [
  ['longer', (receiver: BodyReceiver) => void receiver.onChunk(Buffer.from('bc'))],
  ['shorter', (receiver: BodyReceiver) => receiver.onEnd()],
] as const;

for (const [what, giveRest] of WRONG_RESTS)
  test(`a body that turns out ${what} than was said ends its connection`, async (t) => {
    const backend = createServer();
    const target = await listening(t, backend);
    const connecting = once(backend, 'connection');
    const client = new AgentClient({ tls: {}, connectTimeoutMs: PATIENT_MS });
    const receivers: BodyReceiver[] = [];
    const start: BodyFlow['start'] = (receiver) => {
      receivers.push(receiver);
      receiver.onChunk(Buffer.from('a'));
    };
    const request = { method: 'POST', path: '/', headers: [['content-length', '2']] } as const;
    const sending = client.send(target, { ...request, body: { start, resume: () => {} } }, () => {});
    const [socket] = (await connecting) as [Socket];
    let seen = '';
    socket.on('data', (bytes: Buffer) => {
      seen += bytes.toString();
    });
    while (!seen.endsWith('\r\n\r\na')) await once(socket, 'data');
    const ended = once(socket, 'close');
    giveRest(receivers[0]!);
    await t.throwsAsync(sending, { message: 'the body is not as long as was said' });
    await ended;
    t.true(seen.endsWith('\r\n\r\na'));
    client.close();
  });
