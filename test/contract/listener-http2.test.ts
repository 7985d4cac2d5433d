// What the listener promises to the ingress, tried by HTTP/2 on Node's own server.
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import type { Listener, ListenerOptions, RequestHandler } from '../../transport/http.ts';
import { openNodeListener } from '../../transport/node/listener.ts';
import { eventually } from './listener-client.ts';
import {
  BINARY_HEADERS,
  ENDLESS_BYTES,
  JSON_HEADERS,
  listenerOptions,
  MEGABYTE,
  pattern,
  Taken,
  testPair,
} from './listener-fixture.ts';
import { answerOf, postBrokenOff, requestIfAny } from './listener-http2-client.ts';

function http2Test(
  title: string,
  handler: RequestHandler,
  run: (t: ExecutionContext, session: ClientHttp2Session, listener: Listener) => Promise<void>,
  change: Partial<Pick<ListenerOptions, 'headerBytesMax' | 'idleTimeoutSeconds' | 'sendsAway'>> = {},
): void {
  test.serial(`node by HTTP/2: ${title}`, async (t) => {
    const listener = await openNodeListener(await listenerOptions(true, handler, change));
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

const describe: RequestHandler = (request, response) => {
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

http2Test('what a path or query says unencoded beyond ASCII is text', describe, async (t, session) => {
  const path = Buffer.from('/josé?manager=д1', 'utf8').toString('latin1');
  const { body } = await answerOf(session.request({ ':path': path }));
  t.like(JSON.parse(body.toString()), { path: '/josé', query: 'manager=д1' });
});

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

// Older ones leave such a header out, and cannot be told not to.
if (major > 24 || (major === 24 && minor >= 2)) {
  http2Test('a header whose value begins or ends with a blank arrives as it is', describe, async (t, session) => {
    const { body } = await answerOf(
      session.request({ ':path': '/', 'x-a': 'joe ', 'x-b': ' joe', 'x-c': 'joe\t' }).end(),
    );
    t.deepEqual(JSON.parse(body.toString()).extra, [
      ['x-a', 'joe '],
      ['x-b', ' joe'],
      ['x-c', 'joe\t'],
    ]);
  });
}

const takenOfHead: boolean[] = [];
const streamWholly: RequestHandler = (_, response) => {
  response.start(200, BINARY_HEADERS);
  takenOfHead.push(response.write(pattern(MEGABYTE)));
  response.end();
};

http2Test('a stream to HEAD takes what is written to it', streamWholly, async (t, session) => {
  const { headers, body } = await answerOf(session.request({ ':path': '/', ':method': 'HEAD' }).end());
  t.is(headers[':status'], 200);
  t.is(body.length, 0);
  t.deepEqual(takenOfHead, [true]);
});

const connections: object[] = [];
const noteConnection: RequestHandler = (request, response) => {
  connections.push(request.connection);
  response.respond(200, JSON_HEADERS, '{}');
};

http2Test(
  'the streams of one connection say that they share it, those of another do not',
  noteConnection,
  async (t, session, listener) => {
    connections.length = 0;
    for (let i = 0; i < 2; i++) await answerOf(session.request({ ':path': '/' }).end());
    const other = connect(`https://localhost:${listener.port}`, { ca: (await testPair).certPem });
    await answerOf(other.request({ ':path': '/' }).end());
    other.destroy();
    const [first, second, third] = connections;
    t.is(first, second);
    t.not(first, third);
  },
);

const echo: RequestHandler = (request, response) => {
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

const bodies: string[] = [];
const noteBody: RequestHandler = (request, response) => {
  void request.body(100_000).then(
    (body) => {
      bodies.push(`whole: ${body?.length}`);
      response.respond(200, BINARY_HEADERS, '');
    },
    (error: Error) => bodies.push(error.name),
  );
};

for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]) {
  http2Test(
    `a body that its client breaks off with code ${code} is not taken for whole`,
    noteBody,
    async (t, _session, listener) => {
      bodies.length = 0;
      const client = await postBrokenOff(listener.port, (await testPair).certPem, pattern(1000), code);
      await eventually(() => bodies.length > 0);
      t.deepEqual(bodies, ['RequestAborted']);
      client.destroy();
    },
  );
}

const refuseUnread: RequestHandler = (_request, response) => response.respond(401, JSON_HEADERS, '{}');

http2Test('a body that nobody reads does not hold the stream', refuseUnread, async (t, session) => {
  const stream = session.request({ ':method': 'POST' });
  const closed = new Promise((resolve) => stream.once('close', resolve));
  const answer = answerOf(stream);
  stream.end(pattern(3_000_000));
  t.is((await answer).headers[':status'], 401);
  await closed;
});

http2Test('a client that waits to be told to go on is told so', echo, async (t, session) => {
  const stream = session.request({ ':method': 'POST', expect: '100-continue' });
  await new Promise<void>((resolve) => {
    stream.once('continue', resolve);
  });
  t.is((await answerOf(stream.end('body'))).body.toString(), 'body');
  const strange = session.request({ ':path': '/', expect: 'miracles' });
  t.is((await answerOf(strange)).headers[':status'], 417);
});

http2Test('a tunnel is refused', echo, async (t, session) => {
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'localhost:1' });
  t.is((await answerOf(stream)).headers[':status'], 405);
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

http2Test(
  'too many bytes of headers are answered 431, and the connection goes on',
  describe,
  async (t, session) => {
    const tooLarge: Record<string, string> = {};
    for (let i = 0; i < 30; i++) tooLarge[`x-${i}`] = 'v'.repeat(1000);
    const { headers, body } = await answerOf(session.request(tooLarge));
    t.is(headers[':status'], 431);
    t.is((JSON.parse(body.toString()) as { code: number }).code, 431);
    t.is((await answerOf(session.request({ ':path': '/' }))).headers[':status'], 200);
  },
  { headerBytesMax: 8192 },
);

const taken = new Taken();

http2Test(
  'a stream begins at once, and every event arrives by itself',
  taken.handler(JSON_HEADERS),
  async (t, session) => {
    const stream = session.request({ ':path': '/' });
    const begun = new Promise((resolve) => stream.once('response', resolve));
    const response = await taken.next();
    await begun;
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
      response.end(pattern(10, 5));
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
    t.is(body.length, written + 10);
    t.is(body.compare(part, 0, part.length, written - part.length, written), 0);
    t.is(body.compare(pattern(10, 5), 0, 10, written), 0);
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
    const refused = t.throwsAsync(requestIfAny(session));
    const ended = answerOf(stream);
    response.end();
    await ended;
    await refused;
  },
);

http2Test(
  'after sendAway each connection gets a GOAWAY, a new one with its first request, and what is open goes on',
  taken.handler(JSON_HEADERS),
  async (t, session, listener) => {
    const stream = session.request({ ':path': '/' });
    const response = await taken.next();
    const goneAway = new Promise((resolve) => session.once('goaway', resolve));
    listener.sendAway();
    await goneAway;
    const arrived = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    response.write(Buffer.from('late'));
    t.is((await arrived).toString(), 'late');
    const next = connect(`https://localhost:${listener.port}`, { ca: (await testPair).certPem });
    const nextGone = new Promise<number>((resolve) => next.once('goaway', resolve));
    const answer = answerOf(next.request({ ':path': '/' }));
    const served = await taken.next();
    t.is(await nextGone, constants.NGHTTP2_NO_ERROR);
    served.end(Buffer.from('served'));
    t.is((await answer).body.toString(), 'served');
    const ended = answerOf(stream);
    response.end();
    await ended;
    next.destroy();
  },
);

http2Test(
  'an idle connection is closed, one with a stream is not',
  taken.handler(JSON_HEADERS),
  async (t, session, listener) => {
    const stream = session.request({ ':path': '/' });
    const response = await taken.next();
    const idle = connect(`https://localhost:${listener.port}`, { ca: (await testPair).certPem });
    await new Promise((resolve) => idle.once('close', resolve));
    t.false(response.aborted);
    const arrived = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    response.write(Buffer.from('late'));
    t.is((await arrived).toString(), 'late');
    const closed = new Promise((resolve) => session.once('close', resolve));
    response.end();
    await closed;
  },
  { idleTimeoutSeconds: 1 },
);

http2Test(
  'an idle connection whose client never closes it is closed all the same',
  describe,
  async (t, _session, listener) => {
    const tcp = connectTcp({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
    const silent = connectTls({ socket: tcp, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    for (const socket of [tcp, silent]) socket.on('error', () => {});
    silent.resume();
    await new Promise((resolve) => silent.once('secureConnect', resolve));
    t.is(silent.alpnProtocol, 'h2');
    await eventually(() => listener.openConnections === 0);
    tcp.destroy();
  },
  { idleTimeoutSeconds: 1 },
);

/** The connection is sent away with its second request. */
function sentAwayOnce(): () => boolean {
  let asked = 0;
  return () => {
    asked += 1;
    return asked === 2;
  };
}

let endWatch = (): void => {};

http2Test(
  'a connection that is sent away gets a GOAWAY, answers what it has, and ends with its last stream',
  (request, response) => {
    if (request.path === '/watch') {
      response.start(200, JSON_HEADERS);
      response.write(Buffer.from('a'));
      endWatch = () => response.end(Buffer.from('z'));
      return;
    }
    response.respond(200, JSON_HEADERS, '{}');
  },
  async (t, session) => {
    const goaway = new Promise<number>((resolve) => session.once('goaway', resolve));
    const closed = new Promise<void>((resolve) => session.once('close', resolve));
    const watch = session.request({ ':path': '/watch' });
    const rest = answerOf(watch);
    await new Promise((resolve) => watch.once('response', resolve));
    const { headers } = await answerOf(session.request({ ':path': '/get' }));
    t.is(headers[':status'], 200);
    t.is(await goaway, constants.NGHTTP2_NO_ERROR);
    t.false(watch.closed);
    endWatch();
    t.is((await rest).body.toString(), 'az');
    await closed;
  },
  { sendsAway: sentAwayOnce() },
);

http2Test(
  'a client that is sent away hears of it before its answer, so that it sends its next request elsewhere',
  (_request, response) => response.respond(200, JSON_HEADERS, '{}'),
  async (t, session) => {
    const heard: string[] = [];
    session.once('goaway', () => heard.push('goaway'));
    const closed = new Promise<void>((resolve) => session.once('close', resolve));
    const stream = session.request({ ':path': '/get' });
    stream.once('response', () => heard.push('response'));
    t.is((await answerOf(stream)).body.toString(), '{}');
    await closed;
    t.deepEqual(heard, ['goaway', 'response']);
  },
  { sendsAway: () => true },
);
