// The listener contract on Node's own server, by HTTP/1.1 plain and with TLS and by HTTP/2, and what only it can do:
// client certificates, refusals in the Status format.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectTls } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import type { ExchangeHandler, Listener, TlsMaterial } from '../../transport/exchange.ts';
import { openNodeListener } from '../../transport/node-listener.ts';
import { makeSelfSigned } from '../../transport/self-signed.ts';
import { eventually, RawClient } from './listener-client.ts';
import {
  BINARY_HEADERS,
  ENDLESS_BYTES,
  HEADER_BYTES_MAX,
  http1Suite,
  JSON_HEADERS,
  listenerOptions,
  MEGABYTE,
  pattern,
  Taken,
  testPair,
} from './listener-suite.ts';

http1Suite('node', openNodeListener, false);
http1Suite('node with TLS', openNodeListener, true);

for (const isTls of [false, true]) {
  test.serial(`node${isTls ? ' with TLS' : ''}: refusals of its own are Status objects`, async (t) => {
    const listener = await openNodeListener(await listenerOptions(isTls, () => {}));
    const cases: readonly (readonly [head: string, code: number, reason: string])[] = [
      [
        `GET / HTTP/1.1\r\nHost: test\r\nX: ${'v'.repeat(HEADER_BYTES_MAX)}\r\n\r\n`,
        431,
        'RequestHeaderFieldsTooLarge',
      ],
      ['GET / HTTP/1.1\r\nbad header: 1\r\n\r\n', 400, 'BadRequest'],
      ['garbage\r\n\r\n', 400, 'BadRequest'],
    ];
    for (const [head, code, reason] of cases) {
      const client = await RawClient.open(listener.port, isTls);
      client.send(head);
      const answer = await client.answer();
      const status = JSON.parse(answer.body.toString()) as Record<string, unknown>;
      t.is(answer.status, code);
      t.like(status, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code });
      await client.untilClosed();
    }
    await listener.close();
  });
}

test.serial('node: a request target with scheme and host is its path', async (t) => {
  const listener = await openNodeListener(
    await listenerOptions(false, (request, response) => response.respond(200, [], `${request.path}|${request.query}`)),
  );
  const client = await RawClient.open(listener.port, false);
  const targets = { 'http://h:1/p/q?x=/': '/p/q|x=/', 'http://h?x': '/|x', '*': '*|' };
  for (const [target, expected] of Object.entries(targets)) {
    client.send(`OPTIONS ${target} HTTP/1.1\r\nHost: test\r\n\r\n`);
    t.is((await client.answer()).body.toString(), expected);
  }
  client.close();
  await listener.close();
});

test.serial('node: malformed bytes behind a stream cut it instead of being answered into it', async (t) => {
  const taken = new Taken();
  const listener = await openNodeListener(await listenerOptions(false, taken.handler(JSON_HEADERS)));
  const client = await RawClient.open(listener.port, false);
  client.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  const response = await taken.next();
  await client.until((received) => received.includes('\r\n\r\n'));
  client.send('\x00\x01\x02\r\n\r\n');
  await client.untilClosed();
  t.false(client.text.includes('BadRequest'));
  await eventually(() => response.aborted);
  t.true(response.aborted);
  await listener.close();
});

function http2Test(
  title: string,
  handler: ExchangeHandler,
  run: (t: ExecutionContext, session: ClientHttp2Session, listener: Listener) => Promise<void>,
): void {
  test.serial(`node by HTTP/2: ${title}`, async (t) => {
    const listener = await openNodeListener(await listenerOptions(true, handler));
    const session = connect(`https://localhost:${listener.port}`, { ca: (await testPair).certPem });
    session.on('error', () => {});
    try {
      await run(t, session, listener);
    } finally {
      session.destroy();
      await listener.close();
    }
  });
}

interface Http2Answer {
  readonly headers: IncomingHttpHeaders & { ':status'?: number | undefined };
  readonly body: Buffer;
}

function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    let headers: Http2Answer['headers'] = {};
    const parts: Buffer[] = [];
    stream.on('response', (received) => {
      headers = received;
    });
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => resolve({ headers, body: Buffer.concat(parts) }));
    stream.on('error', reject);
    stream.on('close', () => reject(new Error(`closed with code ${stream.rstCode}`)));
  });
}

const describe: ExchangeHandler = (request, response) => {
  const described = {
    method: request.method,
    path: request.path,
    query: request.query,
    host: request.header('host'),
    accept: request.header('accept'),
    extra: request.headersWithPrefix('x-'),
    pseudo: request.headersWithPrefix(':'),
  };
  response.respond(200, [...JSON_HEADERS, ['Connection', 'close']], JSON.stringify(described));
};

