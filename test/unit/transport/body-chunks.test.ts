// Bodies that come in very many small chunks: that they are read whole on both listeners, and how many pieces are kept meanwhile.

import { Readable } from 'node:stream';
import test from 'ava';
import fc from 'fast-check';
import { addChunk, wholeOf } from '../../../transport/body-chunks.ts';
import { BODIES_BYTES_MAX, GatheredBody } from '../../../transport/gathered-body.ts';
import { KeptBytes } from '../../../transport/kept-bytes.ts';
import { NodeRequest, type RequestSource } from '../../../transport/node/request.ts';
import { arrivingOnUws } from './uws/fake-request.ts';

const CHUNKS = 100_000;
const BODY_BYTES_MAX = 3 * 1024 * 1024;

const gathering = () => new GatheredBody(new KeptBytes(BODIES_BYTES_MAX), { destroy: () => {} });

/** A body on its way: what hands over the next chunk, what ends it, and what is made of it. */
interface Arriving {
  readonly next: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly whole: Promise<Uint8Array | null>;
}

function onNode(): Arriving {
  const body = new Readable({ read: () => {} });
  const source = { method: 'POST', target: '/', rawHeaders: [], body, connection: {}, socketOf: () => undefined };
  const request = new NodeRequest(source as unknown as RequestSource, () => new Set(), { gathering });
  return { next: (chunk) => body.push(chunk), end: () => body.push(null), whole: request.body(BODY_BYTES_MAX) };
}

function onUws(): Arriving {
  const { request, give } = arrivingOnUws([], { gathering });
  const whole = request.body(BODY_BYTES_MAX);
  const lent = (chunk: Buffer): ArrayBuffer => new Uint8Array(chunk).buffer;
  return { next: (chunk) => give(lent(chunk), false), end: () => give(new ArrayBuffer(0), true), whole };
}

for (const [listener, begin] of [
  ['node', onNode],
  ['uws', onUws],
] as const) {
  test(`${listener}: a body in very many chunks of a byte is read whole`, async (t) => {
    const { next, end, whole } = begin();
    // In this turn: beside other tests the next may come later than a body may stand still.
    for (let i = 0; i < CHUNKS; i++) next(Buffer.from([i & 0x7f]));
    end();
    const body = await whole;
    t.is(body?.length, CHUNKS);
    t.true(body!.every((byte, i) => byte === (i & 0x7f)));
  });
}

test('chunks of a byte are kept in few pieces', (t) => {
  const chunks: Uint8Array[] = [];
  for (let i = 0; i < CHUNKS; i++) addChunk(chunks, Buffer.from([i & 0x7f]));
  t.true(chunks.length <= 64, `${chunks.length}`);
});

test('chunks of all sizes are one body in their order, and never many for their bytes', (t) => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 6000 })), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const given = lengths.map((length, i) => Buffer.alloc(length, i));
      const expected = Buffer.concat(given);
      const chunks: Uint8Array[] = [];
      for (const chunk of given) addChunk(chunks, chunk);
      t.true(Buffer.from(wholeOf(chunks, expected.length)).equals(expected));
      t.true(chunks.length <= 100 + expected.length / 40, `${chunks.length} of ${expected.length} bytes`);
    }),
  );
});
