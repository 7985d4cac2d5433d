// Goal: an answer that comes part by part is cut where its parts end, however it arrives. Method: a server that writes byte by byte.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { ApiClient, ApiUnanswered } from '../../../transport/outgoing/api-client.ts';

function framed(...texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(text));
      return [length, Buffer.from(text)];
    }),
  );
}

async function clientOf(t: ExecutionContext, server: Server): Promise<ApiClient> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const never = async (): Promise<never> => {
    throw new Error('there are no files');
  };
  const texts = { caPem: '', serverName: '', certPem: '', keyPem: '' };
  const connection = { url, ...texts, insecure: false, credentials: { kind: 'none' } } as const;
  const client = new ApiClient({ connection, readFile: never, nowMs: () => 0, onRefused: () => {} }, 'test');
  t.teardown(() => client.close());
  return client;
}

for (const [type, body, parts] of [
  ['application/json', Buffer.from('{"a":1}\n\n{"b":2}\n'), ['{"a":1}', '', '{"b":2}']],
  // White space between two values, as servers send it to have their headers go out.
  ['application/json; charset=utf-8', Buffer.from(' {"a":1}\r\n \t\n  {"b": 2}\n'), ['{"a":1}\r', '', '{"b": 2}']],
  ['application/vnd.x.protobuf;stream=watch', framed('one', '', 'a longer one'), ['one', '', 'a longer one']],
] as const) {
  for (const bytesEach of [1, 3, 1000]) {
    test(`parts of ${type} are whole where ${bytesEach} bytes come at a time`, async (t) => {
      const server = createServer(async (_, response) => {
        response.writeHead(200, { 'Content-Type': type });
        for (let at = 0; at < body.length; at += bytesEach) {
          response.write(body.subarray(at, at + bytesEach));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      const client = await clientOf(t, server);
      const seen: string[] = [];
      const onPart = (part: Buffer): void => void seen.push(part.toString());
      t.is(await client.parts({ method: 'GET', path: '/' }, onPart, new AbortController().signal), 200);
      t.deepEqual(seen, parts as unknown as string[]);
    });
  }
}

for (const [said, retryAfterMs] of [
  ['7', 7_000],
  ['0', 0],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  [undefined, undefined],
] as const) {
  test(`an answer says how long to wait before the same is asked again: ${said}`, async (t) => {
    const server = createServer((_, response) => {
      response.writeHead(429, said === undefined ? {} : { 'Retry-After': said }).end('{}');
    });
    const client = await clientOf(t, server);
    const answer = await client.call({ method: 'GET', path: '/' }, 60_000);
    t.deepEqual([answer.status, answer.retryAfterMs], [429, retryAfterMs]);
  });
}

for (const [method, isOpen] of [
  ['GET', false],
  ['POST', true],
] as const)
  test(`a ${method} whose server goes over to another protocol is unanswered`, async (t) => {
    const server = createServer().on('connection', (socket) => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n';
      socket.once('data', () => socket.write(head));
    });
    const client = await clientOf(t, server);
    const error = await t.throwsAsync(client.call({ method, path: '/' }, 60_000), { instanceOf: ApiUnanswered });
    t.is(error.isOpen, isOpen);
  });
