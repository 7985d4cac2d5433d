// The Protobuf wire format at its edges: where the writer's buffer is full, where a number takes a byte more, where a range ends.
import test from 'ava';
import { DecodeError } from '../../../../api/codec/decode-error.ts';
import {
  BackwardWriter,
  putVarint,
  varintBytes,
  WIRE_BYTES,
  WIRE_FIXED64,
  WIRE_VARINT,
  WireReader,
} from '../../../../api/codec/wire.ts';

const WIRE_FIXED32 = 5;
/** What the writer's buffer takes before it has to grow. */
const BUFFER_BYTES = 64 * 1024;

const WRITES: readonly (readonly [what: string, write: (writer: BackwardWriter) => void])[] = [
  ['a byte', (writer) => writer.byte(7)],
  ['a number of two bytes', (writer) => writer.varint(300)],
  ['a number of five bytes', (writer) => writer.varint(2 ** 32 - 1)],
  ['a number of ten bytes', (writer) => writer.varint(-1)],
  ['a double', (writer) => writer.double(-1.5)],
  ['a short text', (writer) => writer.text('a short text')],
  ['a text that is not ASCII', (writer) => writer.text('größe')],
  ['a long text', (writer) => writer.text('long'.repeat(50))],
  ['bytes', (writer) => writer.bytes(Buffer.from('some bytes'))],
  ['more bytes than twice the buffer', (writer) => writer.bytes(Buffer.alloc(3 * BUFFER_BYTES, 5))],
];

for (const [what, write] of WRITES) {
  test(`${what} is written whole, however little room is left`, (t) => {
    const alone = new BackwardWriter();
    write(alone);
    const expected = alone.take();
    for (let room = 0; room <= 16; room++) {
      const writer = new BackwardWriter();
      writer.bytes(Buffer.alloc(BUFFER_BYTES - room, 1));
      write(writer);
      t.is(writer.size, BUFFER_BYTES - room + expected.length);
      const written = writer.take();
      t.true(written.subarray(0, expected.length).equals(expected), `with room for ${room}`);
      t.true(written.subarray(expected.length).every((byte) => byte === 1));
    }
  });
}

/** Around every number from which one takes a byte more. */
const NUMBERS = [0, 1, 2 ** 53 - 1, -(2 ** 53), -1].concat(
  [7, 14, 21, 28, 31, 32, 35, 42, 49].flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]),
);

test('a number takes no byte more than it needs and is read as it was written, wherever it was', (t) => {
  for (const number of NUMBERS) {
    const writer = new BackwardWriter();
    writer.varint(number);
    const written = writer.take();
    t.is(new WireReader(written).integer(), number);
    t.is(new WireReader(written).int64(), BigInt(number));
    if (number >= 0) t.is(new WireReader(written).varint(), number);
    t.is(written.length, number < 0 ? 10 : Math.max(1, Math.ceil(number.toString(2).length / 7)), String(number));
    if (number < 0 || number >= 2 ** 32) continue;
    const target = Buffer.alloc(6);
    t.is(varintBytes(number), written.length, String(number));
    t.is(putVarint(target, 1, number), 1 + written.length);
    t.true(target.subarray(1, 1 + written.length).equals(written));
  }
});

test('the integers of 64 bits at both ends are read', (t) => {
  for (const integer of [2n ** 63n - 1n, -(2n ** 63n), -1n]) {
    const writer = new BackwardWriter();
    writer.int64(integer);
    const written = writer.take();
    t.is(new WireReader(written).int64(), integer);
    t.is(BigInt(new WireReader(written).exactInteger()), integer);
  }
});

test('a text is written as UTF-8, whatever its characters', (t) => {
  for (const text of ['', '\x7f', '\x80', 'ÿ', '\u07ff\u0800', '😀', 'a'.repeat(48), `${'a'.repeat(47)}é`]) {
    const writer = new BackwardWriter();
    writer.text(text);
    t.is(writer.take().toString('hex'), Buffer.from(text).toString('hex'));
  }
});

/** Each of what takes four bytes or eight, or says how many it takes, with what comes before the bytes themselves. */
const TAKEN: readonly (readonly [
  what: string,
  head: readonly number[],
  bytes: number,
  take: (r: WireReader) => void,
])[] = [
  ['a double', [], 8, (reader) => reader.double()],
  ['a text', [4], 4, (reader) => reader.text()],
  ['bytes in base64', [4], 4, (reader) => reader.base64()],
  ['bytes', [4], 4, (reader) => reader.bytes()],
  ['a message', [4], 4, (reader) => reader.leave(reader.enter())],
  ['eight bytes to be skipped', [], 8, (reader) => reader.skip(WIRE_FIXED64)],
  ['four bytes to be skipped', [], 4, (reader) => reader.skip(WIRE_FIXED32)],
  ['so many bytes to be skipped', [4], 4, (reader) => reader.skip(WIRE_BYTES)],
];

for (const [what, head, bytes, take] of TAKEN) {
  test(`${what} may end with its message and not behind it`, (t) => {
    // What follows the message is there to be read by mistake.
    const reader = (length: number): WireReader => {
      const all = Buffer.alloc(32);
      all.set([length, ...head]);
      const outer = new WireReader(all);
      outer.enter();
      return outer;
    };
    const whole = reader(head.length + bytes);
    take(whole);
    t.is(whole.at, 1 + head.length + bytes);
    for (let short = 1; short <= bytes; short++) {
      t.throws(() => take(reader(head.length + bytes - short)), { instanceOf: DecodeError }, `${short} short`);
    }
  });
}

test('a number may end with its message and not behind it', (t) => {
  const reads: readonly ((reader: WireReader) => void)[] = [
    (reader) => reader.varint(),
    (reader) => reader.integer(),
    (reader) => reader.int64(),
    (reader) => reader.skip(WIRE_VARINT),
  ];
  for (const read of reads) {
    const reader = (length: number): WireReader => {
      const outer = new WireReader(Buffer.from([length, 0x80, 0x80, 0x01, 0x05]));
      outer.enter();
      return outer;
    };
    const whole = reader(3);
    read(whole);
    t.is(whole.at, 4);
    for (const length of [0, 1, 2]) t.throws(() => read(reader(length)), { instanceOf: DecodeError });
    const empty = new WireReader(Buffer.from([0, 0x05]));
    empty.enter();
    t.throws(() => read(empty), { instanceOf: DecodeError });
  }
});