http2Test('a request arrives whole', describe, async (t, session, listener) => {
  const { headers, body } = await answerOf(
    session.request({ ':path': '/a%20b?x=1', ':method': 'PATCH', Accept: 'a/b', 'x-a': ['1', '2'] }).end(),
  );
  t.is(headers[':status'], 200);
  t.is(headers['content-length'], String(body.length));
  t.deepEqual(JSON.parse(body.toString()), {
    method: 'PATCH',
    path: '/a%20b',
    query: 'x=1',
    host: `localhost:${listener.port}`,
    accept: 'a/b',
    extra: [
      ['x-a', '1'],
      ['x-a', '2'],
    ],
    pseudo: [],
  });
});

const echo: ExchangeHandler = (request, response) => {
  void request.body(100_000).then(
    (body) => response.respond(body === null ? 413 : 200, BINARY_HEADERS, body ?? ''),
    () => {},
  );
};

http2Test('bodies are read, and refused over the limit', echo, async (t, session) => {
  const body = pattern(100_000);
  const whole = session.request({ ':method': 'POST' });
  for (let at = 0; at < body.length; at += 9999) whole.write(body.subarray(at, at + 9999));
  t.is((await answerOf(whole.end())).body.compare(body), 0);
  const tooLarge = session.request({ ':method': 'POST' });
  tooLarge.write(pattern(100_001));
  t.is((await answerOf(tooLarge)).headers[':status'], 413);
  t.is((await answerOf(session.request({ ':method': 'POST' }).end())).body.length, 0);
});

http2Test(
  'HEAD, 204 and 304 have no body',
  (request, response) => {
    response.respond(Number(request.path.slice(1)), [], 'twelve bytes');
  },
  async (t, session) => {
    const head = await answerOf(session.request({ ':method': 'HEAD', ':path': '/200' }));
    t.is(head.headers['content-length'], '12');
    t.is(head.body.length, 0);
    for (const status of [204, 304]) {
      const answer = await answerOf(session.request({ ':path': `/${status}` }));
      t.is(answer.headers[':status'], status);
      t.is(answer.body.length, 0);
    }
  },
);

http2Test(
  'a handler that throws is answered 500, and the connection goes on',
  (request, response) => {
    if (request.path === '/') throw new Error('broken');
    response.respond(200, [], 'fine');
  },
  async (t, session) => {
    t.is((await answerOf(session.request({ ':path': '/' }))).headers[':status'], 500);
    t.is((await answerOf(session.request({ ':path': '/fine' }))).body.toString(), 'fine');
  },
);

http2Test('too many bytes of headers reset the stream, and the connection goes on', describe, async (t, session) => {
  const tooLarge: Record<string, string> = {};
  for (let i = 0; i < 90; i++) tooLarge[`x-${i}`] = 'v'.repeat(1000);
  await t.throwsAsync(answerOf(session.request(tooLarge)));
  t.is((await answerOf(session.request({ ':path': '/' }))).headers[':status'], 200);
});

const taken = new Taken();

http2Test(
  'a stream begins at once, and every event arrives by itself',
  taken.handler(JSON_HEADERS),
  async (t, session) => {
    const stream = session.request({ ':path': '/' });
    const response = await taken.next();
    await new Promise((resolve) => stream.once('response', resolve));
    for (let i = 0; i < 5; i++) {
      const event = Buffer.from(`{"i":${i}}\n`);
      const arrived = new Promise((resolve) => stream.once('data', resolve));
      t.true(response.write(event));
      t.deepEqual(await arrived, event);
    }
    const ended = new Promise((resolve) => stream.once('end', resolve));
    response.end();
    await ended;
    t.is(stream.rstCode, constants.NGHTTP2_NO_ERROR);
  },
);

http2Test(
  'a client that does not read stops the writer of that stream only',
  taken.handler(BINARY_HEADERS),
  async (t, session) => {
    const stalled = session.request({ ':path': '/stalled' });
    const response = await taken.next();
    const part = pattern(60_001);
    let written = 0;
    const pump = (): void => {
      while (written < ENDLESS_BYTES) {
        written += part.length;
        if (!response.write(part)) return;
      }
      response.end();
    };
    response.onDrained(pump);
    pump();
    const other = session.request({ ':path': '/other' });
    const otherResponse = await taken.next();
    otherResponse.write(pattern(10));
    otherResponse.end();
    t.is((await answerOf(other)).body.length, 10);
    t.true(written < ENDLESS_BYTES, 'the writer was stopped');
    const { body } = await answerOf(stalled);
    t.is(body.length, written);
    t.is(body.compare(part, 0, part.length, body.length - part.length), 0);
  },
);

