// What every listener promises about bodies that take their time: how much of them it keeps, over HTTP/1.1.
import type { RequestHandler } from '../../transport/http.ts';
import { RawClient } from './listener-client.ts';
import { BINARY_HEADERS, JSON_HEADERS, MEGABYTE, pattern, type Served } from './listener-fixture.ts';

const KEPT_MAX = 200_000;
const PIECE_BYTES = 10_000;

export function keptBodyTests(served: Served, isTls: boolean): void {
  /** As the ingress does: a body is read from the first turn on, and who may not write is told so meanwhile. */
  const echo: RequestHandler = (request, response) => {
    const whole = request.body(4 * MEGABYTE);
    // When some of the body has come.
    if (request.path === '/refused') setTimeout(() => response.respond(403, JSON_HEADERS, 'no'), 5);
    void whole.then(
      (body) => response.respond(200, BINARY_HEADERS, body!),
      () => {},
    );
  };
  const post = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: ${length}\r\n\r\n`;
  const change = { bodiesBytesMax: KEPT_MAX };

  served(
    'who has sent most of bodies that are more than can be kept is cut off, and others are answered',
    echo,
    async (t, client, listener) => {
      const body = pattern(KEPT_MAX / 2);
      client.send(Buffer.concat([Buffer.from(post('/', body.length)), body.subarray(0, -1)]));
      const other = await RawClient.open(listener.port, isTls);
      other.send(post('/', MEGABYTE));
      for (let sent = 0; sent < MEGABYTE && !other.isClosed; sent += PIECE_BYTES) {
        other.send(pattern(Math.min(PIECE_BYTES, MEGABYTE - sent)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      t.is((await other.untilClosed()).length, 0);
      client.send(body.subarray(-1));
      t.is((await client.answer()).body.compare(body), 0);
    },
    change,
  );

  served(
    'what comes of a body after its request was refused is not kept',
    echo,
    async (t, client, listener) => {
      const refused = await RawClient.open(listener.port, isTls);
      refused.send(Buffer.concat([Buffer.from(post('/refused', MEGABYTE)), pattern(PIECE_BYTES)]));
      t.is((await refused.answer()).status, 403);
      for (let sent = PIECE_BYTES; sent < MEGABYTE; sent += PIECE_BYTES)
        refused.send(pattern(Math.min(PIECE_BYTES, MEGABYTE - sent)));
      // The body's end has come where the connection takes another request.
      refused.send(post('/', 0));
      t.is((await refused.answer()).status, 200);
      const body = pattern(KEPT_MAX / 2);
      client.send(Buffer.concat([Buffer.from(post('/', body.length)), body]));
      t.is((await client.answer()).body.compare(body), 0);
      refused.close();
    },
    change,
  );
}
