// etcd's messages as bytes: whatever they grow to, and wherever they are cut.
import test from 'ava';
import { readFields, WireWriter } from '../../../storage/etcd/etcd-wire.ts';

/** What a writer's buffer takes before it has to grow. */
const BUFFER_BYTES = 1024;
const NUMBERS = [1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 28 + 1, 2 ** 32, 2 ** 53 - 1];

function fieldsOf(message: Buffer): [field: number, value: number | string][] {
  const fields: [number, number | string][] = [];
  readFields(message, {
    integer: (field, value) => fields.push([field, value]),
    bytes: (field, value) => fields.push([field, value.toString()]),
  });
  return fields;
}

test('a message is read as it was written, however little room was left for each of its fields', (t) => {
  for (let before = BUFFER_BYTES - 40; before <= BUFFER_BYTES; before++) {
    const filled = () => new WireWriter().bytes(1, 'x'.repeat(before));
    const first: [number, string] = [1, 'x'.repeat(before)];
    for (const number of NUMBERS) t.deepEqual(fieldsOf(filled().integer(2, number).finish()), [first, [2, number]]);
    t.deepEqual(fieldsOf(filled().bytes(3, 'größe').finish()), [first, [3, 'größe']]);
    t.deepEqual(fieldsOf(filled().bytes(3, Buffer.from('größe')).finish()), [first, [3, 'größe']]);
    const nested = filled().message(4, (inner) => inner.integer(2, 300));
    t.deepEqual(fieldsOf(nested.finish()), [first, [4, new WireWriter().integer(2, 300).finish().toString()]]);
  }
});

const KINDS: readonly (readonly [write: (writer: WireWriter) => WireWriter, field: number, value: number | string])[] =
  [
    [(writer) => writer.integer(2, 300), 2, 300],
    [(writer) => writer.bytes(3, 'größe'), 3, 'größe'],
    [(writer) => writer.bytes(3, Buffer.from('größe')), 3, 'größe'],
    [(writer) => writer.message(4, (inner) => inner.bytes(1, 'x')), 4, '\n\u0001x'],
  ];

test('a message has all of its fields, of whatever kind those are that it grows by', (t) => {
  for (const [write, field, value] of KINDS) {
    const writer = new WireWriter();
    for (let bytes = 0; bytes < 5 * BUFFER_BYTES; bytes = writer.finish().length) write(writer);
    const fields = fieldsOf(writer.finish());
    t.true(fields.length > BUFFER_BYTES / 4);
    t.true(fields.every(([one, other]) => one === field && other === value));
  }
});

test('what a field is by default is not written, but for a message within', (t) => {
  const writer = new WireWriter();
  for (const none of [undefined, 0, false]) writer.integer(1, none);
  for (const none of [undefined, '', Buffer.alloc(0)]) writer.bytes(2, none);
  t.is(writer.finish().length, 0);
  t.deepEqual(
    fieldsOf(
      writer
        .integer(3, true)
        .message(4, () => {})
        .finish(),
    ),
    [
      [3, 1],
      [4, ''],
    ],
  );
});

test('a message that is cut within a field is refused, and what no reader asks for is passed by', (t) => {
  const message = Buffer.concat([
    Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4]),
    new WireWriter().integer(3, 300).bytes(4, 'text').finish(),
  ]);
  t.deepEqual(fieldsOf(message), [
    [3, 300],
    [4, 'text'],
  ]);
  for (const end of [message.length - 1, message.length - 4, message.length - 7])
    t.throws(() => fieldsOf(message.subarray(0, end)), { message: /is cut/ });
});
