// Answers of HTTP/1.1 as bytes: good ones, cut anywhere, and those that are none. What is taken for an answer here is also one to
// Node's own client, which is asked about the same bytes.
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { BadAnswer } from '../../../../transport/outgoing/http1/answer-head.ts';
import { type Answer, AnswerParser, AnswerTooLarge } from '../../../../transport/outgoing/http1/answer-parser.ts';

const BYTES_MAX = 1000;
const OK = 'HTTP/1.1 200 OK\r\n';

/** The answer in pieces of bytes, after which the connection ends. */
function parsed(pieces: readonly Buffer[], bytesMax = BYTES_MAX): Answer | undefined {
  const parser = new AnswerParser(bytesMax);
  for (const piece of pieces) {
    const answer = parser.take(piece);
    if (answer !== undefined) return answer;
  }
  return parser.end();
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

const GOOD: readonly (readonly [what: string, text: string, status: number, body: string, isKept: boolean])[] = [
  ['a length', `${OK}Content-Length: 5\r\n\r\nhello`, 200, 'hello', true],
  ['a length of nothing', `${OK}Content-Length: 0\r\n\r\n`, 200, '', true],
  ['a length with blanks around it', `${OK}content-LENGTH:  2  \r\n\r\nok`, 200, 'ok', true],
  ['no length', `${OK}A: b\r\n\r\nuntil the end`, 200, 'until the end', false],
  ['no field at all', `${OK}\r\nx`, 200, 'x', false],
  ['no words for the status', 'HTTP/1.1 404\r\nContent-Length: 1\r\n\r\nx', 404, 'x', true],
  ['an empty value', `${OK}Empty:\r\nContent-Length: 1\r\n\r\nx`, 200, 'x', true],
  ['a close', `${OK}Connection: Close\r\nContent-Length: 1\r\n\r\nx`, 200, 'x', false],
  ['a close in a list', `${OK}Connection: a, close\r\nContent-Length: 1\r\n\r\nx`, 200, 'x', false],
  [
    'a close in the first of two fields',
    `${OK}Connection: close\r\nConnection: a\r\nContent-Length: 1\r\n\r\nx`,
    200,
    'x',
    false,
  ],
  [
    'a close in the last of two fields',
    `${OK}Connection: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`,
    200,
    'x',
    false,
  ],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx', 200, 'x', false],
  ['HTTP/1.0 that is kept', 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx', 200, 'x', true],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, '', true],
  ['304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n', 304, '', true],
  [
    'answers before it',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 1\r\n\r\nx`,
    200,
    'x',
    true,
  ],
  [
    'chunks',
    `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n`,
    200,
    'abc0123456789',
    true,
  ],
  ['chunks with extensions', `${OK}Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\nx\r\n00;c\r\n\r\n`, 200, 'x', true],
  [
    'chunks with a trailer',
    `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n`,
    200,
    'x',
    true,
  ],
  ['chunks of nothing', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 200, '', true],
  ['bytes behind it', `${OK}Content-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n`, 200, 'x', false],
];

const BAD: readonly (readonly [what: string, text: string])[] = [
  ['nothing of HTTP', 'SSH-2.0-OpenSSH_8.4\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a version in small letters', 'http/1.1 200 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status that there is not', 'HTTP/1.1 600 OK\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
  ['an empty line first', `\r\n${OK}Content-Length: 1\r\n\r\nx`],
  ['one line without CR', `${OK}A: b\nContent-Length: 1\r\n\r\nx`],
  ['a CR in a line', `${OK}A: b\rc\r\nContent-Length: 1\r\n\r\nx`],
  ['a zero byte in a value', `${OK}A: b\0\r\nContent-Length: 1\r\n\r\nx`],
  ['a blank before the colon', `${OK}Content-Length : 1\r\n\r\nx`],
  ['a blank before a name', `${OK} Content-Length: 1\r\n\r\nx`],
  ['a folded line', `${OK}A: b\r\n c\r\nContent-Length: 1\r\n\r\nx`],
  ['a field without a name', `${OK}: b\r\n\r\nx`],
  ['a field without a colon', `${OK}Content-Length\r\n\r\nx`],
  ['two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy`],
  ['a length twice', `${OK}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`],
  ['two lengths in one field', `${OK}Content-Length: 1, 1\r\n\r\nx`],
  ['a length below zero', `${OK}Content-Length: -1\r\n\r\nx`],
  ['a length with a sign', `${OK}Content-Length: +1\r\n\r\nx`],
  ['a length in hexadecimal', `${OK}Content-Length: 0x1\r\n\r\nx`],
  ['an empty length', `${OK}Content-Length:\r\n\r\nx`],
  ['a length that no number holds', `${OK}Content-Length: 99999999999999999999\r\n\r\nx`],
  ['a length and chunks', `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['another encoding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['chunks twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', `${OK}Transfer-Encoding: chunked\r\n\r\n\r\nx\r\n0\r\n\r\n`],
  ['a size that is none', `${OK}Transfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n`],
  ['a size below zero', `${OK}Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n`],
  ['a size of nine digits', `${OK}Transfer-Encoding: chunked\r\n\r\n000000001\r\nx\r\n0\r\n\r\n`],
  ['a chunk longer than it says', `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n`],
  ['a size line without CR', `${OK}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n`],
  ['a size line whose CR is another digit', `${OK}Transfer-Encoding: chunked\r\n\r\n10\nx\r\n0\r\n\r\n`],
  ['a chunk that ends without CR', `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\n0\r\n\r\n`],
  ['an extension without end', `${OK}Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(300)}\r\nx\r\n0\r\n\r\n`],
  ['a trailer that is no field', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nA\r\n\r\n`],
  ['a body of 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\nx'],
  ['fields without end', `${OK}${'A: b\r\n'.repeat(200)}\r\n`],
  ['a head without end', `${OK}A: ${'b'.repeat(20_000)}\r\nContent-Length: 1\r\n\r\nx`],
  ['a trailer without end', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`],
  ['answers before the answer without end', `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(20)}${OK}\r\n`],
];

const CUT_SHORT: readonly string[] = [
  '',
  'HTTP/1.1 2',
  'HTTP/1.1 200 OK\nContent-Length: 1\n\nx',
  `${OK}Content-Length: 5\r\n`,
  `${OK}Content-Length: 5\r\n\r\nhell`,
  `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`,
  `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
  `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`,
];

for (const [what, text, status, body, isKept] of GOOD) {
  test(`an answer with ${what} is the same wherever its bytes are cut`, (t) => {
    const whole = bytes(text);
    const expected = { status, text: body };
    t.like(parsed([whole]), { ...expected, isKept });
    for (let cut = 1; cut < whole.length; cut++)
      t.like(parsed([whole.subarray(0, cut), whole.subarray(cut)]), expected, `cut at ${cut}`);
    t.like(parsed([...whole].map((byte) => Buffer.of(byte))), expected, 'byte by byte');
  });
}

test('an answer is text by its type, whatever that says besides, and where it has none', (t) => {
  const isText = (fields: string) => parsed([bytes(`${OK}${fields}Content-Length: 1\r\n\r\nx`)])?.isText;
  for (const type of [
    '',
    'Content-Type:\r\n',
    'Content-Type: text/html; charset=utf-8\r\n',
    'content-type: TEXT/plain\r\n',
  ])
    t.true(isText(type), type);
  for (const type of ['application/json', 'textual/x', ';;']) t.false(isText(`Content-Type: ${type}\r\n`), type);
});

for (const [what, text] of BAD) {
  test(`no answer is one with ${what}, wherever its bytes are cut`, (t) => {
    const whole = bytes(text);
    t.throws(() => parsed([whole]), { instanceOf: BadAnswer });
    const step = Math.ceil(whole.length / 300);
    for (let cut = 1; cut < whole.length; cut += step)
      t.throws(() => parsed([whole.subarray(0, cut), whole.subarray(cut)]), { instanceOf: BadAnswer }, `cut at ${cut}`);
    t.throws(() => parsed([...whole].map((byte) => Buffer.of(byte))), { instanceOf: BadAnswer }, 'byte by byte');
  });
}

test('an answer whose head or body does not end is none', (t) => {
  for (const text of CUT_SHORT) t.is(parsed([bytes(text)]), undefined, text);
});

test('an answer larger than it may be is refused before its body is kept', (t) => {
  const large = (text: string): void => void t.throws(() => parsed([bytes(text)], 10), { instanceOf: AnswerTooLarge });
  large(`${OK}Content-Length: 11\r\n\r\n`);
  large(`${OK}Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n`);
  large(`${OK}Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n`);
  large(`${OK}\r\n0123456789x`);
  t.like(parsed([bytes(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n5\r\nabcde\r\n0\r\n\r\n`)], 10), {
    text: 'abcdeabcde',
  });
});

test('a body is read as UTF-8, though a character is cut', (t) => {
  const whole = Buffer.from(`${OK}Content-Length: 6\r\n\r\näöü`);
  for (let cut = whole.length - 6; cut < whole.length; cut++)
    t.is(parsed([whole.subarray(0, cut), whole.subarray(cut)])?.text, 'äöü');
});

test('what an answer is of may lie where its next bytes will', (t) => {
  const texts = [
    ['HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nabcd', 'efgh', 'ijkl'],
    ['HTTP/1.1 200 OK\r\nTransfer-Enc', 'oding: chunked\r\n\r\n4\r\nab', 'cd\r\n8', '\r\nefghijkl\r\n0\r\n\r', '\n'],
  ];
  for (const pieces of texts) {
    const parser = new AnswerParser(100);
    const common = Buffer.alloc(200);
    let answer: Answer | undefined;
    for (const piece of pieces) {
      answer = parser.take(common.subarray(0, common.write(piece)));
      common.fill('x');
    }
    t.is(answer?.text, 'abcdefghijkl');
  }
});

test('an answer says how long its connection is kept', (t) => {
  const kept = (value: string) => parsed([bytes(`${OK}Keep-Alive: ${value}\r\nContent-Length: 0\r\n\r\n`)])?.keptForMs;
  t.is(kept('timeout=5'), 5000);
  t.is(kept('max=100, timeout=7'), 7000);
  t.is(kept('max=100'), undefined);
  t.is(kept('xtimeout=1'), undefined);
});

/** What Node's client makes of bytes after which the connection ends: status and body, or undefined. */
async function asNode(port: number, index: number): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    const outgoing = get({ port, host: '127.0.0.1', path: `/${index}`, agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('latin1').on('data', (piece: string) => {
        body += piece;
      });
      answer.on('error', () => resolve(undefined));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    outgoing.on('upgrade', () => resolve(undefined));
    outgoing.on('error', () => resolve(undefined));
  });
}

/** Sends the text of the number that is asked for, and ends the connection. */
async function sending(t: ExecutionContext, texts: readonly string[]): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (request) => {
      const index = Number(/^GET \/(\d+)/.exec(request.toString())![1]);
      socket.end(bytes(texts[index]!));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

test("what is an answer here is the same to Node's client", async (t) => {
  const texts = [...GOOD.map(([, text]) => text), ...BAD.map(([, text]) => text), ...CUT_SHORT];
  const port = await sending(t, texts);
  let compared = 0;
  for (const [index, text] of texts.entries()) {
    let ours: Answer | undefined;
    try {
      ours = parsed([bytes(text)]);
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error;
    }
    if (ours === undefined) continue;
    t.like(await asNode(port, index), { status: ours.status, body: ours.text }, text);
    compared++;
  }
  t.true(compared >= GOOD.length);
});
