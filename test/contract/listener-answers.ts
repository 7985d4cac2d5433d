// What every listener promises about one request: answers, and handlers that fail, over HTTP/1.1.
import { GzipResponse, GzipSlots } from '../../transport/gzip-response.ts';
import type { HeaderList, RequestHandler } from '../../transport/http.ts';
import { type Answer, eventually } from './listener-client.ts';
import { BINARY_HEADERS, get, JSON_HEADERS, MEGABYTE, pattern, type Served } from './listener-fixture.ts';

const answerText =
  (text: string): RequestHandler =>
  (_request, response) =>
    response.respond(200, JSON_HEADERS, text);

function isAnyFree(slots: GzipSlots): boolean {
  const isFree = slots.take();
  if (isFree) slots.release();
  return isFree;
}

const reasonOf = (answer: Answer): string => (JSON.parse(answer.body.toString()) as { reason: string }).reason;

export function answerTests(served: Served): void {
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

  const streamTwice: RequestHandler = (_, response) => {
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

  const taken: boolean[] = [];
  const streamWholly: RequestHandler = (_, response) => {
    response.start(200, BINARY_HEADERS);
    taken.push(response.write(pattern(MEGABYTE)));
    response.end();
  };
  served(
    'a stream to HEAD takes what is written to it, so that who waits for its client goes on',
    streamWholly,
    async (t, client) => {
      taken.length = 0;
      client.send('HEAD / HTTP/1.1\r\nHost: test\r\n\r\n');
      t.is((await client.answer(true)).status, 200);
      t.deepEqual(taken, [true]);
    },
  );

  const slots = new GzipSlots();
  const respondCompressed: RequestHandler = (_, response) =>
    new GzipResponse(response, slots).respond(200, BINARY_HEADERS, pattern(MEGABYTE));
  served('answers are compressed behind any number of those to HEAD', respondCompressed, async (t, client) => {
    for (let i = 0; i < 6; i++) {
      client.send('HEAD / HTTP/1.1\r\nHost: test\r\n\r\n');
      await client.answer(true);
    }
    await eventually(() => isAnyFree(slots));
    client.send(get('/'));
    t.is((await client.answer()).headers.get('content-encoding'), 'gzip');
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
  const respondShared: RequestHandler = (_, response) => {
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

export function failureTests(served: Served): void {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => {
    errors.push(error);
  };
  const failing: RequestHandler = (request, response) => {
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
  }) as unknown as RequestHandler;
  served(
    'a handler that rejects is answered 500',
    failingLater,
    async (t, client) => {
      client.send(get('/'));
      t.is((await client.answer()).status, 500);
    },
    { onError },
  );

  const aborting: RequestHandler = (_, response) => {
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
