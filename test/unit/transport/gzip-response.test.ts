// Which answers are compressed, and that what comes out is what went in, at the pace of the client and within bounds.
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { acceptsGzip, COMPRESSED_FROM_BYTES, GzipResponse, GzipSlots } from '../../../transport/gzip-response.ts';
import { FakeResponse } from '../hub/fake-response.ts';

const HEADERS = [['Content-Type', 'application/json']] as const;
const LONG = COMPRESSED_FROM_BYTES + 1;

function text(length: number): Buffer {
  return Buffer.from(Array.from({ length: Math.ceil(length / 8) }, (_, i) => String(i).padStart(8)).join('')).subarray(
    0,
    length,
  );
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

const bodyOf = ({ chunks }: FakeResponse): Buffer => Buffer.concat(chunks);
const header = ({ headers }: FakeResponse, name: string): string | undefined =>
  headers.find(([known]) => known.toLowerCase() === name)?.[1];

const ACCEPTED: readonly (readonly [header: string, accepted: boolean])[] = [
  ['', false],
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['deflate, GZIP;q=0.5', true],
  ['br;q=1, gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['x-gzip', false],
  ['identity', false],
  ['*', false],
];
for (const [accept, accepted] of ACCEPTED) {
  test(`Accept-Encoding "${accept}" ${accepted ? 'allows' : 'does not allow'} gzip`, (t) => {
    t.is(acceptsGzip(accept), accepted);
  });
}

test('a short answer goes out as it is', (t) => {
  const inner = new FakeResponse();
  new GzipResponse(inner, new GzipSlots()).respond(200, HEADERS, text(COMPRESSED_FROM_BYTES));
  t.is(header(inner, 'content-encoding'), undefined);
  t.is(bodyOf(inner).length, COMPRESSED_FROM_BYTES);
});

for (const length of [LONG, 3_000_000]) {
  test(`an answer of ${length} bytes is compressed, whatever becomes of the buffer it came in`, async (t) => {
    const inner = new FakeResponse();
    const body = text(length);
    const expected = Buffer.from(body);
    new GzipResponse(inner, new GzipSlots()).respond(201, HEADERS, body);
    body.fill(0);
    await until(() => inner.ended);
    t.is(inner.status, 201);
    t.is(header(inner, 'content-encoding'), 'gzip');
    t.is(header(inner, 'vary'), 'Accept-Encoding');
    t.true(gunzipSync(bodyOf(inner)).equals(expected));
    t.true(bodyOf(inner).length < length / 2);
  });
}

test('what is compressed already, or has no body, stays as it is', (t) => {
  const slots = new GzipSlots();
  const encoded = new FakeResponse();
  new GzipResponse(encoded, slots).respond(200, [...HEADERS, ['Content-Encoding', 'br']], text(LONG));
  t.is(header(encoded, 'content-encoding'), 'br');
  t.is(bodyOf(encoded).length, LONG);
  const none = new FakeResponse();
  new GzipResponse(none, slots).respond(304, HEADERS, text(LONG));
  t.is(header(none, 'content-encoding'), undefined);
});

test('a stream that stays short is one answer', (t) => {
  const inner = new FakeResponse();
  const response = new GzipResponse(inner, new GzipSlots());
  response.start(200, HEADERS);
  t.true(response.write(Buffer.from('a')));
  t.true(response.write(Buffer.from('b')));
  t.is(inner.status, 0);
  response.end();
  t.is(inner.text, 'ab');
  t.is(header(inner, 'content-encoding'), undefined);
});

test('a long stream is compressed a piece at a time, at the pace of its client', async (t) => {
  const inner = new FakeResponse();
  inner.isFull = () => true;
  const response = new GzipResponse(inner, new GzipSlots());
  response.start(200, HEADERS);
  let drained = 0;
  response.onDrained(() => {
    drained++;
  });
  const sent: Buffer[] = [];
  for (let i = 0; i < 20; i++) {
    const piece = text(200_000 + i);
    sent.push(Buffer.from(piece));
    drained = 0;
    t.false(response.write(piece));
    piece.fill(0);
    await until(() => {
      inner.drain();
      return drained > 0;
    });
  }
  response.end();
  await until(() => {
    inner.drain();
    return inner.ended;
  });
  t.true(gunzipSync(bodyOf(inner)).equals(Buffer.concat(sent)));
});

test('when all places are taken an answer goes out as it is; a place is free again at the end and after an abort', async (t) => {
  const slots = new GzipSlots();
  const stream = (inner: FakeResponse): GzipResponse => {
    const response = new GzipResponse(inner, slots);
    response.start(200, HEADERS);
    response.write(text(LONG));
    return response;
  };
  const inners: FakeResponse[] = [];
  const open: GzipResponse[] = [];
  for (;;) {
    const inner = new FakeResponse();
    const response = stream(inner);
    if (header(inner, 'content-encoding') === undefined) {
      t.is(bodyOf(inner).length, LONG);
      t.true(response.write(Buffer.from('more')));
      response.end();
      t.true(inner.ended);
      t.is(bodyOf(inner).length, LONG + 4);
      break;
    }
    inners.push(inner);
    open.push(response);
  }
  t.true(open.length > 0 && open.length < 20);
  open[0]!.end();
  await until(() => inners[0]!.ended);
  inners[1]!.disconnect();
  t.true(open[1]!.aborted);
  for (let i = 0; i < 2; i++) {
    const inner = new FakeResponse();
    open.push(stream(inner));
    t.is(header(inner, 'content-encoding'), 'gzip');
  }
  const last = new FakeResponse();
  stream(last);
  t.is(header(last, 'content-encoding'), undefined);
});

test('a client that goes away is told to whoever asked, and nothing is written after it', async (t) => {
  const inner = new FakeResponse();
  const response = new GzipResponse(inner, new GzipSlots());
  let gone = 0;
  response.onAborted(() => gone++);
  response.start(200, HEADERS);
  response.write(text(LONG));
  inner.disconnect();
  const chunks = inner.chunks.length;
  response.write(text(LONG));
  response.end();
  await new Promise((resolve) => setTimeout(resolve, 1));
  t.is(gone, 1);
  t.is(inner.chunks.length, chunks);
  t.false(inner.ended);
});