let aborts = 0;
const countAborts = taken.handler(JSON_HEADERS, (response) => response.onAborted(() => aborts++));

http2Test('a client that leaves its stream is noticed once', countAborts, async (t, session) => {
  aborts = 0;
  const stream = session.request({ ':path': '/' });
  const response = await taken.next();
  stream.on('error', () => {});
  stream.close(constants.NGHTTP2_CANCEL);
  await eventually(() => aborts > 0);
  t.is(aborts, 1);
  t.true(response.aborted);
  t.false(response.write(pattern(10)));
});

http2Test('an abort resets the stream and leaves the connection', countAborts, async (t, session) => {
  const stream = session.request({ ':path': '/' });
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.on('error', () => {});
  (await taken.next()).abort();
  await closed;
  const next = session.request({ ':path': '/' });
  next.on('error', () => {});
  t.false((await taken.next()).aborted);
});

http2Test(
  'a big body in shared memory is read before respond returns',
  (_, response) => {
    const shared = new Uint8Array(new SharedArrayBuffer(5 * MEGABYTE));
    shared.set(pattern(shared.length));
    response.respond(200, BINARY_HEADERS, shared);
    shared.fill(0);
  },
  async (t, session) => {
    t.is((await answerOf(session.request({ ':path': '/' }))).body.compare(pattern(5 * MEGABYTE)), 0);
  },
);

http2Test('one connection carries hundreds of streams', countAborts, async (t, session, listener) => {
  const COUNT = 500;
  aborts = 0;
  for (let i = 0; i < COUNT; i++) {
    const stream = session.request({ ':path': `/${i}` });
    stream.on('error', () => {});
    await taken.next();
  }
  t.is(listener.openConnections, 1);
  session.destroy();
  await eventually(() => aborts === COUNT);
  t.is(aborts, COUNT);
});

http2Test(
  'after stopAccepting open streams go on and no others begin',
  taken.handler(JSON_HEADERS),
  async (t, session, listener) => {
    const stream = session.request({ ':path': '/' });
    const response = await taken.next();
    const goneAway = new Promise((resolve) => session.once('goaway', resolve));
    listener.stopAccepting();
    await goneAway;
    const arrived = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    response.write(Buffer.from('late'));
    t.is((await arrived).toString(), 'late');
    t.throws(() => session.request({ ':path': '/' }));
    const ended = answerOf(stream);
    response.end();
    await ended;
  },
);

function clientPair(purpose: 'serverAuth' | 'clientAuth'): Promise<{ certPem: string; keyPem: string }> {
  const now = Date.now();
  const span = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 3_600_000) };
  return makeSelfSigned({ commonName: 'jane', names: ['jane'], purpose, ...span });
}

/** The certificate that the handler saw, in hexadecimal, over HTTP/1.1. */
function seenCertificate(port: number, pair: { certPem: string; keyPem: string } | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const identity = pair === undefined ? {} : { cert: pair.certPem, key: pair.keyPem };
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...identity }, () => {
      socket.write('GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n');
    });
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    socket.on('end', () => resolve(text.slice(text.indexOf('\r\n\r\n') + 4)));
    socket.on('error', reject);
  });
}

test.serial('node: a client certificate counts only when an authority vouches for it', async (t) => {
  const server = await testPair;
  const known = await clientPair('clientAuth');
  const stranger = await clientPair('clientAuth');
  const misused = await clientPair('serverAuth');
  const tls: TlsMaterial = { ...server, clientCaPem: known.certPem + misused.certPem };
  const handler: ExchangeHandler = (request, response) => {
    response.respond(200, [], Buffer.from(request.peerCertificate ?? []).toString('hex'));
  };
  const listener = await openNodeListener(await listenerOptions(true, handler, { tls }));
  const expected = derOf(known.certPem).toString('hex');
  t.is(await seenCertificate(listener.port, known), expected);
  t.is(await seenCertificate(listener.port, undefined), '', 'none is needed');
  t.is(await seenCertificate(listener.port, stranger), '', 'a stranger is nobody');
  t.is(await seenCertificate(listener.port, misused), '', 'a certificate for servers is none for clients');
  const identity = { cert: known.certPem, key: known.keyPem };
  const session = connect(`https://localhost:${listener.port}`, { ca: server.certPem, ...identity });
  for (let i = 0; i < 2; i++) {
    t.is((await answerOf(session.request({ ':path': '/' }))).body.toString(), expected, 'by HTTP/2');
  }
  session.destroy();
  await listener.close();
});

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
}
