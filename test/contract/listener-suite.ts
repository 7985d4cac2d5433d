// What every listener promises to the ingress (transport/exchange.ts), tried over HTTP/1.1 with real sockets. Run by
// listener-uws.test.ts and listener-node.test.ts, plain and with TLS.
import { createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { isOrchError } from '../../runtime/errors.ts';
import type { ExchangeHandler, HeaderList, HttpResponse, Listener, ListenerOptions } from '../../transport/exchange.ts';
import { makeSelfSigned } from '../../transport/self-signed.ts';
import { type Answer, eventually, RawClient, streamedBody } from './listener-client.ts';

type Open = (options: ListenerOptions) => Promise<Listener>;
type OptionsChange = Partial<Omit<ListenerOptions, 'handler'>>;

export const HEADER_BYTES_MAX = 64 * 1024;
export const JSON_HEADERS: HeaderList = [['Content-Type', 'application/json']];
export const BINARY_HEADERS: HeaderList = [['Content-Type', 'application/octet-stream']];
export const MEGABYTE = 1024 * 1024;

/** More than the kernel buffers for one loopback connection, so that a stalled client is noticed. */
export const ENDLESS_BYTES = 64 * MEGABYTE;

/** A pair for tests. */
export const testPair = makeSelfSigned({
  commonName: 'test',
  names: ['localhost', '127.0.0.1'],
  notBefore: new Date(Date.now() - 3_600_000),
  notAfter: new Date(Date.now() + 86_400_000),
});

export async function listenerOptions(
  isTls: boolean,
  handler: ExchangeHandler,
  change: OptionsChange = {},
): Promise<ListenerOptions> {
  return {
    host: '127.0.0.1',
    port: 0,
    ...(isTls ? { tls: await testPair } : {}),
    headerBytesMax: HEADER_BYTES_MAX,
    idleTimeoutSeconds: 60,
    sharedPort: false,
    handler,
    ...change,
  };
}

/** Bytes that differ at every place a chunk could be lost, repeated or swapped. */
export function pattern(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + (i >> 16) * 3 + seed) & 0xff;
  return bytes;
}

/** Registers the suite's tests under the given name. */
export function http1Suite(name: string, open: Open, isTls: boolean): void {
  const served = (
    title: string,
    handler: ExchangeHandler,
    run: (t: ExecutionContext, client: RawClient, listener: Listener) => Promise<void>,
    change: OptionsChange = {},
  ): void => {
    test.serial(`${name}: ${title}`, async (t) => {
      const listener = await open(await listenerOptions(isTls, handler, change));
      const client = await RawClient.open(listener.port, isTls);
      try {
        await run(t, client, listener);
      } finally {
        client.close();
        await listener.close();
      }
    });
  };
  requestTests(served);
  bodyTests(served);
  answerTests(served);
  failureTests(served);
  streamTests(served);
  lifeTests(name, open, isTls, served);
}

type Served = (
  title: string,
  handler: ExchangeHandler,
  run: (t: ExecutionContext, client: RawClient, listener: Listener) => Promise<void>,
  change?: OptionsChange,
) => void;

const get = (path: string, ...headers: string[]): string =>
  `GET ${path} HTTP/1.1\r\n${['Host: test', ...headers].join('\r\n')}\r\n\r\n`;

const answerText =
  (text: string): ExchangeHandler =>
  (_request, response) =>
    response.respond(200, JSON_HEADERS, text);

const answerPath: ExchangeHandler = (request, response) => response.respond(200, JSON_HEADERS, request.path);

const answerLater: ExchangeHandler = (request, response) => {
  setTimeout(() => response.respond(200, JSON_HEADERS, request.path), 1);
};

const reasonOf = (answer: Answer): string => (JSON.parse(answer.body.toString()) as { reason: string }).reason;

