// The listener contract on Node's own server, by HTTP/1.1 plain and with TLS, and what only it can do: client
// certificates, refusals in the Status format, idle timeouts as configured.
import { createServer } from 'node:http';
import { connect } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import test from 'ava';
import type { HttpResponse, RequestHandler, TlsMaterial } from '../../transport/http.ts';
import { openNodeListener } from '../../transport/node/listener.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { eventually, RawClient } from './listener-client.ts';
import {
  BINARY_HEADERS,
  ENDLESS_ANSWERS,
  get,
  HEADER_BYTES_MAX,
  JSON_HEADERS,
  listenerOptions,
  MEGABYTE,
  pattern,
  Taken,
  testPair,
} from './listener-fixture.ts';
import { answerOf } from './listener-http2-client.ts';
import { http1Suite } from './listener-suite.ts';

http1Suite('node', openNodeListener, false);
http1Suite('node', openNodeListener, true);

/** Requests of one connection that may be without an answer. */
const PIPELINED_MAX = 256;

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
      ['garbage of three\r\n\r\n', 400, 'BadRequest'],
      ['NOSUCHVERB /api HTTP/1.1\r\nHost: test\r\n\r\n', 405, 'MethodNotAllowed'],
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

for (const isTls of [false, true]) {
  test.serial(
    `node${isTls ? ' with TLS' : ''}: who sends many times the headers allowed is told so, too`,
    async (t) => {
      const listener = await openNodeListener(await listenerOptions(isTls, () => {}));
      for (const length of [82_000, 100_000, MEGABYTE]) {
        const client = await RawClient.open(listener.port, isTls);
        client.send(get('/', `X-Long: ${'v'.repeat(length)}`));
        t.is((await client.answer()).status, 431, `${length}`);
        await client.untilClosed();
      }
      await listener.close();
    },
  );
}

