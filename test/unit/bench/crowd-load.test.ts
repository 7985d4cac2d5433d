// Goal: a crowd counts what becomes of each of its requests. Method: an HTTP/2 server that lets some through, refuses some, and fails one.
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { runCrowdLoad } from '../../../bench/load/crowd-load.ts';
import type { CrowdJob } from '../../../bench/load-protocol.ts';

interface Asked {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

/** Answers once all have asked: 429 to every third, 500 to the first. */
async function serve(count: number, asked: Asked[]): Promise<Http2Server> {
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      asked.push({ path: request.url, authorization: request.headers.authorization ?? '', body });
      const number = Number(/\d+/.exec(request.url)![0]);
      waiting.push(() => response.writeHead(number === 0 ? 500 : number % 3 === 0 ? 429 : 201).end('{}'));
      if (waiting.length === count) for (const answer of waiting) answer();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

test('a crowd asks all at once, each as itself, and counts what each came to', async (t) => {
  const asked: Asked[] = [];
  const server = await serve(30, asked);
  t.teardown(() => server.close());
  const job: CrowdJob = {
    type: 'crowd',
    endpoint: { host: '127.0.0.1', port: (server.address() as AddressInfo).port, authorization: 'Bearer t-{object}' },
    request: { method: 'POST', path: '/{seq}', body: '{"name":"{seq}"}' },
    requests: 30,
    streamsEach: 8,
    bounds: { seconds: 3600, count: 30, warmupSeconds: 0 },
  };
  const { operations, refused, errors, firstError } = await runCrowdLoad(job);
  t.deepEqual([operations, refused, errors, firstError], [20, 9, 1, 'answered 500']);
  t.is(new Set(asked.map(({ path }) => path)).size, 30);
  t.true(
    asked.every(
      ({ path, authorization, body }) =>
        authorization === `Bearer t-${path.slice(1)}` && body === `{"name":"${path.slice(1)}"}`,
    ),
  );
});
