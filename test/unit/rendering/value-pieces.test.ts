// Values that are not stored, written piece by piece.
import test from 'ava';
import { Renderer } from '../../../rendering/renderer.ts';
import { itemsOf, itemsText, valueListPieces, valuePieces } from '../../../rendering/value-pieces.ts';
import { renderingOf } from './representations.ts';

test('a list in pieces is the JSON of the whole, and no piece holds more than it takes', (t) => {
  const item = (bytes: number) => ({ metadata: { name: 'ä' }, data: { text: 'x'.repeat(bytes) } });
  for (const sizes of [[], [1], [1, 2, 3], [200_000, 1, 300_000], Array.from({ length: 40 }, () => 10_000)]) {
    const list = { kind: 'ConfigMapList', metadata: {}, items: sizes.map(item) };
    const texts = { ...list, items: sizes.map((bytes) => itemsText([item(bytes), item(0)])) };
    const all = sizes.flatMap((bytes) => [item(bytes), item(0)]);
    const pieces = [...valueListPieces(texts)];
    t.is(Buffer.concat(pieces).toString('utf8'), `${JSON.stringify({ ...list, items: all })}\n`);
    t.deepEqual(itemsOf(texts), all);
    for (const piece of pieces) t.true(piece.length < 128 * 1024 + Math.max(0, ...sizes) + 200);
  }
});

test('a large value in pieces is the whole of it, and a line end where it is not indented', (t) => {
  const value = {
    kind: 'ConfigMap',
    data: Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`k${i}`, 'v'])),
  };
  const json = Buffer.from(JSON.stringify(value));
  for (const pretty of [false, true]) {
    const renderer = new Renderer(renderingOf({ group: '', version: 'v1', kind: 'ConfigMap' }, { pretty }), 0);
    for (const isRendered of [false, true]) {
      const pieces = [...valuePieces(json, renderer, isRendered)];
      t.true(pieces.length > 3);
      const expected = pretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`;
      t.true(Buffer.concat(pieces).equals(Buffer.from(expected)));
    }
  }
});
