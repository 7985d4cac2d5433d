// Goal: a response is read the same however the network cuts it, and what is no response is refused. Method: a table of
// byte streams, each fed whole, byte by byte, and cut in two at every place.
import test from 'ava';
import { ResponseError, ResponseParser } from '../../../bench/load/response-parser.ts';

interface Seen {
  readonly status: number;
  readonly body: string;
}

function read(pieces: readonly Buffer[]): { seen: Seen[]; unfinished: boolean } {
  const seen: Seen[] = [];
  let status = 0;
  let body = '';
  let open = false;
  const parser = new ResponseParser({
    onHead: (value) => {
      status = value;
      body = '';
      open = true;
    },
    onBody: (buffer, start, end) => {
      body += buffer.toString('latin1', start, end);
    },
    onEnd: () => {
      seen.push({ status, body });
      open = false;
    },
  });
  for (const piece of pieces) parser.feed(piece);
  return { seen, unfinished: open };
}

const streams: readonly (readonly [name: string, stream: string, expected: readonly Seen[]])[] = [
  ['a sized body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', [{ status: 200, body: 'hello' }]],
  [
    'headers in any case and order',
    'HTTP/1.1 201 Created\r\nDate: today\r\ncONTENT-lENGTH:2\r\nX: y\r\n\r\nok',
    [{ status: 201, body: 'ok' }],
  ],
  ['an empty body', 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n', [{ status: 404, body: '' }]],
  ['a status without a body', 'HTTP/1.1 204 No Content\r\nA: b\r\n\r\n', [{ status: 204, body: '' }]],
  [
    'chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n\n\r\nA\r\n0123456789\r\n0\r\n\r\n',
    [{ status: 200, body: 'hello\n0123456789' }],
  ],
  [
    'chunk extensions and trailers',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0;last\r\nT: u\r\nV: w\r\n\r\n',
    [{ status: 200, body: 'abc' }],
  ],
  [
    'one response after another',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n' +
      'HTTP/1.1 409 Conflict\r\nContent-Length: 1\r\n\r\nc',
    [
      { status: 200, body: 'a' },
      { status: 200, body: 'b' },
      { status: 409, body: 'c' },
    ],
  ],
  [
    'a body that looks like a head',
    'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHTTP/1.1\r\n\r\n',
    [{ status: 200, body: 'HTTP/1.1\r\n\r\n' }],
  ],
];

for (const [name, stream, expected] of streams) {
  test(`reads ${name}, whole or in pieces`, (t) => {
    const bytes = Buffer.from(stream, 'latin1');
    t.deepEqual(read([bytes]).seen, expected, 'whole');
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    t.deepEqual(read(single).seen, expected, 'byte by byte');
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const { seen, unfinished } = read([bytes.subarray(0, cut), bytes.subarray(cut)]);
      t.deepEqual(seen, expected, `cut at ${cut}`);
      t.false(unfinished);
    }
  });
}

test('a body that stays open is handed on as it comes', (t) => {
  const { seen, unfinished } = read([Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n')]);
  t.deepEqual(seen, []);
  t.true(unfinished);
});

const refused: readonly (readonly [name: string, stream: string])[] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
  ['a body whose end only a close would tell', 'HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello'],
  ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n'],
  ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n'],
  ['a chunk beyond all measure', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n'],
  ['a head without an end', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(70_000)}`],
];

for (const [name, stream] of refused) {
  test(`refuses ${name}`, (t) => {
    const bytes = Buffer.from(stream);
    const half = Math.floor(bytes.length / 2);
    t.throws(() => read([bytes.subarray(0, half), bytes.subarray(half)]), { instanceOf: ResponseError });
  });
}
