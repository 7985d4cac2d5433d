// What every listener promises about bodies that are somebody else's, over HTTP/1.1: those of requests come at the pace of who takes
// them, and those of answers have the length that is said.
import { eventually, RawClient } from './listener-client.ts';
import { BINARY_HEADERS, ENDLESS_BYTES, get, pattern, type Served, Taken } from './listener-fixture.ts';

const post = (bytes: number): string => `POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${bytes}\r\n\r\n`;

export function passedOnTests(served: Served): void {
  let begin: (() => void) | undefined;
  served(
    'a client that sends faster than its body is taken is held back, and gets it through',
    (request, response) => {
      const flow = request.bodyFlow();
      let bytes = 0;
      begin = () =>
        flow.start({
          onChunk: (chunk) => {
            bytes += chunk.length;
            setImmediate(() => flow.resume());
            return false;
          },
          onEnd: () => response.respond(200, BINARY_HEADERS, String(bytes)),
          onLost: (reason) => response.respond(500, BINARY_HEADERS, reason),
        });
    },
    async (t, client) => {
      client.send(post(ENDLESS_BYTES));
      const piece = Buffer.alloc(ENDLESS_BYTES / 64);
      for (let i = 0; i < 64; i++) client.send(piece);
      await eventually(() => begin !== undefined);
      begin!();
      const { status, body } = await client.answer();
      t.deepEqual([status, body.toString()], [200, String(ENDLESS_BYTES)]);
      // The connection serves the next one.
      begin = undefined;
      client.send(`${post(3)}abc`);
      await eventually(() => begin !== undefined);
      begin!();
      t.is((await client.answer()).body.toString(), '3');
    },
  );

  served(
    'an answer can be given while the client is held back',
    (request, response) => {
      request.bodyFlow();
      setTimeout(() => response.respond(413, BINARY_HEADERS, 'no'), 50);
    },
    async (t, client) => {
      client.send(post(ENDLESS_BYTES));
      client.send(Buffer.alloc(1_000_000));
      t.is((await client.answer()).status, 413);
    },
  );

  const taken = new Taken();
  const sized = (length: number) =>
    taken.taking((response) => response.start(200, [...BINARY_HEADERS, ['Content-Length', String(length)]], true));
  const parts = [pattern(3), pattern(1, 1), new Uint8Array(0), pattern(300_000, 2), pattern(20, 3)];
  const whole = Buffer.concat(parts);

  served('the body of another’s answer has the length that it says', sized(whole.length), async (t, client) => {
    for (let again = 0; again < 2; again++) {
      client.send(get('/'));
      const response = await taken.next();
      for (const part of parts) response.write(part);
      response.end();
      const { headers, body } = await client.answer();
      t.is(headers.get('content-length'), String(whole.length));
      t.is(headers.get('transfer-encoding'), undefined);
      t.is(body.compare(whole), 0);
    }
  });

  served('a body of no bytes has the length 0', sized(0), async (t, client) => {
    client.send(get('/'));
    (await taken.next()).end();
    t.is((await client.answer()).headers.get('content-length'), '0');
  });

  served('a body that ends before its length is cut off', sized(10), async (t, client) => {
    client.send(get('/'));
    const response = await taken.next();
    response.write(pattern(3));
    response.abort();
    t.regex((await client.untilClosed()).toString('latin1'), /Content-Length: 10\r\n/);
  });

  served('a long body of known length waits for its client', sized(ENDLESS_BYTES), async (t, client) => {
    client.socket.pause();
    client.send(get('/'));
    const response = await taken.next();
    const piece = pattern(ENDLESS_BYTES / 128);
    let sent = 0;
    let waits = 0;
    const write = (): void => {
      while (sent < 128) {
        sent++;
        if (!response.write(piece)) {
          waits++;
          if (sent < 128) return;
        }
      }
      response.end();
    };
    response.onDrained(write);
    write();
    await eventually(() => waits > 0);
    client.socket.resume();
    const { body } = await client.answer();
    t.is(body.length, ENDLESS_BYTES);
    for (let i = 0; i < 128; i++)
      t.is(body.subarray(i * piece.length, (i + 1) * piece.length).compare(piece), 0, `piece ${i}`);
  });

  served(
    'a body of known length is handed over whole by a listener that stops',
    sized(300_000),
    async (t, client, listener) => {
      client.send(get('/'));
      const response = await taken.next();
      listener.stopAccepting();
      response.write(pattern(300_000));
      response.end();
      const { body } = await client.answer();
      t.is(body.compare(pattern(300_000)), 0);
    },
  );

  served('a client that leaves in the middle is told of', sized(ENDLESS_BYTES), async (t, client, listener) => {
    const other = await RawClient.open(listener.port, 'encrypted' in client.socket);
    other.send(get('/'));
    const response = await taken.next();
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    response.write(pattern(300_000));
    other.close();
    await eventually(() => isGone);
    t.true(response.aborted);
  });
}
