// Requests with long bodies that a proxy passes on while the answer comes back already, through real servers with either listener.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as startRequest } from 'node:https';
import type { ExecutionContext } from 'ava';
import { startFakeAgent } from '../server/fake-agent.ts';
import { LISTENERS, testOn } from '../server/listeners.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { serverWithNode } from './agent-server.ts';

const MEGABYTE = 1024 * 1024;
const PIECES = 24;
const PIECE = Buffer.alloc(MEGABYTE, 'uploaded');
/** A client that reads slowly reads so much, and nothing for so long. */
const READ_BYTES = 256 * 1024;
const PAUSE_MS = 40;

/** Sends back what it is sent, as it comes. */
const echoing: RequestListener = (request, response) => {
  const { 'content-length': length } = request.headers;
  response.writeHead(200, length === undefined ? {} : { 'content-length': length });
  request.on('error', () => {});
  request.pipe(response);
};

function upload(t: ExecutionContext, server: ServerProcess, headers: Record<string, string>) {
  const outgoing = startRequest(`${server.url}/api/v1/nodes/n/proxy/x`, {
    ca: server.caPem,
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, ...headers },
    agent: false,
  });
  t.teardown(() => void outgoing.destroy());
  outgoing.write(PIECE);
  // The rest when the answer has begun: the agent shares this thread, and a server does not wait long for its handshake.
  outgoing.once('response', () => {
    // What becomes of it shows in the answer.
    outgoing.on('error', () => {});
    for (let i = 1; i < PIECES; i++) outgoing.write(PIECE);
    outgoing.end();
  });
  return outgoing;
}

/** What a client gets that reads slowly. */
async function readSlowly(message: IncomingMessage) {
  const hash = createHash('sha256');
  let [bytes, since] = [0, 0];
  message.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    since += chunk.length;
    if (since < READ_BYTES) return;
    since = 0;
    message.pause();
    setTimeout(() => message.resume(), PAUSE_MS);
  });
  await once(message, 'end');
  return { status: message.statusCode, bytes, digest: hash.digest('hex') };
}

// One after the other: each starts processes of its own.
for (const listener of LISTENERS) {
  const test = testOn(listener).serial;
  for (const [form, headers] of [
    ['in chunks', {}],
    ['of a length', { 'content-length': String(PIECES * MEGABYTE) }],
  ] as const) {
    test(`a client that reads slowly what comes back of its upload loses nothing (${listener}, ${form})`, async (t) => {
      const agent = await startFakeAgent(t, { handler: echoing });
      const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
      const hash = createHash('sha256');
      for (let i = 0; i < PIECES; i++) hash.update(PIECE);
      const whole = { status: 200, bytes: PIECES * MEGABYTE, digest: hash.digest('hex') };
      // Two at a time: what one of them has sent meets the other's answer.
      const all = await Promise.all(
        [0, 1].map(async () => {
          const [message] = (await once(upload(t, server, headers), 'response')) as [IncomingMessage];
          return readSlowly(message);
        }),
      );
      t.deepEqual(all, [whole, whole]);
    });
  }

  test(`who goes away while it reads nothing of what its upload brings back takes the agent’s connection along (${listener})`, async (t) => {
    let isClosed = false;
    const agent = await startFakeAgent(t, {
      handler: (request, response) => {
        response.once('close', () => {
          isClosed = true;
        });
        echoing(request, response);
      },
    });
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    const outgoing = upload(t, server, {});
    const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
    for (const side of [outgoing, message]) side.on('error', () => {});
    message.pause();
    let [left, still] = [0, 0];
    while (still < 100) {
      const { writableLength } = outgoing.socket!;
      still = writableLength === left ? still + 1 : 0;
      left = writableLength;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    outgoing.destroy();
    while (!isClosed) await new Promise((resolve) => setTimeout(resolve, 10));
    t.is((await server.client.get('/readyz')).status, 200);
  });

  test(`a request without a body reaches an agent as one, and one with a body keeps it, whatever its method (${listener})`, async (t) => {
    const framings: string[] = [];
    const agent = await startFakeAgent(t, {
      handler: (request, response) => {
        const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
        let body = '';
        request.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        request.once('end', () => {
          framings.push([request.method, length ?? coding ?? 'unframed', body].join(' '));
          response.end();
        });
      },
    });
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    const place = `${server.url}/api/v1/nodes/n/proxy/x`;
    const settings = { ca: server.caPem, agent: false };
    const authorization = `Bearer ${server.token}`;
    for (const [method, body] of [
      ['POST', ''],
      ['DELETE', ''],
      ['GET', 'asked'],
    ] as const) {
      const headers = body === '' ? { authorization } : { authorization, 'content-length': body.length };
      const outgoing = startRequest(place, { ...settings, method, headers });
      outgoing.removeHeader('content-length');
      if (body !== '') outgoing.setHeader('content-length', body.length);
      outgoing.useChunkedEncodingByDefault = false;
      outgoing.end(body);
      const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
      await once(message.resume(), 'end');
    }
    t.deepEqual(framings, ['POST 0 ', 'DELETE unframed ', 'GET 5 asked']);
    if (listener === 'uws') return;
    framings.length = 0;
    const session = connectHttp2(server.url, { ca: server.caPem });
    t.teardown(() => session.destroy());
    for (const [method, body] of [
      ['POST', ''],
      ['GET', 'asked'],
    ] as const) {
      const path = '/api/v1/nodes/n/proxy/x';
      const stream = session.request({ ':method': method, ':path': path, authorization }, { endStream: body === '' });
      if (body !== '') stream.end(body);
      await once(stream.resume(), 'end');
    }
    t.deepEqual(framings, ['POST 0 ', 'GET chunked asked']);
  });

  test(`a query that is in another form than ours reaches an agent as it is (${listener})`, async (t) => {
    const agent = await startFakeAgent(t, { handler: (_request, response) => void response.end() });
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    const asked = '/x?q=caf%E9&share=100%&ports=all&container=';
    t.is((await server.client.get(`/api/v1/nodes/n/proxy${asked}`)).status, 200);
    t.is(agent.seen.at(-1)!.url, asked);
    t.is((await server.client.get('/api/v1/nodes?q=caf%E9')).status, 400);
  });
}