test.serial('node: a refused client that goes on sending is cut off', async (t) => {
  const listener = await openNodeListener(await listenerOptions(false, () => {}));
  const client = connectTcp({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
  let isClosed = false;
  client
    .on('error', () => {})
    .on('close', () => {
      isClosed = true;
    });
  client.resume().write('garbage\r\n\r\n');
  const sending = setInterval(() => client.write('more\r\n'), 10);
  await eventually(() => isClosed);
  clearInterval(sending);
  await eventually(() => listener.openConnections === 0);
  t.pass();
  await listener.close();
});

test.serial(
  'node with TLS: a connection whose handshake comes to no end is closed, and counts no longer',
  async (t) => {
    let handshakeErrors = 0;
    const onHandshakeError = (): void => void handshakeErrors++;
    const listener = await openNodeListener(await listenerOptions(true, () => {}, { onHandshakeError }));
    // The beginning of a record, which says how long it will be.
    const beginnings = [Buffer.alloc(0), Buffer.from([0x16, 3, 1, 2, 0, 1])];
    const clients = await Promise.all(beginnings.map(() => RawClient.open(listener.port, false)));
    clients.forEach(({ socket }, index) => void socket.write(beginnings[index]!));
    await Promise.all(clients.map((client) => client.untilClosed()));
    await eventually(() => listener.openConnections === 0);
    t.is(handshakeErrors, 2);
    await listener.close();
  },
);

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

/** Node 24.9 and newer: what is not to be upgraded stays an ordinary request. */
const ASKS_WHICH_UPGRADES = 'shouldUpgradeCallback' in createServer();

for (const isTls of [false, true]) {
  for (const upgrade of ASKS_WHICH_UPGRADES ? ['websocket'] : ['websocket', 'h2c']) {
    test.serial(
      `node${isTls ? ' with TLS' : ''}: a request for ${upgrade} behind one that is not answered closes the connection, and no more`,
      async (t) => {
        const taken: HttpResponse[] = [];
        const failures: unknown[] = [];
        const options = await listenerOptions(isTls, (_, response) => taken.push(response), {
          onError: (error) => failures.push(error),
        });
        const listener = await openNodeListener(options);
        const client = await RawClient.open(listener.port, isTls);
        const plain = 'GET /a HTTP/1.1\r\nHost: test\r\n\r\n';
        const asking = `GET /b HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`;
        client.send(plain + plain + asking);
        await client.untilClosed();
        await eventually(() => taken.length === 2 && taken.every(({ aborted }) => aborted));
        t.deepEqual(failures, []);
        const next = await RawClient.open(listener.port, isTls);
        next.send(plain);
        await eventually(() => taken.length === 3);
        taken[2]?.respond(200, JSON_HEADERS, '{}');
        t.is((await next.answer()).status, 200);
        next.close();
        await listener.close();
      },
    );
  }

  if (ASKS_WHICH_UPGRADES) {
    test.serial(
      `node${isTls ? ' with TLS' : ''}: a request for h2c behind another is answered in its turn`,
      async (t) => {
        const paths: string[] = [];
        const respond: RequestHandler = ({ path }, response) => {
          paths.push(path);
          response.respond(200, JSON_HEADERS, '{}');
        };
        const listener = await openNodeListener(await listenerOptions(isTls, respond));
        const client = await RawClient.open(listener.port, isTls);
        const asking = 'GET /b HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
        client.send(`GET /a HTTP/1.1\r\nHost: test\r\n\r\n${asking}`);
        t.is((await client.answer()).status, 200);
        t.is((await client.answer()).status, 200);
        t.deepEqual(paths, ['/a', '/b']);
        client.close();
        await listener.close();
      },
    );
  }

  test.serial(`node${isTls ? ' with TLS' : ''}: every pipelined request hears that its client has left`, async (t) => {
    const taken: HttpResponse[] = [];
    const listener = await openNodeListener(await listenerOptions(isTls, (_, response) => taken.push(response)));
    const client = await RawClient.open(listener.port, isTls);
    client.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(3));
    await eventually(() => taken.length === 3);
    let aborts = 0;
    for (const response of taken) response.onAborted(() => aborts++);
    client.close();
    await eventually(() => aborts === 3);
    t.true(taken.every(({ aborted }) => aborted));
    await listener.close();
  });

  test.serial(
    `node${isTls ? ' with TLS' : ''}: who pipelines hundreds of requests without an answer is cut off`,
    async (t) => {
      const taken: HttpResponse[] = [];
      let aborts = 0;
      const handler: RequestHandler = (_, response) => {
        taken.push(response);
        response.onAborted(() => aborts++);
      };
      const listener = await openNodeListener(await listenerOptions(isTls, handler));
      const client = await RawClient.open(listener.port, isTls);
      client.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(PIPELINED_MAX));
      await eventually(() => taken.length === PIPELINED_MAX);
      t.is(aborts, 0);
      client.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(3));
      await eventually(() => aborts === PIPELINED_MAX);
      t.is(taken.length, PIPELINED_MAX);
      client.close();
      await listener.close();
    },
  );
}

/** A request whose body is longer than a TLS record, so that its head comes apart from the rest. */
const LARGE_PUT = `PUT / HTTP/1.1\r\nHost: test\r\nContent-Length: ${MEGABYTE / 16}\r\n\r\n${'b'.repeat(MEGABYTE / 16)}`;

