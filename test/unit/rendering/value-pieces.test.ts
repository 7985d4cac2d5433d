// Values that are not stored, written piece by piece.
import test from 'ava';
import { valueListPieces } from '../../../rendering/value-pieces.ts';

test('a list in pieces is the JSON of the whole, and no piece holds more than it takes', (t) => {
  const item = (bytes: number) => ({ metadata: { name: 'ä' }, data: { text: 'x'.repeat(bytes) } });
  for (const sizes of [[], [1], [1, 2, 3], [200_000, 1, 300_000], Array.from({ length: 40 }, () => 10_000)]) {
    const list = { kind: 'ConfigMapList', metadata: {}, items: sizes.map(item) };
    const pieces = [...valueListPieces(list)];
    t.is(Buffer.concat(pieces).toString('utf8'), `${JSON.stringify(list)}\n`);
    for (const piece of pieces) t.true(piece.length < 128 * 1024 + Math.max(0, ...sizes) + 200);
  }
});
