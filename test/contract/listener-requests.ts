// What every listener promises about a request and its body, over HTTP/1.1.
import type { RequestHandler } from '../../transport/http.ts';
import { eventually, RawClient } from './listener-client.ts';
import {
  answerLater,
  answerPath,
  BINARY_HEADERS,
  get,
  HEADER_BYTES_MAX,
  JSON_HEADERS,
  pattern,
  type Served,
} from './listener-fixture.ts';

export function requestTests(served: Served, isTls: boolean): void {
  const describe: RequestHandler = (request, response) => {
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
        impersonates: request.hasHeaderWithPrefix('impersonate-'),
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
      impersonates: true,
    });
  });

  served('what a header says beyond ASCII is text', describe, async (t, client) => {
    const named = Buffer.from('Impersonate-User: dän д1', 'utf8').toString('latin1');
    client.send(Buffer.from(get('/', named).toString(), 'latin1'));
    const { extra } = JSON.parse((await client.answer()).body.toString()) as { extra: unknown };
    t.deepEqual(extra, [['impersonate-user', 'dän д1']]);
  });

  served(
    'each request has the address of its own client, whoever else is connected',
    describe,
    async (t, client, listener) => {
      const addressOf = async (one: RawClient): Promise<string> => {
        one.send(get('/'));
        return (JSON.parse((await one.answer()).body.toString()) as { remoteAddress: string }).remoteAddress;
      };
      const second = await RawClient.open(listener.port, isTls, '127.0.0.2');
      for (let times = 0; times < 2; times++) {
        t.is(await addressOf(client), '127.0.0.1');
        t.is(await addressOf(second), '127.0.0.2');
      }
      for (const one of [client, second]) one.close();
      await eventually(() => listener.openConnections === 0);
      const third = await RawClient.open(listener.port, isTls, '127.0.0.3');
      t.is(await addressOf(third), '127.0.0.3');
      const fourth = await RawClient.open(listener.port, isTls, '127.0.0.3');
      t.is(await addressOf(fourth), '127.0.0.3');
      for (const one of [third, fourth]) one.close();
    },
  );

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

export function bodyTests(served: Served): void {
  const BODY_MAX = 100_000;
  const echo: RequestHandler = (request, response) => {
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

  const flowEcho: RequestHandler = (request, response) => {
    const flow = request.bodyFlow();
    // Later, as when it has to be found out first who is asking.
    setTimeout(() => {
      response.start(200, BINARY_HEADERS, true);
      flow.start({
        onChunk: (bytes) => {
          response.write(bytes);
          // One at a time: the next comes when it is asked for.
          setImmediate(() => flow.resume());
          return false;
        },
        onEnd: () => response.end(),
        onLost: () => response.abort(),
      });
    }, 5);
  };

  served('a body can be passed on as it arrives, at the pace of who takes it', flowEcho, async (t, client) => {
    const body = pattern(2_000_000);
    client.send(Buffer.concat([Buffer.from(post(body.length)), body]));
    t.is((await client.answer()).body.compare(body), 0);
    const parts = [pattern(1), pattern(70_000, 1), pattern(20, 2)];
    client.send(Buffer.concat([Buffer.from(chunked), ...parts.map(chunk), Buffer.from('0\r\n\r\n')]));
    t.is((await client.answer()).body.compare(Buffer.concat(parts)), 0);
    client.send(post(0));
    t.is((await client.answer()).body.length, 0);
    client.send(get('/'));
    t.is((await client.answer()).body.length, 0);
  });

  let lost = '';
  const flowLost: RequestHandler = (request) => {
    const flow = request.bodyFlow();
    flow.start({
      onChunk: () => true,
      onEnd: () => {
        lost = 'ended';
      },
      onLost: (reason) => {
        lost = reason;
      },
    });
  };
  served('who passes a body on hears when the client goes away', flowLost, async (t, client) => {
    lost = '';
    client.send(Buffer.concat([Buffer.from(post(1000)), pattern(10)]));
    await new Promise((resolve) => setImmediate(resolve));
    client.close();
    await eventually(() => lost !== '');
    t.is(lost, 'aborted');
  });

  served(
    'a flowing body that nobody takes does not hold up the answer',
    (request, response) => {
      request.bodyFlow();
      response.respond(403, JSON_HEADERS, 'no');
    },
    async (t, client) => {
      client.send(Buffer.concat([Buffer.from(post(300_000)), pattern(300_000)]));
      t.is((await client.answer()).status, 403);
    },
  );

  served('a request that says its length twice is not taken for two', echo, async (t, client) => {
    const second = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n';
    const lengths = [2, 2 + second.length].map((length) => `Content-Length: ${length}\r\n`).join('');
    client.send(`POST / HTTP/1.1\r\nHost: test\r\n${lengths}\r\n{}${second}`);
    await client.untilClosed();
    t.notRegex(client.received.toString('latin1'), / 200 /);
  });

  for (const codings of ['xchunked', 'identity', 'chunked, identity', 'chunked\r\nTransfer-Encoding: chunked']) {
    const title = `a body that is encoded as ${JSON.stringify(codings)} is not taken for one in chunks`;
    served(title, echo, async (t, client) => {
      client.send(`POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: ${codings}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
      await client.untilClosed();
      t.notRegex(client.received.toString('latin1'), / 200 /);
    });
  }

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
  const watch: RequestHandler = (request, response) => {
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