function requestTests(served: Served): void {
  const describe: ExchangeHandler = (request, response) => {
    const { method, path, query, remoteAddress, peerCertificate } = request;
    // After this turn, so that what is read from a listener's own memory would be gone.
    setTimeout(() => {
      const described = {
        method,
        path,
        query,
        remoteAddress,
        hasCertificate: peerCertificate !== undefined,
        accept: request.header('accept'),
        absent: request.header('x-absent'),
        host: request.header('host'),
        extra: request.headersWithPrefix('impersonate-'),
      };
      response.respond(200, JSON_HEADERS, JSON.stringify(described));
    }, 1);
  };

  served('a request arrives whole, with its headers in order', describe, async (t, client) => {
    const headers = [
      'ACCEPT: a/b',
      'Impersonate-User: jane',
      'Impersonate-Group: x',
      'accept: c/d',
      'Impersonate-Group: y, z',
    ];
    client.send(get('/a%20b/%2F?x=1&y=?&z', ...headers));
    t.deepEqual(JSON.parse((await client.answer()).body.toString()), {
      method: 'GET',
      path: '/a%20b/%2F',
      query: 'x=1&y=?&z',
      remoteAddress: '127.0.0.1',
      hasCertificate: false,
      accept: 'a/b, c/d',
      absent: '',
      host: 'test',
      extra: [
        ['impersonate-user', 'jane'],
        ['impersonate-group', 'x'],
        ['impersonate-group', 'y, z'],
      ],
    });
  });

  served('every method reaches the handler', describe, async (t, client) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      client.send(`${method} /m HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n`);
      const { method: seen, query } = JSON.parse((await client.answer()).body.toString()) as {
        method: string;
        query: string;
      };
      t.is(seen, method);
      t.is(query, '');
    }
  });

  served('requests sent in one packet are answered in order', answerPath, async (t, client) => {
    client.send(get('/1') + get('/2') + get('/3'));
    for (const path of ['/1', '/2', '/3']) t.is((await client.answer()).body.toString(), path);
  });

  served('a request sent byte by byte is answered', answerPath, async (t, client) => {
    client.socket.setNoDelay(true);
    for (const character of get('/slow')) {
      client.send(character);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.is((await client.answer()).body.toString(), '/slow');
  });

  served('one connection serves many requests', answerLater, async (t, client, listener) => {
    for (let i = 0; i < 20; i++) {
      client.send(get(`/${i}`));
      t.is((await client.answer()).body.toString(), `/${i}`);
    }
    t.is(listener.openConnections, 1);
  });

  served('a long path and many bytes of headers are taken', answerPath, async (t, client) => {
    const path = `/${'p'.repeat(8000)}`;
    client.send(get(path, `X-Long: ${'v'.repeat(50_000)}`));
    t.is((await client.answer()).body.toString(), path);
  });

  served('too many bytes of headers are answered 431', answerPath, async (t, client) => {
    client.send(get('/', `X-Long: ${'v'.repeat(HEADER_BYTES_MAX)}`));
    t.is((await client.answer()).status, 431);
    await client.untilClosed();
  });

  served('what is not HTTP is answered 400', answerPath, async (t, client) => {
    client.send('GET / HTTP/1.1\r\nHost: test\r\nbad header: 1\r\n\r\n');
    t.is((await client.answer()).status, 400);
    await client.untilClosed();
  });
}

