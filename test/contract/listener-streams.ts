// What every listener promises about streamed answers, over HTTP/1.1: each chunk at once, and a client that does not read.
import { eventually, RawClient, streamedBody } from './listener-client.ts';
import {
  BINARY_HEADERS,
  ENDLESS_BYTES,
  get,
  JSON_HEADERS,
  MEGABYTE,
  pattern,
  type Served,
  Taken,
} from './listener-fixture.ts';

export function streamTests(served: Served): void {
  const taken = new Taken();

  served(
    'a JSON stream begins at once, and every event arrives by itself',
    taken.handler(JSON_HEADERS),
    async (t, client) => {
      client.send(get('/', 'User-Agent: python-urllib3/1.26.12'));
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

  for (const agent of ['curl/7.88.1', 'kubectl/v1.20.2 (linux/amd64) kubernetes/faecb19', 'node']) {
    served(`${agent} reads lines of events, and no other`, taken.handler(JSON_HEADERS), async (t, client) => {
      client.send(get('/', `User-Agent: ${agent}`));
      const response = await taken.next();
      let expected = '';
      for (let i = 0; i < 5; i++) {
        const event = `{"type":"ADDED","object":{"i":${i}}}\n`;
        expected += event;
        t.true(response.write(Buffer.from(event)));
        await client.until((received) => received.includes(`{"i":${i}}}\n`));
      }
      response.end();
      // The headers are pushed out by a blank where no event is there yet.
      t.is((await client.answer()).body.toString().replace(/^ /, ''), expected);
    });
  }

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
      response.end(pattern(10, 5));
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

/** JSON text without the blank that a listener may begin it with, and the empty lines it may send between events. */
function events(body: string): string {
  return body.replace(/^ /, '').replaceAll(/^\n/gm, '');
}
