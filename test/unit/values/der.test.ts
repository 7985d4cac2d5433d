// DER: what the writer writes, the reader reads, and nothing that does not fit.
import test from 'ava';
import fc from 'fast-check';
import {
  derObjectId,
  derOctets,
  derPart,
  derParts,
  derSequence,
  derText,
  objectIdOf,
  readDer,
} from '../../../values/der.ts';

test('a sequence is read back part by part', (t) => {
  const long = Buffer.alloc(70_000, 7);
  const node = readDer(Buffer.concat([derSequence(derText('é'), derOctets(long), derSequence()), Buffer.from('rest')]));
  t.deepEqual(
    derParts(node).map(({ tag, content }) => [tag, content.length]),
    [
      [0x0c, 2],
      [0x04, 70_000],
      [0x30, 0],
    ],
  );
  t.deepEqual(derPart(node, 1).content, long);
  t.throws(() => derPart(node, 3), { instanceOf: RangeError });
});

test('an object identifier is read as it was written', (t) => {
  const arc = fc.integer({ min: 0, max: 2 ** 31 });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 0, max: 39 }),
      fc.array(arc),
      (first, second, rest) => {
        const dotted = [first, second, ...rest].join('.');
        t.is(objectIdOf(readDer(derObjectId(dotted))), dotted);
      },
    ),
  );
  t.is(objectIdOf(readDer(derText('1.2'))), '');
  t.is(objectIdOf(undefined), '');
});

test('bytes that end early, or have no length, are refused', (t) => {
  const whole = derSequence(derOctets(Buffer.alloc(300)));
  for (let length = 0; length < whole.length; length++) {
    t.throws(() => readDer(whole.subarray(0, length)), { instanceOf: RangeError });
  }
  t.throws(() => readDer(Buffer.from('30800000', 'hex')), { instanceOf: RangeError });
  t.throws(() => readDer(Buffer.from('3085ffffffffff', 'hex')), { instanceOf: RangeError });
});

test('a content of any length is read back whole', (t) => {
  for (const length of [0, 1, 127, 128, 129, 255, 256, 257, 65_535, 65_536, 65_537]) {
    const node = readDer(Buffer.concat([derOctets(Buffer.alloc(length, 7)), Buffer.from('rest')]));
    t.deepEqual([node.tag, node.content.length, node.content.every((byte) => byte === 7)], [0x04, length, true]);
  }
});

test('what says no length, or says it in more bytes than any needs, is refused whatever follows it', (t) => {
  const behind = Buffer.alloc(300, 1);
  for (const head of ['3080', '30850000000001', '30ff']) {
    const bytes = Buffer.concat([Buffer.from(head, 'hex'), behind]);
    t.throws(() => readDer(bytes), { instanceOf: RangeError, message: 'no length' });
  }
  t.is(readDer(Buffer.concat([Buffer.from('308400000102', 'hex'), behind])).content.length, 258);
});