function bodyTests(served: Served): void {
  const BODY_MAX = 100_000;
  const echo: ExchangeHandler = (request, response) => {
    void request.body(BODY_MAX).then(
      (body) => {
        if (body === null) response.respond(413, JSON_HEADERS, 'too large');
        else response.respond(200, BINARY_HEADERS, body);
      },
      () => {},
    );
  };
  const post = (length: number): string => `POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${length}\r\n\r\n`;
  const chunked = 'POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n';
  const chunk = (bytes: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

  served('a body is read, whether in one piece or in many', echo, async (t, client) => {
    const body = pattern(BODY_MAX);
    client.send(Buffer.concat([Buffer.from(post(body.length)), body]));
    t.is((await client.answer()).body.compare(body), 0);
    client.send(post(body.length));
    for (let at = 0; at < body.length; at += 9999) {
      client.send(body.subarray(at, at + 9999));
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.is((await client.answer()).body.compare(body), 0);
  });

  served('an empty body is empty', echo, async (t, client) => {
    client.send(post(0));
    t.is((await client.answer()).body.length, 0);
    client.send(get('/'));
    t.is((await client.answer()).body.length, 0);
  });

  served('a chunked body is read', echo, async (t, client) => {
    const parts = [pattern(1), pattern(70_000, 1), pattern(20, 2)];
    client.send(Buffer.concat([Buffer.from(chunked), ...parts.map(chunk), Buffer.from('0\r\n\r\n')]));
    t.is((await client.answer()).body.compare(Buffer.concat(parts)), 0);
  });

  served(
    'a body over the limit is refused before it has arrived, and the connection goes on',
    echo,
    async (t, client) => {
      client.send(post(BODY_MAX * 3));
      client.send(pattern(BODY_MAX + 1));
      t.is((await client.answer()).status, 413);
      client.send(pattern(BODY_MAX * 2 - 1));
      client.send(post(3));
      client.send('abc');
      t.is((await client.answer()).body.toString(), 'abc');
    },
  );

  served('a chunked body over the limit is refused', echo, async (t, client) => {
    client.send(chunked);
    for (let i = 0; i < 3; i++) client.send(chunk(pattern(BODY_MAX / 2)));
    t.is((await client.answer()).status, 413);
  });

  served('a body that the handler leaves alone does not spoil the next request', answerLater, async (t, client) => {
    client.send(Buffer.concat([Buffer.from(post(5000)), pattern(5000)]));
    t.is((await client.answer()).status, 200);
    client.send(get('/next'));
    t.is((await client.answer()).body.toString(), '/next');
  });

  served('a client that waits for leave to send its body gets it', echo, async (t, client) => {
    client.send('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n');
    await client.until((received) => received.includes('100 Continue'));
    client.send('abc');
    t.is((await client.answer()).body.toString(), 'abc');
  });

  let outcome = '';
  let wasAborted = false;
  const watch: ExchangeHandler = (request, response) => {
    outcome = 'waiting';
    response.onAborted(() => {
      wasAborted = true;
    });
    request.body(BODY_MAX).then(
      () => {
        outcome = 'read';
      },
      (error: Error) => {
        outcome = error.name;
      },
    );
  };
  served('a client that goes away in its body fails the read', watch, async (t, client) => {
    client.send(post(5000));
    client.send(pattern(100));
    await eventually(() => outcome === 'waiting');
    client.close();
    await eventually(() => outcome !== 'waiting');
    t.is(outcome, 'RequestAborted');
    await eventually(() => wasAborted);
    t.true(wasAborted);
  });
}

function answerTests(served: Served): void {
  const headers: HeaderList = [
    ['Content-Type', 'text/plain'],
    ['Warning', '299 - "one"'],
    ['Content-Length', '7'],
    ['X-Echo', 'a\r\nX-Injected: b'],
  ];
  served(
    'an answer has its headers, and its framing is the listener’s',
    (_, response) => response.respond(200, headers, 'text'),
    async (t, client) => {
      client.send(get('/'));
      const answer = await client.answer();
      t.is(answer.headers.get('content-type'), 'text/plain');
      t.is(answer.headers.get('warning'), '299 - "one"');
      t.is(answer.headers.get('content-length'), '4');
      t.false(answer.headers.has('x-injected'));
      t.is(answer.body.toString(), 'text');
    },
  );

  served(
    'codes come with their reason phrases',
    (request, response) => response.respond(Number(request.path.slice(1)), [], ''),
    async (t, client) => {
      for (const line of [
        '201 Created',
        '404 Not Found',
        '409 Conflict',
        '429 Too Many Requests',
        '504 Gateway Timeout',
      ]) {
        client.send(get(`/${line.slice(0, 3)}`));
        await client.answer();
        client.send(get(`/${line.slice(0, 3)}`));
        await client.until((received) => received.includes('\r\n\r\n'));
        t.true(client.text.startsWith(`HTTP/1.1 ${line}\r\n`), client.text);
        await client.answer();
      }
    },
  );

  served('HEAD has the length of the body and no body', answerText('twelve bytes'), async (t, client) => {
    client.send('HEAD / HTTP/1.1\r\nHost: test\r\n\r\n');
    const answer = await client.answer(true);
    t.is(answer.headers.get('content-length'), '12');
    client.send(get('/'));
    t.is((await client.answer()).body.toString(), 'twelve bytes');
  });

  const streamTwice: ExchangeHandler = (_, response) => {
    response.start(200, JSON_HEADERS);
    response.write(pattern(10));
    response.end();
  };
  served('HEAD of a stream ends with its headers', streamTwice, async (t, client) => {
    for (let i = 0; i < 2; i++) {
      client.send('HEAD / HTTP/1.1\r\nHost: test\r\n\r\n');
      t.is((await client.answer(true)).status, 200);
    }
  });

  for (const status of [204, 304]) {
    served(
      `${status} has no body`,
      (_, response) => response.respond(status, [], 'ignored'),
      async (t, client) => {
        client.send(get('/1') + get('/2'));
        t.is((await client.answer()).status, status);
        t.is((await client.answer()).status, status);
        t.is(client.received.length, 0);
      },
    );
  }

  const shared = new Uint8Array(new SharedArrayBuffer(5 * MEGABYTE));
  shared.set(pattern(shared.length));
  const respondShared: ExchangeHandler = (_, response) => {
    response.respond(200, BINARY_HEADERS, shared);
    shared.fill(0);
  };
  served('a big body in shared memory is read before respond returns', respondShared, async (t, client) => {
    client.socket.pause();
    client.send(get('/'));
    await eventually(() => shared[1] === 0);
    client.socket.resume();
    t.is((await client.answer()).body.compare(pattern(shared.length)), 0);
  });
}

function failureTests(served: Served): void {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => {
    errors.push(error);
  };
  const failing: ExchangeHandler = (request, response) => {
    if (request.path === '/fine') response.respond(200, [], 'fine');
    else if (request.path === '/started') response.start(200, JSON_HEADERS);
    if (request.path !== '/fine') throw new Error('broken');
  };
  served(
    'a handler that throws is answered 500, and the listener goes on',
    failing,
    async (t, client) => {
      errors.length = 0;
      client.send(get('/'));
      const answer = await client.answer();
      t.is(answer.status, 500);
      t.is(reasonOf(answer), 'InternalError');
      t.false(answer.body.includes('broken'));
      client.send(get('/fine'));
      t.is((await client.answer()).body.toString(), 'fine');
      t.is((errors[0] as Error).message, 'broken');
    },
    { onError },
  );

  served(
    'a handler that throws after it began a stream is cut off',
    failing,
    async (t, client) => {
      client.send(get('/started'));
      const received = await client.untilClosed();
      t.false(received.includes('0\r\n\r\n'));
    },
    { onError },
  );

  const failingLater = (async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('broken later');
  }) as unknown as ExchangeHandler;
  served(
    'a handler that rejects is answered 500',
    failingLater,
    async (t, client) => {
      client.send(get('/'));
      t.is((await client.answer()).status, 500);
    },
    { onError },
  );

  const aborting: ExchangeHandler = (_, response) => {
    let callbacks = 0;
    response.onAborted(() => callbacks++);
    setTimeout(() => {
      response.abort();
      response.abort();
      response.respond(200, [], '');
      response.start(200, []);
      response.write(pattern(10));
      response.end();
      if (!response.aborted || callbacks !== 1) errors.push(new Error(`${callbacks} callbacks`));
    }, 1);
  };
  served('an abort cuts the connection, and nothing can be done afterwards', aborting, async (t, client) => {
    errors.length = 0;
    client.send(get('/'));
    t.is((await client.untilClosed()).length, 0);
    t.deepEqual(errors, []);
  });
}

/** Hands the responses that a handler was given to the test. */
export class Taken {
  #response: HttpResponse | undefined;

  /** A handler that begins a stream and leaves the rest to the test. */
  handler(headers: HeaderList, prepare: (response: HttpResponse) => void = () => {}): ExchangeHandler {
    return (_, response) => {
      this.#response = response;
      prepare(response);
      response.start(200, headers);
    };
  }

  /** Waits for the next response. */
  async next(): Promise<HttpResponse> {
    await eventually(() => this.#response !== undefined);
    const response = this.#response;
    this.#response = undefined;
    if (response === undefined) throw new Error('no response');
    return response;
  }
}

function streamTests(served: Served): void {
  const taken = new Taken();

  served(
    'a JSON stream begins at once, and every event arrives by itself',
    taken.handler(JSON_HEADERS),
    async (t, client) => {
      client.send(get('/'));
      await client.until((received) => received.includes('\r\n\r\n'));
      const response = await taken.next();
      let expected = '';
      for (let i = 0; i < 5; i++) {
        const event = `{"type":"ADDED","object":{"i":${i}}}\n`;
        expected += event;
        t.true(response.write(Buffer.from(event)));
        // With the line end that closes its chunk: some clients wait for that.
        await client.until((received) => received.includes(`{"i":${i}}}\n\r\n`));
        t.is(events(streamedBody(client.received)), expected);
      }
      response.end();
      t.is(events((await client.answer()).body.toString()), expected);
    },
  );

  served('chunks of other streams arrive unchanged', taken.handler(BINARY_HEADERS), async (t, client) => {
    client.send(get('/'));
    const response = await taken.next();
    const parts = [pattern(3), new Uint8Array([0x0a]), pattern(300_000, 1), new Uint8Array(0), pattern(20, 2)];
    for (const part of parts) response.write(part);
    response.end();
    t.is((await client.answer()).body.compare(Buffer.concat(parts)), 0);
  });

  served(
    'chunks of a compressed JSON stream arrive unchanged',
    taken.handler([...JSON_HEADERS, ['Content-Encoding', 'gzip']]),
    async (t, client) => {
      client.send(get('/'));
      const response = await taken.next();
      const parts = [new Uint8Array([1, 0x0a]), new Uint8Array([2, 0x0a])];
      for (const part of parts) response.write(part);
      response.end();
      t.is((await client.answer()).body.compare(Buffer.concat(parts)), 0);
    },
  );

  served(
    'a client that does not read stops the writer, and gets everything when it reads again',
    taken.handler(BINARY_HEADERS),
    async (t, client) => {
      client.socket.pause();
      client.send(get('/'));
      const response = await taken.next();
      const part = new Uint8Array(new SharedArrayBuffer(60_001));
      let written = 0;
      const pump = (): void => {
        while (written < ENDLESS_BYTES) {
          part.set(pattern(part.length, written));
          written += part.length;
          const hasRoom = response.write(part);
          part.fill(0);
          if (!hasRoom) return;
        }
        response.end();
      };
      response.onDrained(pump);
      pump();
      t.true(written < ENDLESS_BYTES, 'the writer was stopped');
      const stoppedAt = written;
      client.socket.resume();
      const { body } = await client.answer();
      t.true(written > stoppedAt);
      t.is(body.length, written);
      for (let at = 0; at < body.length; at += part.length) {
        if (body.compare(pattern(part.length, at), 0, part.length, at, at + part.length) !== 0) t.fail(`part at ${at}`);
      }
    },
  );

  served(
    'one big write followed by the end reaches a client that reads late',
    taken.handler(BINARY_HEADERS),
    async (t, client) => {
      client.socket.pause();
      client.send(get('/'));
      const response = await taken.next();
      const body = pattern(20 * MEGABYTE);
      t.false(response.write(body));
      response.write(pattern(10, 5));
      response.end();
      client.socket.resume();
      const received = (await client.answer()).body;
      t.is(received.length, body.length + 10);
      t.is(received.compare(Buffer.concat([body, pattern(10, 5)])), 0);
    },
  );

  served(
    'the last small event after a full socket is not kept back',
    taken.handler(JSON_HEADERS),
    async (t, client) => {
      client.socket.pause();
      client.send(get('/'));
      const response = await taken.next();
      const event = Buffer.from(`{"fill":"${'x'.repeat(1000)}"}\n`);
      let count = 1;
      while (response.write(event) && count < 100_000) count++;
      response.write(Buffer.from('{"last":true}\n'));
      client.socket.resume();
      await client.until((received) => received.includes('{"last":true}\n'));
      t.is(events(streamedBody(client.received)).match(/\n/g)?.length, count + 1);
    },
  );

  let aborts = 0;
  const watch = taken.handler(JSON_HEADERS, (response) => {
    response.onAborted(() => aborts++);
    response.onAborted(() => aborts++);
  });
  served('a client that leaves its stream is noticed once', watch, async (t, client) => {
    aborts = 0;
    client.send(get('/'));
    const response = await taken.next();
    await client.until((received) => received.includes('\r\n\r\n'));
    client.close();
    await eventually(() => aborts > 0);
    t.is(aborts, 2, 'once for each callback');
    t.true(response.aborted);
    t.notThrows(() => {
      response.write(pattern(10));
      response.end();
      response.abort();
    });
    response.onAborted(() => aborts++);
    t.is(aborts, 3, 'at once when it is late');
  });

  served(
    'a callback that throws cuts off its own stream only',
    taken.handler(JSON_HEADERS),
    async (t, client, listener) => {
      client.socket.pause();
      client.send(get('/'));
      const response = await taken.next();
      response.onDrained(() => {
        throw new Error('broken');
      });
      while (response.write(pattern(100_000)));
      client.socket.resume();
      await client.untilClosed();
      t.true(response.aborted);
      const other = await RawClient.open(listener.port, 'encrypted' in client.socket);
      other.send(get('/'));
      t.false((await taken.next()).aborted);
      other.close();
    },
  );
}

function lifeTests(name: string, open: Open, isTls: boolean, served: Served): void {
  const taken = new Taken();
  const held = taken.handler(JSON_HEADERS);
  const hold: ExchangeHandler = (request, response) => {
    if (request.path === '/held') held(request, response);
    else response.respond(200, JSON_HEADERS, 'other');
  };

  served('after stopAccepting open streams go on, and close ends them', hold, async (t, client, listener) => {
    const other = await RawClient.open(listener.port, isTls);
    client.send(get('/held'));
    const response = await taken.next();
    listener.stopAccepting();
    await t.throwsAsync(RawClient.open(listener.port, isTls));
    response.write(Buffer.from('{"late":true}\n'));
    await client.until((received) => received.includes('late'));
    other.send(get('/'));
    await other.untilClosed();
    t.regex(other.text, /^$|Connection: close/i);
    await listener.close();
    await client.untilClosed();
    await eventually(() => response.aborted && listener.openConnections === 0);
    t.true(response.aborted);
  });

  test.serial(`${name}: a taken port is the operator's error`, async (t) => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const address = holder.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const options = await listenerOptions(isTls, answerPath, { port });
    const error = await t.throwsAsync(open(options), { message: `address 127.0.0.1:${port} is already in use` });
    t.true(isOrchError(error, 'BadConfiguration'));
    holder.close();

    const listener = await open(await listenerOptions(isTls, answerPath));
    await t.throwsAsync(open({ ...options, port: listener.port }), { message: /is already in use/ });
    await listener.close();
  });

  test.serial(`${name}: an address of another machine is the operator's error`, async (t) => {
    const options = await listenerOptions(isTls, answerPath, { host: '192.0.2.1', port: 6443 });
    t.true(isOrchError(await t.throwsAsync(open(options)), 'BadConfiguration'));
  });

  test.serial(`${name}: a port is free again when its listener has closed`, async (t) => {
    const first = await open(await listenerOptions(isTls, answerPath));
    await first.close();
    const second = await open(await listenerOptions(isTls, answerPath, { port: first.port }));
    t.is(second.port, first.port);
    await second.close();
  });

  if (!isTls) return;
  test.serial(`${name}: a key that is not the certificate's is the operator's error`, async (t) => {
    const pair = await testPair;
    const other = await makeSelfSigned({
      commonName: 'x',
      names: ['x'],
      notBefore: new Date(),
      notAfter: new Date(Date.now() + 1e7),
    });
    for (const tls of [
      { certPem: pair.certPem, keyPem: other.keyPem },
      { certPem: 'nonsense', keyPem: pair.keyPem },
    ]) {
      const error = await t.throwsAsync(open(await listenerOptions(true, answerPath, { tls })));
      t.true(isOrchError(error, 'BadConfiguration'), String(error));
    }
  });
}

/** JSON text without the blanks that a listener may send between events. */
function events(body: string): string {
  return body.replaceAll(/^ +/gm, '');
}