for (const isTls of [false, true]) {
  for (const way of ['whole', 'in pieces']) {
    test.serial(
      `node${isTls ? ' with TLS' : ''}: a request that comes before the last answer, sent ${way}, was taken is answered behind it`,
      async (t) => {
        const large = pattern(8 * MEGABYTE);
        const handler: RequestHandler = (request, response) => {
          if (request.method === 'PUT') {
            void request.body(MEGABYTE).then((body) => response.respond(200, [], String(body?.length)));
          } else if (way === 'whole') response.respond(200, BINARY_HEADERS, large);
          else {
            response.start(200, BINARY_HEADERS);
            response.write(large);
            response.end();
          }
        };
        const listener = await openNodeListener(await listenerOptions(isTls, handler));
        const client = await RawClient.open(listener.port, isTls);
        for (const round of [1, 2]) {
          client.socket.pause();
          client.send(get('/'));
          client.send(LARGE_PUT);
          await eventually(() => client.socket.writableLength === 0 || client.isClosed);
          client.socket.resume();
          // The answer to the second request ends what is received, the first one is long before it.
          const end = `\r\n\r\n${MEGABYTE / 16}`;
          const endsWell = (received: Buffer): boolean =>
            received.toString('latin1', received.length - end.length) === end;
          await client.until((received) => received.length > round * large.length && endsWell(received));
          t.false(client.isClosed, `round ${round}`);
        }
        client.close();
        await listener.close();
      },
    );
  }
}

test.serial('node: a stream asked for before the last answer was taken may be silent for as long as any', async (t) => {
  const connections: Socket[] = [];
  const handler: RequestHandler = (request, response) => {
    connections.push(request.connection as Socket);
    if (request.path === '/large') response.respond(200, BINARY_HEADERS, pattern(8 * MEGABYTE));
    else response.start(200, JSON_HEADERS);
  };
  const listener = await openNodeListener(await listenerOptions(true, handler, ENDLESS_ANSWERS));
  const client = await RawClient.open(listener.port, true);
  client.socket.pause();
  client.send(get('/large'));
  await eventually(() => connections.length === 1);
  // Two looks find the answer there: who takes nothing is cut off.
  await eventually(() => (connections[0]?.timeout ?? 0) > 0);
  client.send(get('/stream'));
  await eventually(() => connections.length === 2);
  client.socket.resume();
  await client.until((received) => received.length > 8 * MEGABYTE && received.includes('chunked', 8 * MEGABYTE));
  t.is(connections[1], connections[0]);
  t.is(connections[1]?.timeout, 0);
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

for (const isTls of [false, true]) {
  test.serial(`node${isTls ? ' with TLS' : ''}: an idle connection is closed, one with a stream is not`, async (t) => {
    const taken = new Taken();
    const held = taken.handler(JSON_HEADERS);
    const handler: RequestHandler = (request, response) => {
      if (request.path === '/held') held(request, response);
      else response.respond(200, [], 'done');
    };
    const listener = await openNodeListener(await listenerOptions(isTls, handler, { idleTimeoutSeconds: 1 }));
    const streaming = await RawClient.open(listener.port, isTls);
    streaming.send('GET /held HTTP/1.1\r\nHost: test\r\n\r\n');
    const response = await taken.next();
    const idle = await RawClient.open(listener.port, isTls);
    idle.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    t.is((await idle.answer()).status, 200);
    await idle.untilClosed();
    t.false(response.aborted);
    response.write(Buffer.from('{"late":true}\n'));
    await streaming.until((received) => received.includes('late'));
    streaming.close();
    await listener.close();
  });
}

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
  const handler: RequestHandler = (request, response) => {
    const { der, chain } = request.peerCertificate ?? { der: [], chain: [] };
    response.respond(200, [], `${Buffer.from(der).toString('hex')} ${chain.length}`);
  };
  const listener = await openNodeListener(await listenerOptions(true, handler, { tls }));
  const shown = (pair: { certPem: string }, chain: number): string => `${derOf(pair.certPem).toString('hex')} ${chain}`;
  const expected = shown(known, 1);
  t.is(await seenCertificate(listener.port, known), expected);
  t.is(await seenCertificate(listener.port, undefined), ' 0', 'none is needed');
  t.is(await seenCertificate(listener.port, stranger), shown(stranger, 0), 'nobody vouches for a stranger');
  t.is(
    await seenCertificate(listener.port, misused),
    shown(misused, 0),
    'a certificate for servers is none for clients',
  );
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
