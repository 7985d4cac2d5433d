import test from 'ava';
import { unwrapEnvelope, wrapEnvelope } from '../../../storage/forms/envelope.ts';

const OPENING = '{"kind":"ConfigMap","apiVersion":"v1",';
const ROOM = 256;

function objectOf(bytes: number): Buffer {
  const start = `${OPENING}"x":"`;
  return Buffer.from(`${start}${'y'.repeat(bytes - start.length - 2)}"}`);
}

function wrapped(json: Buffer, itemOffset = OPENING.length): Buffer {
  const target = Buffer.alloc(json.length + ROOM);
  return target.subarray(0, wrapEnvelope(target, 0, json, itemOffset));
}

const SIZES = [60, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 3_000_000];

for (const bytes of SIZES) {
  test(`an object of ${bytes} bytes comes out of its envelope unchanged`, (t) => {
    const json = objectOf(bytes);
    t.is(json.length, bytes);
    t.true(unwrapEnvelope(wrapped(json))?.equals(json));
  });
}

test('the envelope is what other readers of this format expect, byte for byte', (t) => {
  const json = Buffer.from('{"kind":"Pod","apiVersion":"v1","a":1}');
  const expected = Buffer.concat([
    Buffer.from([0x6b, 0x38, 0x73, 0x00]),
    Buffer.from([0x0a, 9, 0x0a, 2]),
    Buffer.from('v1'),
    Buffer.from([0x12, 3]),
    Buffer.from('Pod'),
    Buffer.from([0x12, json.length]),
    json,
    Buffer.from([0x22, 16]),
    Buffer.from('application/json'),
  ]);
  t.deepEqual(wrapped(json, json.indexOf('"a"')), expected);
});

test('an envelope is written where it is asked to be, and nothing around it is touched', (t) => {
  const json = objectOf(200);
  const alone = wrapped(json);
  const target = Buffer.alloc(alone.length + 20, 0xee);
  t.is(wrapEnvelope(target, 10, json, OPENING.length), 10 + alone.length);
  t.true(target.subarray(10, 10 + alone.length).equals(alone));
  t.true(target.subarray(0, 10).every((byte) => byte === 0xee));
  t.true(target.subarray(10 + alone.length).every((byte) => byte === 0xee));
});

test('a kind beyond ASCII keeps its letters in the type meta', (t) => {
  const opening = '{"kind":"Größe","apiVersion":"v1",';
  const json = Buffer.from(`${opening}"a":1}`);
  const envelope = wrapped(json, Buffer.byteLength(opening));
  t.true(envelope.includes(Buffer.from('Größe')));
  t.is(envelope.indexOf(Buffer.from('Größe', 'utf8')), 4 + 2 + 4 + 2);
  t.true(unwrapEnvelope(envelope)?.equals(json));
});

test('a truncated envelope gives nothing, wherever it is cut', (t) => {
  const envelope = wrapped(objectOf(300));
  for (let length = 0; length < envelope.length; length++) {
    t.is(unwrapEnvelope(envelope.subarray(0, length)), undefined, `cut at ${length}`);
  }
});

const FOREIGN: readonly (readonly [string, (envelope: Buffer) => Buffer])[] = [
  ['another prefix', (envelope) => Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0x01]), envelope.subarray(4)])],
  ['a field of an unknown number', (envelope) => Buffer.concat([envelope, Buffer.from([0x3a, 1, 0])])],
  ['a field that is not bytes', (envelope) => Buffer.concat([envelope, Buffer.from([0x28, 1])])],
  ['another content type', (envelope) => Buffer.from(envelope.toString('latin1').replace('/json', '/yaml'), 'latin1')],
  ['a length that never ends', (envelope) => Buffer.concat([envelope, Buffer.alloc(12, 0xff)])],
  [
    'a length beyond the end',
    (envelope) => Buffer.concat([envelope, Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f])]),
  ],
];

for (const [what, change] of FOREIGN) {
  test(`an envelope with ${what} gives nothing`, (t) => {
    const envelope = wrapped(objectOf(100));
    t.not(unwrapEnvelope(envelope), undefined);
    t.is(unwrapEnvelope(change(envelope)), undefined);
  });
}
